-- The handshakes of one kind in one hour, of one system, port, job, role, version and cipher suite.
--
-- Everything that is asked of handshakes by the hour is asked of these rows, which are few where handshakes
-- are millions. The hour is that in which the handshake took place, in UTC: a day has 24 of them also when
-- clocks are put on or back.

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
FROM handshake
GROUP BY ALL
