-- The change of a cost of TLS on a system, or of its price, after the policy or the capacity changed.
--
-- zscope.pipelines.estimate computes it from these intervals: up to four weeks before and after a change, and
-- not beyond the change before and the next one.

WITH point AS (
    SELECT
        *,
        lag(changed_utc) OVER in_time AS before_utc,
        lead(changed_utc) OVER in_time AS after_utc
    FROM cost_change_point
    WINDOW in_time AS (PARTITION BY system ORDER BY changed_utc, changed)
)

SELECT
    i.system,
    p.changed_utc,
    p.changed,
    p.change,
    i.interval_start_utc >= p.changed_utc AS is_after,
    i.start_local,
    i.seconds,
    i.cpu_s,
    i.full_handshakes,
    i.resumed_handshakes,
    i.tls_mb,
    i.tls_spaces_cpu_s,
    i.busy_share
FROM cost_interval AS i
INNER JOIN point AS p
    ON
        i.system = p.system
        AND i.interval_start_utc >= greatest(p.changed_utc - INTERVAL 28 DAY, p.before_utc)
        AND i.interval_start_utc < least(p.changed_utc + INTERVAL 28 DAY, p.after_utc)
        -- The interval of the change itself is left out.
        AND (
            i.interval_start_utc >= p.changed_utc
            OR i.interval_start_utc + to_milliseconds((i.seconds * 1000)::BIGINT) <= p.changed_utc
        )
ORDER BY i.system, p.changed_utc, p.changed, i.start_local
