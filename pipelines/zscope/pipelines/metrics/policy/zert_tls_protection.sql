-- Connections with TLS from zERT connection detail records: the part of connection_protection that the use of rules needs.

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
FROM connection_protection
WHERE source = 'zERT detail' AND is_tls
