-- The connections in zERT records that are alike: of one source, hour, system, port, job, protocol, suite and key.
--
-- zERT detail     connections that ended, by their own records
-- zERT summary    connections that began, by the counters of security sessions; `partial_connections` of them were
--                 protected in this way only some of the time, and can count in another group as well
--
-- Both are about the same connections: never add up groups of two sources. There are few groups, however many
-- connections there are, so what a store keeps of each day is computed from them.

WITH summary AS (
    SELECT
        *,
        time_bucket(INTERVAL 1 HOUR, moment_utc) AS hour_utc
    FROM summary_group
)

SELECT
    'zERT detail'::VARCHAR AS source,
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
    0::BIGINT AS partial_connections,
    sum(in_bytes)::BIGINT AS in_bytes,
    sum(out_bytes)::BIGINT AS out_bytes
FROM connection_detail
GROUP BY ALL

UNION ALL

SELECT
    'zERT summary' AS source,
    day,
    system,
    stack,
    hour_utc,
    job_name,
    server_port,
    handshake_role,
    protocol,
    NULL AS further_protocols,
    cipher,
    is_tls,
    tls_version_code,
    server_cert_key_type_code,
    server_cert_key_bits,
    false AS handshake_failed,
    sum(connections)::BIGINT AS connections,
    sum(partial_connections)::BIGINT AS partial_connections,
    sum(counted_bytes(in_bytes))::BIGINT AS in_bytes,
    sum(counted_bytes(out_bytes))::BIGINT AS out_bytes
FROM summary
GROUP BY ALL

UNION ALL

-- The bytes of a failed handshake are among those of its session.
SELECT
    'zERT summary' AS source,
    day,
    system,
    stack,
    hour_utc,
    job_name,
    server_port,
    handshake_role,
    protocol,
    NULL AS further_protocols,
    cipher,
    is_tls,
    tls_version_code,
    server_cert_key_type_code,
    server_cert_key_bits,
    true AS handshake_failed,
    sum(failed_handshakes)::BIGINT AS connections,
    0 AS partial_connections,
    NULL AS in_bytes,
    NULL AS out_bytes
FROM summary
WHERE failed_handshakes > 0
GROUP BY ALL
