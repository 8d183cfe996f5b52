-- The part of an activity within a day that lies in one interval of its system.
--
-- Intervals are those of cpu_slot; time without CPU intervals in which there was activity is divided at quarter
-- hours. Activity that begins and ends in one interval is counted there completely. Activity that spans several
-- is apportioned by time: its part in an interval is the share of its duration in it, and `spans` is the number
-- of intervals. Without a start, it is counted completely in the interval in which it ended; without an end,
-- it has no interval.
--
-- Most activity lies in one interval, which is joined by the minute of the end; that is much faster than a
-- comparison of moments. Only the rest is joined by its start and apportioned.

WITH measured AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS end_us
    FROM cpu_slot
    WHERE passed_over IS NULL
),

active AS (
    SELECT DISTINCT
        system,
        coalesce(least(epoch_us(start_utc), last_us), last_us) // 900000000 * 900000000 AS first_us,
        last_us // 900000000 * 900000000 AS last_us
    FROM settled_activity
    WHERE last_us IS NOT NULL AND system IS NOT NULL
),

active_quarter AS (
    SELECT DISTINCT
        system,
        unnest(range(first_us, last_us + 1, 900000000)) AS quarter_us
    FROM active
),

edge AS (
    SELECT
        system,
        at_us,
        sum(measured_change) AS measured_change,
        sum(quarter_change) AS quarter_change,
        bool_or(measured_change <> 0) AS of_interval
    FROM (
        SELECT system, begin_us AS at_us, 1 AS measured_change, 0 AS quarter_change FROM measured
        UNION ALL
        SELECT system, end_us, -1, 0 FROM measured
        UNION ALL
        SELECT system, quarter_us, 0, 1 FROM active_quarter
        UNION ALL
        SELECT system, quarter_us + 900000000, 0, -1 FROM active_quarter
    )
    GROUP BY system, at_us
),

edge_inside AS (
    SELECT
        *,
        sum(measured_change) OVER in_time AS in_measured,
        sum(quarter_change) OVER in_time AS in_quarter
    FROM edge
    WINDOW in_time AS (PARTITION BY system ORDER BY at_us)
),

piece AS (
    SELECT
        *,
        at_us AS begin_us,
        lead(at_us) OVER (PARTITION BY system ORDER BY at_us) AS end_us
    FROM edge_inside
    WHERE of_interval OR in_measured = 0
),

slot AS (
    SELECT
        p.system,
        make_timestamptz(p.begin_us) AS interval_start_utc,
        -- For a CPU interval, the length that its source records, which may differ by the two seconds.
        coalesce(c.interval_ms, (p.end_us - p.begin_us) // 1000) AS interval_ms,
        p.begin_us,
        p.end_us AS until_us,
        row_number() OVER (PARTITION BY p.system ORDER BY p.begin_us) AS slot_no
    FROM piece AS p
    LEFT JOIN measured AS c ON p.system = c.system AND p.begin_us = c.begin_us
    WHERE p.end_us IS NOT NULL AND (p.in_measured > 0 OR p.in_quarter > 0)
),

-- A minute occurs twice if an interval ends within it.
slot_minute AS (
    SELECT
        *,
        unnest(minutes_of(begin_us, until_us)) AS minute_no
    FROM slot
),

placed AS (
    SELECT
        a.*,
        epoch_us(a.start_utc) AS start_us,
        m.interval_start_utc,
        m.interval_ms,
        m.begin_us,
        m.slot_no
    FROM settled_activity AS a
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
        slot_no IS NOT NULL AS began,
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
        p.part_no = p.first_slot_no AS began,
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
    began::BOOLEAN AS began,
    ended::BOOLEAN AS ended,
    share::DOUBLE AS share,
    (transactions * share)::DOUBLE AS transactions,
    (in_bytes * share)::DOUBLE AS in_bytes,
    (out_bytes * share)::DOUBLE AS out_bytes,
    (tls_bytes * share)::DOUBLE AS tls_bytes,
    is_tls::BOOLEAN AS is_tls,
    response_us::DOUBLE AS response_us,
    day
FROM (SELECT * FROM in_one UNION ALL BY NAME SELECT * FROM in_several)
