-- How many hours of a local day of a system the records of a source cover.

SELECT
    system,
    source,
    day,
    sum(covered_hours)::DOUBLE AS covered_hours,
    sum(hours)::BIGINT AS hours
FROM coverage_hour
GROUP BY system, source, day
