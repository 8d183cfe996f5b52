-- Handshakes of one kind around an experiment: those of its test connections, and those of all other connections.
--
-- Two handshakes are of one kind if they have the same version, cipher suite, key exchange, role, and length of
-- the key of the server's certificate.

WITH experiment AS (
    SELECT
        system,
        try_cast(tag_values(tags, 'tls_port') AS BIGINT) AS test_port,
        min(from_utc) - INTERVAL 7 DAY AS from_utc,
        max(to_utc) + INTERVAL 7 DAY AS to_utc
    FROM run
    WHERE role = 'tls-test' AND test_port IS NOT NULL
    GROUP BY ALL
),

-- Connections to the listener of another experiment of the system are not real ones either.
system_ports AS (
    SELECT
        system,
        list(test_port) AS ports
    FROM experiment
    GROUP BY system
)

SELECT
    h.system::VARCHAR AS system,
    e.test_port::BIGINT AS test_port,
    h.tls_version::VARCHAR AS tls_version,
    h.cipher_name::VARCHAR AS cipher_name,
    h.key_exchange::VARCHAR AS key_exchange,
    h.handshake_role::VARCHAR AS handshake_role,
    c.server_cert_key_bits::BIGINT AS server_cert_key_bits,
    count(*) FILTER (WHERE h.local_port = e.test_port AND h.kind = 'full') AS test_full,
    count(*) FILTER (WHERE h.local_port = e.test_port AND h.kind = 'resumed') AS test_resumed,
    count(*) FILTER (WHERE NOT list_contains(p.ports, h.local_port) AND h.kind = 'full') AS real_full,
    count(*) FILTER (WHERE NOT list_contains(p.ports, h.local_port) AND h.kind = 'resumed') AS real_resumed
FROM handshake AS h
INNER JOIN experiment AS e ON h.system = e.system AND h.event_utc >= e.from_utc AND h.event_utc < e.to_utc
INNER JOIN system_ports AS p ON h.system = p.system
LEFT JOIN connection_detail AS c
    ON
        h.system = c.system
        AND h.stack IS NOT DISTINCT FROM c.stack
        AND h.connection_id = c.connection_id
        AND h.start_utc = c.start_utc
WHERE h.kind IN ('full', 'resumed')
GROUP BY ALL
ORDER BY ALL
