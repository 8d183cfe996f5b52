-- The CPU time of an address space in one CPU interval of its system, and what no address space accounts for.
--
-- The intervals are those of cpu_slot. An interval of an address space that begins and ends with one of them,
-- within two seconds, is aligned; one that lies inside is counted there completely; any other is apportioned
-- by time. The part of it that lies in no CPU interval is a row of its own. Both are cut at full hours and
-- joined by the hour, which is much faster than a comparison of moments.

WITH slot AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us
    FROM cpu_slot
    WHERE passed_over IS NULL
),

space AS (
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

tls_job AS (
    SELECT
        system,
        job_name,
        string_agg(DISTINCT server_port::VARCHAR, ', ' ORDER BY server_port::VARCHAR) AS tls_ports
    FROM tls_hour
    WHERE is_tls AND job_name IS NOT NULL
    GROUP BY ALL
),

stack AS (
    SELECT DISTINCT
        system,
        stack
    FROM tls_hour
    WHERE stack IS NOT NULL
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
),

accounted AS (
    SELECT
        p.system,
        p.begin_us,
        p.until_us,
        'address space' AS account,
        p.job_name,
        p.job_id,
        p.asid,
        p.program,
        p.service_class,
        p.report_class,
        address_space_role(p.job_name, p.program, t.stack IS NOT NULL, j.job_name IS NOT NULL) AS role,
        j.tls_ports,
        p.status,
        sum(p.cp_s * p.share) AS cp_s,
        sum(p.task_s * p.share) AS task_s,
        sum(p.srb_s * p.share) AS srb_s,
        sum(p.enclave_s * p.share) AS enclave_s,
        sum(p.overhead_s * p.share) AS overhead_s,
        sum(p.ziip_s * p.share) AS ziip_s,
        sum(p.ziip_on_cp_s * p.share) AS ziip_on_cp_s
    FROM part AS p
    LEFT JOIN tls_job AS j ON p.system = j.system AND p.job_name = j.job_name
    LEFT JOIN stack AS t ON p.system = t.system AND p.job_name = t.stack
    GROUP BY ALL
),

unaccounted AS (
    SELECT
        s.system,
        s.begin_us,
        s.until_us,
        'no address space' AS account,
        'uncaptured' AS role,
        CASE
            WHEN count(*) FILTER (WHERE a.status IN ('no record before', 'time not valid')) > 0
                THEN 'address spaces missing'
            ELSE 'difference'
        END AS status,
        any_value(s.cpu_s) - coalesce(sum(a.cp_s), 0) AS cp_s,
        any_value(s.ziip_s) - coalesce(sum(a.ziip_s), 0) AS ziip_s
    FROM slot AS s
    INNER JOIN accounted AS a ON s.system = a.system AND s.begin_us = a.begin_us AND s.until_us = a.until_us
    GROUP BY ALL
)

SELECT
    system::VARCHAR AS system,
    make_timestamptz(begin_us) AS interval_start_utc,
    make_timestamptz(until_us) AS interval_end_utc,
    account::VARCHAR AS account,
    role::VARCHAR AS role,
    job_name::VARCHAR AS job_name,
    job_id::VARCHAR AS job_id,
    asid::INTEGER AS asid,
    program::VARCHAR AS program,
    service_class::VARCHAR AS service_class,
    report_class::VARCHAR AS report_class,
    tls_ports::VARCHAR AS tls_ports,
    status::VARCHAR AS status,
    cp_s::DOUBLE AS cp_s,
    task_s::DOUBLE AS task_s,
    srb_s::DOUBLE AS srb_s,
    enclave_s::DOUBLE AS enclave_s,
    overhead_s::DOUBLE AS overhead_s,
    ziip_s::DOUBLE AS ziip_s,
    ziip_on_cp_s::DOUBLE AS ziip_on_cp_s
FROM (SELECT * FROM accounted UNION ALL BY NAME SELECT * FROM unaccounted)
ORDER BY system, interval_start_utc, account, cp_s DESC, job_name, asid, job_id, status
