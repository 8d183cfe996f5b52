-- The cost of a handshake or a megabyte on a system, or of TLS per day, with its range or interval and its status.
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
    i.busy_share
FROM cost_interval AS i
INNER JOIN cost_period AS p ON i.system = p.system AND p.changed_utc IS NULL
WHERE i.interval_start_utc BETWEEN p.from_utc AND p.to_utc
ORDER BY i.system, i.start_local
