-- Connections and their protection from one source, or each connection once from the best source.
--
-- Each source has its own rows and records connections that others record too, so rows of two sources must
-- never be added up (see protection_record). The source `each connection once` has each connection from the first
-- source that has it: zERT detail, termination records, NETSTAT, FTP, TN3270; `reported_by` contains that source.
-- It does not contain summaries, because they do not identify connections.

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
    out_bytes,
    connection_id,
    start_utc,
    end_utc,
    local_ip,
    local_port,
    remote_ip,
    remote_port,
    user_id,
    direction,
    policy_status
FROM (
    SELECT * REPLACE ('each connection once' AS source) FROM connection_elsewhere
    UNION ALL
    -- A connection counts at the first display that shows it.
    SELECT *
    FROM protection_record
    WHERE source = 'NETSTAT TTLS'
    QUALIFY row_number() OVER (
        PARTITION BY system, stack, connection_id, remote_ip, remote_port, local_port ORDER BY moment_utc, day
    ) = 1
    UNION ALL
    SELECT * REPLACE ('each connection once' AS source)
    FROM protection_record
    WHERE source = 'zERT detail'
    UNION ALL
    -- The part without a join comes last, so that clients get the rows (see open_protection_record).
    SELECT * FROM protection_record WHERE source <> 'NETSTAT TTLS'
)
