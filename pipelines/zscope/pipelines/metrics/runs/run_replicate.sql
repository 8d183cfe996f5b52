-- The figures of a side of a run, or those of one of 500 drawings from the same intervals.
--
-- Replicate 0 is the measurement: every interval that counts, once. Replicates 1 to 500 draw as many
-- intervals with replacement; their spread shows how far a repeated measurement would differ. The drawings
-- depend only on the names of the run, so the same data give the same rows.
--
-- Several systems in one role are one side: their rates per second are added up. There is a role `both` if a
-- run has both sides: CPU of a transaction is the sum of client and server; rate, bytes and time are those of
-- the client, as both ends have the same transactions.

WITH of_run AS (
    SELECT * FROM run_interval
),

counting_interval AS (
    SELECT
        name,
        system,
        role,
        interval_ms / 1000 AS seconds,
        cpu_s,
        ziip_s,
        transactions,
        in_bytes + out_bytes AS bytes,
        latency_ms * latency_n AS latency_sum_ms,
        latency_n,
        row_number() OVER (PARTITION BY name, system, role ORDER BY interval_start_utc) - 1 AS interval_no
    FROM of_run
    WHERE NOT trimmed
),

side AS (
    SELECT
        i.*,
        CASE WHEN r.workload_kind IN ('RR', 'STR') THEN r.clients END AS clients
    FROM (
        SELECT
            name,
            system,
            role,
            count(*) FILTER (WHERE NOT trimmed) AS intervals,
            count(*) FILTER (WHERE trimmed) AS trimmed,
            sum(interval_ms) FILTER (WHERE NOT trimmed) / 1000 AS measured_s,
            any_value(counted_by) AS counted_by,
            any_value(latency_by) AS latency_by
        FROM of_run
        GROUP BY ALL
    ) AS i
    LEFT JOIN run AS r ON i.name = r.name AND i.system = r.system AND i.role = r.role
),

drawn AS (
    SELECT
        name,
        system,
        role,
        replicate,
        -- Hashed twice: the last bits of a hash of several values are not evenly distributed.
        hash(hash(name, system, role, replicate, draw)) % intervals AS interval_no
    FROM side
    CROSS JOIN range(1, 501) AS r (replicate)
    CROSS JOIN LATERAL unnest(range(intervals)) AS d (draw)

    UNION ALL

    SELECT
        name,
        system,
        role,
        0 AS replicate,
        interval_no
    FROM counting_interval
),

replicate_of_system AS (
    SELECT
        d.name,
        d.system,
        d.role,
        d.replicate,
        sum(k.cpu_s) / sum(k.seconds) AS cpu_busy,
        sum(k.ziip_s) / sum(k.seconds) AS ziip_busy,
        sum(k.transactions) / sum(k.seconds) AS transactions_per_s,
        sum(k.bytes) / sum(k.seconds) AS bytes_per_s,
        sum(k.latency_sum_ms) / sum(k.seconds) AS latency_ms_per_s,
        sum(k.latency_n) / sum(k.seconds) AS latency_n_per_s
    FROM drawn AS d
    INNER JOIN counting_interval AS k
        ON d.name = k.name AND d.system = k.system AND d.role = k.role AND d.interval_no = k.interval_no
    GROUP BY ALL
),

-- A side without an interval that counts also has a row.
replicate_of_side AS (
    SELECT
        s.name,
        s.role,
        coalesce(r.replicate, 0) AS replicate,
        count(*) AS systems,
        min(s.intervals) AS fewest_intervals,
        sum(s.intervals) AS intervals,
        sum(s.trimmed) AS trimmed,
        min(coalesce(s.measured_s, 0)) AS measured_s,
        string_agg(DISTINCT s.counted_by, ', ' ORDER BY s.counted_by) AS counted_by,
        string_agg(DISTINCT s.latency_by, ', ' ORDER BY s.latency_by) AS latency_by,
        -- The workload names the clients of all systems together.
        min(s.clients) AS clients,
        -- If one system has no value, the value of all together is not known.
        CASE WHEN count(r.cpu_busy) = count(*) THEN sum(r.cpu_busy) END AS cpu_busy,
        CASE WHEN count(r.ziip_busy) = count(*) THEN sum(r.ziip_busy) END AS ziip_busy,
        CASE WHEN count(r.transactions_per_s) = count(*) THEN sum(r.transactions_per_s) END
            AS transactions_per_s,
        CASE WHEN count(r.bytes_per_s) = count(*) THEN sum(r.bytes_per_s) END AS bytes_per_s,
        sum(r.latency_ms_per_s) / nullif(sum(r.latency_n_per_s), 0) AS latency_ms
    FROM side AS s
    LEFT JOIN replicate_of_system AS r ON s.name = r.name AND s.system = r.system AND s.role = r.role
    GROUP BY s.name, s.role, coalesce(r.replicate, 0)
),

figure AS (
    SELECT
        *,
        1e6 * cpu_busy / nullif(transactions_per_s, 0) AS cpu_us_per_tran,
        1e6 * ziip_busy / nullif(transactions_per_s, 0) AS ziip_us_per_tran,
        transactions_per_s AS least_transactions_per_s
    FROM replicate_of_side
),

both_sides AS (
    SELECT
        c.* REPLACE (
            'both' AS role,
            c.systems + s.systems AS systems,
            least(c.fewest_intervals, s.fewest_intervals) AS fewest_intervals,
            c.intervals + s.intervals AS intervals,
            c.trimmed + s.trimmed AS trimmed,
            least(c.measured_s, s.measured_s) AS measured_s,
            CASE
                WHEN c.counted_by IS DISTINCT FROM s.counted_by
                    THEN
                        'client: ' || coalesce(c.counted_by, 'not counted') || '; server: '
                        || coalesce(s.counted_by, 'not counted')
                ELSE c.counted_by
            END AS counted_by,
            c.cpu_busy + s.cpu_busy AS cpu_busy,
            c.ziip_busy + s.ziip_busy AS ziip_busy,
            c.cpu_us_per_tran + s.cpu_us_per_tran AS cpu_us_per_tran,
            c.ziip_us_per_tran + s.ziip_us_per_tran AS ziip_us_per_tran,
            CASE
                WHEN s.transactions_per_s IS NOT NULL THEN least(c.transactions_per_s, s.transactions_per_s)
            END AS least_transactions_per_s
        )
    FROM figure AS c
    INNER JOIN figure AS s ON c.name = s.name AND c.replicate = s.replicate
    WHERE c.role = 'client' AND s.role = 'server'
)

SELECT
    name::VARCHAR AS name,
    role::VARCHAR AS role,
    replicate::INTEGER AS replicate,
    systems::BIGINT AS systems,
    intervals::BIGINT AS intervals,
    fewest_intervals::BIGINT AS fewest_intervals,
    trimmed::BIGINT AS trimmed,
    measured_s::DOUBLE AS measured_s,
    counted_by::VARCHAR AS counted_by,
    latency_by::VARCHAR AS latency_by,
    clients::BIGINT AS clients,
    cpu_busy::DOUBLE AS cpu_busy,
    least_transactions_per_s::DOUBLE AS least_transactions_per_s,
    cpu_us_per_tran::DOUBLE AS cpu_us_per_tran,
    ziip_us_per_tran::DOUBLE AS ziip_us_per_tran,
    transactions_per_s::DOUBLE AS transactions_per_s,
    latency_ms::DOUBLE AS latency_ms,
    bytes_per_s::DOUBLE AS bytes_per_s
FROM (SELECT * FROM figure UNION ALL BY NAME SELECT * FROM both_sides)
