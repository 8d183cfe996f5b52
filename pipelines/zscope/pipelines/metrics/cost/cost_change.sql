-- The change of the TLS CPU cost on a system after the policy, release, capacity or suites changed, and its parts.
--
-- zscope.pipelines.estimate computes it from these intervals: those before and after a change. The interval of
-- the change itself is left out.

SELECT
    i.system,
    p.changed_utc,
    p.changed,
    p.change,
    i.interval_start_utc >= p.changed_utc AS is_after,
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
    i.busy_share
FROM cost_interval AS i
INNER JOIN cost_period AS p
    ON
        i.system = p.system
        AND i.interval_start_utc >= p.from_utc
        AND i.interval_start_utc < p.to_utc
        AND (
            i.interval_start_utc >= p.changed_utc
            OR i.interval_start_utc + to_milliseconds((i.seconds * 1000)::BIGINT) <= p.changed_utc
        )
ORDER BY i.system, p.changed_utc, p.changed, i.start_local
