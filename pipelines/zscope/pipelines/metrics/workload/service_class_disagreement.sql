-- Values that differ between SMF 72 records and the Workload Activity report by more than rounding explains.
--
-- The record has values by period, the report by class, so the periods are added up. Seconds are printed with
-- three decimals, and the record has whole service units; transactions are counted.

WITH recorded AS (
    SELECT
        system,
        interval_start_utc,
        interval_ms,
        class_kind,
        class_name,
        count(*) AS periods,
        if(count(cp_s) = count(*), sum(cp_s), NULL) AS cp_s,
        if(count(ziip_s) = count(*), sum(ziip_s), NULL) AS ziip_s,
        if(count(ended_transactions) = count(*), sum(ended_transactions), NULL) AS ended
    FROM service_class_cpu
    WHERE source = 'SMF 72' AND interval_start_utc IS NOT NULL
    GROUP BY ALL
),

reported AS (
    SELECT
        system::VARCHAR AS system,
        interval_start_utc,
        interval_ms::BIGINT AS interval_ms,
        class_kind::VARCHAR AS class_kind,
        class_name::VARCHAR AS class_name,
        if(all_zero, 0, cp_s) AS cp_s,
        if(all_zero, 0, ziip_s) AS ziip_s,
        if(all_zero, 0, transactions_ended) AS transactions_ended
    FROM rmf_workload
    WHERE system IS NOT NULL AND interval_start_utc IS NOT NULL AND class_kind IN ('service class', 'report class')
    -- A report that was loaded twice counts once.
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_utc, interval_ms, class_kind, class_name ORDER BY load_id, file, line_no
    ) = 1
)

SELECT
    r.system,
    r.interval_start_utc,
    r.interval_start_utc + to_milliseconds(r.interval_ms) AS interval_end_utc,
    r.class_kind,
    r.class_name,
    figure.column_name::VARCHAR AS column_name,
    figure.smf72_value::DOUBLE AS smf72_value,
    figure.rmf_value::DOUBLE AS rmf_value
FROM reported AS r
INNER JOIN (SELECT *, unnest(near_minutes(epoch_us(interval_start_utc))) AS near_minute FROM recorded) AS s
    ON
        r.system = s.system
        AND r.class_kind = s.class_kind
        AND r.class_name = s.class_name
        AND minute_of(epoch_us(r.interval_start_utc)) = s.near_minute
        AND is_same_start(epoch_us(r.interval_start_utc), epoch_us(s.interval_start_utc))
        -- A report about a longer time is not about the same interval.
        AND abs(r.interval_ms - s.interval_ms) <= 2000
CROSS JOIN LATERAL (
    VALUES
    ('cp_s', s.cp_s, r.cp_s, 0.002 * s.periods + 0.001 * greatest(s.cp_s, r.cp_s)),
    ('ziip_s', s.ziip_s, r.ziip_s, 0.002 * s.periods + 0.001 * greatest(s.ziip_s, r.ziip_s)),
    ('ended_transactions', s.ended, r.transactions_ended, 0)
) AS figure (column_name, smf72_value, rmf_value, allowed)
WHERE abs(figure.smf72_value - figure.rmf_value) > figure.allowed
ORDER BY r.system, r.interval_start_utc, r.class_kind, r.class_name, figure.column_name
