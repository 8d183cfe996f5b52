-- The handshakes of one kind in one hour, of one system, port, job, role, version and cipher suite.
--
-- All queries of handshakes by the hour read these rows, which are few even for millions of handshakes. The
-- hour is that of the handshake in UTC, so a day always has 24 of them, also when clocks change.

SELECT
    system,
    stack,
    hour_utc,
    server_port,
    job_name,
    handshake_role,
    tls_version,
    cipher,
    cipher_name,
    key_exchange,
    kind,
    sum(handshakes)::BIGINT AS handshakes
FROM (
    SELECT * EXCLUDE (day)
    FROM handshake_day
    UNION ALL BY NAME
    SELECT
        system,
        stack,
        time_bucket(INTERVAL 1 HOUR, event_utc) AS hour_utc,
        server_port,
        job_name,
        handshake_role,
        tls_version,
        cipher,
        cipher_name,
        key_exchange,
        kind,
        count(*) AS handshakes
    FROM open_handshake
    GROUP BY ALL
)
GROUP BY ALL
