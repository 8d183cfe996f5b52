-- The handshakes of one kind in one hour, of one system, port, job, role, version and cipher suite.
--
-- All queries of handshakes by the hour read these rows, which are few even for millions of handshakes. The
-- hour is that of the handshake in UTC, the day that of the clock of its system: where the clock differs from UTC by
-- half an hour, an hour belongs to two days. A connection that is settled on a day has its handshakes on that day.
-- Hours with benchmark runs are left out.

SELECT
    e.system,
    e.stack,
    e.day::DATE AS day,
    e.hour_utc,
    e.server_port,
    e.job_name,
    e.handshake_role,
    e.tls_version,
    e.cipher,
    e.cipher_name,
    e.key_exchange,
    e.kind,
    sum(e.handshakes)::BIGINT AS handshakes
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
) AS e
ANTI JOIN left_out_hour AS l ON e.system = l.system AND e.hour_utc = l.hour_utc
GROUP BY ALL
