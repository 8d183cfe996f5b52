-- Handshakes and megabytes of the connections with TLS under one AT-TLS rule, or with one client network, in the
-- last seven days.
--
-- The rule of a connection is that of tls_connection. A client network is that of the partner where the system
-- is the server.

WITH shaken AS (
    SELECT
        h.system,
        h.stack,
        h.connection_id,
        h.start_utc,
        bool_or(h.handshake_role LIKE 'server%') AS is_server,
        count_if(h.kind = 'full') AS full_handshakes,
        count_if(h.kind = 'resumed') AS resumed_handshakes
    FROM handshake AS h
    INNER JOIN tls_use_period AS p ON h.system = p.system AND h.start_utc BETWEEN p.from_utc AND p.to_utc
    GROUP BY ALL
),

used AS (
    SELECT
        c.system,
        c.rule_name,
        CASE WHEN s.is_server THEN network_text(c.remote_ip) END AS client_network,
        coalesce(s.full_handshakes, 0) AS full_handshakes,
        coalesce(s.resumed_handshakes, 0) AS resumed_handshakes,
        (coalesce(c.in_bytes, 0) + coalesce(c.out_bytes, 0)) / 1e6 AS megabytes
    FROM tls_connection AS c
    INNER JOIN tls_use_period AS p ON c.system = p.system AND c.start_utc BETWEEN p.from_utc AND p.to_utc
    LEFT JOIN shaken AS s
        ON
            c.system = s.system
            AND c.stack IS NOT DISTINCT FROM s.stack
            AND c.connection_id = s.connection_id
            AND c.start_utc = s.start_utc
    WHERE c.source = 'zERT detail' AND c.is_tls
),

grouped AS (
    SELECT
        system,
        if(grouping(rule_name) = 0, 'rule', 'client network') AS shared_by,
        rule_name,
        client_network,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(megabytes) AS megabytes
    FROM used
    GROUP BY GROUPING SETS ((system, rule_name), (system, client_network))
)

SELECT
    system::VARCHAR AS system,
    shared_by::VARCHAR AS shared_by,
    rule_name::VARCHAR AS rule_name,
    client_network::VARCHAR AS client_network,
    full_handshakes::BIGINT AS full_handshakes,
    resumed_handshakes::BIGINT AS resumed_handshakes,
    megabytes::DOUBLE AS megabytes
FROM grouped
