-- The last seven days of a system that have zERT records of production.
--
-- The period ends with the last hour that has zERT details of production. Hours of benchmark runs are skipped. The hour
-- before and the hour after a run are skipped at the end as well, because records of a run can be written late. Each skipped
-- hour of a run makes the period one hour longer.
--
-- Days of the store are local days, so first_day and last_day include one more day at both ends.

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

-- For each hour of a run, the number of hours of production between it and the end of the period.
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
