-- Handshakes and megabytes of the connections with TLS under one AT-TLS rule, with one client network, or on one
-- server port, that began in the hours of the last seven days.
--
-- Connections of benchmark runs are left out: what they used is subtracted. The resumed shares of hours show how
-- far resumption goes; hours with few handshakes can have any share.

WITH used AS (
    SELECT * EXCLUDE (day)
    FROM tls_use_day
    UNION ALL BY NAME
    SELECT * EXCLUDE (settled_day)
    FROM open_tls_use_hour
    UNION ALL BY NAME
    SELECT
        system,
        shared_by,
        client_network,
        server_port,
        hour_utc,
        -handshakes AS handshakes,
        -full_handshakes AS full_handshakes,
        -resumed_handshakes AS resumed_handshakes,
        -full_tls12 AS full_tls12,
        -full_tls13 AS full_tls13,
        -full_dhe AS full_dhe,
        -full_rsa AS full_rsa,
        -bytes AS bytes
    FROM run_tls_use_hour
),

added_up AS (
    SELECT
        u.system,
        u.shared_by,
        NULL::VARCHAR AS rule_name,
        u.client_network,
        u.server_port,
        u.hour_utc,
        sum(u.full_handshakes) AS full_handshakes,
        sum(u.resumed_handshakes) AS resumed_handshakes,
        sum(u.full_tls12) AS full_tls12,
        sum(u.full_tls13) AS full_tls13,
        sum(u.full_dhe) AS full_dhe,
        sum(u.full_rsa) AS full_rsa,
        sum(u.bytes) AS bytes
    FROM used AS u
    INNER JOIN tls_use_period AS p ON u.system = p.system AND u.hour_utc BETWEEN p.from_utc AND p.to_utc
    GROUP BY ALL
    HAVING sum(u.handshakes) > 0
),

by_rule AS MATERIALIZED (
    SELECT r.*
    FROM tls_use_rule AS r
    INNER JOIN tls_use_period AS p ON r.system = p.system AND r.hour_utc BETWEEN p.from_utc AND p.to_utc
),

by_hour AS MATERIALIZED (
    SELECT * FROM added_up
    UNION ALL BY NAME
    SELECT
        *,
        'rule' AS shared_by
    FROM by_rule
    UNION ALL BY NAME
    -- No connection of other systems has a rule.
    SELECT a.* REPLACE ('rule' AS shared_by)
    FROM added_up AS a
    ANTI JOIN by_rule AS r ON a.system = r.system
    WHERE a.shared_by = 'system'
),

total AS MATERIALIZED (
    SELECT
        system,
        shared_by,
        rule_name,
        client_network,
        server_port,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(full_tls12) AS full_tls12,
        sum(full_tls13) AS full_tls13,
        sum(full_dhe) AS full_dhe,
        sum(full_rsa) AS full_rsa,
        sum(bytes) AS bytes,
        max(full_handshakes + resumed_handshakes) AS most_handshakes
    FROM by_hour
    GROUP BY ALL
),

busy_hour AS (
    SELECT
        t.system,
        t.shared_by,
        t.rule_name,
        t.client_network,
        t.server_port,
        h.full_handshakes + h.resumed_handshakes AS handshakes,
        100 * h.resumed_handshakes / handshakes AS resumed_pct
    FROM total AS t
    INNER JOIN by_hour AS h
        ON
            t.system = h.system
            AND t.shared_by = h.shared_by
            AND t.rule_name IS NOT DISTINCT FROM h.rule_name
            AND t.client_network IS NOT DISTINCT FROM h.client_network
            AND t.server_port IS NOT DISTINCT FROM h.server_port
    WHERE
        h.full_handshakes + h.resumed_handshakes > 0
        AND h.full_handshakes + h.resumed_handshakes >= least(100, t.most_handshakes)
),

in_order AS (
    SELECT
        *,
        sum(handshakes) OVER of_group AS in_all,
        sum(handshakes) OVER (of_group ORDER BY resumed_pct) AS up_to_here
    FROM busy_hour
    WINDOW of_group AS (PARTITION BY system, shared_by, rule_name, client_network, server_port)
),

resumption AS (
    SELECT
        system,
        shared_by,
        rule_name,
        client_network,
        server_port,
        min(resumed_pct) FILTER (WHERE up_to_here >= 0.95 * in_all) AS attainable_pct,
        max(resumed_pct) AS highest_pct
    FROM in_order
    GROUP BY ALL
)

SELECT
    t.system::VARCHAR AS system,
    t.shared_by::VARCHAR AS shared_by,
    t.rule_name::VARCHAR AS rule_name,
    t.client_network::VARCHAR AS client_network,
    t.server_port::BIGINT AS server_port,
    t.full_handshakes::BIGINT AS full_handshakes,
    t.resumed_handshakes::BIGINT AS resumed_handshakes,
    t.full_tls12::BIGINT AS full_tls12,
    t.full_tls13::BIGINT AS full_tls13,
    t.full_dhe::BIGINT AS full_dhe,
    t.full_rsa::BIGINT AS full_rsa,
    (t.bytes / 1e6)::DOUBLE AS megabytes,
    r.attainable_pct::DOUBLE AS attainable_pct,
    r.highest_pct::DOUBLE AS highest_pct
FROM total AS t
LEFT JOIN resumption AS r
    ON
        t.system = r.system
        AND t.shared_by = r.shared_by
        AND t.rule_name IS NOT DISTINCT FROM r.rule_name
        AND t.client_network IS NOT DISTINCT FROM r.client_network
        AND t.server_port IS NOT DISTINCT FROM r.server_port
