-- Handshakes, megabytes with TLS and CPU time of a system in one interval, for the estimate of costs.
--
-- A benchmark run has other costs, as it varies the configuration on a system that does nothing else. So the
-- intervals of runs are left out, with fifteen minutes before and after. Gaps are not filled.

SELECT
    i.system::VARCHAR AS system,
    i.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    c.interval_start_local::TIMESTAMP AS start_local,
    (i.interval_ms / 1000)::DOUBLE AS seconds,
    i.cpu_s::DOUBLE AS cpu_s,
    i.full_handshakes::DOUBLE AS full_handshakes,
    i.resumed_handshakes::DOUBLE AS resumed_handshakes,
    (i.tls_bytes / 1e6)::DOUBLE AS tls_mb,
    t.tls_spaces_cpu_s::DOUBLE AS tls_spaces_cpu_s,
    t.tls_spaces_ziip_s::DOUBLE AS tls_spaces_ziip_s,
    t.tls_classes_cpu_s::DOUBLE AS tls_classes_cpu_s,
    (c.lpar_busy_pct / 100)::DOUBLE AS busy_share
FROM handshake_interval AS i
INNER JOIN (
    SELECT
        system,
        interval_start_utc,
        interval_ms,
        min(interval_start_local) AS interval_start_local,
        max(lpar_busy_pct) AS lpar_busy_pct
    FROM cpu_interval
    WHERE interval_start_local IS NOT NULL
    GROUP BY ALL
) AS c
    ON
        i.system = c.system
        AND i.interval_start_utc = c.interval_start_utc
        AND i.interval_ms = c.interval_ms
LEFT JOIN tls_space_interval AS t ON i.system = t.system AND i.interval_start_utc = t.interval_start_utc
ANTI JOIN run AS r
    ON
        i.system = r.system
        AND i.interval_start_utc < r.to_utc + INTERVAL 15 MINUTE
        AND i.interval_end_utc > r.from_utc - INTERVAL 15 MINUTE
WHERE i.interval_ms > 0
