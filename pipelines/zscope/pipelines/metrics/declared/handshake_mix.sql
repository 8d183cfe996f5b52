-- The handshakes of a system, hour, port, job and role: full, resumed, failed and unknown.
--
-- One row for each handshake, put together by whatever is asked. The rules by which a handshake counts once
-- are those of the step `handshake`. The hour is that in which the handshake took place, in UTC: a day has 24
-- of them also when clocks are put on or back.

SELECT
    system,
    stack,
    time_bucket(INTERVAL 1 HOUR, event_utc) AS hour_utc,
    server_port,
    local_port,
    job_name,
    handshake_role,
    tls_version,
    cipher,
    cipher_name,
    key_exchange,
    1::BIGINT AS handshakes,
    (kind = 'full')::BIGINT AS full_handshakes,
    (kind = 'abbreviated')::BIGINT AS abbreviated_handshakes,
    (kind = 'failed')::BIGINT AS failed_handshakes,
    (kind NOT IN ('full', 'abbreviated', 'failed'))::BIGINT AS unknown_handshakes
FROM handshake
