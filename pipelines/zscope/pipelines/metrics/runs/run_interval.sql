-- One interval of a side of a benchmark run, with its CPU time, its transactions, and whether it counts.
--
-- Intervals are the CPU intervals of the system that overlap with the run; if there are none, the minutes of
-- the run are used, without CPU time. A run has its system to itself: all CPU time and all connections of the
-- system belong to it. Connections are apportioned by time over the intervals they span; the time a
-- connection took counts in the interval in which it ended.
--
-- Latency: as supplied in transaction_count, else according to the workload. Connections of RR and STR stay open,
-- and each of the N clients sends its next request when it has the reply, so the mean time of a transaction is N
-- divided by the transactions per second (Little's law). For CRR and runs without a workload it is the time from
-- start to end of a connection.
--
-- Transactions are counted one way for a whole side: as supplied with the run, else as supplied in
-- transaction_count, else according to the workload: RR and STR by their bytes divided by the size of a
-- request and its reply, CRR and runs without a workload by their connections (119-2, or ended connections in
-- zERT records if there are none). If the records have less than 90 % of the connections of a CRR run, their bytes are
-- not those of the run.
--
-- Trimming: intervals that are not completely inside the run are left out. Of the rest, intervals at either
-- edge whose transactions per second are below run_edge_pct of the run's median are left out, up to the first
-- that is not. Intervals without CPU time or without a count are also left out if others of the same side
-- have it.

WITH side AS (
    SELECT
        row_number() OVER (ORDER BY name, system, role) AS side_no,
        name,
        system,
        role,
        epoch_us(from_utc) AS from_us,
        epoch_us(to_utc) AS to_us,
        workload,
        workload_kind,
        client_bytes + server_bytes AS transaction_bytes,
        -- The clients of a workload are shared by the systems of a side.
        clients / count(*) OVER (PARTITION BY name, role) AS clients,
        transactions AS supplied
    FROM run
    WHERE role <> 'tls-test'
),

measured AS (
    SELECT
        s.*,
        c.interval_ms,
        epoch_us(c.interval_start_utc) AS begin_us,
        epoch_us(c.interval_end_utc) AS end_us,
        c.cpu_s,
        c.ziip_s
    FROM side AS s
    INNER JOIN cpu_slot AS c
        ON
            s.system = c.system
            AND s.from_us < epoch_us(c.interval_end_utc)
            AND s.to_us > epoch_us(c.interval_start_utc)
    WHERE c.passed_over IS NULL
    QUALIFY bool_or(c.cpu_s IS NOT NULL) OVER (PARTITION BY s.side_no)
),

-- Time of the run without a CPU interval, in a run that has others.
gap AS (
    SELECT * REPLACE (
        end_us AS begin_us,
        least(to_us, coalesce(lead(begin_us) OVER in_time, to_us)) AS end_us,
        NULL AS interval_ms,
        NULL AS cpu_s,
        NULL AS ziip_s
    )
    FROM (
        SELECT * FROM measured
        UNION ALL
        SELECT * REPLACE (from_us AS begin_us, from_us AS end_us)
        FROM measured
        QUALIFY
            row_number() OVER (PARTITION BY side_no ORDER BY begin_us) = 1
            AND begin_us > from_us
    )
    WINDOW in_time AS (PARTITION BY side_no ORDER BY begin_us)
),

by_minute AS (
    SELECT
        s.*,
        60000 AS interval_ms,
        unnest(range(s.from_us, s.to_us, 60000000)) AS begin_us,
        begin_us + 60000000 AS end_us,
        NULL AS cpu_s,
        NULL AS ziip_s
    FROM side AS s
    ANTI JOIN measured AS m ON s.side_no = m.side_no
),

piece AS (
    SELECT
        * REPLACE (coalesce(interval_ms, (end_us - begin_us) // 1000) AS interval_ms),
        bool_or(cpu_s IS NOT NULL) OVER (PARTITION BY side_no) AS in_measured_side,
        -- Ends of intervals differ by a fraction of a second from the noted times.
        CASE
            WHEN begin_us < from_us - (end_us - begin_us) / 100 THEN 'begins before the run'
            WHEN end_us > to_us + (end_us - begin_us) / 100 THEN 'ends after the run'
        END AS outside
    FROM (
        SELECT * FROM measured
        UNION ALL BY NAME
        SELECT * FROM gap WHERE end_us > begin_us + 2000000
        UNION ALL BY NAME
        SELECT * FROM by_minute
    )
),

-- Runs are short compared with a store: a join with a small table of minutes excludes connections far from
-- all runs. Only a connection that is longer than a run can be in it without starting or ending in one of its
-- minutes.
stretch AS (
    SELECT
        side_no,
        system,
        min(begin_us) AS begin_us,
        max(end_us) AS end_us
    FROM piece
    GROUP BY ALL
),

stretch_minute AS (
    SELECT DISTINCT
        system,
        unnest(minutes_of(begin_us, end_us + 1)) AS minute_no
    FROM stretch
),

activity_moment AS (
    SELECT
        counted_by,
        system,
        epoch_us(end_utc) AS end_us,
        -- Connections without a start, or with one after their end, count completely in the interval in which
        -- they ended.
        least(epoch_us(start_utc), end_us) AS start_us,
        duration_ms,
        transactions,
        in_bytes,
        out_bytes,
        response_us
    FROM (SELECT * FROM settled_activity UNION ALL SELECT * FROM open_activity)
    WHERE
        end_utc >= (SELECT make_timestamptz(min(begin_us)) FROM stretch)
        AND coalesce(start_utc, end_utc) <= (SELECT make_timestamptz(max(end_us)) FROM stretch)
),

near AS (
    SELECT *
    FROM activity_moment
    WHERE
        (system, minute_of(start_us)) IN (SELECT (system, minute_no) FROM stretch_minute)
        OR (system, minute_of(end_us)) IN (SELECT (system, minute_no) FROM stretch_minute)
        OR end_us - start_us > (SELECT min(end_us - begin_us) FROM stretch)
),

within AS (
    SELECT
        s.side_no,
        n.*
    FROM near AS n
    INNER JOIN stretch AS s ON n.system = s.system AND n.start_us < s.end_us AND n.end_us >= s.begin_us
),

part AS (
    SELECT
        w.*,
        p.begin_us,
        w.end_us >= p.begin_us AND w.end_us < p.end_us AS ended,
        CASE
            WHEN w.start_us = w.end_us THEN ended::INTEGER
            ELSE overlap_us(w.start_us, w.end_us, p.begin_us, p.end_us) / (w.end_us - w.start_us)
        END AS share,
        overlap_us(w.start_us, w.end_us, p.begin_us, p.end_us) / (p.end_us - p.begin_us) AS filled
    FROM within AS w
    INNER JOIN piece AS p ON w.side_no = p.side_no AND w.start_us < p.end_us AND w.end_us >= p.begin_us
),

counted AS (
    SELECT
        side_no,
        begin_us,
        counted_by,
        sum(share * transactions) AS transactions,
        sum(share * in_bytes) AS in_bytes,
        sum(share * out_bytes) AS out_bytes,
        avg(duration_ms) FILTER (WHERE ended) AS latency_ms,
        count(duration_ms) FILTER (WHERE ended) AS latency_n,
        sum(share * transactions * response_us) / 1000 AS response_ms,
        sum(share * transactions) FILTER (WHERE response_us IS NOT NULL) AS response_n,
        sum(filled) AS filled
    FROM part
    GROUP BY ALL
),

-- The record type that contains the connections of a side, and how its transactions are counted.
way AS (
    SELECT
        s.side_no,
        CASE
            WHEN bool_or(c.counted_by = 'connections ended') THEN 'connections ended'
            WHEN bool_or(c.counted_by = 'zERT connections') THEN 'zERT connections'
        END AS connections_by,
        CASE
            WHEN s.supplied IS NOT NULL THEN 'supplied for the run'
            WHEN bool_or(c.counted_by = 'supplied count') THEN 'supplied count'
            WHEN s.workload_kind IN ('RR', 'STR') AND s.transaction_bytes > 0 AND connections_by IS NOT NULL
                THEN 'bytes over request size'
            WHEN s.workload_kind = 'CRR' OR s.workload IS NULL THEN connections_by
        END AS counted_by
    FROM side AS s
    LEFT JOIN counted AS c ON s.side_no = c.side_no
    GROUP BY s.side_no, s.supplied, s.workload, s.workload_kind, s.transaction_bytes
),

filled_in AS (
    SELECT
        p.*,
        w.counted_by,
        -- If a side has connections, an interval without any has zero, not an unknown number.
        CASE WHEN w.connections_by IS NOT NULL THEN coalesce(c.in_bytes, 0) END AS in_bytes,
        CASE WHEN w.connections_by IS NOT NULL THEN coalesce(c.out_bytes, 0) END AS out_bytes,
        coalesce(c.transactions, 0) AS recorded_connections,
        c.latency_ms AS duration_ms,
        CASE WHEN w.connections_by IS NOT NULL THEN coalesce(c.latency_n, 0) END AS duration_n,
        g.response_ms,
        g.response_n,
        CASE
            WHEN bool_or(g.response_n > 0) OVER (PARTITION BY p.side_no) THEN 'supplied response time'
            WHEN p.workload_kind IN ('RR', 'STR') THEN 'clients over rate'
            WHEN w.connections_by IS NOT NULL THEN 'duration of connections'
        END AS latency_by,
        CASE
            WHEN w.counted_by = 'supplied for the run'
                THEN
                    p.supplied * overlap_us(p.begin_us, p.end_us, p.from_us, p.to_us)
                    / (p.to_us - p.from_us)
            -- A count that covers only a part of an interval does not include the rest.
            WHEN w.counted_by = 'supplied count' THEN CASE WHEN g.filled > 0.99 THEN g.transactions END
            WHEN w.counted_by = 'bytes over request size'
                THEN (coalesce(c.in_bytes, 0) + coalesce(c.out_bytes, 0)) / p.transaction_bytes
            WHEN w.counted_by IS NOT NULL THEN coalesce(c.transactions, 0)
        END AS transactions
    FROM piece AS p
    INNER JOIN way AS w ON p.side_no = w.side_no
    LEFT JOIN counted AS c
        ON p.side_no = c.side_no AND p.begin_us = c.begin_us AND w.connections_by = c.counted_by
    LEFT JOIN counted AS g
        ON p.side_no = g.side_no AND p.begin_us = g.begin_us AND g.counted_by = 'supplied count'
),

unusable AS (
    SELECT
        *,
        transactions / interval_ms AS rate,
        CASE
            WHEN outside IS NOT NULL THEN outside
            WHEN in_measured_side AND cpu_s IS NULL THEN 'no CPU data'
            WHEN counted_by = 'supplied count' AND transactions IS NULL
                THEN 'not covered by the supplied count'
        END AS out_as,
        workload_kind = 'CRR'
        AND sum(recorded_connections) OVER of_side < 0.9 * sum(transactions) OVER of_side AS lacks_connections
    FROM filled_in
    WINDOW of_side AS (PARTITION BY side_no)
),

judged AS (
    SELECT
        *,
        out_as IS NOT NULL
        OR coalesce(
            rate < coalesce(getvariable('run_edge_pct'), 90) / 100
            * median(rate) FILTER (WHERE out_as IS NULL) OVER (PARTITION BY side_no),
            false
        ) AS low
    FROM unusable
),

edged AS (
    SELECT
        *,
        bool_and(low) OVER (PARTITION BY side_no ORDER BY begin_us) AS ramping_up,
        bool_and(low) OVER (PARTITION BY side_no ORDER BY begin_us DESC) AS ramping_down
    FROM judged
)

SELECT
    name::VARCHAR AS name,
    system::VARCHAR AS system,
    role::VARCHAR AS role,
    make_timestamptz(begin_us) AS interval_start_utc,
    interval_ms::BIGINT AS interval_ms,
    cpu_s::DOUBLE AS cpu_s,
    ziip_s::DOUBLE AS ziip_s,
    transactions::DOUBLE AS transactions,
    counted_by::VARCHAR AS counted_by,
    CASE WHEN lacks_connections IS NOT TRUE THEN in_bytes END::DOUBLE AS in_bytes,
    CASE WHEN lacks_connections IS NOT TRUE THEN out_bytes END::DOUBLE AS out_bytes,
    CASE latency_by
        WHEN 'supplied response time' THEN response_ms / nullif(response_n, 0)
        WHEN 'clients over rate' THEN clients * interval_ms / nullif(transactions, 0)
        ELSE duration_ms
    END::DOUBLE AS latency_ms,
    CASE latency_by
        WHEN 'supplied response time' THEN response_n
        WHEN 'clients over rate' THEN transactions
        ELSE duration_n
    END::DOUBLE AS latency_n,
    latency_by::VARCHAR AS latency_by,
    (out_as IS NOT NULL OR ramping_up OR ramping_down)::BOOLEAN AS trimmed,
    CASE
        WHEN out_as IS NOT NULL THEN out_as
        WHEN ramping_up THEN 'ramp-up'
        WHEN ramping_down THEN 'ramp-down'
    END::VARCHAR AS why
FROM edged
ORDER BY name, system, role, interval_start_utc
