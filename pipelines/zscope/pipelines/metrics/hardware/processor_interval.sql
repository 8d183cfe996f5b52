-- The hardware counters of a processor in one interval of HIS, from SMF 113.
--
-- SMF writes each interval twice. Subtype 1 has the counters of the interval; subtype 2 has those since the start
-- of the run, and in smf113_counter the difference from the record before. Subtype 2 counts only where subtype 1 has
-- no record of the processor that ends at the same time, within two seconds.
--
-- Counters are known by their names, which they have only where version and number of the counters agree. After a
-- record of subtype 2 whose counters were lost, the difference of the next one is unknown, too.

WITH record AS (
    SELECT
        *,
        CASE record_subtype
            WHEN 1 THEN counter_flags & 32768 > 0
            ELSE
                run_flags & 2048 > 0
                OR coalesce(
                    lag(run_flags & 2048 > 0) OVER (
                        PARTITION BY system, cpu_id, run_start_utc, record_subtype ORDER BY interval_end_utc
                    ),
                    false
                )
        END AS is_lost
    FROM smf113_processor
),

chosen AS (
    SELECT r.*
    FROM record AS r
    WHERE
        r.record_subtype = 1
        OR NOT EXISTS (
            SELECT 1
            FROM record AS o
            WHERE
                o.record_subtype = 1
                AND r.system = o.system
                AND r.cpu_id = o.cpu_id
                AND epoch_us(o.interval_end_utc)
                BETWEEN epoch_us(r.interval_end_utc) - 2000000 AND epoch_us(r.interval_end_utc) + 2000000
        )
),

counted AS (
    SELECT
        system,
        load_id,
        record_no,
        record_offset,
        any_value(interval_start_utc) AS interval_start_utc,
        bool_or(counter_set = 3) AS has_crypto_set,
        sum(counter_value) FILTER (WHERE counter_name = 'CPU_CYCLES')::DOUBLE AS cycles,
        sum(counter_value) FILTER (WHERE counter_name = 'INSTRUCTIONS')::DOUBLE AS instructions,
        sum(counter_value) FILTER (WHERE counter_name = 'PRNG_FUNCTIONS')::DOUBLE AS prng_calls,
        sum(counter_value) FILTER (WHERE counter_name = 'PRNG_CYCLES')::DOUBLE AS prng_cycles,
        sum(counter_value) FILTER (WHERE counter_name = 'SHA_FUNCTIONS')::DOUBLE AS sha_calls,
        sum(counter_value) FILTER (WHERE counter_name = 'SHA_CYCLES')::DOUBLE AS sha_cycles,
        sum(counter_value) FILTER (WHERE counter_name = 'DEA_FUNCTIONS')::DOUBLE AS dea_calls,
        sum(counter_value) FILTER (WHERE counter_name = 'DEA_CYCLES')::DOUBLE AS dea_cycles,
        sum(counter_value) FILTER (WHERE counter_name = 'AES_FUNCTIONS')::DOUBLE AS aes_calls,
        sum(counter_value) FILTER (WHERE counter_name = 'AES_CYCLES')::DOUBLE AS aes_cycles,
        sum(counter_value) FILTER (WHERE counter_name = 'ECC_FUNCTIONS')::DOUBLE AS ecc_calls,
        sum(counter_value) FILTER (WHERE counter_name = 'ECC_CYCLES')::DOUBLE AS ecc_cycles,
        sum(counter_value) FILTER (WHERE counter_name LIKE '%\_BLOCKED\_FUNCTIONS' ESCAPE '\')::DOUBLE
        AS blocked_calls,
        sum(counter_value) FILTER (WHERE counter_name LIKE '%\_BLOCKED\_CYCLES' ESCAPE '\')::DOUBLE AS blocked_cycles,
        sum(counter_value) FILTER (WHERE counter_name = 'MT_DIAG_CYCLES_ONE_THR_ACTIVE')::DOUBLE AS one_thread_cycles,
        sum(counter_value) FILTER (WHERE counter_name = 'MT_DIAG_CYCLES_TWO_THR_ACTIVE')::DOUBLE AS two_thread_cycles
    FROM smf113_counter
    GROUP BY system, load_id, record_no, record_offset
)

SELECT
    r.day,
    r.system::VARCHAR AS system,
    r.cpu_id::INTEGER AS cpu_id,
    CASE r.cpu_class
        WHEN 0 THEN 'CP'
        WHEN 4 THEN 'zIIP'
        WHEN 2 THEN
            if(
                CASE r.record_subtype WHEN 1 THEN r.counter_flags & 8192 ELSE r.run_flags & 1024 END > 0,
                'zCBP',
                'zAAP'
            )
        ELSE 'unknown (' || r.cpu_class || ')'
    END::VARCHAR AS cpu_type,
    r.record_subtype::INTEGER AS record_subtype,
    CASE r.record_subtype WHEN 1 THEN r.interval_start_utc ELSE c.interval_start_utc END::TIMESTAMPTZ
    AS interval_start_utc,
    r.interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
    nullif(r.cpu_speed, 0)::DOUBLE AS cpu_speed,
    CASE
        WHEN r.is_lost THEN 'counters were lost'
        WHEN c.system IS NULL THEN 'no basic counters'
        WHEN r.record_subtype = 2 AND c.interval_start_utc IS NULL THEN 'no record before'
        WHEN c.cycles IS NULL THEN 'no basic counters'
        WHEN NOT c.has_crypto_set THEN 'crypto counters are not collected'
        WHEN c.aes_cycles IS NULL THEN 'crypto counters of an unknown version'
        ELSE 'counted'
    END::VARCHAR AS state,
    c.* EXCLUDE (system, load_id, record_no, record_offset, interval_start_utc, has_crypto_set)
FROM chosen AS r
LEFT JOIN counted AS c
    ON
        r.system = c.system
        AND r.load_id IS NOT DISTINCT FROM c.load_id
        AND r.record_no = c.record_no
        AND r.record_offset = c.record_offset
ORDER BY system, cpu_id, interval_end_utc, record_subtype
