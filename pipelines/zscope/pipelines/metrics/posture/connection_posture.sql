-- One ended connection in zERT records, with the faults of its protection.

WITH connection AS (
    SELECT
        c.*,
        s.name AS cipher_name,
        s.key_exchange,
        s.authentication,
        s.encryption,
        s.pfs,
        is_suite(s.code, s.protocol) AS has_suite
    FROM connection_detail AS c
    LEFT JOIN cipher AS s ON c.cipher = s.code
)

SELECT
    system,
    stack,
    connection_id,
    start_utc,
    end_utc,
    job_name,
    user_id,
    server_port,
    local_ip,
    remote_ip,
    handshake_role,
    protocol,
    cipher,
    cipher_name,
    key_exchange,
    server_cert_key_bits,
    is_tls,
    handshake_failed,
    is_unprotected,
    is_ssl,
    is_tls10_tls11,
    is_without_pfs,
    is_anonymous,
    is_export,
    is_not_encrypted,
    is_weak_cipher,
    is_short_key,
    quantum,
    is_unknown,
    (coalesce(in_bytes, 0) + coalesce(out_bytes, 0))::BIGINT AS total_bytes,
    day
FROM with_faults('connection')
