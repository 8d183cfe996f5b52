-- The calls of one ICSF service of a system in one interval.
--
-- SMF 70 records count calls; RMF reports contain rates, and are used for intervals without a record of the same system
-- that begins within two seconds. A service that the record does not count has no row. A record that was loaded twice
-- counts once.

WITH record AS (
    SELECT
        *,
        epoch_us(interval_start_local) - epoch_us(written_local) + epoch_us(written_utc) AS start_us
    FROM smf70_icsf
    WHERE interval_ms > 0
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_local, start_us ORDER BY load_id, record_no, record_offset
    ) = 1
),

called AS (
    UNPIVOT (
        SELECT
            system::VARCHAR AS system,
            interval_start_local,
            start_us,
            interval_ms::DOUBLE / 1000 AS interval_s,
            COLUMNS('.*_calls')
        FROM record
    ) ON COLUMNS('.*_calls') INTO NAME counter VALUE calls
),

-- Materialized, so that a row has the same number in every place that reads it.
reported AS MATERIALIZED (
    SELECT
        row_number() OVER () AS report_no,
        system::VARCHAR AS system,
        interval_start_local,
        epoch_us(interval_start_utc) AS start_us,
        interval_ms::DOUBLE / 1000 AS interval_s,
        operation::VARCHAR AS service,
        operation_rate * interval_ms / 1000 AS calls
    FROM rmf_crypto
    WHERE
        unit_kind::VARCHAR = 'icsf'
        AND system IS NOT NULL
        AND interval_ms > 0
        AND operation_rate IS NOT NULL
    -- Of reports with the same start the shortest one counts: a longer one contains it.
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_local, interval_start_utc, operation
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
        FROM (SELECT DISTINCT system, start_us, epoch_us(interval_start_local) AS local_us FROM called)
    ) AS s
        ON
            r.system = s.system
            AND minute_of(epoch_us(r.interval_start_local)) = s.near_minute
            AND is_same_start(epoch_us(r.interval_start_local), s.local_us)
            -- The hour that a clock shows twice is known by UTC, if both have it.
            AND coalesce(is_same_start(r.start_us, s.start_us), true)
),

every AS (
    SELECT
        'SMF 70' AS source,
        system,
        start_us,
        interval_s,
        replace(replace(counter, '_calls', ''), '_', ' ') AS service,
        calls
    FROM called
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (report_no, interval_start_local),
        'RMF' AS source
    FROM reported
    WHERE report_no NOT IN (SELECT a.report_no FROM also_recorded AS a)
)

SELECT
    source,
    system,
    make_timestamptz(start_us) AS interval_start_utc,
    make_timestamptz(start_us + (interval_s * 1e6)::BIGINT) AS interval_end_utc,
    service,
    1::BIGINT AS intervals,
    interval_s::DOUBLE AS interval_s,
    calls::DOUBLE AS calls
FROM every
ORDER BY system, interval_start_utc, service
