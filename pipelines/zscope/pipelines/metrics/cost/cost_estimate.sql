-- The cost of a handshake or a megabyte on a system, or of TLS per day, with its range or interval and its status.
--
-- zscope.pipelines.estimate computes it from these intervals: at most the last 92 days of a system.

SELECT
    system,
    start_local,
    seconds,
    cpu_s,
    full_handshakes,
    resumed_handshakes,
    tls_mb,
    tls_spaces_cpu_s,
    busy_share
FROM cost_interval
QUALIFY start_local > max(start_local) OVER (PARTITION BY system) - INTERVAL 93 DAY
ORDER BY system, start_local
