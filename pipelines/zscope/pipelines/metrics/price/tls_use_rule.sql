-- Handshakes and bytes of the connections with TLS under one AT-TLS rule that began in an hour, in the last seven days.
--
-- Connections of benchmark runs are left out. The rule of a connection is that of tls_connection. A system none of
-- whose connections has a rule has no rows.

WITH shaken AS (
    SELECT
        h.system,
        h.stack,
        h.connection_id,
        h.start_utc,
        count_if(h.kind = 'full') AS full_handshakes,
        count_if(h.kind = 'resumed') AS resumed_handshakes,
        count_if(h.kind = 'full' AND h.tls_version = 'TLSv1.2') AS full_tls12,
        count_if(h.kind = 'full' AND h.tls_version = 'TLSv1.3') AS full_tls13,
        count_if(h.kind = 'full' AND h.key_exchange LIKE 'DHE%') AS full_dhe,
        count_if(h.kind = 'full' AND h.key_exchange = 'RSA') AS full_rsa
    FROM handshake AS h
    INNER JOIN tls_use_period AS p
        ON h.system = p.system AND time_bucket(INTERVAL 1 HOUR, h.start_utc) BETWEEN p.from_utc AND p.to_utc
    GROUP BY ALL
),

connection AS MATERIALIZED (
    SELECT
        c.system,
        c.stack,
        c.connection_id,
        c.start_utc,
        c.end_utc,
        c.rule_name,
        c.in_bytes,
        c.out_bytes
    FROM zert_tls_connection AS c
    INNER JOIN tls_use_period AS p
        ON c.system = p.system AND time_bucket(INTERVAL 1 HOUR, c.start_utc) BETWEEN p.from_utc AND p.to_utc
)

SELECT
    c.system::VARCHAR AS system,
    c.rule_name::VARCHAR AS rule_name,
    time_bucket(INTERVAL 1 HOUR, c.start_utc)::TIMESTAMPTZ AS hour_utc,
    coalesce(sum(s.full_handshakes), 0)::BIGINT AS full_handshakes,
    coalesce(sum(s.resumed_handshakes), 0)::BIGINT AS resumed_handshakes,
    coalesce(sum(s.full_tls12), 0)::BIGINT AS full_tls12,
    coalesce(sum(s.full_tls13), 0)::BIGINT AS full_tls13,
    coalesce(sum(s.full_dhe), 0)::BIGINT AS full_dhe,
    coalesce(sum(s.full_rsa), 0)::BIGINT AS full_rsa,
    sum(coalesce(c.in_bytes, 0) + coalesce(c.out_bytes, 0))::BIGINT AS bytes
FROM connection AS c
LEFT JOIN shaken AS s
    ON
        c.system = s.system
        AND c.stack IS NOT DISTINCT FROM s.stack
        AND c.connection_id = s.connection_id
        AND c.start_utc = s.start_utc
ANTI JOIN run AS r
    ON
        c.system = r.system
        AND c.start_utc < r.to_utc + INTERVAL 15 MINUTE
        AND c.end_utc > r.from_utc - INTERVAL 15 MINUTE
GROUP BY c.system, c.rule_name, time_bucket(INTERVAL 1 HOUR, c.start_utc)
QUALIFY count(c.rule_name) OVER (PARTITION BY c.system) > 0
