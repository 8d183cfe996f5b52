-- A period of a system for which costs are estimated: the last 92 days, or the time around a change.
--
-- Around a change these are up to four weeks before and after it, and not beyond the change before and the next
-- one. The days of the store in which the records of a period can be include the days before and after it, as
-- days are those of local time.

WITH handshakes AS (
    SELECT
        system,
        max(last_utc) AS last_utc
    FROM (
        SELECT system, last_utc FROM zert_written
        UNION ALL
        SELECT system, interval_end_utc FROM summary_interval
    )
    GROUP BY system
),

cpu AS (
    SELECT
        system,
        max(interval_end_utc) AS last_utc
    FROM cpu_slot
    WHERE passed_over IS NULL AND cpu_s IS NOT NULL
    GROUP BY system
),

period AS (
    SELECT
        system,
        NULL AS changed_utc,
        NULL AS changed,
        NULL AS change,
        least(cpu.last_utc, handshakes.last_utc) - INTERVAL 93 DAY AS from_utc,
        least(cpu.last_utc, handshakes.last_utc) AS to_utc
    FROM cpu
    INNER JOIN handshakes USING (system)
    UNION ALL
    SELECT
        system,
        changed_utc,
        changed,
        change,
        greatest(changed_utc - INTERVAL 28 DAY, lag(changed_utc) OVER in_time),
        least(changed_utc + INTERVAL 28 DAY, lead(changed_utc) OVER in_time)
    FROM cost_change_point
    WINDOW in_time AS (PARTITION BY system ORDER BY changed_utc, changed)
)

SELECT
    system::VARCHAR AS system,
    changed_utc::TIMESTAMPTZ AS changed_utc,
    changed::VARCHAR AS changed,
    change::VARCHAR AS change,
    from_utc::TIMESTAMPTZ AS from_utc,
    to_utc::TIMESTAMPTZ AS to_utc,
    ((from_utc AT TIME ZONE 'UTC')::DATE - 1)::DATE AS first_day,
    ((to_utc AT TIME ZONE 'UTC')::DATE + 1)::DATE AS last_day
FROM period
WHERE from_utc < to_utc
