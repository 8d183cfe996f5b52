-- A count of connections in an interval of a TCP/IP stack, compared with the records of single connections.
--
-- The stack counts by itself (SMF 119-5, and for reserved ports 119-7); the records are those of single
-- connections that began or ended in its interval (119-1, 119-2, zERT detail). The interval ends when its
-- record was written. Both numbers are facts: no difference is an error. `explanation` says what differences of
-- this kind come from.

WITH stack_interval AS (
    SELECT
        system::VARCHAR AS system,
        stack::VARCHAR AS stack,
        epoch_us(written_utc) - interval_us::BIGINT AS start_us,
        epoch_us(written_utc) AS end_us,
        opened_connections::BIGINT + accepted_connections AS opened,
        closed_connections::BIGINT AS closed,
        open_connections::BIGINT AS open_connections
    FROM smf119_stack_statistics
    -- A dump that was loaded twice counts once.
    QUALIFY row_number() OVER (
        PARTITION BY system, stack, written_local, written_utc, interval_us, opened_connections, closed_connections
        ORDER BY load_id, record_no
    ) = 1
),

port_interval AS (
    SELECT
        system::VARCHAR AS system,
        stack::VARCHAR AS stack,
        local_port::INTEGER AS local_port,
        epoch_us(written_utc) - interval_us::BIGINT AS start_us,
        epoch_us(written_utc) AS end_us,
        sum(accepted_connections)::BIGINT AS accepted
    FROM (
        SELECT *
        FROM smf119_port_statistics
        WHERE port_kind = 'TCP'
        QUALIFY row_number() OVER (
            PARTITION BY system, stack, written_local, written_utc, reserved_for, bind_ip, local_port, section_no
            ORDER BY load_id, record_no
        ) = 1
    )
    GROUP BY system, stack, local_port, written_utc, interval_us
),

-- Only termination records count for a port.
event AS NOT MATERIALIZED (
    SELECT
        'SMF 119-1' AS source,
        system::VARCHAR AS system,
        stack::VARCHAR AS stack,
        epoch_us(start_utc) AS at_us,
        NULL::INTEGER AS local_port
    FROM smf119_tcp_init
    UNION ALL
    SELECT
        'SMF 119-2' AS source,
        system,
        stack,
        epoch_us(end_utc) AS at_us,
        local_port
    FROM connection_ended
    UNION ALL
    SELECT
        'zERT detail' AS source,
        system::VARCHAR AS system,
        stack::VARCHAR AS stack,
        epoch_us(end_utc) AS at_us,
        NULL::INTEGER AS local_port
    FROM smf119_zert_detail
    WHERE event_type IN (3, 4)
),

-- The edges of intervals. Without statistics there is nothing to compare, however many connections there are.
edge AS (
    SELECT unnest([start_us, end_us]) AS edge_us FROM stack_interval
    UNION ALL
    SELECT unnest([start_us, end_us]) AS edge_us FROM port_interval
),

-- Records by the last edge before them in their minute, or by minute if there is none: both lie on the same side of
-- each edge. So they are counted by differences of running totals over few rows.
event_time AS (
    SELECT
        e.source,
        e.system,
        e.stack,
        p.local_port,
        coalesce(
            list_max(list_filter(m.edges, lambda edge : edge <= e.at_us)), minute_of(e.at_us) * 60000000
        ) AS at_us,
        count(*) AS records
    FROM event AS e
    LEFT JOIN (
        SELECT
            minute_of(edge_us) AS minute_no,
            list(DISTINCT edge_us) AS edges
        FROM edge
        GROUP BY minute_no
    ) AS m ON minute_of(e.at_us) = m.minute_no
    LEFT JOIN (SELECT DISTINCT local_port FROM port_interval) AS p ON e.local_port = p.local_port
    WHERE e.at_us BETWEEN (SELECT min(edge_us) FROM edge) AND (SELECT max(edge_us) FROM edge)
    GROUP BY ALL
),

-- The key of a port is its number, or -1 for the whole stack. Without its number a port has no records.
running AS (
    SELECT
        source,
        system,
        stack,
        -1 AS port_key,
        at_us,
        sum(sum(records)) OVER (PARTITION BY source, system, stack ORDER BY at_us) AS total
    FROM event_time
    GROUP BY source, system, stack, at_us
    UNION ALL BY NAME
    SELECT
        source,
        system,
        stack,
        local_port AS port_key,
        at_us,
        sum(sum(records)) OVER (PARTITION BY source, system, stack, local_port ORDER BY at_us) AS total
    FROM event_time
    WHERE source = 'SMF 119-2' AND local_port IS NOT NULL
    GROUP BY source, system, stack, local_port, at_us
),

stack_count AS (
    SELECT
        system,
        stack,
        NULL::INTEGER AS local_port,
        -1 AS port_key,
        start_us,
        end_us,
        unnest([
            {'measure': 'opened', 'counted': opened, 'source': 'SMF 119-1'},
            {'measure': 'closed', 'counted': closed, 'source': 'SMF 119-2'},
            {'measure': 'closed', 'counted': closed, 'source': 'zERT detail'}
        ], recursive := true)
    FROM stack_interval
    UNION ALL BY NAME
    SELECT
        system,
        stack,
        local_port,
        local_port AS port_key,
        start_us,
        end_us,
        'accepted by the port' AS measure,
        accepted AS counted,
        'SMF 119-2' AS source
    FROM port_interval
),

with_end AS (
    SELECT
        c.*,
        r.total AS total_at_end
    FROM stack_count AS c
    ASOF LEFT JOIN running AS r
        ON
            c.source = r.source
            AND c.system = r.system
            AND c.stack = r.stack
            AND c.port_key = r.port_key
            AND c.end_us > r.at_us
),

with_both_ends AS (
    SELECT
        c.*,
        r.total AS total_at_start
    FROM with_end AS c
    ASOF LEFT JOIN running AS r
        ON
            c.source = r.source
            AND c.system = r.system
            AND c.stack = r.stack
            AND c.port_key = r.port_key
            AND c.start_us > r.at_us
),

compared AS (
    SELECT
        system,
        stack,
        local_port,
        start_us,
        end_us,
        measure,
        source AS compared_with,
        counted,
        (coalesce(total_at_end, 0) - coalesce(total_at_start, 0))::BIGINT AS records
    FROM with_both_ends
    UNION ALL BY NAME
    SELECT
        system,
        stack,
        start_us,
        end_us,
        'change of open connections' AS measure,
        'opened less closed' AS compared_with,
        open_connections - lag(open_connections) OVER in_time AS counted,
        opened - closed AS records
    FROM stack_interval
    WINDOW in_time AS (PARTITION BY system, stack ORDER BY end_us)
    QUALIFY abs(start_us - lag(end_us) OVER in_time) <= 2000000
)

SELECT
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    local_port::INTEGER AS local_port,
    make_timestamptz(start_us) AS interval_start_utc,
    make_timestamptz(end_us) AS interval_end_utc,
    measure::VARCHAR AS measure,
    compared_with::VARCHAR AS compared_with,
    counted::BIGINT AS counted,
    records::BIGINT AS records,
    (counted - records)::BIGINT AS difference,
    CASE
        WHEN counted = records THEN 'equal'
        WHEN compared_with = 'opened less closed' THEN
            'connections that failed or were reset while they were opened are counted on one side only'
        WHEN records = 0 THEN
            'no such records in the interval: not recorded, not loaded, or only connections without them'
        WHEN records < counted AND compared_with = 'zERT detail' THEN
            'zERT leaves out connections that ended before data flowed, and times when it was not active'
        WHEN records < counted AND measure = 'opened' THEN
            'failed attempts, and connections of jobs or times without recording, have no record'
        WHEN records < counted THEN
            'connections still open at the end of the data, and jobs or times without recording, have no record'
        WHEN measure = 'accepted by the port' THEN
            'records of connections that began earlier, or that this system opened from the port'
        ELSE 'records of connections at the edges of the interval, or of times when statistics were not on'
    END::VARCHAR AS explanation
FROM compared
ORDER BY system, stack, interval_start_utc, local_port NULLS FIRST, measure, compared_with
