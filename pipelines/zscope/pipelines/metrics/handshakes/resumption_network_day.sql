-- The full and resumed handshakes of one hour between one network of clients and a system, of the connections
-- that are settled on one day.
--
-- The network is that of the partner (ip_network). Clients of one network often belong together, and few of them
-- open most connections.

WITH counted AS (
    SELECT
        settled_day,
        system,
        handshake_role,
        tls_version,
        handshake_type,
        remote_ip,
        time_bucket(INTERVAL 1 HOUR, event_utc) AS hour_utc,
        count(*) AS handshakes
    FROM handshake_code
    WHERE settled_day IS NOT NULL
    GROUP BY ALL
),

-- Each address once: its network takes longer than all the rest for each group.
network AS (
    SELECT
        remote_ip,
        ip_network(remote_ip) AS network
    FROM (SELECT DISTINCT remote_ip FROM counted)
),

worded AS (
    SELECT
        c.settled_day,
        c.system,
        CASE
            WHEN c.handshake_role IN (2, 3) THEN 'server'
            WHEN c.handshake_role = 1 THEN 'client'
            ELSE 'unknown'
        END AS side,
        if(version.text = 'TLSv1.3', version.text, 'TLSv1.2 and older') AS versions,
        n.network,
        c.hour_utc,
        handshake_kind(kind.text, c.handshake_type) AS handshake_kind,
        c.handshakes
    FROM counted AS c
    LEFT JOIN network AS n ON c.remote_ip = n.remote_ip
    LEFT JOIN code_tls_version AS version ON c.tls_version = version.code
    LEFT JOIN code_handshake_type AS kind ON c.handshake_type = kind.code
)

SELECT
    settled_day::DATE AS day,
    system::VARCHAR AS system,
    side::VARCHAR AS side,
    versions::VARCHAR AS versions,
    network::VARCHAR AS network,
    hour_utc::TIMESTAMPTZ AS hour_utc,
    coalesce(sum(handshakes) FILTER (WHERE handshake_kind = 'full'), 0)::BIGINT AS full_handshakes,
    coalesce(sum(handshakes) FILTER (WHERE handshake_kind = 'resumed'), 0)::BIGINT AS resumed_handshakes
FROM worded
WHERE handshake_kind IN ('full', 'resumed')
GROUP BY ALL
