-- The handshakes of a system, hour, port, job and role: full, resumed, failed and unknown.
--
-- The rules by which a handshake counts once are those of the step `handshake`. The hours of a day are divided among its
-- rows, so that sums over rows have each day once.

SELECT
    'zERT detail' AS source,
    h.system,
    h.stack,
    h.day,
    h.hour_utc,
    h.server_port,
    h.job_name,
    h.handshake_role,
    h.tls_version,
    resumption_versions(h.tls_version)::VARCHAR AS versions,
    h.cipher,
    h.cipher_name,
    h.key_exchange,
    h.handshakes,
    if(h.kind = 'full', h.handshakes, 0) AS full_handshakes,
    if(h.kind = 'resumed', h.handshakes, 0) AS resumed_handshakes,
    resumed_handshakes AS abbreviated_handshakes,
    if(h.kind = 'failed', h.handshakes, 0) AS failed_handshakes,
    if(is_unknown_kind(h.kind), h.handshakes, 0) AS unknown_handshakes,
    part_of_hours(c.covered_hours, count(*) OVER rows_of_day) AS covered_hours,
    part_of_hours(c.hours, count(*) OVER rows_of_day) AS hours
FROM handshake_hour AS h
LEFT JOIN covered_day AS c ON c.source = '119-11' AND h.system = c.system AND h.day = c.day
WINDOW rows_of_day AS (PARTITION BY h.system, h.day)
