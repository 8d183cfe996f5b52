-- The connections of one hour, system, port, job, role, protocol and suite, by what is wrong with them.
--
-- A connection is counted when zERT records its end. A connection with several faults counts under each.

SELECT
    system,
    stack,
    -- Not date_trunc: that follows the time zone of the session.
    time_bucket(INTERVAL 1 HOUR, end_utc) AS hour_utc,
    server_port,
    job_name,
    handshake_role,
    protocol,
    cipher,
    count(*)::BIGINT AS connections,
    sum(total_bytes)::BIGINT AS total_bytes,
    count(*) FILTER (is_tls AND NOT handshake_failed)::BIGINT AS tls_connections,
    coalesce(sum(total_bytes) FILTER (is_tls AND NOT handshake_failed), 0)::BIGINT AS tls_bytes,
    count(*) FILTER (handshake_failed)::BIGINT AS failed_connections,
    count(*) FILTER (is_unprotected)::BIGINT AS unprotected_connections,
    coalesce(sum(total_bytes) FILTER (is_unprotected), 0)::BIGINT AS unprotected_bytes,
    count(*) FILTER (is_ssl)::BIGINT AS ssl_connections,
    coalesce(sum(total_bytes) FILTER (is_ssl), 0)::BIGINT AS ssl_bytes,
    count(*) FILTER (is_tls10_tls11)::BIGINT AS tls10_tls11_connections,
    coalesce(sum(total_bytes) FILTER (is_tls10_tls11), 0)::BIGINT AS tls10_tls11_bytes,
    count(*) FILTER (is_without_pfs)::BIGINT AS without_pfs_connections,
    coalesce(sum(total_bytes) FILTER (is_without_pfs), 0)::BIGINT AS without_pfs_bytes,
    count(*) FILTER (is_anonymous)::BIGINT AS anonymous_connections,
    coalesce(sum(total_bytes) FILTER (is_anonymous), 0)::BIGINT AS anonymous_bytes,
    count(*) FILTER (is_export)::BIGINT AS export_connections,
    coalesce(sum(total_bytes) FILTER (is_export), 0)::BIGINT AS export_bytes,
    count(*) FILTER (is_not_encrypted)::BIGINT AS not_encrypted_connections,
    coalesce(sum(total_bytes) FILTER (is_not_encrypted), 0)::BIGINT AS not_encrypted_bytes,
    count(*) FILTER (is_weak_cipher)::BIGINT AS weak_cipher_connections,
    coalesce(sum(total_bytes) FILTER (is_weak_cipher), 0)::BIGINT AS weak_cipher_bytes,
    count(*) FILTER (is_short_rsa_key)::BIGINT AS short_rsa_key_connections,
    coalesce(sum(total_bytes) FILTER (is_short_rsa_key), 0)::BIGINT AS short_rsa_key_bytes,
    count(*) FILTER (quantum = 'open')::BIGINT AS quantum_open_connections,
    coalesce(sum(total_bytes) FILTER (quantum = 'open'), 0)::BIGINT AS quantum_open_bytes,
    count(*) FILTER (quantum = 'unknown')::BIGINT AS quantum_unknown_connections,
    coalesce(sum(total_bytes) FILTER (quantum = 'unknown'), 0)::BIGINT AS quantum_unknown_bytes,
    count(*) FILTER (is_unknown)::BIGINT AS unknown_connections,
    coalesce(sum(total_bytes) FILTER (is_unknown), 0)::BIGINT AS unknown_bytes
FROM connection_posture
GROUP BY ALL
