-- A time span of a system to which figures are assigned: a CPU interval, or time without CPU data.
--
-- The time spans of a system follow each other without overlap, from the quarter of an hour of its first
-- transaction, or its first CPU interval, to the last. Time between CPU intervals in which a transaction
-- ended is divided at quarter hours; time in which none ended remains one time span.

WITH measured AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS end_us
    FROM cpu_slot
    WHERE passed_over IS NULL
),

active_quarter AS (
    SELECT
        system,
        last_us // 900000000 * 900000000 AS quarter_us,
        min(least(epoch_us(start_utc), last_us)) // 900000000 * 900000000 AS first_quarter_us
    FROM activity
    WHERE last_us IS NOT NULL AND system IS NOT NULL
    GROUP BY ALL
),

edge AS (
    SELECT
        system,
        at_us,
        sum(change) AS change,
        bool_or(change <> 0) AS of_interval
    FROM (
        SELECT system, begin_us AS at_us, 1 AS change FROM measured
        UNION ALL
        SELECT system, end_us, -1 FROM measured
        UNION ALL
        SELECT system, quarter_us, 0 FROM active_quarter
        UNION ALL
        SELECT system, quarter_us + 900000000, 0 FROM active_quarter
        UNION ALL
        SELECT system, min(first_quarter_us), 0 FROM active_quarter GROUP BY system
    )
    GROUP BY system, at_us
),

edge_inside AS (
    SELECT
        *,
        sum(change) OVER (PARTITION BY system ORDER BY at_us) AS inside
    FROM edge
),

piece AS (
    SELECT
        system,
        at_us AS begin_us,
        lead(at_us) OVER (PARTITION BY system ORDER BY at_us) AS end_us,
        min(at_us) FILTER (WHERE of_interval) OVER (PARTITION BY system) AS first_measured_us,
        max(at_us) FILTER (WHERE of_interval) OVER (PARTITION BY system) AS last_measured_us
    FROM edge_inside
    WHERE of_interval OR inside = 0
)

SELECT
    p.system::VARCHAR AS system,
    make_timestamptz(p.begin_us) AS interval_start_utc,
    make_timestamptz(p.end_us) AS interval_end_utc,
    -- For a CPU interval, the length that its source records, which may differ by the two seconds.
    coalesce(c.interval_ms, (p.end_us - p.begin_us) // 1000)::BIGINT AS interval_ms,
    CASE
        WHEN c.cpu_s IS NOT NULL THEN 'ok'
        WHEN c.system IS NOT NULL THEN 'no CPU data'
        WHEN p.begin_us > p.first_measured_us AND p.begin_us < p.last_measured_us THEN 'gap'
        ELSE 'no CPU data'
    END::VARCHAR AS status,
    c.cpu_source::VARCHAR AS cpu_source,
    c.cp_kind::VARCHAR AS cp_kind,
    c.cps_online::DOUBLE AS cps_online,
    c.cpu_s::DOUBLE AS cpu_s,
    c.ziip_s::DOUBLE AS ziip_s
FROM piece AS p
LEFT JOIN measured AS c ON p.system = c.system AND p.begin_us = c.begin_us
WHERE p.end_us IS NOT NULL
