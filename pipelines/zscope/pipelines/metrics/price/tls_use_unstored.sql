-- The rows of tls_use, from the connections themselves: where nothing is stored by day, that is one reading less.
--
-- Connections of benchmark runs are left out. The rule of a connection is that of tls_connection.

WITH shaken AS (
    SELECT
        h.system,
        h.stack,
        h.connection_id,
        h.start_utc,
        bool_or(h.handshake_role LIKE 'server%') AS is_server,
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
        c.server_port,
        c.remote_ip,
        c.in_bytes,
        c.out_bytes
    FROM zert_tls_connection AS c
    INNER JOIN tls_use_period AS p
        ON c.system = p.system AND time_bucket(INTERVAL 1 HOUR, c.start_utc) BETWEEN p.from_utc AND p.to_utc
),

-- Each address once: it takes longer than all the rest for each connection.
network AS (
    SELECT
        remote_ip,
        network_text(remote_ip) AS network
    FROM (SELECT DISTINCT remote_ip FROM connection)
),

used AS (
    SELECT
        c.system,
        c.rule_name,
        c.server_port,
        CASE WHEN s.is_server THEN n.network END AS client_network,
        time_bucket(INTERVAL 1 HOUR, c.start_utc) AS hour_utc,
        s.full_handshakes,
        s.resumed_handshakes,
        s.full_tls12,
        s.full_tls13,
        s.full_dhe,
        s.full_rsa,
        (coalesce(c.in_bytes, 0) + coalesce(c.out_bytes, 0)) / 1e6 AS megabytes
    FROM connection AS c
    LEFT JOIN shaken AS s
        ON
            c.system = s.system
            AND c.stack IS NOT DISTINCT FROM s.stack
            AND c.connection_id = s.connection_id
            AND c.start_utc = s.start_utc
    LEFT JOIN network AS n ON c.remote_ip = n.remote_ip
    ANTI JOIN run AS r
        ON
            c.system = r.system
            AND c.start_utc < r.to_utc + INTERVAL 15 MINUTE
            AND c.end_utc > r.from_utc - INTERVAL 15 MINUTE
),

by_hour AS (
    SELECT
        system,
        CASE grouping(rule_name, client_network, server_port)
            WHEN 3 THEN 'rule'
            WHEN 5 THEN 'client network'
            WHEN 6 THEN 'port'
            ELSE 'system'
        END AS shared_by,
        rule_name,
        client_network,
        server_port,
        hour_utc,
        coalesce(sum(full_handshakes), 0) AS full_handshakes,
        coalesce(sum(resumed_handshakes), 0) AS resumed_handshakes,
        coalesce(sum(full_tls12), 0) AS full_tls12,
        coalesce(sum(full_tls13), 0) AS full_tls13,
        coalesce(sum(full_dhe), 0) AS full_dhe,
        coalesce(sum(full_rsa), 0) AS full_rsa,
        sum(megabytes) AS megabytes
    FROM used
    GROUP BY GROUPING SETS (
        (system, hour_utc, rule_name),
        (system, hour_utc, client_network),
        (system, hour_utc, server_port),
        (system, hour_utc)
    )
),

shared AS (
    SELECT
        *,
        full_handshakes + resumed_handshakes AS handshakes,
        CASE
            WHEN handshakes > 0 AND handshakes >= least(100, max(handshakes) OVER of_group)
                THEN 100 * resumed_handshakes / handshakes
        END AS resumed_pct
    FROM by_hour
    WINDOW of_group AS (PARTITION BY system, shared_by, rule_name, client_network, server_port)
),

ordered AS (
    SELECT
        *,
        sum(handshakes) FILTER (WHERE resumed_pct IS NOT NULL) OVER of_group AS in_all,
        sum(handshakes) FILTER (WHERE resumed_pct IS NOT NULL) OVER in_order AS up_to_here
    FROM shared
    WINDOW
        of_group AS (PARTITION BY system, shared_by, rule_name, client_network, server_port),
        in_order AS (
            PARTITION BY system, shared_by, rule_name, client_network, server_port ORDER BY resumed_pct NULLS LAST
        )
)

SELECT
    system::VARCHAR AS system,
    shared_by::VARCHAR AS shared_by,
    rule_name::VARCHAR AS rule_name,
    client_network::VARCHAR AS client_network,
    server_port::BIGINT AS server_port,
    sum(full_handshakes)::BIGINT AS full_handshakes,
    sum(resumed_handshakes)::BIGINT AS resumed_handshakes,
    sum(full_tls12)::BIGINT AS full_tls12,
    sum(full_tls13)::BIGINT AS full_tls13,
    sum(full_dhe)::BIGINT AS full_dhe,
    sum(full_rsa)::BIGINT AS full_rsa,
    sum(megabytes)::DOUBLE AS megabytes,
    min(resumed_pct) FILTER (WHERE up_to_here >= 0.95 * in_all)::DOUBLE AS attainable_pct,
    max(resumed_pct)::DOUBLE AS highest_pct
FROM ordered
GROUP BY ALL
