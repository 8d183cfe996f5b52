-- Handshakes and bytes of the ended connections that began in an hour: all of a system, those with one client
-- network, and those on one server port.
--
-- The network is that of the partner where the system is the server. The bytes of a connection are at its last
-- handshake.

WITH ended AS (
    SELECT
        settled_day,
        system,
        remote_ip,
        server_port,
        time_bucket(INTERVAL 1 HOUR, start_utc) AS hour_utc,
        handshake_role LIKE 'server%' AS is_server,
        kind = 'full' AS is_full,
        kind = 'resumed' AS is_resumed,
        tls_version,
        key_exchange,
        coalesce(in_bytes, 0) + coalesce(out_bytes, 0) AS bytes
    FROM handshake
    -- A connection that is not settled on a day can still be open.
    WHERE settled_day IS NOT NULL OR end_utc IS NOT NULL
),

-- Each address once: it takes longer than all the rest for each connection.
network AS (
    SELECT
        remote_ip,
        network_text(remote_ip) AS network
    FROM (SELECT DISTINCT remote_ip FROM ended)
),

of_network AS (
    SELECT
        e.*,
        CASE WHEN e.is_server THEN n.network END AS client_network
    FROM ended AS e
    LEFT JOIN network AS n ON e.remote_ip = n.remote_ip
)

SELECT
    settled_day::DATE AS settled_day,
    system::VARCHAR AS system,
    CASE grouping(client_network, server_port)
        WHEN 1 THEN 'client network'
        WHEN 2 THEN 'port'
        ELSE 'system'
    END::VARCHAR AS shared_by,
    client_network::VARCHAR AS client_network,
    server_port::BIGINT AS server_port,
    hour_utc::TIMESTAMPTZ AS hour_utc,
    count(*)::BIGINT AS handshakes,
    count(*) FILTER (WHERE is_full)::BIGINT AS full_handshakes,
    count(*) FILTER (WHERE is_resumed)::BIGINT AS resumed_handshakes,
    count(*) FILTER (WHERE is_full AND tls_version = 'TLSv1.2')::BIGINT AS full_tls12,
    count(*) FILTER (WHERE is_full AND tls_version = 'TLSv1.3')::BIGINT AS full_tls13,
    count(*) FILTER (WHERE is_full AND key_exchange LIKE 'DHE%')::BIGINT AS full_dhe,
    count(*) FILTER (WHERE is_full AND key_exchange = 'RSA')::BIGINT AS full_rsa,
    sum(bytes)::BIGINT AS bytes
FROM of_network
GROUP BY GROUPING SETS (
    (settled_day, system, hour_utc, client_network),
    (settled_day, system, hour_utc, server_port),
    (settled_day, system, hour_utc)
)
