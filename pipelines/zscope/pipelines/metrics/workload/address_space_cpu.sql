-- CPU time of address spaces per CPU interval, and the CPU time that no address space accounts for.
--
-- The intervals are those of cpu_slot; address_space_part describes how intervals of address spaces are put
-- into them. The rest is a row of each CPU interval that has address spaces.

WITH tls_job AS MATERIALIZED (
    SELECT
        system,
        job_name,
        string_agg(DISTINCT server_port::VARCHAR, ', ' ORDER BY server_port::VARCHAR) AS tls_ports
    FROM tls_hour
    WHERE is_tls AND job_name IS NOT NULL
    GROUP BY ALL
),

stack AS MATERIALIZED (
    SELECT DISTINCT
        system,
        stack
    FROM tls_hour
    WHERE stack IS NOT NULL
),

accounted AS (
    SELECT
        p.*,
        'address space' AS account,
        address_space_role(p.job_name, p.program, t.stack IS NOT NULL, j.job_name IS NOT NULL) AS role,
        j.tls_ports
    FROM address_space_part AS p
    LEFT JOIN tls_job AS j ON p.system = j.system AND p.job_name = j.job_name
    LEFT JOIN stack AS t ON p.system = t.system AND p.job_name = t.stack
),

unaccounted AS (
    SELECT
        s.system,
        s.interval_start_utc,
        s.interval_end_utc,
        'no address space' AS account,
        'uncaptured' AS role,
        CASE
            WHEN count(*) FILTER (WHERE a.status IN ('no record before', 'time not valid')) > 0
                THEN 'address spaces missing'
            ELSE 'difference'
        END AS status,
        any_value(s.cpu_s) - coalesce(sum(a.cp_s), 0) AS cp_s,
        any_value(s.ziip_s) - coalesce(sum(a.ziip_s), 0) AS ziip_s
    FROM cpu_slot AS s
    INNER JOIN address_space_part AS a
        ON
            s.system = a.system
            AND s.interval_start_utc = a.interval_start_utc
            AND s.interval_end_utc = a.interval_end_utc
            AND a.status <> 'no CPU interval'
    WHERE s.passed_over IS NULL
    GROUP BY ALL
)

SELECT
    system::VARCHAR AS system,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
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
