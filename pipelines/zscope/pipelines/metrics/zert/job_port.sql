-- The server ports of the connections of a job in the records of one day.
--
-- Before z/OS 3.2 the record of a failed handshake does not show which side is the server, and nor do many records of
-- connections without TLS. The job usually has other connections of that day, whose records do. Otherwise a port that meets
-- at least five ports of the other side is that of a server: a client gets another one for each connection.

WITH shown AS (
    SELECT
        day,
        system,
        stack,
        job_name,
        server_port_of(handshake_role, connection_flags, local_port, remote_port) AS port
    FROM smf119_zert_detail
    WHERE job_name IS NOT NULL AND shows_server(handshake_role, connection_flags)
),

not_shown AS (
    SELECT
        day,
        system,
        stack,
        job_name,
        local_port,
        remote_port
    FROM smf119_zert_detail
    WHERE job_name IS NOT NULL AND NOT shows_server(handshake_role, connection_flags)
),

met AS (
    SELECT
        * EXCLUDE (local_port, remote_port),
        local_port AS port,
        remote_port AS other_port
    FROM not_shown
    UNION ALL
    SELECT
        * EXCLUDE (local_port, remote_port),
        remote_port AS port,
        local_port AS other_port
    FROM not_shown
),

recurring AS (
    SELECT
        day,
        system,
        stack,
        job_name,
        port
    FROM met
    GROUP BY ALL
    HAVING count(DISTINCT other_port) >= 5
)

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    job_name::VARCHAR AS job_name,
    list_sort(list(DISTINCT port))::BIGINT[] AS ports
FROM (
    SELECT * FROM shown
    UNION ALL
    SELECT * FROM recurring
)
GROUP BY ALL
