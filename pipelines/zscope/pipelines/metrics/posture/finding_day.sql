-- The connections of a source, hour, system, port and job in the records of one day, and how many a finding is about.
--
-- The findings are declared in finding.checks.toml; the line in double braces is generated from it.

SELECT
    source,
    day,
    system,
    hour_utc,
    server_port,
    job_name,
    sum(connections)::BIGINT AS connections,
    MAP {
        {{counts}}
    } AS connections_by_id
FROM posture_group
GROUP BY ALL
