-- How many hours of a local day of a system the records of a source cover, without those of benchmark runs.

SELECT
    c.system,
    c.source,
    c.day,
    sum(c.covered_hours)::DOUBLE AS covered_hours,
    sum(c.hours)::BIGINT AS hours
FROM coverage_hour AS c
ANTI JOIN left_out_hour AS l ON c.system = l.system AND c.hour_utc = l.hour_utc
GROUP BY c.system, c.source, c.day
