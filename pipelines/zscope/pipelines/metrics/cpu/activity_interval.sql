-- The part of a connection or supplied count that lies in one interval of its system.
--
-- Activity that begins and ends in one interval is counted there completely. Activity that spans several is
-- apportioned by time: its part in an interval is the share of its duration in it, and `spans` is the number
-- of intervals. Without a start, it is counted completely in the interval in which it ended; without an end,
-- it has no interval.
--
-- Most activity lies in one interval, which is joined by the minute of the end; that is much faster than a
-- comparison of moments. Only the rest is joined by its start and apportioned.

WITH slot AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us,
        row_number() OVER (PARTITION BY system ORDER BY interval_start_utc) AS slot_no
    FROM interval_slot
),

-- A minute occurs twice if an interval ends within it. Without CPU data, nothing ended in time spans longer
-- than a quarter of an hour.
slot_minute AS (
    SELECT
        *,
        unnest(minutes_of(begin_us, until_us)) AS minute_no
    FROM slot
    WHERE cpu_source IS NOT NULL OR until_us - begin_us <= 900000000
),

placed AS (
    SELECT
        a.*,
        epoch_us(a.start_utc) AS start_us,
        m.interval_start_utc,
        m.interval_ms,
        m.begin_us,
        m.slot_no
    FROM activity AS a
    LEFT JOIN slot_minute AS m
        ON
            a.system = m.system
            AND minute_of(a.last_us) = m.minute_no
            AND a.last_us BETWEEN m.begin_us AND m.until_us - 1
),

in_one AS (
    SELECT
        *,
        1 AS spans,
        1::DOUBLE AS share,
        slot_no IS NOT NULL AS ended
    FROM placed
    WHERE coalesce(start_us >= begin_us, true)
),

begun_before AS (
    SELECT
        p.*,
        s.slot_no AS first_slot_no
    FROM placed AS p
    ASOF INNER JOIN slot AS s ON p.system = s.system AND p.start_us >= s.begin_us
    WHERE p.start_us < p.begin_us
),

spread AS (
    SELECT
        *,
        unnest(range(first_slot_no, slot_no + 1)) AS part_no
    FROM begun_before
),

in_several AS (
    SELECT
        p.* REPLACE (s.interval_start_utc AS interval_start_utc, s.interval_ms AS interval_ms),
        (p.slot_no - p.first_slot_no + 1) AS spans,
        overlap_us(p.start_us, p.last_us + 1, s.begin_us, s.until_us)::DOUBLE
        / (p.last_us + 1 - p.start_us) AS share,
        p.part_no = p.slot_no AS ended
    FROM spread AS p
    INNER JOIN slot AS s ON p.system = s.system AND p.part_no = s.slot_no
)

SELECT
    counted_by::VARCHAR AS counted_by,
    system::VARCHAR AS system,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    interval_ms::BIGINT AS interval_ms,
    stack::VARCHAR AS stack,
    job_name::VARCHAR AS job_name,
    local_port::INTEGER AS local_port,
    remote_port::INTEGER AS remote_port,
    local_ip::VARCHAR AS local_ip,
    remote_ip::VARCHAR AS remote_ip,
    connection_id::BIGINT AS connection_id,
    start_utc::TIMESTAMPTZ AS start_utc,
    end_utc::TIMESTAMPTZ AS end_utc,
    duration_ms::DOUBLE AS duration_ms,
    spans::BIGINT AS spans,
    ended::BOOLEAN AS ended,
    share::DOUBLE AS share,
    (transactions * share)::DOUBLE AS transactions,
    (in_bytes * share)::DOUBLE AS in_bytes,
    (out_bytes * share)::DOUBLE AS out_bytes
FROM (SELECT * FROM in_one UNION ALL BY NAME SELECT * FROM in_several)
