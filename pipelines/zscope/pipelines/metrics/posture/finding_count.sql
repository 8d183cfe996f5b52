-- The ended connections of a system, port and job in zERT records, and the number that each finding is about.
--
-- The findings are declared in finding.checks.toml; the line in double braces is generated from it.

SELECT
    system,
    server_port,
    job_name,
    sum(connections)::BIGINT AS connections,
    MAP {
        {{sums}}
    } AS connections_by_id
FROM finding_day
GROUP BY ALL
