-- One record of zERT connection detail, with the columns that many steps read.
--
-- At a load it is read once for all of them.

SELECT
    day,
    system,
    stack,
    connection_id,
    start_utc,
    end_utc,
    written_local,
    written_utc,
    record_no,
    event_type,
    security_protocols_flags,
    handshake_type,
    handshake_role,
    connection_flags,
    tls_version,
    cipher,
    session_id,
    local_port,
    remote_port,
    local_ip,
    remote_ip,
    ip_protocol,
    job_name,
    user_id,
    in_bytes,
    out_bytes,
    server_cert_key_type,
    server_cert_key_length_bits
FROM smf119_zert_detail
