-- The ended connections in zERT records that are alike: of one hour, system, port, job, protocol, suite and key.
--
-- There are few groups, however many connections there are, so what a store keeps of each day is computed from them.

SELECT
    day,
    system,
    stack,
    time_bucket(INTERVAL 1 HOUR, end_utc) AS hour_utc,
    job_name,
    server_port,
    handshake_role,
    protocol,
    further_protocols,
    cipher,
    is_tls,
    tls_version_code,
    server_cert_key_type_code,
    server_cert_key_bits,
    handshake_failed,
    count(*)::BIGINT AS connections,
    sum(in_bytes)::BIGINT AS in_bytes,
    sum(out_bytes)::BIGINT AS out_bytes
FROM connection_detail
GROUP BY ALL
