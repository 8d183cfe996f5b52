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

event AS (
    SELECT
        'SMF 119-1' AS source,
        system::VARCHAR AS system,
        stack::VARCHAR AS stack,
        epoch_us(start_utc) AS at_us,
        local_port::INTEGER AS local_port
    FROM smf119_tcp_init
    UNION ALL BY NAME
    SELECT
        'SMF 119-2' AS source,
        system,
        stack,
        epoch_us(end_utc) AS at_us,
        local_port
    FROM connection_ended
    UNION ALL BY NAME
    SELECT
        'zERT detail' AS source,
        system::VARCHAR AS system,
        stack::VARCHAR AS stack,
        epoch_us(end_utc) AS at_us,
        local_port::INTEGER AS local_port
    FROM smf119_zert_detail
    WHERE event_type IN (3, 4)
),

-- Records by moment: they are counted by differences of running totals, without comparing each with each.
event_time AS (
    SELECT
        source,
        system,
        stack,
        local_port,
        at_us,
        count(*) AS records
    FROM event
    WHERE at_us IS NOT NULL
    GROUP BY ALL
),

running AS (
    SELECT
        source,
        system,
        stack,
        NULL::INTEGER AS local_port,
        at_us,
        sum(sum(records)) OVER (PARTITION BY source, system, stack ORDER BY at_us) AS total
    FROM event_time
    GROUP BY source, system, stack, at_us
    UNION ALL BY NAME
    SELECT
        source,
        system,
        stack,
        local_port,
        at_us,
        sum(sum(records)) OVER (PARTITION BY source, system, stack, local_port ORDER BY at_us) AS total
    FROM event_time
    WHERE source = 'SMF 119-2'
    GROUP BY source, system, stack, local_port, at_us
),

counted AS (
    SELECT
        system,
        stack,
        NULL::INTEGER AS local_port,
        start_us,
        end_us,
        unnest([
            {'measure': 'opened', 'counted': opened, 'source': 'SMF 119-1'},
            {'measure': 'closed', 'counted': closed, 'source': 'SMF 119-2'},
            {'measure': 'closed', 'counted': closed, 'source': 'zERT detail'}
        ]) AS one
    FROM stack_interval
    UNION ALL BY NAME
    SELECT
        system,
        stack,
        local_port,
        start_us,
        end_us,
        {'measure': 'accepted by the port', 'counted': accepted, 'source': 'SMF 119-2'} AS one
    FROM port_interval
),

question AS (
    SELECT
        * EXCLUDE (one),
        one.measure AS measure,
        one.counted AS counted,
        one.source AS source,
        coalesce(local_port, -1) AS port_key
    FROM counted
),

at_end AS (
    SELECT
        q.*,
        r.total AS total_at_end
    FROM question AS q
    ASOF LEFT JOIN (SELECT *, coalesce(local_port, -1) AS port_key FROM running) AS r
        ON
            q.source = r.source
            AND q.system = r.system
            AND q.stack = r.stack
            AND q.port_key = r.port_key
            AND q.end_us > r.at_us
),

both_ends AS (
    SELECT
        q.*,
        r.total AS total_at_start
    FROM at_end AS q
    ASOF LEFT JOIN (SELECT *, coalesce(local_port, -1) AS port_key FROM running) AS r
        ON
            q.source = r.source
            AND q.system = r.system
            AND q.stack = r.stack
            AND q.port_key = r.port_key
            AND q.start_us > r.at_us
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
    FROM both_ends
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
