-- The cost of a handshake or a megabyte on a system, or of TLS per day on it or in a job, with its range and its status.
--
-- zscope.pipelines.estimate computes it from these intervals: at most the last 92 days of a system.

SELECT
    i.system,
    i.start_local,
    i.seconds,
    i.cpu_s,
    i.handshake_source,
    i.full_handshakes,
    i.resumed_handshakes,
    i.handshakes,
    i.tls_mb,
    i.plain_connections,
    i.plain_mb,
    i.datagrams,
    i.tls_spaces_cpu_s,
    i.stack_cpu_s,
    i.tls_spaces_ziip_s,
    i.tls_classes_cpu_s,
    i.busy_share,
    j.jobs
FROM cost_interval AS i
INNER JOIN cost_period AS p ON i.system = p.system AND p.changed_utc IS NULL
LEFT JOIN (
    SELECT
        system,
        interval_start_utc,
        list(
            {
                'job_name': job_name,
                'full_handshakes': full_handshakes,
                'resumed_handshakes': resumed_handshakes,
                'tls_mb': tls_mb,
                'plain_connections': plain_connections,
                'plain_mb': plain_mb,
                'cpu_s': cpu_s
            }
            ORDER BY job_name
        ) AS jobs
    FROM job_interval
    GROUP BY system, interval_start_utc
) AS j ON i.system = j.system AND i.interval_start_utc = j.interval_start_utc AND i.handshake_source = 'zERT detail'
WHERE i.interval_start_utc BETWEEN p.from_utc AND p.to_utc
ORDER BY i.system, i.start_local
