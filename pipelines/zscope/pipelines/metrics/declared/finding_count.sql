-- The connections of a system, port and job that zERT saw end, and how many each finding is about.
--
-- What is a finding stands in checks/finding.toml; the line in double braces is made from it.

SELECT
    system,
    server_port,
    job_name,
    count(*) AS connections,
    MAP {
        {{counts}}
    } AS found
FROM connection_posture
GROUP BY ALL
