-- What one zERT summary record says about the connections of a security session that began in its interval.
--
-- The counters of a session run from its start: an interval has what they grew by, modulo 2^32. Bytes are null if their
-- counter was reset. The connections of the counters include those whose handshake failed.

WITH growth AS (
    SELECT
        *,
        coalesce(security_protocols_flags & 128 > 0, false) AS is_tls,
        counter_growth(init_conn_count, end_conn_count) AS began,
        coalesce(counter_growth(init_failed_handshake_count, end_failed_handshake_count), 0) AS failed
    FROM smf119_zert_summary
    WHERE summary_event_type = 1
)

SELECT
    g.day::DATE AS day,
    g.system::VARCHAR AS system,
    g.stack::VARCHAR AS stack,
    g.written_utc - to_microseconds(g.interval_us::BIGINT) AS moment_utc,
    g.job_name::VARCHAR AS job_name,
    g.server_port_first::BIGINT AS server_port,
    if(g.client_ip IN ('0.0.0.0', '::'), NULL, g.client_ip)::VARCHAR AS client_ip,
    -- It does not contain whether a client had a certificate.
    CASE
        WHEN NOT g.is_tls THEN NULL
        WHEN g.session_flags & 64 > 0 THEN 'server'
        WHEN g.session_flags & 32 > 0 THEN 'client'
    END::VARCHAR AS handshake_role,
    g.is_tls,
    zert_protocol(g.is_tls, g.security_protocols_flags, v.text, g.tls_version)::VARCHAR AS protocol,
    g.tls_version::BIGINT AS tls_version_code,
    CASE WHEN g.is_tls THEN nullif(g.cipher, '') END::VARCHAR AS cipher,
    g.server_cert_key_type::BIGINT AS server_cert_key_type_code,
    nullif(g.server_cert_key_length_bits, 0)::BIGINT AS server_cert_key_bits,
    (g.began - g.failed)::BIGINT AS connections,
    counter_growth(g.init_partial_conn_count, g.end_partial_conn_count)::BIGINT AS partial_connections,
    g.failed::BIGINT AS failed_handshakes,
    -- The store has no numbers of 2^63 or more, so a 64-bit counter is null long before it wraps.
    CASE WHEN g.end_in_bytes >= g.init_in_bytes THEN g.end_in_bytes - g.init_in_bytes END::BIGINT AS in_bytes,
    CASE WHEN g.end_out_bytes >= g.init_out_bytes THEN g.end_out_bytes - g.init_out_bytes END::BIGINT AS out_bytes
FROM growth AS g
LEFT JOIN code_tls_version AS v ON g.tls_version = v.code
