-- The connections without protection or with an old version of TLS, by system, port, job and client.
--
-- Connection details count when a connection ends, summaries when it begins; for a system on a day only one of them
-- counts (protection_source), as in tls_posture. The hours of a day are divided among its rows.

SELECT
    e.source,
    e.system,
    e.hour_utc,
    e.server_port,
    e.job_name,
    e.client_ip,
    e.protocol,
    sum(e.connections)::BIGINT AS connections,
    (s.covered_hours / count(*) OVER rows_of_day)::DOUBLE AS covered_hours,
    (s.hours / count(*) OVER rows_of_day)::DOUBLE AS hours
FROM exposed_client_day AS e
INNER JOIN protection_source AS s
    ON
        s.is_counted
        AND e.source = s.source
        AND e.system IS NOT DISTINCT FROM s.system
        AND e.hour_utc IS NOT DISTINCT FROM s.hour_utc
GROUP BY
    e.source, e.system, e.hour_utc, e.server_port, e.job_name, e.client_ip, e.protocol, s.day, s.covered_hours, s.hours
WINDOW rows_of_day AS (PARTITION BY e.system, s.day)
