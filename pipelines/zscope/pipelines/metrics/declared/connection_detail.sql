-- One connection that zERT saw end, with what protected it at its end.
--
-- The records of event type 3 (end) and 4 (end in under ten seconds): one for each connection, with all its
-- bytes. Records of its start and of changes tell of the same connection and are passed over.
--
-- Several protocols may protect one connection. It counts under the innermost, TLS before SSH before IPsec,
-- and `further_protocols` names the others.

SELECT
    z.system::VARCHAR AS system,
    z.stack::VARCHAR AS stack,
    z.connection_id::BIGINT AS connection_id,
    z.start_utc,
    z.end_utc,
    z.job_name::VARCHAR AS job_name,
    z.user_id::VARCHAR AS user_id,
    z.local_port::BIGINT AS local_port,
    z.remote_port::BIGINT AS remote_port,
    z.local_ip::VARCHAR AS local_ip,
    z.remote_ip::VARCHAR AS remote_ip,
    CASE z.ip_protocol
        WHEN 6 THEN 'TCP'
        WHEN 17 THEN 'UDP'
        ELSE 'unknown (' || z.ip_protocol || ')'
    END::VARCHAR AS transport,
    CASE
        -- A failed handshake leaves no session, so it may come without the bit of the protocol.
        WHEN z.security_protocols_flags & 128 > 0 OR z.handshake_type > 0
            THEN coalesce(version.text, 'unknown (' || z.tls_version || ')', 'unknown')
        WHEN z.security_protocols_flags & 64 > 0 THEN 'SSH'
        WHEN z.security_protocols_flags & 32 > 0 THEN 'IPsec'
        WHEN z.security_protocols_flags = 0 THEN 'none'
        ELSE coalesce('unknown (' || z.security_protocols_flags || ')', 'unknown')
    END::VARCHAR AS protocol,
    CASE
        WHEN z.security_protocols_flags & 224 = 224 THEN 'SSH, IPsec'
        WHEN z.security_protocols_flags & 32 > 0 AND z.security_protocols_flags & 192 > 0 THEN 'IPsec'
        WHEN z.security_protocols_flags & 192 = 192 THEN 'SSH'
    END::VARCHAR AS further_protocols,
    coalesce(z.security_protocols_flags & 128 > 0 OR z.handshake_type > 0, false)::BOOLEAN AS is_tls,
    z.tls_version::BIGINT AS tls_version_code,
    nullif(z.cipher, '')::VARCHAR AS cipher,
    coalesce(role.text, 'unknown (' || z.handshake_role || ')')::VARCHAR AS handshake_role,
    coalesce(z.handshake_type = 3, false)::BOOLEAN AS handshake_failed,
    (z.event_type = 4)::BOOLEAN AS is_short,
    z.in_bytes::BIGINT AS in_bytes,
    z.out_bytes::BIGINT AS out_bytes,
    CASE
        WHEN z.handshake_role IN (2, 3) THEN z.local_port
        WHEN z.handshake_role = 1 THEN z.remote_port
        WHEN z.connection_flags & 16 > 0 THEN z.local_port
        WHEN z.connection_flags & 8 > 0 THEN z.remote_port
        ELSE least(z.local_port, z.remote_port)
    END::BIGINT AS server_port,
    z.server_cert_key_type::BIGINT AS server_cert_key_type_code,
    nullif(z.server_cert_key_length_bits, 0)::BIGINT AS server_cert_key_bits
FROM smf119_zert_detail AS z
LEFT JOIN code_tls_version AS version ON z.tls_version = version.code
LEFT JOIN code_handshake_role AS role ON z.handshake_role = role.code
WHERE z.event_type IN (3, 4)
