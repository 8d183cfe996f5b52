-- The connections of one hour, system, port, job, role, protocol and suite, by what is wrong with them.
--
-- A connection is counted when zERT records its end. A connection with several faults counts under each.

SELECT
    system,
    stack,
    hour_utc,
    server_port,
    job_name,
    handshake_role,
    protocol,
    cipher,
    sum(connections)::BIGINT AS connections,
    sum(total_bytes)::BIGINT AS total_bytes,
    sum(tls_connections)::BIGINT AS tls_connections,
    sum(tls_bytes)::BIGINT AS tls_bytes,
    sum(failed_connections)::BIGINT AS failed_connections,
    sum(unprotected_connections)::BIGINT AS unprotected_connections,
    sum(unprotected_bytes)::BIGINT AS unprotected_bytes,
    sum(ssl_connections)::BIGINT AS ssl_connections,
    sum(ssl_bytes)::BIGINT AS ssl_bytes,
    sum(tls10_tls11_connections)::BIGINT AS tls10_tls11_connections,
    sum(tls10_tls11_bytes)::BIGINT AS tls10_tls11_bytes,
    sum(without_pfs_connections)::BIGINT AS without_pfs_connections,
    sum(without_pfs_bytes)::BIGINT AS without_pfs_bytes,
    sum(anonymous_connections)::BIGINT AS anonymous_connections,
    sum(anonymous_bytes)::BIGINT AS anonymous_bytes,
    sum(export_connections)::BIGINT AS export_connections,
    sum(export_bytes)::BIGINT AS export_bytes,
    sum(not_encrypted_connections)::BIGINT AS not_encrypted_connections,
    sum(not_encrypted_bytes)::BIGINT AS not_encrypted_bytes,
    sum(weak_cipher_connections)::BIGINT AS weak_cipher_connections,
    sum(weak_cipher_bytes)::BIGINT AS weak_cipher_bytes,
    sum(short_key_connections)::BIGINT AS short_key_connections,
    sum(short_key_bytes)::BIGINT AS short_key_bytes,
    sum(quantum_open_connections)::BIGINT AS quantum_open_connections,
    sum(quantum_open_bytes)::BIGINT AS quantum_open_bytes,
    sum(quantum_unknown_connections)::BIGINT AS quantum_unknown_connections,
    sum(quantum_unknown_bytes)::BIGINT AS quantum_unknown_bytes,
    sum(unknown_connections)::BIGINT AS unknown_connections,
    sum(unknown_bytes)::BIGINT AS unknown_bytes
FROM posture_day
GROUP BY ALL
