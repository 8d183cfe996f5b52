-- The rows of tls_hour, with how far zERT details and summaries cover their day, and whether they count for it.
--
-- The hours of a day are divided among the rows of a source, so that sums over rows have each day once. Hours with
-- benchmark runs are left out.

SELECT
    t.*,
    s.is_counted,
    (s.covered_hours / count(*) OVER rows_of_day)::DOUBLE AS covered_hours,
    (s.hours / count(*) OVER rows_of_day)::DOUBLE AS hours
FROM tls_hour AS t
ANTI JOIN left_out_hour AS l ON t.system = l.system AND t.hour_utc = l.hour_utc
LEFT JOIN protection_source AS s
    ON
        t.source = s.source
        AND t.system IS NOT DISTINCT FROM s.system
        AND t.hour_utc IS NOT DISTINCT FROM s.hour_utc
WINDOW rows_of_day AS (PARTITION BY t.source, t.system, s.day)
