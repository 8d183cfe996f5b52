-- A CPU interval of a system, and whether figures can be assigned to it.
--
-- If intervals overlap, only one is used, so that CPU time does not count twice: the one from the better
-- source, and within a source the shorter one, as reports can combine many intervals into one. An end and a
-- start within two seconds count as equal: records have fractions of a second, and an interval takes a moment
-- to be written.

WITH measured AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS end_us,
        -- An interval of more than a day is worth less than any other.
        CASE source WHEN 'smf70' THEN 1 WHEN 'xml' THEN 2 ELSE 3 END * 1000000000000
        + if(interval_ms > 86400000, 10000000000000, 0) + interval_ms AS worth
    FROM cpu_by_source
    -- As in cpu_interval, whose day is that of the interval; rows are stored by the day of the records.
    QUALIFY preference = min(preference) OVER (PARTITION BY system, interval_key)
),

neighbour AS (
    SELECT
        *,
        coalesce(lag(end_us) OVER in_time > begin_us + 2000000, false) AS begins_in_other,
        lag(worth) OVER in_time AS worth_before,
        coalesce(lead(begin_us) OVER in_time < end_us - 2000000, false) AS ends_in_other,
        lead(worth) OVER in_time AS worth_behind
    FROM measured
    WINDOW in_time AS (PARTITION BY system ORDER BY begin_us, end_us)
),

compared AS (
    SELECT
        *,
        (begins_in_other AND worth_before <= worth) OR (ends_in_other AND worth_behind < worth) AS worse
    FROM neighbour
),

-- Materialized, as in cpu_by_source.
judged AS MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN begin_us IS NULL THEN 'no UTC'
            -- Overlaps with intervals of other days are seen one day back and ahead.
            WHEN end_us - begin_us > 86400000000 THEN 'too long'
            WHEN
                worse
                OR max(end_us) FILTER (WHERE NOT worse) OVER (
                    PARTITION BY system
                    ORDER BY begin_us, end_us
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) > begin_us + 2000000
                THEN 'overlap'
        END AS passed_over
    FROM compared
)

SELECT
    system::VARCHAR AS system,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    make_timestamptz(
        CASE
            WHEN abs(lead(begin_us) OVER in_time - end_us) <= 2000000 THEN lead(begin_us) OVER in_time
            ELSE end_us
        END
    ) AS interval_end_utc,
    interval_ms::BIGINT AS interval_ms,
    passed_over::VARCHAR AS passed_over,
    source::VARCHAR AS cpu_source,
    cp_kind::VARCHAR AS cp_kind,
    cps_online::DOUBLE AS cps_online,
    cpu_s::DOUBLE AS cpu_s,
    ziip_s::DOUBLE AS ziip_s,
    day
FROM judged
WINDOW in_time AS (PARTITION BY system, passed_over ORDER BY begin_us)
