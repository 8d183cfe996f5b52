-- The CPU time of an address space in one of its intervals, from SMF 30.
--
-- Records of subtypes 2 and 3 contain the use of their interval. Those of subtype 6 contain the use since the
-- start of the address space; in smf30_interval their rows have the difference from the record before of the
-- same system, job name and address space number, and the column basis states it.
--
-- A dump that was loaded twice counts once: of a record of subtype 6 that repeats another one, the difference
-- is that of the first.

WITH record AS (
    SELECT
        *,
        basis::VARCHAR <> 'interval' AS is_difference
    FROM smf30_interval
    QUALIFY row_number() OVER (
        PARTITION BY
            system, record_subtype, job_name, job_id, asid, step_number, substep_number,
            interval_end_utc, written_local,
            if(is_difference, NULL, interval_start_utc),
            if(is_difference, NULL, task_ms),
            if(is_difference, NULL, srb_ms),
            if(is_difference, NULL, ziip_ms)
        ORDER BY load_id, record_no
    ) = 1
)

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
    basis::VARCHAR AS basis,
    CASE
        WHEN is_difference THEN interval_start_utc
        ELSE coalesce(
            interval_start_utc,
            make_timestamptz(
                epoch_us(interval_start_local) - (epoch_us(written_local) - epoch_us(written_utc))
            )
        )
    END AS interval_start_utc,
    coalesce(interval_end_utc, written_utc) AS interval_end_utc,
    ((task_ms + srb_ms + io_interrupt_ms + region_control_ms + hiperspace_ms) / 1000)::DOUBLE AS cp_s,
    -- Preemptable SRBs and enclaves are part of the time of tasks in the record.
    ((task_ms::BIGINT - preemptable_srb_ms::BIGINT - enclave_ms::BIGINT - dependent_enclave_ms::BIGINT) / 1000)::DOUBLE
    AS task_s,
    ((srb_ms + preemptable_srb_ms) / 1000)::DOUBLE AS srb_s,
    ((enclave_ms + dependent_enclave_ms) / 1000)::DOUBLE AS enclave_s,
    ((io_interrupt_ms + region_control_ms + hiperspace_ms) / 1000)::DOUBLE AS overhead_s,
    (ziip_ms / 1000)::DOUBLE AS ziip_s,
    (ziip_on_cp_ms / 1000)::DOUBLE AS ziip_on_cp_s,
    (zaap_ms / 1000)::DOUBLE AS zaap_s,
    day::DATE AS day
FROM record
