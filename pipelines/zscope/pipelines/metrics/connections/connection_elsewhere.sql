-- A connection that zERT detail does not contain, from the first other source that has it.
--
-- Termination records (119-2) come first, then NETSTAT, FTP and TN3270. The clocks of zERT and of termination records
-- are read one after the other and recorded with different precision. NETSTAT, FTP and TN3270 are matched by ports,
-- time and, if it is recorded, number, as they have no start time. Half a minute is added at the end, since a record
-- about a session can be written after its connection ended.
--
-- No part is materialized: DuckDB would then read all columns of its rows, and of everything else in the statement.
-- Times are compared as numbers: DuckDB adds an interval to a moment by the calendar, which is slow.

WITH connection AS NOT MATERIALIZED (
    SELECT
        source,
        system,
        stack,
        connection_id,
        local_port,
        remote_port,
        epoch_us(start_utc) AS start_us,
        epoch_us(end_utc) AS end_us
    FROM protection_record
    WHERE source IN ('zERT detail', 'AT-TLS')
),

-- A connection counts at the first display that shows it.
displayed AS NOT MATERIALIZED (
    SELECT *
    FROM protection_record
    WHERE source = 'NETSTAT TTLS'
    QUALIFY row_number() OVER (
        PARTITION BY system, stack, connection_id, remote_ip, remote_port, local_port ORDER BY moment_utc, day
    ) = 1
),

elsewhere AS NOT MATERIALIZED (
    SELECT
        *,
        epoch_us(moment_utc) AS moment_us,
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
),

-- Of all connections, the few that can be those of displays, transfers and sessions.
near AS NOT MATERIALIZED (
    SELECT c.*
    FROM connection AS c
    SEMI JOIN elsewhere AS e
        ON c.system = e.system AND c.local_port = e.local_port AND c.remote_port = e.remote_port
)

SELECT t.* EXCLUDE (start_us)
FROM (
    SELECT
        *,
        epoch_us(start_utc) AS start_us
    FROM protection_record
    WHERE source = 'AT-TLS'
) AS t
ANTI JOIN (SELECT * FROM connection WHERE source = 'zERT detail') AS z
    ON
        t.connection_id = z.connection_id
        AND t.system = z.system
        AND t.stack IS NOT DISTINCT FROM z.stack
        AND t.start_us >= z.start_us - 1000000
        AND t.start_us <= z.start_us + 1000000
UNION ALL
SELECT e.* EXCLUDE (moment_us, first_id, last_id)
FROM elsewhere AS e
ANTI JOIN near AS c
    ON
        e.system = c.system
        AND e.local_port = c.local_port
        AND e.remote_port = c.remote_port
        AND e.first_id <= c.connection_id
        AND e.last_id >= c.connection_id
        AND e.moment_us >= c.start_us - 1000000
        AND e.moment_us <= c.end_us + 30000000
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
