-- Measures of a side of a benchmark run: value and 95 % interval, or the reason why it is missing.
--
-- There is a role `both` if a run has a client and a server side. Intervals: 500 drawings of the intervals of
-- the run (run_replicate) give the standard deviation of the logarithm of the value; multiplied by sqrt(n /
-- (n - 1)), as drawings spread less than the intervals they are drawn from, and by the 97.5 % quantile of
-- Student's t, it is half the width. Quantiles of the drawings themselves would be too narrow for the ten or
-- twenty intervals that a run has. The logarithm makes twice as much and half as much equally distant. A
-- count of the whole run has no interval, as it does not show how the rate varied. Rates from the bytes of
-- connections that stay open have the interval of run_client_spread, as their intervals are all alike.

WITH replicate AS (
    SELECT * FROM run_replicate
),

value_of AS (
    SELECT
        r.*,
        m.measure,
        m.unit,
        m.value
    FROM replicate AS r
    CROSS JOIN LATERAL (
        VALUES
        ('cpu_per_tran', 'us', r.cpu_us_per_tran),
        ('ziip_per_tran', 'us', r.ziip_us_per_tran),
        ('transaction_rate', '1/s', r.transactions_per_s),
        ('latency', 'ms', r.latency_ms),
        ('throughput', 'bytes/s', r.bytes_per_s)
    ) AS m (measure, unit, value)
),

spread AS (
    SELECT
        name,
        role,
        measure,
        unit,
        any_value(value) FILTER (WHERE replicate = 0) AS value,
        any_value(systems) FILTER (WHERE replicate = 0) AS sides,
        any_value(intervals) FILTER (WHERE replicate = 0) AS intervals,
        any_value(fewest_intervals) FILTER (WHERE replicate = 0) AS fewest_intervals,
        any_value(trimmed) FILTER (WHERE replicate = 0) AS trimmed,
        any_value(measured_s) FILTER (WHERE replicate = 0) AS measured_s,
        any_value(counted_by) FILTER (WHERE replicate = 0) AS counted_by,
        CASE WHEN measure = 'latency' THEN any_value(latency_by) FILTER (WHERE replicate = 0) END AS latency_by,
        any_value(clients) FILTER (WHERE replicate = 0) AS clients,
        any_value(clients) IS NOT NULL AS stays_open,
        measure = 'latency' AND coalesce(any_value(latency_by) = 'clients over rate', false) AS is_clients_over_rate,
        measure = 'transaction_rate' OR is_clients_over_rate AS from_rate,
        stays_open AND (
            measure = 'throughput'
            OR (from_rate AND regexp_matches(any_value(counted_by), '^(client: )?bytes over request size'))
        ) AS varies_by_connection,
        any_value(cpu_busy) FILTER (WHERE replicate = 0) AS cpu_busy,
        any_value(least_transactions_per_s) FILTER (WHERE replicate = 0) AS least_transactions_per_s,
        -- If some drawings have no value, the others show too little of the spread.
        CASE
            WHEN
                from_rate
                AND regexp_matches(any_value(counted_by), '^(client: )?supplied for')
                THEN NULL
            WHEN count(*) FILTER (WHERE replicate > 0 AND value > 0) = 500
                THEN stddev_samp(CASE WHEN replicate > 0 AND value > 0 THEN ln(value) END)
        END AS log_deviation
    FROM value_of
    GROUP BY name, role, measure, unit
),

freedom AS (
    SELECT
        *,
        -- Each system has its own mean.
        CASE WHEN fewest_intervals >= 3 THEN (intervals - sides)::DOUBLE END AS df
    FROM spread
),

half_width AS (
    SELECT
        f.*,
        c.connections,
        -- N divided by the rate is no latency if another number of clients was at work.
        f.is_clients_over_rate AND f.clients <> c.connections AS other_clients,
        CASE
            WHEN other_clients THEN NULL
            WHEN f.varies_by_connection THEN c.half_width
            ELSE student_t(f.df) * f.log_deviation * sqrt(f.intervals / f.df)
        END AS log_half
    FROM freedom AS f
    LEFT JOIN run_client_spread AS c ON f.name = c.name AND if(f.role = 'both', 'client', f.role) = c.role
),

of_run AS (
    SELECT
        name,
        role,
        string_agg(system, ', ' ORDER BY system) AS systems,
        min(workload) AS workload,
        min(workload_kind) AS workload_kind,
        min(from_utc) AS from_utc,
        max(to_utc) AS to_utc,
        bool_or(synthetic) AS synthetic
    FROM (SELECT * FROM run UNION ALL BY NAME SELECT * REPLACE ('both' AS role) FROM run WHERE role <> 'tls-test')
    WHERE role <> 'tls-test'
    GROUP BY name, role
),

judged AS (
    SELECT
        h.*,
        r.* EXCLUDE (name, role),
        CASE
            WHEN h.value IS NOT NULL AND h.log_half IS NOT NULL THEN 'ok'
            WHEN h.fewest_intervals = 0 THEN 'no interval'
            WHEN
                h.value IS NOT NULL
                AND h.df IS NULL
                AND NOT (h.varies_by_connection OR coalesce(h.other_clients, false))
                THEN 'fewer than 3 intervals'
            WHEN h.value = 0 THEN 'zero'
            WHEN h.value IS NOT NULL AND h.from_rate AND h.counted_by LIKE '%supplied for%'
                THEN 'one count for all'
            WHEN h.value IS NOT NULL AND h.other_clients THEN 'other number of clients'
            WHEN h.value IS NOT NULL AND h.varies_by_connection THEN 'fewer than 3 connections'
            WHEN h.value IS NOT NULL THEN 'not in every interval'
            WHEN h.measure IN ('cpu_per_tran', 'ziip_per_tran') AND h.cpu_busy IS NULL THEN 'no CPU data'
            WHEN h.measure IN ('latency', 'throughput') AND NOT h.from_rate THEN 'no connections'
            WHEN h.least_transactions_per_s IS NULL THEN 'no count'
            WHEN h.least_transactions_per_s = 0 THEN 'no transactions'
            ELSE 'no data'
        END AS status
    FROM half_width AS h
    INNER JOIN of_run AS r ON h.name = r.name AND h.role = r.role
)

SELECT
    name::VARCHAR AS name,
    role::VARCHAR AS role,
    measure::VARCHAR AS measure,
    unit::VARCHAR AS unit,
    value::DOUBLE AS value,
    (value * exp(-log_half))::DOUBLE AS low,
    (value * exp(log_half))::DOUBLE AS high,
    status::VARCHAR AS status,
    CASE status
        WHEN 'no interval' THEN 'every interval is trimmed; run_interval says why'
        WHEN 'fewer than 3 intervals' THEN 'too few to show how far they vary'
        WHEN 'other number of clients' THEN
            format('the workload names {} clients, but {} connections were open all the time', clients, connections)
        WHEN 'fewer than 3 connections' THEN
            'each connection has one total for the run; too few to show how far they vary'
        WHEN 'one count for all' THEN 'the count is of the whole run and does not show how the rate varied'
        WHEN 'zero' THEN 'it was zero all the time'
        WHEN 'not in every interval' THEN 'so few intervals have a value that some drawings had none'
        WHEN 'no CPU data' THEN
            'no CPU interval lies in the run, or the time zone of the system was not known when it was loaded'
        WHEN 'no connections' THEN 'SMF 119-2 and zERT record no connection that ended in the run, or less than 90 % of those counted'
        WHEN 'no transactions' THEN 'they were counted and there were none'
        WHEN 'no count' THEN
            CASE
                WHEN workload IS NOT NULL AND workload_kind IS NULL
                    THEN 'the workload has several parts: supply the number of transactions'
                ELSE 'no record of connections in the run, and no count is supplied'
            END
        WHEN 'no data' THEN 'the records do not tell'
    END::VARCHAR AS why,
    intervals::BIGINT AS intervals,
    trimmed::BIGINT AS trimmed,
    measured_s::DOUBLE AS measured_s,
    counted_by::VARCHAR AS counted_by,
    latency_by::VARCHAR AS latency_by,
    systems::VARCHAR AS systems,
    workload::VARCHAR AS workload,
    workload_kind::VARCHAR AS workload_kind,
    from_utc::TIMESTAMPTZ AS from_utc,
    to_utc::TIMESTAMPTZ AS to_utc,
    synthetic::BOOLEAN AS synthetic
FROM judged
ORDER BY name, role, measure
