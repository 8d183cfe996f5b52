-- The CPU time of an interval of an address space that lies in one CPU interval of its system.
--
-- The intervals are those of cpu_slot. An interval of an address space that begins and ends with one of them,
-- within two seconds, is aligned; one that lies inside is counted there completely; any other is apportioned
-- by time. The part of it that lies in no CPU interval is a row of its own, and so is one of more than a day,
-- which says nothing about the intervals in it. Both are cut at full hours and joined by the hour, which is much
-- faster than a comparison of moments.

WITH slot AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us
    FROM cpu_slot
    WHERE passed_over IS NULL
),

-- Materialized, so that a row has the same number in every place that reads it.
space AS MATERIALIZED (
    SELECT
        * EXCLUDE (interval_start_utc, interval_end_utc),
        row_number() OVER () AS space_no,
        epoch_us(interval_end_utc) AS end_us,
        -- Without a start, or with one that is not before the end, it is counted where it ended.
        CASE
            WHEN interval_start_utc < interval_end_utc THEN epoch_us(interval_start_utc)
            ELSE epoch_us(interval_end_utc) - 1
        END AS start_us
    FROM address_space_interval
),

slot_hour AS (
    SELECT
        *,
        unnest(range(begin_us // 3600000000, (until_us - 1) // 3600000000 + 1)) AS hour_no
    FROM slot
),

space_hour AS (
    SELECT
        space_no,
        system,
        start_us,
        end_us,
        unnest(range(start_us // 3600000000, (end_us - 1) // 3600000000 + 1)) AS hour_no
    FROM space
    WHERE end_us - start_us <= 86400000000
),

overlap AS (
    SELECT
        p.space_no,
        s.begin_us,
        s.until_us,
        p.start_us,
        p.end_us,
        abs(p.start_us - s.begin_us) <= 2000000 AND abs(p.end_us - s.until_us) <= 2000000 AS aligned,
        sum(
            overlap_us(
                greatest(p.start_us, p.hour_no * 3600000000),
                least(p.end_us, (p.hour_no + 1) * 3600000000),
                s.begin_us,
                s.until_us
            )
        )::DOUBLE / any_value(p.end_us - p.start_us) AS share
    FROM space_hour AS p
    INNER JOIN slot_hour AS s
        ON
            p.system = s.system
            AND p.hour_no = s.hour_no
            AND overlap_us(
                greatest(p.start_us, p.hour_no * 3600000000),
                least(p.end_us, (p.hour_no + 1) * 3600000000),
                s.begin_us,
                s.until_us
            ) > 0
    GROUP BY ALL
),

placed AS (
    SELECT
        space_no,
        begin_us,
        until_us,
        if(aligned, 1, share) AS share,
        CASE
            WHEN aligned THEN 'aligned'
            WHEN start_us >= begin_us AND end_us <= until_us THEN 'inside'
            ELSE 'apportioned'
        END AS status
    FROM overlap
    QUALIFY aligned OR NOT bool_or(aligned) OVER (PARTITION BY space_no)
),

outside AS (
    SELECT
        p.space_no,
        p.start_us AS begin_us,
        p.end_us AS until_us,
        1 - coalesce(sum(o.share), 0) AS share,
        'no CPU interval' AS status
    FROM space AS p
    LEFT JOIN placed AS o ON p.space_no = o.space_no
    GROUP BY ALL
    HAVING 1 - coalesce(sum(o.share), 0) > 1e-9
),

part AS (
    SELECT
        p.*,
        s.begin_us,
        s.until_us,
        s.share,
        CASE
            WHEN p.basis = 'no record before' THEN 'no record before'
            WHEN p.cp_s IS NULL OR p.ziip_s IS NULL THEN 'time not valid'
            ELSE s.status
        END AS status
    FROM (SELECT * FROM placed UNION ALL BY NAME SELECT * FROM outside) AS s
    INNER JOIN space AS p ON s.space_no = p.space_no
)

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    make_timestamptz(begin_us) AS interval_start_utc,
    make_timestamptz(until_us) AS interval_end_utc,
    job_name::VARCHAR AS job_name,
    job_id::VARCHAR AS job_id,
    asid::INTEGER AS asid,
    program::VARCHAR AS program,
    service_class::VARCHAR AS service_class,
    report_class::VARCHAR AS report_class,
    status::VARCHAR AS status,
    sum(cp_s * share)::DOUBLE AS cp_s,
    sum(task_s * share)::DOUBLE AS task_s,
    sum(srb_s * share)::DOUBLE AS srb_s,
    sum(enclave_s * share)::DOUBLE AS enclave_s,
    sum(overhead_s * share)::DOUBLE AS overhead_s,
    sum(ziip_s * share)::DOUBLE AS ziip_s,
    sum(ziip_on_cp_s * share)::DOUBLE AS ziip_on_cp_s
FROM part
GROUP BY ALL
