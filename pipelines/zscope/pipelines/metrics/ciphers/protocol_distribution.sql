-- Number of connections and bytes per protocol and source.
--
-- Rows of the step `covered_tls_hour`, combined as the query requests. Rows of different sources are never combined:
-- shares are those within a source.

SELECT
    source,
    reported_by,
    system,
    stack,
    hour_utc,
    job_name,
    server_port,
    protocol,
    further_protocols,
    is_counted,
    connections,
    partial_connections,
    failed_handshakes,
    in_bytes,
    out_bytes,
    covered_hours,
    hours,
    if(is_tls, connections, 0) AS tls_connections,
    if(is_tls AND protocol = 'TLSv1.3', connections, 0) AS tls13_connections
FROM covered_tls_hour
