-- The connections of one hour, system, port, job, role, protocol and suite, by what is wrong with them.
--
-- Connection details count when a connection ends, summaries when it begins; for a system on a day only one of them
-- counts (protection_source). The hours of a day are divided among its rows, so that sums over rows have each day
-- once. A connection with several faults counts under each.

SELECT
    p.source,
    p.system,
    p.stack,
    p.hour_utc,
    p.server_port,
    p.job_name,
    p.handshake_role,
    p.protocol,
    p.cipher,
    sum(p.connections)::BIGINT AS connections,
    (s.covered_hours / count(*) OVER rows_of_day)::DOUBLE AS covered_hours,
    (s.hours / count(*) OVER rows_of_day)::DOUBLE AS hours,
    sum(p.total_bytes)::BIGINT AS total_bytes,
    sum(p.tls_connections)::BIGINT AS tls_connections,
    sum(p.tls_bytes)::BIGINT AS tls_bytes,
    sum(p.failed_connections)::BIGINT AS failed_connections,
    sum(p.unprotected_connections)::BIGINT AS unprotected_connections,
    sum(p.unprotected_bytes)::BIGINT AS unprotected_bytes,
    sum(p.ssl_connections)::BIGINT AS ssl_connections,
    sum(p.ssl_bytes)::BIGINT AS ssl_bytes,
    sum(p.tls10_tls11_connections)::BIGINT AS tls10_tls11_connections,
    sum(p.tls10_tls11_bytes)::BIGINT AS tls10_tls11_bytes,
    sum(p.without_pfs_connections)::BIGINT AS without_pfs_connections,
    sum(p.without_pfs_bytes)::BIGINT AS without_pfs_bytes,
    sum(p.anonymous_connections)::BIGINT AS anonymous_connections,
    sum(p.anonymous_bytes)::BIGINT AS anonymous_bytes,
    sum(p.export_connections)::BIGINT AS export_connections,
    sum(p.export_bytes)::BIGINT AS export_bytes,
    sum(p.not_encrypted_connections)::BIGINT AS not_encrypted_connections,
    sum(p.not_encrypted_bytes)::BIGINT AS not_encrypted_bytes,
    sum(p.weak_cipher_connections)::BIGINT AS weak_cipher_connections,
    sum(p.weak_cipher_bytes)::BIGINT AS weak_cipher_bytes,
    sum(p.short_key_connections)::BIGINT AS short_key_connections,
    sum(p.short_key_bytes)::BIGINT AS short_key_bytes,
    sum(p.quantum_open_connections)::BIGINT AS quantum_open_connections,
    sum(p.quantum_open_bytes)::BIGINT AS quantum_open_bytes,
    sum(p.quantum_unknown_connections)::BIGINT AS quantum_unknown_connections,
    sum(p.quantum_unknown_bytes)::BIGINT AS quantum_unknown_bytes,
    sum(p.unknown_connections)::BIGINT AS unknown_connections,
    sum(p.unknown_bytes)::BIGINT AS unknown_bytes
FROM posture_day AS p
INNER JOIN protection_source AS s
    ON
        s.is_counted
        AND p.source = s.source
        AND p.system IS NOT DISTINCT FROM s.system
        AND p.hour_utc IS NOT DISTINCT FROM s.hour_utc
GROUP BY
    p.source, p.system, p.stack, p.hour_utc, p.server_port, p.job_name, p.handshake_role, p.protocol, p.cipher,
    s.day, s.covered_hours, s.hours
WINDOW rows_of_day AS (PARTITION BY p.system, s.day)
