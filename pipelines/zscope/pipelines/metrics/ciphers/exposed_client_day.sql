-- The connections of each client in the records of one day that had no protection or an old version of TLS.
--
-- With zERT details they are connections that ended, with summaries those that began. What had neither fault is left out,
-- so a day has few rows.

WITH connection AS (
    SELECT
        'zERT detail' AS source,
        day,
        system,
        time_bucket(INTERVAL 1 HOUR, end_utc) AS hour_utc,
        server_port,
        job_name,
        CASE
            WHEN direction = 'Inbound' THEN remote_ip
            WHEN direction = 'Outbound' THEN local_ip
            WHEN local_port = server_port THEN remote_ip
            ELSE local_ip
        END AS client_ip,
        protocol,
        is_tls,
        is_tls AND NOT handshake_failed AS has_session,
        tls_version_code,
        1 AS connections
    FROM connection_detail
    UNION ALL BY NAME
    SELECT
        'zERT summary' AS source,
        day,
        system,
        time_bucket(INTERVAL 1 HOUR, moment_utc) AS hour_utc,
        server_port,
        job_name,
        client_ip,
        protocol,
        is_tls,
        is_tls AS has_session,
        tls_version_code,
        connections
    FROM summary_group
    WHERE connections > 0
)

SELECT
    source::VARCHAR AS source,
    day,
    system,
    hour_utc,
    server_port,
    job_name,
    client_ip,
    protocol,
    sum(connections)::BIGINT AS connections
FROM connection
WHERE
    (protocol = 'none' AND NOT is_tls)
    OR (has_session AND (is_ssl_version(tls_version_code) OR is_tls10_or_tls11(tls_version_code)))
GROUP BY ALL
