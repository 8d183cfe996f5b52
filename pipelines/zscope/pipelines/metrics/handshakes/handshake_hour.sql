-- The handshakes of one kind in one hour, of one system, port, job, role, version and cipher suite.
--
-- All queries of handshakes by the hour read these rows, which are few even for millions of handshakes. The
-- hour is that of the handshake in UTC, the day that of the clock of its system: where the clock differs from UTC by
-- half an hour, an hour belongs to two days. A connection that is settled on a day has its handshakes on that day.

SELECT
    system,
    stack,
    day::DATE AS day,
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
    SELECT
        h.system,
        h.stack,
        local_day(h.event_utc, o.offset_s) AS day,
        time_bucket(INTERVAL 1 HOUR, h.event_utc) AS hour_utc,
        h.server_port,
        h.job_name,
        h.handshake_role,
        h.tls_version,
        h.cipher,
        h.cipher_name,
        h.key_exchange,
        h.kind,
        count(*) AS handshakes
    FROM open_handshake AS h
    ASOF LEFT JOIN clock_offset AS o ON h.system = o.system AND h.event_utc >= o.from_utc
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT *
    FROM handshake_day
)
GROUP BY ALL
