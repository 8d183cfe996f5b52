-- The connections of one hour, system, port and job under one protocol and cipher suite, from one source.
--
-- All queries of protocols and suites by the hour read these rows, which are few even for millions of
-- connections. MQ channels have no stack, job and port; the connections under them are among those of other
-- sources.

WITH displayed AS (
    SELECT *
    FROM open_protection_record
    WHERE source = 'NETSTAT TTLS'
    QUALIFY row_number() OVER (
        PARTITION BY system, stack, connection_id, remote_ip, remote_port, local_port ORDER BY moment_utc, day
    ) = 1
),

every_source AS (
    SELECT * EXCLUDE (day) FROM protection_day
    UNION ALL BY NAME
    SELECT * EXCLUDE (day) REPLACE ('each connection once' AS source)
    FROM protection_day
    WHERE source = 'zERT detail'
    UNION ALL BY NAME
    SELECT
        source,
        reported_by,
        system,
        stack,
        hour_utc,
        job_name,
        server_port,
        is_tls,
        protocol,
        further_protocols,
        cipher,
        connections,
        partial_connections,
        failed_handshakes,
        in_bytes,
        out_bytes
    FROM (
        SELECT * FROM displayed
        UNION ALL
        SELECT * REPLACE ('each connection once' AS source) FROM open_connection_elsewhere
    )
    UNION ALL BY NAME
    SELECT
        'MQ channels' AS source,
        'MQ channels' AS reported_by,
        system,
        hour_utc,
        is_tls,
        protocol,
        cipher,
        connections,
        0 AS partial_connections,
        0 AS failed_handshakes,
        in_bytes,
        out_bytes
    FROM mq_channel_hour
)

SELECT
    source,
    reported_by,
    system,
    stack,
    hour_utc,
    job_name,
    server_port,
    is_tls,
    protocol,
    further_protocols,
    cipher,
    sum(connections)::BIGINT AS connections,
    sum(partial_connections)::BIGINT AS partial_connections,
    sum(failed_handshakes)::BIGINT AS failed_handshakes,
    sum(in_bytes)::BIGINT AS in_bytes,
    sum(out_bytes)::BIGINT AS out_bytes
FROM every_source
GROUP BY ALL
