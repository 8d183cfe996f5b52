-- The CPU time of an address space in one of its intervals, from SMF 30.
--
-- Records of subtypes 2 and 3 contain the use of their interval. Those of subtype 6 contain the use since the
-- start of the address space: the use of an interval is the difference from the record before of the same
-- system, job name and address space number. If a value is less than before, the address space was started
-- again, and the value itself counts. The first record in the data has no difference: its values are null.
--
-- A dump that was loaded twice counts once.

WITH record AS (
    SELECT
        system::VARCHAR AS system,
        job_name::VARCHAR AS job_name,
        job_id::VARCHAR AS job_id,
        asid::INTEGER AS asid,
        program::VARCHAR AS program,
        user_id::VARCHAR AS user_id,
        work_type::VARCHAR AS work_type,
        nullif(service_class::VARCHAR, '') AS service_class,
        nullif(report_class::VARCHAR, '') AS report_class,
        record_subtype::INTEGER AS record_subtype,
        record_subtype = 6 AS cumulative,
        coalesce(
            epoch_us(interval_start_utc),
            epoch_us(interval_start_local) - (epoch_us(written_local) - epoch_us(written_utc))
        ) AS start_us,
        coalesce(epoch_us(interval_end_utc), epoch_us(written_utc)) AS end_us,
        (task_ms + srb_ms + io_interrupt_ms + region_control_ms + hiperspace_ms)::BIGINT AS cp_ms,
        -- Preemptable SRBs and enclaves are part of the time of tasks in the record.
        task_ms::BIGINT - preemptable_srb_ms::BIGINT - enclave_ms::BIGINT - dependent_enclave_ms::BIGINT
        AS task_ms,
        (srb_ms + preemptable_srb_ms)::BIGINT AS srb_ms,
        (enclave_ms + dependent_enclave_ms)::BIGINT AS enclave_ms,
        (io_interrupt_ms + region_control_ms + hiperspace_ms)::BIGINT AS overhead_ms,
        ziip_ms::BIGINT AS ziip_ms,
        ziip_on_cp_ms::BIGINT AS ziip_on_cp_ms,
        zaap_ms::BIGINT AS zaap_ms
    FROM smf30_interval
    QUALIFY row_number() OVER (
        PARTITION BY
            system, record_subtype, job_name, job_id, asid, step_number, substep_number,
            interval_start_utc, interval_end_utc, written_local, task_ms, srb_ms, ziip_ms
        ORDER BY load_id, record_no
    ) = 1
),

before AS (
    SELECT
        *,
        lag(end_us) OVER in_time AS before_us,
        lag(cp_ms) OVER in_time AS cp_before,
        lag(task_ms) OVER in_time AS task_before,
        lag(srb_ms) OVER in_time AS srb_before,
        lag(enclave_ms) OVER in_time AS enclave_before,
        lag(overhead_ms) OVER in_time AS overhead_before,
        lag(ziip_ms) OVER in_time AS ziip_before,
        lag(ziip_on_cp_ms) OVER in_time AS ziip_on_cp_before,
        lag(zaap_ms) OVER in_time AS zaap_before
    FROM record
    WINDOW in_time AS (
        PARTITION BY cumulative, system, job_name, asid ORDER BY end_us, cp_ms, ziip_ms
    )
),

judged AS (
    SELECT
        *,
        CASE
            WHEN NOT cumulative THEN 'interval'
            WHEN before_us IS NULL THEN 'no record before'
            WHEN
                coalesce(cp_ms < cp_before, false) OR coalesce(ziip_ms < ziip_before, false)
                THEN 'since restart'
            ELSE 'difference'
        END AS basis
    FROM before
)

SELECT
    system,
    job_name,
    job_id,
    asid,
    program,
    user_id,
    work_type,
    service_class,
    report_class,
    record_subtype,
    basis::VARCHAR AS basis,
    make_timestamptz(if(cumulative, before_us, start_us)) AS interval_start_utc,
    make_timestamptz(end_us) AS interval_end_utc,
    seconds_since(cp_ms, cp_before, basis) AS cp_s,
    seconds_since(task_ms, task_before, basis) AS task_s,
    seconds_since(srb_ms, srb_before, basis) AS srb_s,
    seconds_since(enclave_ms, enclave_before, basis) AS enclave_s,
    seconds_since(overhead_ms, overhead_before, basis) AS overhead_s,
    seconds_since(ziip_ms, ziip_before, basis) AS ziip_s,
    seconds_since(ziip_on_cp_ms, ziip_on_cp_before, basis) AS ziip_on_cp_s,
    seconds_since(zaap_ms, zaap_before, basis) AS zaap_s
FROM judged
