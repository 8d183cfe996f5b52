-- One TLS handshake that zERT reported: full, resumed, failed, or of an unknown kind.
--
-- handshake_code describes which records show one handshake.

SELECT
    r.system::VARCHAR AS system,
    r.stack::VARCHAR AS stack,
    r.event_utc,
    r.start_utc,
    r.end_utc,
    r.local_port::BIGINT AS local_port,
    r.remote_port::BIGINT AS remote_port,
    r.local_ip::VARCHAR AS local_ip,
    r.remote_ip::VARCHAR AS remote_ip,
    r.job_name::VARCHAR AS job_name,
    r.connection_id::BIGINT AS connection_id,
    code_text(role.text, r.handshake_role)::VARCHAR AS handshake_role,
    code_text(version.text, r.tls_version)::VARCHAR AS tls_version,
    nullif(r.cipher, '')::VARCHAR AS cipher,
    code_text(suite.name, nullif(r.cipher, ''))::VARCHAR AS cipher_name,
    suite.key_exchange::VARCHAR AS key_exchange,
    handshake_kind(kind.text, r.handshake_type)::VARCHAR AS kind,
    r.in_bytes::BIGINT AS in_bytes,
    r.out_bytes::BIGINT AS out_bytes,
    r.server_port,
    r.settled_day::DATE AS settled_day
FROM handshake_code AS r
LEFT JOIN code_handshake_role AS role ON r.handshake_role = role.code
LEFT JOIN code_tls_version AS version ON r.tls_version = version.code
LEFT JOIN code_handshake_type AS kind ON r.handshake_type = kind.code
LEFT JOIN cipher AS suite ON r.cipher = suite.code
