-- One ended connection in zERT records, with its protection at the end.
--
-- The records of event type 3 (end) and 4 (end in under ten seconds): one for each connection, with all its
-- bytes. Records of its start and of changes describe the same connection and are skipped.
--
-- Several protocols can protect one connection. It counts under the innermost (TLS before SSH before IPsec);
-- `further_protocols` contains the others.

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
        ELSE code_text(NULL, z.ip_protocol)
    END::VARCHAR AS transport,
    zert_protocol(
        z.is_tls,
        z.security_protocols_flags,
        version.text,
        z.tls_version
    )::VARCHAR AS protocol,
    CASE
        WHEN z.security_protocols_flags & 224 = 224 THEN 'SSH, IPsec'
        WHEN z.security_protocols_flags & 32 > 0 AND z.security_protocols_flags & 192 > 0 THEN 'IPsec'
        WHEN z.security_protocols_flags & 192 = 192 THEN 'SSH'
    END::VARCHAR AS further_protocols,
    z.is_tls,
    z.tls_version::BIGINT AS tls_version_code,
    nullif(z.cipher, '')::VARCHAR AS cipher,
    code_text(role.text, z.handshake_role)::VARCHAR AS handshake_role,
    CASE
        WHEN z.connection_flags & 16 > 0 THEN 'Inbound'
        WHEN z.connection_flags & 8 > 0 THEN 'Outbound'
        WHEN z.handshake_role IN (2, 3) THEN 'Inbound'
        WHEN z.handshake_role = 1 THEN 'Outbound'
    END::VARCHAR AS direction,
    coalesce(z.handshake_type = 3, false)::BOOLEAN AS handshake_failed,
    (z.event_type = 4)::BOOLEAN AS is_short,
    counted_bytes(z.in_bytes)::BIGINT AS in_bytes,
    counted_bytes(z.out_bytes)::BIGINT AS out_bytes,
    z.server_port,
    z.server_cert_key_type::BIGINT AS server_cert_key_type_code,
    nullif(z.server_cert_key_length_bits, 0)::BIGINT AS server_cert_key_bits,
    z.day::DATE AS day,
    (coalesce(z.start_day = z.day, false) AND is_away_from_midnight(z.written_local))::BOOLEAN AS is_settled
FROM zert_record AS z
LEFT JOIN code_tls_version AS version ON z.tls_version = version.code
LEFT JOIN code_handshake_role AS role ON z.handshake_role = role.code
WHERE z.event_type IN (3, 4)
