-- Transactions of a system in one interval, counted in one way, and its CPU time.
--
-- Each way of counting has its own rows, because they count the same work:
--   connections ended        SMF 119-2; one connection is one transaction, as in the workload CRR
--   zERT connections         SMF 119-11, connections that ended or were short
--   bytes over request size  within a run of RR or STR: bytes of the connections of the system, divided by
--                            what one request and its reply carry; intervals that lie in the run as a whole
--   supplied count           from a CSV file
-- A connection or count that spans several intervals is apportioned over them by time. The ratio of CPU time
-- and transactions is computed only if both are known; otherwise `status` states what is missing.

WITH counted AS (
    SELECT
        *,
        coalesce(in_bytes, 0) + coalesce(out_bytes, 0) AS total_bytes
    FROM transaction_interval
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

-- A record is written whenever a connection ends. So an interval without any, between two that have some, had
-- none. Before the first, after the last, and between supplied counts, nothing is known.
recorded AS (
    SELECT
        counted_by,
        system,
        min(interval_start_utc) AS first_utc,
        max(interval_start_utc) AS last_utc
    FROM counted
    WHERE counted_by <> 'supplied count'
    GROUP BY counted_by, system
),

system_wide AS (
    SELECT *
    FROM counted

    UNION ALL BY NAME

    SELECT
        r.counted_by,
        s.system,
        s.interval_start_utc,
        s.interval_ms,
        0 AS transactions,
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

every_way AS (
    SELECT * EXCLUDE (total_bytes, apportioned_bytes)
    FROM system_wide

    UNION ALL BY NAME

    SELECT
        'bytes over request size' AS counted_by,
        r.name AS run,
        r.role,
        w.system,
        w.interval_start_utc,
        w.interval_ms,
        w.total_bytes / (r.client_bytes + r.server_bytes) AS transactions,
        w.apportioned_bytes / (r.client_bytes + r.server_bytes) AS apportioned_transactions
    FROM system_wide AS w
    INNER JOIN run AS r
        ON
            w.system = r.system
            -- Records have fractions of a second; the noted times of runs do not.
            AND epoch_us(w.interval_start_utc) >= epoch_us(r.from_utc) - 2000000
            AND epoch_us(w.interval_start_utc) + w.interval_ms * 1000 <= epoch_us(r.to_utc) + 2000000
    WHERE
        w.counted_by = 'connections ended'
        AND r.workload_kind IN ('RR', 'STR')
        AND r.client_bytes + r.server_bytes > 0
),

with_cpu AS (
    SELECT
        w.*,
        s.cpu_source,
        s.cpu_s,
        s.ziip_s,
        coalesce(w.covered_ms, w.interval_ms) AS counted_ms,
        CASE
            WHEN w.interval_start_utc IS NULL THEN 'no end time'
            WHEN s.system IS NULL AND w.interval_start_utc BETWEEN m.first_utc AND m.last_utc THEN 'gap'
            WHEN s.cpu_s IS NULL THEN 'no CPU data'
            WHEN w.covered_ms < w.interval_ms - 2000 THEN 'partly counted'
            WHEN w.transactions = 0 THEN 'no transactions'
            ELSE 'ok'
        END AS status
    FROM every_way AS w
    LEFT JOIN used_slot AS s ON w.system = s.system AND w.interval_start_utc = s.interval_start_utc
    LEFT JOIN measured AS m ON w.system = m.system
),

every_interval AS (
    SELECT *
    FROM with_cpu

    UNION ALL BY NAME

    SELECT
        s.system,
        s.interval_start_utc,
        s.interval_ms,
        s.cpu_source,
        -- Overlapping intervals are in other rows.
        CASE WHEN s.passed_over = 'overlap' THEN NULL ELSE s.cpu_s END AS cpu_s,
        CASE WHEN s.passed_over = 'overlap' THEN NULL ELSE s.ziip_s END AS ziip_s,
        coalesce(s.passed_over, 'no transaction data') AS status
    FROM slot AS s
    LEFT JOIN (SELECT DISTINCT system, interval_start_utc FROM system_wide) AS w
        ON
            s.passed_over IS NULL
            AND s.system = w.system
            AND s.interval_start_utc = w.interval_start_utc
    WHERE w.system IS NULL
)

SELECT
    system::VARCHAR AS system,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    counted_by::VARCHAR AS counted_by,
    run::VARCHAR AS run,
    role::VARCHAR AS role,
    cpu_source::VARCHAR AS cpu_source,
    status::VARCHAR AS status,
    interval_ms::BIGINT AS interval_ms,
    counted_ms::DOUBLE AS counted_ms,
    cpu_s::DOUBLE AS cpu_s,
    ziip_s::DOUBLE AS ziip_s,
    transactions::DOUBLE AS transactions,
    CASE WHEN transactions IS NOT NULL THEN coalesce(apportioned_transactions, 0) END::DOUBLE
        AS apportioned_transactions,
    CASE WHEN status IN ('ok', 'no transactions') THEN transactions END::DOUBLE AS matched_transactions,
    CASE WHEN status IN ('ok', 'no transactions') THEN cpu_s END::DOUBLE AS matched_cpu_s,
    CASE WHEN status IN ('ok', 'no transactions') THEN ziip_s END::DOUBLE AS matched_ziip_s
FROM every_interval
