-- How many hours of each period count on a system, and why it is not compared if those are too few.

WITH length AS (
    SELECT
        max(epoch(to_utc - from_utc)) FILTER (period = 'earlier') / 3600 AS earlier_length,
        max(epoch(to_utc - from_utc)) FILTER (period = 'later') / 3600 AS later_length,
        coalesce(getvariable('least_period_pct')::DOUBLE, 50) AS least_pct
    FROM compared_period
),

hours AS (
    SELECT
        system,
        counted,
        any_value(source) AS source,
        bool_or(is_known) AS is_known,
        count_if(is_counted AND period = 'earlier') AS earlier_hours,
        count_if(is_counted AND period = 'later') AS later_hours
    FROM period_hour
    GROUP BY system, counted
),

covered AS (
    SELECT
        h.*,
        l.least_pct,
        if(h.is_known, 100 * h.earlier_hours / nullif(l.earlier_length, 0), NULL) AS earlier_covered_pct,
        if(h.is_known, 100 * h.later_hours / nullif(l.later_length, 0), NULL) AS later_covered_pct
    FROM hours AS h
    CROSS JOIN length AS l
)

SELECT
    system::VARCHAR AS system,
    counted::VARCHAR AS counted,
    source::VARCHAR AS source,
    earlier_hours::BIGINT AS earlier_hours,
    later_hours::BIGINT AS later_hours,
    earlier_covered_pct::DOUBLE AS earlier_covered_pct,
    later_covered_pct::DOUBLE AS later_covered_pct,
    CASE
        WHEN is_known THEN system || ': ' || records_text(source) || ' cover ' || nullif(concat_ws(
            ' and ',
            CASE
                WHEN earlier_covered_pct < least_pct THEN number_text(earlier_covered_pct) || ' % of the earlier period'
            END,
            CASE WHEN later_covered_pct < least_pct THEN number_text(later_covered_pct) || ' % of the later period' END
        ), '') || ', and at least ' || number_text(least_pct) || ' % are needed'
        WHEN earlier_hours = 0 OR later_hours = 0 THEN system || ': no ' || if(
            counted = 'use of TLS', 'connections', counted
        ) || ' in the ' || concat_ws(
            ' and the ',
            if(earlier_hours = 0, 'earlier', NULL),
            if(later_hours = 0, 'later', NULL)
        ) || ' period'
    END::VARCHAR AS why
FROM covered
