-- How many of the hours of the newest week of zERT details of a system they cover.
--
-- The hours are those of days with data, as in coverage.

SELECT
    p.system::VARCHAR AS system,
    sum(c.covered_hours)::DOUBLE AS covered_hours,
    count(*)::BIGINT AS hours
FROM tls_use_period AS p
INNER JOIN coverage_hour AS c
    ON c.source = '119-11' AND p.system = c.system AND c.hour_utc BETWEEN p.from_utc AND p.to_utc
GROUP BY p.system
