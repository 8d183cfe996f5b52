-- Which zERT records count for a system in an hour, connection details or summaries, and how far each covers the day.
--
-- Both are about the same connections, so only one counts for all hours of a local day of a system:
--   1. details, if they cover at least 95 % of the hours that summaries cover: they contain more;
--   2. otherwise summaries;
--   3. what there is, if there is only one.
-- Of a day with more than 5 % of its hours missing, shares are those of other hours. So a result over less than 95 % is
-- called incomplete everywhere, and the same limit decides here. If the hours of both are not known, as without a time
-- zone, their connections are compared instead.

WITH recorded AS (
    SELECT
        p.source,
        p.system,
        p.hour_utc,
        sum(p.connections) AS connections
    FROM posture_day AS p
    ANTI JOIN left_out_hour AS l ON p.system = l.system AND p.hour_utc = l.hour_utc
    GROUP BY p.source, p.system, p.hour_utc
),

-- Each hour has a row of every source, with the hours of its day.
covered AS (
    SELECT
        c.system,
        c.hour_utc,
        c.day,
        if(c.source = '119-11', 'zERT detail', 'zERT summary') AS source,
        sum(c.covered_hours) OVER of_day AS covered_hours,
        sum(c.hours) OVER of_day AS hours
    FROM coverage_hour AS c
    ANTI JOIN left_out_hour AS l ON c.system = l.system AND c.hour_utc = l.hour_utc
    WHERE c.source IN ('119-11', '119-12')
    WINDOW of_day AS (PARTITION BY c.system, c.day, c.source)
),

compared AS (
    SELECT
        r.source,
        r.system,
        r.hour_utc,
        c.day,
        c.covered_hours,
        c.hours,
        sum(r.connections) FILTER (r.source = 'zERT detail') OVER of_day AS detail_connections,
        sum(r.connections) FILTER (r.source = 'zERT summary') OVER of_day AS summary_connections,
        max(c.covered_hours) FILTER (r.source = 'zERT detail') OVER of_day AS detail_hours,
        max(c.covered_hours) FILTER (r.source = 'zERT summary') OVER of_day AS summary_hours
    FROM recorded AS r
    LEFT JOIN covered AS c ON r.system = c.system AND r.hour_utc = c.hour_utc AND r.source = c.source
    WINDOW of_day AS (PARTITION BY r.system, c.day)
)

SELECT
    system::VARCHAR AS system,
    hour_utc,
    day::DATE AS day,
    source::VARCHAR AS source,
    (
        source = CASE
            WHEN summary_connections IS NULL THEN 'zERT detail'
            WHEN detail_connections IS NULL THEN 'zERT summary'
            WHEN coalesce(
                100 * detail_hours >= least_covered_pct() * summary_hours,
                100 * detail_connections >= least_covered_pct() * summary_connections
            ) THEN 'zERT detail'
            ELSE 'zERT summary'
        END
    )::BOOLEAN AS is_counted,
    covered_hours::DOUBLE AS covered_hours,
    hours::BIGINT AS hours
FROM compared
