-- How many hours of the newest week zERT details cover. Hours of benchmark runs do not count.
--
-- The hours are those between the first and the last evidence of the system, as in coverage.

SELECT
    p.system::VARCHAR AS system,
    sum(c.covered_hours)::DOUBLE AS covered_hours,
    count(*)::BIGINT AS hours
FROM tls_use_period AS p
INNER JOIN coverage_hour AS c
    ON c.source = '119-11' AND p.system = c.system AND c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
ANTI JOIN run_hour AS r ON c.system = r.system AND c.hour_utc = r.hour_utc
GROUP BY p.system
