-- The server ports of the connections of a job in the records of one day.
--
-- Before z/OS 3.2 the record of a failed handshake does not show which side is the server. The job usually has
-- other connections of that day, whose records do.

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    job_name::VARCHAR AS job_name,
    list_sort(list(DISTINCT server_port_of(handshake_role, connection_flags, local_port, remote_port)))::BIGINT[]
        AS ports
FROM smf119_zert_detail
WHERE job_name IS NOT NULL AND shows_server(handshake_role, connection_flags)
GROUP BY ALL
