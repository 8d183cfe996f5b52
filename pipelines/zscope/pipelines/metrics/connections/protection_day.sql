-- The connections of one hour, system, port and job under one protocol and suite, by the records of one day.
--
-- The rows of `each connection once` are those of termination records that no zERT record of the day has; the
-- connections of zERT records count as well, and those that one day does not settle (open_protection_record).

WITH terminated AS (
    SELECT t.* REPLACE ('each connection once' AS source)
    FROM protection_record AS t
    ANTI JOIN (SELECT * FROM protection_record WHERE source = 'zERT detail') AS z
    ON
        t.day = z.day
        AND t.connection_id = z.connection_id
        AND t.system = z.system
        AND t.stack IS NOT DISTINCT FROM z.stack
        AND epoch_us(t.start_utc) >= epoch_us(z.start_utc) - 1000000
        AND epoch_us(t.start_utc) <= epoch_us(z.start_utc) + 1000000
    WHERE t.source = 'AT-TLS' AND t.is_settled
)

SELECT
    day,
    source,
    reported_by,
    system,
    stack,
    hour_utc,
    job_name,
    server_port,
    is_tls,
    protocol,
    further_protocols,
    cipher,
    sum(connections)::BIGINT AS connections,
    sum(partial_connections)::BIGINT AS partial_connections,
    sum(failed_handshakes)::BIGINT AS failed_handshakes,
    sum(in_bytes)::BIGINT AS in_bytes,
    sum(out_bytes)::BIGINT AS out_bytes
FROM (
    SELECT * FROM protection_record WHERE source NOT IN ('zERT detail', 'zERT summary', 'NETSTAT TTLS')
    UNION ALL
    SELECT * FROM terminated
    UNION ALL BY NAME
    -- As protection_record has them: a failed handshake protected nothing.
    SELECT
        * REPLACE (if(is_tls, cipher, NULL) AS cipher, if(handshake_failed, 0, connections) AS connections),
        source AS reported_by,
        if(handshake_failed, connections, 0) AS failed_handshakes
    FROM connection_group
)
GROUP BY ALL
