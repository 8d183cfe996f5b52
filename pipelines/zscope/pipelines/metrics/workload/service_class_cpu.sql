-- The CPU time, transactions and delays of one period of a service or report class in one interval.
--
-- SMF 72 records are preferred. A Workload Activity report has the resources of whole classes, so its rows have
-- no period; they are used for classes and intervals without a record. If only the local time of a report is
-- known, it is the interval of a record with the same local time. A report that adds up several systems has no
-- system: its rows stay apart by `sysplex`, because records of its systems contain the same work.
--
-- The record contains service units of tasks and SRBs; its coefficients and its adjustment turn them into
-- seconds. Those of tasks contain the time on zIIPs and zAAPs at the speed of a general processor, which is
-- subtracted. A coefficient of 0 leaves a part without a value, unless it has no service units.
--
-- A dump that was loaded twice counts once.

WITH period AS (
    SELECT
        *,
        class_flags & 128 > 0 AS is_report_class,
        -- The offset in the record is that of its writing; without one, that of the row.
        epoch_us(interval_start_local)
        - coalesce(local_offset_us, epoch_us(written_local) - epoch_us(written_utc)) AS start_us,
        coalesce(valid_data & 128 > 0, true) AS has_resources,
        coalesce(valid_data & 64 > 0, true) AS has_responses,
        coalesce(valid_data & 32 > 0, true) AS has_delays,
        service_seconds(cpu_service, cpu_coefficient_10000, cpu_adjustment) AS cpu_service_s,
        service_seconds(srb_service, srb_coefficient_10000, cpu_adjustment) AS srb_s,
        service_seconds(ziip_service, cpu_coefficient_10000, cpu_adjustment) AS ziip_s,
        service_seconds(zaap_service, cpu_coefficient_10000, cpu_adjustment) AS zaap_s,
        service_seconds(ziip_on_cp_service, cpu_coefficient_10000, cpu_adjustment) AS ziip_on_cp_s,
        (region_control_us + io_interrupt_us + hiperspace_us) / 1000000 AS overhead_s
    FROM smf72_service_class_period
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_local, local_offset_us, class_name, class_flags & 128, period
        ORDER BY load_id, record_no
    ) = 1
),

timed AS (
    SELECT
        *,
        -- A speed of 0 means that there is no such processor, or that its speed is not known.
        cpu_service_s
        - if(ziip_s = 0, 0, ziip_s * nullif(ziip_speed_256, 0) / 256)
        - if(zaap_s = 0, 0, zaap_s * nullif(zaap_speed_256, 0) / 256) AS task_s
    FROM period
),

recorded AS (
    SELECT
        'SMF 72' AS source,
        system::VARCHAR AS system,
        NULL::VARCHAR AS sysplex,
        interval_start_local,
        make_timestamptz(start_us) AS interval_start_utc,
        make_timestamptz(start_us + interval_ms::BIGINT * 1000) AS interval_end_utc,
        interval_ms::BIGINT AS interval_ms,
        if(is_report_class, 'report class', 'service class')::VARCHAR AS class_kind,
        workload::VARCHAR AS workload,
        class_name::VARCHAR AS class_name,
        period::INTEGER AS period,
        importance::INTEGER AS importance,
        if(has_resources, task_s + srb_s + overhead_s, NULL)::DOUBLE AS cp_s,
        if(has_resources, task_s, NULL)::DOUBLE AS task_s,
        if(has_resources, srb_s, NULL)::DOUBLE AS srb_s,
        if(has_resources, overhead_s, NULL)::DOUBLE AS overhead_s,
        if(has_resources, ziip_s, NULL)::DOUBLE AS ziip_s,
        if(has_resources, ziip_on_cp_s, NULL)::DOUBLE AS ziip_on_cp_s,
        if(has_resources, zaap_s, NULL)::DOUBLE AS zaap_s,
        if(has_responses, ended_transactions, NULL)::BIGINT AS ended_transactions,
        if(has_responses, coalesce(elapsed_total_us, elapsed_rounded_total_us) / 1000, NULL)::DOUBLE AS response_ms,
        if(has_responses, coalesce(execution_total_us, execution_rounded_total_us) / 1000, NULL)::DOUBLE
        AS execution_ms,
        if(has_delays, using_samples, NULL)::BIGINT AS using_samples,
        if(has_delays, delay_samples, NULL)::BIGINT AS delay_samples,
        if(has_delays, cpu_delay_samples, NULL)::BIGINT AS cpu_delay_samples,
        if(has_delays, capping_delay_samples, NULL)::BIGINT AS capping_delay_samples,
        if(has_delays, ziip_delay_samples, NULL)::BIGINT AS ziip_delay_samples,
        if(has_delays, crypto_using_samples, NULL)::BIGINT AS crypto_using_samples,
        if(has_delays, crypto_delay_samples::BIGINT + crypto_queue_delay_samples, NULL)::BIGINT
        AS crypto_delay_samples,
        if(has_delays, execution_samples, NULL)::DOUBLE AS execution_samples
    FROM timed
),

-- Materialized, so that a row has the same number in every place that reads it.
reported AS MATERIALIZED (
    SELECT
        row_number() OVER () AS report_no,
        'RMF' AS source,
        system::VARCHAR AS system,
        if(system IS NULL, coalesce(sysplex, 'unknown'), NULL)::VARCHAR AS sysplex,
        interval_start_local,
        interval_start_utc,
        interval_start_utc + to_milliseconds(interval_ms::BIGINT) AS interval_end_utc,
        interval_ms::BIGINT AS interval_ms,
        class_kind::VARCHAR AS class_kind,
        workload_name::VARCHAR AS workload,
        class_name::VARCHAR AS class_name,
        if(all_zero, 0, cp_s) AS cp_s,
        -- The report adds the time on zIIPs and zAAPs to that of tasks.
        if(all_zero, 0, cp_s - srb_s - rct_s - io_interrupt_s - hiperspace_s) AS task_s,
        if(all_zero, 0, srb_s) AS srb_s,
        if(all_zero, 0, rct_s + io_interrupt_s + hiperspace_s) AS overhead_s,
        -- Without such processors the report has no value.
        if(all_zero OR cp_s IS NOT NULL, coalesce(ziip_s, 0), ziip_s) AS ziip_s,
        if(all_zero, 0, ziip_on_cp_pct / 100 * interval_ms / 1000) AS ziip_on_cp_s,
        if(all_zero OR cp_s IS NOT NULL, coalesce(zaap_s, 0), zaap_s) AS zaap_s,
        if(all_zero, 0, transactions_ended)::BIGINT AS ended_transactions,
        if(all_zero, 0, actual_us::DOUBLE * transactions_ended / 1000) AS response_ms,
        if(all_zero, 0, execution_us::DOUBLE * transactions_ended / 1000) AS execution_ms
    FROM rmf_workload
    WHERE class_kind IN ('service class', 'report class')
    -- Of reports with the same start the shortest one counts: a longer one contains it.
    QUALIFY row_number() OVER (
        PARTITION BY
            system,
            if(system IS NULL, sysplex, NULL),
            if(system IS NULL, systems, NULL),
            interval_start_local, second_hour, class_kind, class_name
        ORDER BY interval_ms, load_id, file, line_no
    ) = 1
),

recorded_start AS (
    SELECT DISTINCT
        system,
        class_kind,
        class_name,
        epoch_us(interval_start_local) AS local_us,
        epoch_us(interval_start_utc) AS utc_us
    FROM recorded
),

-- Joins, since an ANTI JOIN with a comparison of moments compares each with each.
also_recorded AS (
    SELECT r.report_no
    FROM reported AS r
    INNER JOIN (SELECT *, unnest(near_minutes(utc_us)) AS near_minute FROM recorded_start) AS s
        ON
            r.system = s.system
            AND r.class_kind = s.class_kind
            AND r.class_name = s.class_name
            AND minute_of(epoch_us(r.interval_start_utc)) = s.near_minute
            AND is_same_start(epoch_us(r.interval_start_utc), s.utc_us)
    UNION ALL
    SELECT r.report_no
    FROM reported AS r
    INNER JOIN (SELECT *, unnest(near_minutes(local_us)) AS near_minute FROM recorded_start) AS s
        ON
            r.system = s.system
            AND r.class_kind = s.class_kind
            AND r.class_name = s.class_name
            AND minute_of(epoch_us(r.interval_start_local)) = s.near_minute
            AND is_same_start(epoch_us(r.interval_start_local), s.local_us)
            AND (r.interval_start_utc IS NULL OR s.utc_us IS NULL)
)

SELECT * EXCLUDE (interval_start_local, report_no)
FROM (
    SELECT * FROM recorded
    UNION ALL BY NAME
    SELECT * FROM reported WHERE report_no NOT IN (SELECT a.report_no FROM also_recorded AS a)
)
ORDER BY system, sysplex, interval_start_utc, class_kind, workload, class_name, period
