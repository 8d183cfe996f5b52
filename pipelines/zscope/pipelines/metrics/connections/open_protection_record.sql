-- A record about the protection of a connection that has to be compared with the records of other days.
--
-- These are the connections that last over midnight or end near it, the sessions of FTP and TN3270 without a
-- connection on the same day, and what NETSTAT displays.

-- Nearly all connections are settled. Therefore their rows have only the columns to compare, and the few others
-- are read again with all columns.
WITH connection AS (
    SELECT
        day,
        source,
        system,
        stack,
        connection_id,
        local_port,
        remote_port,
        start_utc,
        end_utc
    FROM protection_record
    WHERE source IN ('zERT detail', 'AT-TLS')
)

SELECT t.*
FROM protection_record AS t
ANTI JOIN (SELECT * FROM connection WHERE source = 'zERT detail') AS z
    ON
        t.day = z.day
        AND t.connection_id = z.connection_id
        AND t.system = z.system
        AND t.stack IS NOT DISTINCT FROM z.stack
        AND epoch_us(t.start_utc) >= epoch_us(z.start_utc) - 1000000
        AND epoch_us(t.start_utc) <= epoch_us(z.start_utc) + 1000000
WHERE t.source = 'AT-TLS' AND t.is_settled IS NOT TRUE
UNION ALL
SELECT e.*
FROM protection_record AS e
ANTI JOIN connection AS c
    ON
        e.day = c.day
        AND e.system = c.system
        AND e.local_port = c.local_port
        AND e.remote_port = c.remote_port
        AND coalesce(e.connection_id, 0) <= c.connection_id
        AND coalesce(e.connection_id, 4294967295) >= c.connection_id
        AND e.moment_utc >= c.start_utc - INTERVAL 1 SECOND
        AND e.moment_utc <= c.end_utc + INTERVAL 30 SECOND
WHERE e.source IN ('FTP', 'TN3270')
UNION ALL
SELECT e.* REPLACE (m.day IS NOT NULL AS is_matched)
FROM protection_record AS e
LEFT JOIN (
    SELECT DISTINCT
        e.day,
        e.system,
        e.stack,
        e.connection_id,
        e.remote_ip,
        e.remote_port,
        e.local_port
    FROM protection_record AS e
    SEMI JOIN connection AS c
    ON
        e.day = c.day
        AND e.system = c.system
        AND e.local_port = c.local_port
        AND e.remote_port = c.remote_port
        AND coalesce(e.connection_id, 0) <= c.connection_id
        AND coalesce(e.connection_id, 4294967295) >= c.connection_id
        AND e.moment_utc >= c.start_utc - INTERVAL 1 SECOND
        AND e.moment_utc <= c.end_utc + INTERVAL 30 SECOND
    WHERE e.source = 'NETSTAT TTLS'
) AS m
    ON
        e.day = m.day
        AND e.system IS NOT DISTINCT FROM m.system
        AND e.stack IS NOT DISTINCT FROM m.stack
        AND e.connection_id = m.connection_id
        AND e.remote_ip IS NOT DISTINCT FROM m.remote_ip
        AND e.remote_port IS NOT DISTINCT FROM m.remote_port
        AND e.local_port IS NOT DISTINCT FROM m.local_port
WHERE e.source = 'NETSTAT TTLS'
UNION ALL
-- The part without a join comes last: if it comes first, DuckDB 1.5 never ends the statement over millions of rows
-- when it returns them to a client, as all its threads wait.
SELECT *
FROM protection_record
WHERE source = 'zERT detail' AND is_settled IS NOT TRUE
