-- The handshakes of one kind in one hour, of the connections that are settled on one day.
--
-- They are counted by the codes of the records, and the few groups then get the texts.

WITH counted AS (
    SELECT
        settled_day,
        system,
        stack,
        time_bucket(INTERVAL 1 HOUR, event_utc) AS hour_utc,
        server_port,
        job_name,
        handshake_role,
        tls_version,
        cipher,
        handshake_type,
        count(*) AS handshakes
    FROM handshake_code
    WHERE settled_day IS NOT NULL
    GROUP BY ALL
)

SELECT
    c.settled_day AS day,
    c.system,
    c.stack,
    c.hour_utc,
    c.server_port,
    c.job_name,
    code_text(role.text, c.handshake_role)::VARCHAR AS handshake_role,
    code_text(version.text, c.tls_version)::VARCHAR AS tls_version,
    nullif(c.cipher, '')::VARCHAR AS cipher,
    code_text(suite.name, nullif(c.cipher, ''))::VARCHAR AS cipher_name,
    suite.key_exchange::VARCHAR AS key_exchange,
    handshake_kind(kind.text, c.handshake_type)::VARCHAR AS kind,
    sum(c.handshakes)::BIGINT AS handshakes
FROM counted AS c
LEFT JOIN code_handshake_role AS role ON c.handshake_role = role.code
LEFT JOIN code_tls_version AS version ON c.tls_version = version.code
LEFT JOIN code_handshake_type AS kind ON c.handshake_type = kind.code
LEFT JOIN cipher AS suite ON c.cipher = suite.code
GROUP BY ALL
