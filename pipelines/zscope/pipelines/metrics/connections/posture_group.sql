-- The connections of a source that are alike, with the faults of their protection.

WITH connection AS (
    SELECT
        c.*,
        s.name AS cipher_name,
        s.key_exchange,
        s.authentication,
        s.encryption,
        s.pfs,
        is_suite(s.code, s.protocol) AS has_suite
    FROM connection_group AS c
    LEFT JOIN cipher AS s ON c.cipher = s.code
)

SELECT
    source,
    day,
    system,
    stack,
    hour_utc,
    server_port,
    job_name,
    handshake_role,
    protocol,
    cipher,
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
    connections,
    (coalesce(in_bytes, 0) + coalesce(out_bytes, 0))::BIGINT AS total_bytes
FROM with_faults('connection')
-- A security session of a summary can have nothing in an interval.
WHERE connections > 0 OR total_bytes > 0
