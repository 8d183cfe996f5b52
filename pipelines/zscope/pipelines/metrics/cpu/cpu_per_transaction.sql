-- Transactions of a system or job in one interval, counted in one way, and its CPU time.
--
-- Each way of counting has its own rows, because they count the same work:
--   connections ended        SMF 119-2; one connection is one transaction, as in the workload CRR
--   zERT connections         SMF 119-11, connections that ended or were short
--   bytes over request size  within a run of RR or STR: bytes of the connections of the system, divided by
--                            what one request and its reply carry; intervals that lie in the run as a whole
--   supplied count           from a CSV file
-- A connection or count that spans several intervals is apportioned over them by time. Rates are those of the
-- time that has data: an interval that only contains a part of a connection that ended later is not measured.
--
-- The CPU time of a system includes all of its work. It is that of the transactions only within a run, which
-- has its system to itself. A job has the CPU time of its address spaces (SMF 30), and rows of its own.

WITH counted_by_job AS (
    SELECT
        *,
        coalesce(in_bytes, 0) + coalesce(out_bytes, 0) AS total_bytes
    FROM transaction_interval
),

counted AS (
    SELECT
        counted_by,
        system,
        interval_start_utc,
        interval_ms,
        sum(transactions) AS transactions,
        sum(apportioned_transactions) AS apportioned_transactions,
        sum(ended_connections) AS ended_connections,
        sum(total_bytes) AS total_bytes,
        sum(apportioned_bytes) AS apportioned_bytes,
        sum(covered_ms) AS covered_ms,
        sum(response_us_sum) AS response_us_sum,
        sum(response_n) AS response_n
    FROM counted_by_job
    GROUP BY counted_by, system, interval_start_utc, interval_ms
),

slot AS (
    SELECT *
    FROM cpu_slot
),

used_slot AS (
    SELECT *
    FROM slot
    WHERE passed_over IS NULL
),

measured AS (
    SELECT
        system,
        min(interval_start_utc) AS first_utc,
        max(interval_start_utc) AS last_utc
    FROM used_slot
    GROUP BY system
),

-- A record is written whenever a connection ends. So a CPU interval without any, between two intervals that have
-- some, had none, except in hours that the records do not cover. Before the first, after the last, and on days
-- without any, nothing is known.
recorded AS (
    SELECT
        counted_by,
        system,
        min(interval_start_utc) AS first_utc,
        max(interval_start_utc) AS last_utc
    FROM (
        SELECT
            *,
            epoch_us(interval_start_utc) // 86400000000 AS day_no,
            day_no - dense_rank() OVER (PARTITION BY counted_by, system ORDER BY day_no) AS days_in_turn
        FROM counted
        WHERE ended_connections > 0
    )
    GROUP BY counted_by, system, days_in_turn
),

-- The runs that an interval lies in as a whole. Records have fractions of a second; the noted times of runs
-- do not.
in_run AS (
    SELECT
        i.system,
        i.interval_start_utc,
        i.interval_ms,
        string_agg(DISTINCT r.name, ', ' ORDER BY r.name) AS run,
        CASE WHEN count(DISTINCT r.role) = 1 THEN min(r.role) ELSE 'client and server' END AS role,
        coalesce(bool_or(r.workload_kind IN ('RR', 'STR')), false) AS keeps_connections,
        -- Connections of several runs cannot be told apart.
        CASE
            WHEN count(DISTINCT r.name) = 1 AND keeps_connections THEN min(r.client_bytes + r.server_bytes)
        END AS transaction_bytes
    FROM (
        SELECT system, interval_start_utc, interval_ms FROM counted
        UNION
        SELECT system, interval_start_utc, interval_ms FROM used_slot
    ) AS i
    INNER JOIN run AS r
        ON
            i.system = r.system
            AND epoch_us(i.interval_start_utc) >= epoch_us(r.from_utc) - 2000000
            AND epoch_us(i.interval_start_utc) + i.interval_ms * 1000 <= epoch_us(r.to_utc) + 2000000
    GROUP BY i.system, i.interval_start_utc, i.interval_ms
),

-- Intervals in hours that the records of the transactions cover to less than 95 %. The first and the last hour of a
-- recording are always partial, so is_between is false for them. Connections of a run are not used if the records of the
-- hour miss connections that the stack counted.
incomplete AS (
    SELECT
        k.counted_by,
        k.system,
        i.interval_start_utc,
        bool_or(c.hour_utc > k.first_utc AND c.hour_utc + INTERVAL 1 HOUR <= k.last_utc) AS is_between,
        coalesce(bool_or(c.recorded_pct < least_covered_pct()), false) AS misses_connections
    FROM recorded AS k
    INNER JOIN coverage_hour AS c
        ON
            k.system = c.system
            AND c.source = if(k.counted_by = 'zERT connections', '119-11', '119-1/2')
            AND 100 * c.covered_hours < least_covered_pct()
    INNER JOIN (
        SELECT system, interval_start_utc, interval_ms FROM counted
        UNION
        SELECT system, interval_start_utc, interval_ms FROM used_slot
    ) AS i
        ON
            k.system = i.system
            AND i.interval_start_utc < c.hour_utc + INTERVAL 1 HOUR
            AND i.interval_start_utc + to_milliseconds(i.interval_ms) > c.hour_utc
    WHERE k.counted_by <> 'supplied count'
    GROUP BY k.counted_by, k.system, i.interval_start_utc
),

-- The recorded CPU intervals without transactions: they had none.
none_counted AS (
    SELECT
        r.counted_by,
        s.system,
        s.interval_start_utc,
        s.interval_ms,
        0 AS transactions,
        0 AS ended_connections,
        0 AS total_bytes
    FROM used_slot AS s
    INNER JOIN recorded AS r
        ON s.system = r.system AND s.interval_start_utc BETWEEN r.first_utc AND r.last_utc
    LEFT JOIN counted AS c
        ON
            r.counted_by = c.counted_by
            AND s.system = c.system
            AND s.interval_start_utc = c.interval_start_utc
    WHERE c.system IS NULL
),

system_wide AS (
    SELECT
        w.*,
        r.run,
        r.role,
        r.transaction_bytes,
        -- A connection of RR or STR carries many transactions.
        r.run IS NOT NULL AND NOT (r.keeps_connections AND w.counted_by <> 'supplied count') AS is_of_run,
        s.system IS NOT NULL AS is_slot,
        s.cpu_source,
        s.cpu_s,
        s.ziip_s,
        -- Connections of a run can all end after its last interval. A supplied count states its time.
        CASE
            WHEN w.counted_by = 'supplied count' THEN true
            WHEN r.run IS NOT NULL THEN n.misses_connections IS NOT true
            ELSE
                n.is_between IS NOT true
                AND (w.ended_connections > 0 OR (s.system IS NOT NULL AND k.system IS NOT NULL))
        END AS has_data
    FROM (SELECT * FROM counted UNION ALL BY NAME SELECT * FROM none_counted) AS w
    LEFT JOIN used_slot AS s ON w.system = s.system AND w.interval_start_utc = s.interval_start_utc
    LEFT JOIN recorded AS k
        ON
            w.counted_by = k.counted_by
            AND w.system = k.system
            AND w.interval_start_utc BETWEEN k.first_utc AND k.last_utc
    LEFT JOIN incomplete AS n
        ON w.counted_by = n.counted_by AND w.system = n.system AND w.interval_start_utc = n.interval_start_utc
    LEFT JOIN in_run AS r
        ON
            w.system = r.system
            AND w.interval_start_utc = r.interval_start_utc
            AND w.interval_ms = r.interval_ms
),

by_bytes AS (
    SELECT
        * EXCLUDE (response_us_sum, response_n) REPLACE (
            'bytes over request size' AS counted_by,
            total_bytes / transaction_bytes AS transactions,
            apportioned_bytes / transaction_bytes AS apportioned_transactions,
            true AS is_of_run,
            NULL AS ended_connections
        )
    FROM system_wide
    WHERE counted_by = 'connections ended' AND transaction_bytes > 0
),

-- An address space without a valid time makes that of its job unknown.
job_cpu AS (
    SELECT
        system,
        interval_start_utc,
        job_name,
        CASE WHEN count(*) FILTER (WHERE status IN ('no record before', 'time not valid')) = 0 THEN sum(cp_s) END
            AS cpu_s,
        CASE WHEN cpu_s IS NOT NULL THEN sum(ziip_s) END AS ziip_s
    FROM address_space_part
    WHERE status <> 'no CPU interval'
    GROUP BY system, interval_start_utc, job_name
),

by_job AS (
    SELECT
        w.counted_by,
        w.system,
        w.interval_start_utc,
        w.interval_ms,
        j.job_name,
        w.run,
        w.role,
        w.is_slot,
        'smf30' AS cpu_source,
        c.cpu_s,
        c.ziip_s,
        w.has_data,
        coalesce(b.transactions, 0) AS transactions,
        b.apportioned_transactions,
        coalesce(b.ended_connections, 0) AS ended_connections
    FROM (SELECT DISTINCT counted_by, system, job_name FROM counted_by_job WHERE job_name IS NOT NULL) AS j
    INNER JOIN job_cpu AS c ON j.system = c.system AND j.job_name = c.job_name
    INNER JOIN system_wide AS w
        ON
            j.counted_by = w.counted_by
            AND j.system = w.system
            AND c.interval_start_utc = w.interval_start_utc
            AND w.is_slot
    LEFT JOIN counted_by_job AS b
        ON
            w.counted_by = b.counted_by
            AND w.system = b.system
            AND w.interval_start_utc = b.interval_start_utc
            AND j.job_name = b.job_name
),

with_status AS (
    SELECT
        w.*,
        CASE WHEN w.has_data THEN coalesce(w.covered_ms, w.interval_ms) END AS counted_ms,
        CASE
            WHEN w.interval_start_utc IS NULL THEN 'no end time'
            WHEN NOT w.has_data THEN 'no records'
            WHEN NOT w.is_slot AND w.interval_start_utc BETWEEN m.first_utc AND m.last_utc THEN 'gap'
            WHEN w.cpu_s IS NULL THEN 'no CPU data'
            WHEN w.covered_ms < w.interval_ms - 2000 THEN 'partly counted'
            WHEN w.transactions = 0 THEN 'no transactions'
            ELSE 'ok'
        END AS status,
        status IN ('ok', 'no transactions') AS is_matched
    FROM (
        SELECT * FROM system_wide
        UNION ALL BY NAME
        SELECT * FROM by_bytes
        UNION ALL BY NAME
        SELECT * FROM by_job
    ) AS w
    LEFT JOIN measured AS m ON w.system = m.system
),

every_interval AS (
    SELECT *
    FROM with_status

    UNION ALL BY NAME

    SELECT
        s.system,
        s.interval_start_utc,
        CASE WHEN s.passed_over IS NULL THEN r.run END AS run,
        CASE WHEN s.passed_over IS NULL THEN r.role END AS role,
        s.interval_ms,
        s.cpu_source,
        -- Overlapping intervals are in other rows.
        CASE WHEN s.passed_over = 'overlap' THEN NULL ELSE s.cpu_s END AS cpu_s,
        CASE WHEN s.passed_over = 'overlap' THEN NULL ELSE s.ziip_s END AS ziip_s,
        coalesce(s.passed_over, 'no transaction data') AS status
    FROM slot AS s
    LEFT JOIN in_run AS r ON s.system = r.system AND s.interval_start_utc = r.interval_start_utc
    LEFT JOIN (SELECT DISTINCT system, interval_start_utc FROM system_wide) AS w
        ON s.system = w.system AND s.interval_start_utc = w.interval_start_utc
    WHERE s.passed_over IS NOT NULL OR w.system IS NULL
)

SELECT
    system::VARCHAR AS system,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    counted_by::VARCHAR AS counted_by,
    run::VARCHAR AS run,
    role::VARCHAR AS role,
    job_name::VARCHAR AS job_name,
    cpu_source::VARCHAR AS cpu_source,
    status::VARCHAR AS status,
    interval_ms::BIGINT AS interval_ms,
    counted_ms::DOUBLE AS counted_ms,
    cpu_s::DOUBLE AS cpu_s,
    ziip_s::DOUBLE AS ziip_s,
    transactions::DOUBLE AS transactions,
    CASE WHEN transactions IS NOT NULL THEN coalesce(apportioned_transactions, 0) END::DOUBLE
        AS apportioned_transactions,
    CASE WHEN has_data THEN transactions END::DOUBLE AS counted_transactions,
    CASE WHEN is_matched THEN transactions END::DOUBLE AS matched_transactions,
    CASE WHEN is_matched AND (is_of_run OR job_name IS NOT NULL) THEN transactions END::DOUBLE AS own_transactions,
    CASE WHEN is_matched AND counted_by <> 'supplied count' THEN ended_connections END::BIGINT
        AS matched_connections,
    CASE WHEN is_matched THEN cpu_s END::DOUBLE AS matched_cpu_s,
    CASE WHEN is_matched THEN ziip_s END::DOUBLE AS matched_ziip_s,
    response_us_sum::DOUBLE AS response_us_sum,
    response_n::DOUBLE AS response_n
FROM every_interval
