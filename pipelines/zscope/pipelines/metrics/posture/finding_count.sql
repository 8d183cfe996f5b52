-- The connections of a system, port and job in the zERT records that count, and how many each finding is about.
--
-- The hours of a day are divided among its rows, so that sums over rows have each day once. The findings are declared in
-- finding.checks.toml; the line in double braces is generated from it.

WITH counted AS (
    SELECT
        d.source,
        d.system,
        d.server_port,
        d.job_name,
        d.connections,
        d.connections_by_id,
        s.covered_hours / count(*) OVER (PARTITION BY d.system, s.day) AS covered_hours,
        s.hours / count(*) OVER (PARTITION BY d.system, s.day) AS hours
    FROM finding_day AS d
    INNER JOIN protection_source AS s
        ON
            s.is_counted
            AND d.source = s.source
            AND d.system IS NOT DISTINCT FROM s.system
            AND d.hour_utc IS NOT DISTINCT FROM s.hour_utc
)

SELECT
    source,
    system,
    server_port,
    job_name,
    sum(connections)::BIGINT AS connections,
    sum(covered_hours)::DOUBLE AS covered_hours,
    sum(hours)::DOUBLE AS hours,
    MAP {
        {{sums}}
    } AS connections_by_id
FROM counted
GROUP BY ALL
