-- The last seven days of a system that have zERT records of production.
--
-- They end with the last hour that has such records and is no hour of a benchmark run, nor one beside it: the last records
-- of a run are written after it. Hours of runs in between do not count, so the period is longer by them. The days of the
-- store in which its records can be include the day before and the day after, as days are those of local time.

WITH ended AS (
    SELECT
        c.system,
        max(c.hour_utc) + INTERVAL 1 HOUR AS to_utc
    FROM coverage_day AS c
    ANTI JOIN (
        SELECT
            system,
            hour_utc + unnest([-1, 0, 1]) * INTERVAL 1 HOUR AS hour_utc
        FROM run_hour
    ) AS r ON c.system = r.system AND c.hour_utc = r.hour_utc
    WHERE c.source = '119-11' AND c.minutes > 0
    GROUP BY c.system
),

-- The hours of runs, with the hours of production from them to the end.
run_before AS (
    SELECT
        r.system,
        date_diff('hour', r.hour_utc, e.to_utc)
        - row_number() OVER (PARTITION BY r.system ORDER BY r.hour_utc DESC) AS production_hours
    FROM run_hour AS r
    INNER JOIN ended AS e ON r.system = e.system AND r.hour_utc < e.to_utc
),

longer AS (
    SELECT
        system,
        count(*) AS hours
    FROM run_before
    WHERE production_hours < 7 * 24
    GROUP BY system
)

SELECT
    e.system::VARCHAR AS system,
    (e.to_utc - to_hours(7 * 24 + coalesce(l.hours, 0)))::TIMESTAMPTZ AS from_utc,
    e.to_utc::TIMESTAMPTZ AS to_utc,
    ((from_utc AT TIME ZONE 'UTC')::DATE - 1)::DATE AS first_day,
    ((to_utc AT TIME ZONE 'UTC')::DATE + 1)::DATE AS last_day
FROM ended AS e
LEFT JOIN longer AS l ON e.system = l.system
