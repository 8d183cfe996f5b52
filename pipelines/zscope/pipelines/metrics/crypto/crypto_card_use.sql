-- The work of one cryptographic card for one operation, in one interval that a system recorded.
--
-- SMF 70 records count operations and their time, if a bit of the record says so; RMF reports contain rates, and are
-- used for intervals without a record of the same system that begins within two seconds. The total of accelerators and
-- PKCS #11 coprocessors is the sum of their operations; that of a CCA coprocessor is counted.
--
-- An accelerator counts operations of 1024 and 2048 bits by engine, and has fields for more engines than exist. A card
-- is busy when all of its engines are.

WITH card AS (
    SELECT
        r.system::VARCHAR AS system,
        r.interval_start_local,
        epoch_us(r.interval_start_local) - epoch_us(r.written_local) + epoch_us(r.written_utc) AS start_us,
        r.interval_ms::DOUBLE / 1000 AS interval_s,
        r.load_id,
        r.record_no,
        r.record_offset,
        'cca' AS unit_kind,
        coalesce(c.text, 'cca') AS card_type,
        r.card_index::VARCHAR AS card_id,
        r.scope,
        r.scaling_factor,
        r.validity_flags,
        1 AS engines,
        [
            {
                'operation': 'total',
                'bit': 128,
                'number': all_operations_count,
                'time_raw': all_operations_time_raw
            },
            {'operation': 'rsa key generation', 'bit': 64, 'number': rsa_key_generation_count, 'time_raw': NULL::DOUBLE}
        ] AS operations
    FROM smf70_crypto_cca AS r
    LEFT JOIN code_cca_card AS c ON r.card_type = c.code
    UNION ALL
    SELECT
        r.system::VARCHAR AS system,
        r.interval_start_local,
        epoch_us(r.interval_start_local) - epoch_us(r.written_local) + epoch_us(r.written_utc) AS start_us,
        r.interval_ms::DOUBLE / 1000 AS interval_s,
        r.load_id,
        r.record_no,
        r.record_offset,
        'accelerator' AS unit_kind,
        coalesce(c.text, 'accelerator') AS card_type,
        r.card_index::VARCHAR AS card_id,
        r.scope,
        r.scaling_factor,
        r.validity_flags,
        greatest(r.engine_count, 1) AS engines,
        [
            {
                'operation': 'me 1024',
                'bit': 128,
                'number': list_sum(
                    [
                        engine_1_me_1024_count, engine_2_me_1024_count, engine_3_me_1024_count,
                        engine_4_me_1024_count, engine_5_me_1024_count
                    ][1:engine_count]
                ),
                'time_raw': list_sum(
                    [
                        engine_1_me_1024_time_raw, engine_2_me_1024_time_raw, engine_3_me_1024_time_raw,
                        engine_4_me_1024_time_raw, engine_5_me_1024_time_raw
                    ][1:engine_count]
                )
            },
            {
                'operation': 'me 2048',
                'bit': 64,
                'number': list_sum(
                    [
                        engine_1_me_2048_count, engine_2_me_2048_count, engine_3_me_2048_count,
                        engine_4_me_2048_count, engine_5_me_2048_count
                    ][1:engine_count]
                ),
                'time_raw': list_sum(
                    [
                        engine_1_me_2048_time_raw, engine_2_me_2048_time_raw, engine_3_me_2048_time_raw,
                        engine_4_me_2048_time_raw, engine_5_me_2048_time_raw
                    ][1:engine_count]
                )
            },
            {
                'operation': 'crt 1024',
                'bit': 32,
                'number': list_sum(
                    [
                        engine_1_crt_1024_count, engine_2_crt_1024_count, engine_3_crt_1024_count,
                        engine_4_crt_1024_count, engine_5_crt_1024_count
                    ][1:engine_count]
                ),
                'time_raw': list_sum(
                    [
                        engine_1_crt_1024_time_raw, engine_2_crt_1024_time_raw, engine_3_crt_1024_time_raw,
                        engine_4_crt_1024_time_raw, engine_5_crt_1024_time_raw
                    ][1:engine_count]
                )
            },
            {
                'operation': 'crt 2048',
                'bit': 16,
                'number': list_sum(
                    [
                        engine_1_crt_2048_count, engine_2_crt_2048_count, engine_3_crt_2048_count,
                        engine_4_crt_2048_count, engine_5_crt_2048_count
                    ][1:engine_count]
                ),
                'time_raw': list_sum(
                    [
                        engine_1_crt_2048_time_raw, engine_2_crt_2048_time_raw, engine_3_crt_2048_time_raw,
                        engine_4_crt_2048_time_raw, engine_5_crt_2048_time_raw
                    ][1:engine_count]
                )
            },
            {'operation': 'me 4096', 'bit': 8, 'number': me_4096_count, 'time_raw': me_4096_time_raw},
            {'operation': 'crt 4096', 'bit': 4, 'number': crt_4096_count, 'time_raw': crt_4096_time_raw}
        ] AS operations
    FROM smf70_crypto_accel AS r
    LEFT JOIN code_accelerator_card AS c ON r.card_type = c.code
    UNION ALL
    SELECT
        r.system::VARCHAR AS system,
        r.interval_start_local,
        epoch_us(r.interval_start_local) - epoch_us(r.written_local) + epoch_us(r.written_utc) AS start_us,
        r.interval_ms::DOUBLE / 1000 AS interval_s,
        r.load_id,
        r.record_no,
        r.record_offset,
        'pkcs11' AS unit_kind,
        coalesce(c.text, 'pkcs11') AS card_type,
        r.card_index::VARCHAR AS card_id,
        r.scope,
        r.scaling_factor,
        r.validity_flags,
        1 AS engines,
        [
            {
                'operation': 'slow asymmetric',
                'bit': 128,
                'number': slow_asymmetric_count,
                'time_raw': slow_asymmetric_time_raw
            },
            {
                'operation': 'fast asymmetric',
                'bit': 64,
                'number': fast_asymmetric_count,
                'time_raw': fast_asymmetric_time_raw
            },
            {
                'operation': 'symmetric partial',
                'bit': 32,
                'number': symmetric_partial_count,
                'time_raw': symmetric_partial_time_raw
            },
            {
                'operation': 'symmetric complete',
                'bit': 16,
                'number': symmetric_complete_count,
                'time_raw': symmetric_complete_time_raw
            },
            {
                'operation': 'asymmetric key generation',
                'bit': 8,
                'number': asymmetric_key_generation_count,
                'time_raw': asymmetric_key_generation_time_raw
            }
        ] AS operations
    FROM smf70_crypto_pkcs11 AS r
    LEFT JOIN code_pkcs11_card AS c ON r.card_type = c.code
),

-- A record that was loaded twice counts once.
counted AS (
    SELECT
        * EXCLUDE (operations),
        unnest(operations) AS done
    FROM card
    WHERE interval_s > 0
    QUALIFY rank() OVER (
        PARTITION BY system, interval_start_local, start_us, unit_kind, card_id, scope
        ORDER BY load_id, record_no, record_offset
    ) = 1
),

figure AS (
    SELECT
        system,
        interval_start_local,
        start_us,
        interval_s,
        unit_kind,
        card_type,
        card_id,
        CASE scope WHEN 1 THEN 'this system' WHEN 0 THEN 'whole CPC' ELSE 'not known' END AS scope,
        done.operation AS operation,
        sum(if(validity_flags & done.bit > 0, done.number, NULL)) AS operations,
        sum(if(validity_flags & done.bit > 0, done.time_raw * scaling_factor, NULL)) AS execution_s,
        sum(if(validity_flags & done.bit > 0, done.time_raw * scaling_factor / engines, NULL)) AS used_s
    FROM counted
    GROUP BY ALL
),

recorded AS (
    SELECT * FROM figure
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (operation, operations, execution_s, used_s),
        'total' AS operation,
        sum(operations) AS operations,
        sum(execution_s) AS execution_s,
        sum(used_s) AS used_s
    FROM figure
    WHERE unit_kind <> 'cca'
    GROUP BY ALL
),

-- Materialized, so that a row has the same number in every place that reads it.
reported AS MATERIALIZED (
    SELECT
        row_number() OVER () AS report_no,
        system::VARCHAR AS system,
        interval_start_local,
        epoch_us(interval_start_utc) AS start_us,
        interval_ms::DOUBLE / 1000 AS interval_s,
        unit_kind::VARCHAR AS unit_kind,
        card_type_name::VARCHAR AS card_type,
        card_id::VARCHAR AS card_id,
        CASE crypto_scope_name::VARCHAR
            WHEN 'LPAR' THEN 'this system'
            WHEN 'CPC' THEN 'whole CPC'
            ELSE 'not known'
        END AS scope,
        operation::VARCHAR AS operation,
        operation_rate * interval_ms / 1000 AS operations,
        operation_rate * interval_ms / 1000 * execution_ms / 1000 AS execution_s,
        utilisation_pct / 100 * interval_ms / 1000 AS used_s
    FROM rmf_crypto
    WHERE unit_kind::VARCHAR IN ('cca', 'accelerator', 'pkcs11') AND system IS NOT NULL AND interval_ms > 0
    -- Of reports with the same start the shortest one counts: a longer one contains it.
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_local, interval_start_utc, unit_kind, card_id, crypto_scope_name, operation
        ORDER BY interval_ms, source DESC, file, line_no
    ) = 1
),

also_recorded AS (
    SELECT r.report_no
    FROM reported AS r
    INNER JOIN (
        SELECT
            *,
            unnest(near_minutes(local_us)) AS near_minute
        FROM (SELECT DISTINCT system, start_us, epoch_us(interval_start_local) AS local_us FROM figure)
    ) AS s
        ON
            r.system = s.system
            AND minute_of(epoch_us(r.interval_start_local)) = s.near_minute
            AND is_same_start(epoch_us(r.interval_start_local), s.local_us)
            -- The hour that a clock shows twice is known by UTC, if both have it.
            AND coalesce(is_same_start(r.start_us, s.start_us), true)
),

every AS (
    SELECT *, 'SMF 70' AS source FROM recorded
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (report_no),
        'RMF' AS source
    FROM reported
    WHERE report_no NOT IN (SELECT a.report_no FROM also_recorded AS a)
)

SELECT
    source,
    system,
    make_timestamptz(start_us) AS interval_start_utc,
    make_timestamptz(start_us + (interval_s * 1e6)::BIGINT) AS interval_end_utc,
    unit_kind,
    card_type,
    card_id,
    scope,
    operation,
    1::BIGINT AS intervals,
    if(operations IS NULL, NULL, interval_s)::DOUBLE AS counted_s,
    operations::DOUBLE AS operations,
    if(execution_s IS NULL, NULL, operations)::DOUBLE AS timed_operations,
    execution_s::DOUBLE AS execution_s,
    if(used_s IS NULL, NULL, interval_s)::DOUBLE AS timed_s,
    used_s::DOUBLE AS used_s
FROM every
ORDER BY system, interval_start_utc, card_type, card_id, scope, operation
