-- A connection that zERT detail does not contain, from the first other source that has it.
--
-- Termination records (119-2) come first, then NETSTAT, FTP and TN3270. The clocks of zERT and of termination records
-- are read one after the other and recorded with different precision. NETSTAT, FTP and TN3270 are matched by ports,
-- time and, if it is recorded, number, as they have no start time. Half a minute is added at the end, since a record
-- about a session can be written after its connection ended.

WITH zert AS (
    SELECT *
    FROM protection_record
    WHERE source = 'zERT detail'
),

terminated AS (
    SELECT *
    FROM protection_record
    WHERE source = 'AT-TLS'
),

-- A connection counts at the first display that shows it.
displayed AS (
    SELECT *
    FROM protection_record
    WHERE source = 'NETSTAT TTLS'
    QUALIFY row_number() OVER (
        PARTITION BY system, stack, connection_id, remote_ip, remote_port, local_port ORDER BY moment_utc, day
    ) = 1
),

elsewhere AS (
    SELECT
        *,
        -- TN3270 records have no number, so any number matches. As a range, since joins with comparisons
        -- alone are fast.
        coalesce(connection_id, 0) AS first_id,
        coalesce(connection_id, 4294967295) AS last_id
    FROM (
        SELECT * FROM protection_record WHERE source IN ('FTP', 'TN3270')
        UNION ALL
        SELECT * FROM displayed
    )
    WHERE NOT is_matched
)

SELECT t.*
FROM terminated AS t
ANTI JOIN zert AS z
    ON
        t.connection_id = z.connection_id
        AND t.system = z.system
        AND t.stack IS NOT DISTINCT FROM z.stack
        AND t.start_utc BETWEEN z.start_utc - INTERVAL 1 SECOND AND z.start_utc + INTERVAL 1 SECOND
UNION ALL
SELECT e.* EXCLUDE (first_id, last_id)
FROM elsewhere AS e
ANTI JOIN zert AS z
    ON
        e.system = z.system
        AND e.local_port = z.local_port
        AND e.remote_port = z.remote_port
        AND e.first_id <= z.connection_id
        AND e.last_id >= z.connection_id
        AND e.moment_utc >= z.start_utc - INTERVAL 1 SECOND
        AND e.moment_utc <= z.end_utc + INTERVAL 30 SECOND
ANTI JOIN terminated AS t
    ON
        e.system = t.system
        AND e.local_port = t.local_port
        AND e.remote_port = t.remote_port
        AND e.first_id <= t.connection_id
        AND e.last_id >= t.connection_id
        AND e.moment_utc >= t.start_utc - INTERVAL 1 SECOND
        AND e.moment_utc <= t.end_utc + INTERVAL 30 SECOND
-- Connections that NETSTAT and FTP or TN3270 both record, within a day: ports are used again.
ANTI JOIN displayed AS d
    ON
        e.source <> d.source
        AND e.system = d.system
        AND e.local_port = d.local_port
        AND e.remote_port = d.remote_port
        AND e.first_id <= d.connection_id
        AND e.last_id >= d.connection_id
        AND e.moment_utc >= d.moment_utc - INTERVAL 1 DAY
        AND e.moment_utc <= d.moment_utc + INTERVAL 1 DAY
