-- One ended connection in zERT records, with the faults of its protection.
--
-- The properties of a cipher suite come from table `cipher`. A suite of TLSv1.3 names no key exchange; it
-- always has forward secrecy, but the record does not contain the group, so whether the key exchange is safe
-- against a quantum computer is not known. A failed handshake has no other values, as there was no session.

WITH judged AS (
    SELECT
        c.*,
        s.name AS cipher_name,
        s.key_exchange,
        s.authentication,
        s.encryption,
        s.pfs,
        c.is_tls AND NOT c.handshake_failed AS has_session,
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
    coalesce(protocol = 'none' AND NOT is_tls, false)::BOOLEAN AS is_unprotected,
    coalesce(has_session AND is_ssl_version(tls_version_code), false)::BOOLEAN AS is_ssl,
    coalesce(has_session AND is_tls10_or_tls11(tls_version_code), false)::BOOLEAN AS is_tls10_tls11,
    coalesce(has_session AND has_suite AND is_without_forward_secrecy(pfs), false)::BOOLEAN AS is_without_pfs,
    coalesce(has_session AND has_suite AND is_anonymous_suite(authentication), false)::BOOLEAN AS is_anonymous,
    coalesce(has_session AND has_suite AND is_export_suite(key_exchange), false)::BOOLEAN AS is_export,
    coalesce(has_session AND has_suite AND encrypts_nothing(encryption), false)::BOOLEAN AS is_not_encrypted,
    coalesce(has_session AND has_suite AND encrypts_weakly(encryption), false)::BOOLEAN AS is_weak_cipher,
    coalesce(has_session AND is_short_key(server_cert_key_type_code, server_cert_key_bits), false)::BOOLEAN
        AS is_short_key,
    CASE
        WHEN NOT has_session THEN NULL
        WHEN NOT has_suite OR key_exchange = 'TLS13' THEN 'unknown'
        -- Pre-shared keys. All other key exchange up to TLSv1.2 relies on factoring or discrete logarithms,
        -- which a quantum computer can break, and has no hybrid groups.
        WHEN key_exchange IN ('none', 'PSK', 'RSA_PSK', 'DHE_PSK', 'ECDHE_PSK', 'KRB5', 'KRB5_EXPORT')
            THEN 'not open'
        ELSE 'open'
    END::VARCHAR AS quantum,
    coalesce(
        has_session
        AND (NOT has_suite OR coalesce(NOT is_known_version(tls_version_code), true))
        OR NOT is_tls AND starts_with(protocol, 'unknown'),
        false
    )::BOOLEAN AS is_unknown,
    (coalesce(in_bytes, 0) + coalesce(out_bytes, 0))::BIGINT AS total_bytes,
    day
FROM judged
