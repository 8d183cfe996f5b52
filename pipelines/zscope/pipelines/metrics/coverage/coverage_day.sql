-- What the records of a day show about an hour of one source: records, minutes, connections, and losses.
--
-- An hour can have rows of several days: numbers are added, and sets of minutes united. Sources of connections
-- (119-1/2, 119-11) have the minutes in which a record was written; all others have the minutes that their intervals
-- cover. An interval longer than a day is damaged, and so is a time before 1970; two displays of GSKSRVR can be up to
-- eight days apart. The source '7' is what SMF itself says about lost records.

-- The records of connections by the minute of their writing and the hour in which the connection began.
WITH connection_minute AS (
    SELECT
        day,
        system::VARCHAR AS system,
        '119-1/2' AS source,
        minute_of(epoch_us(coalesce(written_utc, start_utc))) AS minute_no,
        epoch_us(start_utc) // 3600000000 AS begin_hour,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records,
        count(*) AS starts,
        0 AS ends,
        0 AS long_ends
    FROM smf119_tcp_init
    GROUP BY ALL
    UNION ALL
    SELECT
        day,
        system::VARCHAR AS system,
        '119-1/2' AS source,
        minute_of(epoch_us(coalesce(written_utc, end_utc))) AS minute_no,
        epoch_us(start_utc) // 3600000000 AS begin_hour,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records,
        0 AS starts,
        count(*) AS ends,
        count(*) AS long_ends
    FROM smf119_tcp_term
    GROUP BY ALL
    UNION ALL
    -- A connection that is short has one record (event type 4), any other one at its start and one at its end.
    SELECT
        day,
        system::VARCHAR AS system,
        '119-11' AS source,
        minute_of(epoch_us(coalesce(written_utc, end_utc, start_utc))) AS minute_no,
        epoch_us(start_utc) // 3600000000 AS begin_hour,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records,
        count(*) FILTER (WHERE event_type = 1) AS starts,
        count(*) FILTER (WHERE event_type IN (3, 4)) AS ends,
        count(*) FILTER (WHERE event_type = 3) AS long_ends
    FROM smf119_zert_detail
    WHERE event_type BETWEEN 1 AND 4
    GROUP BY ALL
),

gsk_display AS (
    SELECT DISTINCT
        day,
        system::VARCHAR AS system,
        epoch_us(taken_utc) AS taken_us,
        epoch_us(taken_local) - epoch_us(taken_utc) AS offset_us
    FROM gsk_cache_stats
    WHERE taken_utc IS NOT NULL
),

-- The counts between the display before and a reset are in no display, as gsk_cache_delta has them.
gsk_uncounted AS (
    SELECT
        *,
        minute_of(before_us + 30000000) * 60000000 AS start_us,
        -- A minute is uncounted if a part of it is.
        (minute_of(least(reset_us, taken_us) - 1) + 1) * 60000000 AS end_us
    FROM (
        SELECT DISTINCT
            day,
            system::VARCHAR AS system,
            epoch_us(taken_utc) AS taken_us,
            epoch_us(taken_local) - epoch_us(taken_utc) AS offset_us,
            epoch_us(greatest(started_local, reset_local)) - offset_us AS reset_us,
            lag(epoch_us(taken_utc)) OVER (PARTITION BY system, cache ORDER BY taken_utc) AS before_us
        FROM gsk_cache_stats
        WHERE taken_utc IS NOT NULL
    )
    WHERE reset_us > before_us AND taken_us - before_us <= 691200000000
),

-- Every interval once, with the number of its records.
source_interval AS (
    SELECT
        day,
        system::VARCHAR AS system,
        '70' AS source,
        coalesce(
            epoch_us(interval_end_utc),
            epoch_us(interval_start_local) - (epoch_us(written_local) - epoch_us(written_utc)) + interval_ms::BIGINT * 1000
        ) AS end_us,
        interval_ms::BIGINT * 1000 AS length_us,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records
    FROM smf70_interval
    WHERE interval_ms BETWEEN 1 AND 86400000
    GROUP BY ALL
    UNION ALL
    SELECT
        day,
        system::VARCHAR AS system,
        '72' AS source,
        coalesce(
            epoch_us(interval_end_utc),
            epoch_us(interval_start_local) - (epoch_us(written_local) - epoch_us(written_utc)) + interval_ms::BIGINT * 1000
        ) AS end_us,
        interval_ms::BIGINT * 1000 AS length_us,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records
    FROM smf72_service_class_period
    WHERE interval_ms BETWEEN 1 AND 86400000
    GROUP BY ALL
    UNION ALL
    SELECT
        day,
        system::VARCHAR AS system,
        '30' AS source,
        epoch_us(interval_end_utc) AS end_us,
        epoch_us(interval_end_utc) - epoch_us(interval_start_utc) AS length_us,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records
    FROM smf30_interval
    WHERE record_subtype IN (2, 3)
    GROUP BY ALL
    UNION ALL
    -- Summaries are written one after the other when their interval ends.
    SELECT
        day,
        system::VARCHAR AS system,
        '119-12' AS source,
        minute_of(epoch_us(written_utc) + 2000000) * 60000000 AS end_us,
        interval_us::BIGINT AS length_us,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records
    FROM smf119_zert_summary
    WHERE summary_event_type = 1
    GROUP BY ALL
    UNION ALL
    SELECT
        day,
        system::VARCHAR AS system,
        '119-5' AS source,
        epoch_us(written_utc) AS end_us,
        interval_us::BIGINT AS length_us,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records
    FROM smf119_stack_statistics
    GROUP BY ALL
    UNION ALL
    -- They show that the system was up.
    SELECT
        day,
        system::VARCHAR AS system,
        '119-6/7' AS source,
        epoch_us(written_utc) AS end_us,
        interval_us::BIGINT AS length_us,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records
    FROM (
        SELECT day, system, written_utc, written_local, interval_us FROM smf119_interface_statistics
        UNION ALL
        SELECT day, system, written_utc, written_local, interval_us FROM smf119_port_statistics
    )
    GROUP BY ALL
    UNION ALL
    SELECT
        day,
        system::VARCHAR AS system,
        'RMF' AS source,
        epoch_us(interval_start_utc) + interval_ms::BIGINT * 1000 AS end_us,
        interval_ms::BIGINT * 1000 AS length_us,
        any_value(epoch_us(interval_start_local) - epoch_us(interval_start_utc)) AS offset_us,
        count(*) AS records
    FROM rmf_interval
    WHERE interval_ms BETWEEN 1 AND 86400000
    GROUP BY ALL
    UNION ALL
    SELECT
        day,
        system::VARCHAR AS system,
        'MQ' AS source,
        epoch_us(interval_end_utc) AS end_us,
        interval_us::BIGINT AS length_us,
        any_value(epoch_us(written_local) - epoch_us(written_utc)) AS offset_us,
        count(*) AS records
    FROM mq_record
    GROUP BY ALL
    UNION ALL
    -- The counters of GSKSRVR cover the time between two displays.
    SELECT
        day,
        system,
        'GSKSRVR' AS source,
        taken_us AS end_us,
        taken_us - lag(taken_us) OVER (PARTITION BY system ORDER BY taken_us) AS length_us,
        offset_us,
        1 AS records
    FROM gsk_display
),

-- Intervals begin and end a moment beside the minute.
interval_hour AS (
    SELECT
        *,
        unnest(hours_of(start_us, end_us)) AS hour_no
    FROM (
        SELECT
            day,
            system,
            source,
            offset_us,
            records,
            minute_of(end_us - length_us + 30000000) * 60000000 AS start_us,
            minute_of(end_us + 30000000) * 60000000 AS end_us
        FROM source_interval
        WHERE length_us BETWEEN 1 AND if(source = 'GSKSRVR', 691200000000, 86400000000) AND end_us >= length_us
    )
),

-- What the stack counted, in proportion to the time of its interval in each hour. If an interval is in two hours, chance
-- decides how many of its connections are in each: the variance is that of as many draws.
stack_hour AS (
    SELECT
        day,
        system,
        opened,
        closed,
        length_us,
        overlap_us(end_us - length_us, end_us, hour_no * 3600000000, (hour_no + 1) * 3600000000) AS inside_us,
        hour_no
    FROM (
        SELECT
            *,
            unnest(hours_of(end_us - length_us, end_us)) AS hour_no
        FROM (
            SELECT DISTINCT
                day,
                system::VARCHAR AS system,
                stack::VARCHAR AS stack,
                epoch_us(written_utc) AS end_us,
                interval_us::BIGINT AS length_us,
                opened_connections::BIGINT + accepted_connections AS opened,
                closed_connections::BIGINT AS closed
            FROM smf119_stack_statistics
            WHERE interval_us BETWEEN 1 AND 86400000000 AND epoch_us(written_utc) >= interval_us
        )
    )
),

-- A loss longer than a month is damaged data.
loss AS (
    SELECT DISTINCT
        day,
        system::VARCHAR AS system,
        epoch_us(written_local) - epoch_us(written_utc) AS offset_us,
        epoch_us(start_local) - (epoch_us(written_local) - epoch_us(written_utc)) AS start_us,
        epoch_us(written_utc) AS end_us,
        -- At least so many, if the number is too large for its field.
        coalesce(lost_records::BIGINT, CASE WHEN loss_flags & 128 > 0 THEN 65536 END) AS lost_records
    FROM smf7_lost
    WHERE written_utc IS NOT NULL
),

loss_hour AS (
    SELECT
        *,
        unnest(hours_of(start_us, end_us)) AS hour_no
    FROM loss
    WHERE end_us - start_us BETWEEN 1 AND 2678400000000 AND start_us >= 0
),

evidence AS (
    SELECT
        day,
        system,
        source,
        minute_no // 60 AS hour_no,
        offset_us,
        records,
        minute_bits((minute_no % 60)::INTEGER, (minute_no % 60)::INTEGER + 1) AS minutes,
        starts,
        ends
    FROM connection_minute
    WHERE minute_no >= 0
    UNION ALL BY NAME
    SELECT
        day,
        system,
        source,
        begin_hour AS hour_no,
        starts AS began,
        long_ends AS began_and_ended
    FROM connection_minute
    WHERE begin_hour >= 0 AND starts + long_ends > 0
    UNION ALL BY NAME
    SELECT
        day,
        system,
        source,
        hour_no,
        offset_us,
        if(hour_no = (end_us - 1) // 3600000000, records, 0) AS records,
        covered_minutes(start_us, end_us, hour_no) AS minutes
    FROM interval_hour
    UNION ALL BY NAME
    SELECT
        day,
        system,
        'GSKSRVR' AS source,
        unnest(hours_of(start_us, end_us)) AS hour_no,
        offset_us,
        covered_minutes(start_us, end_us, hour_no) AS uncounted_minutes
    FROM gsk_uncounted
    UNION ALL BY NAME
    SELECT
        day,
        system,
        '119-5' AS source,
        hour_no,
        opened::DOUBLE * inside_us / length_us AS counted_opened,
        closed::DOUBLE * inside_us / length_us AS counted_closed,
        (opened + closed)::DOUBLE * inside_us / length_us * (1 - inside_us / length_us) AS counted_variance
    FROM stack_hour
    UNION ALL BY NAME
    -- A minute is lost if a part of it is.
    SELECT
        day,
        system,
        '7' AS source,
        hour_no,
        offset_us,
        covered_minutes(
            minute_of(start_us) * 60000000, (minute_of(end_us - 1) + 1) * 60000000, hour_no
        ) AS minutes,
        lost_records::DOUBLE
        * overlap_us(start_us, end_us, hour_no * 3600000000, (hour_no + 1) * 3600000000)
        / (end_us - start_us) AS lost_records
    FROM loss_hour
)

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    source::VARCHAR AS source,
    make_timestamptz(hour_no::BIGINT * 3600000000) AS hour_utc,
    (max(offset_us) // 1000000)::BIGINT AS offset_s,
    coalesce(sum(records), 0)::BIGINT AS records,
    coalesce(bit_or(minutes), 0)::BIGINT AS minutes,
    coalesce(bit_or(uncounted_minutes), 0)::BIGINT AS uncounted_minutes,
    coalesce(sum(starts), 0)::BIGINT AS starts,
    coalesce(sum(ends), 0)::BIGINT AS ends,
    coalesce(sum(began), 0)::BIGINT AS began,
    coalesce(sum(began_and_ended), 0)::BIGINT AS began_and_ended,
    sum(counted_opened)::DOUBLE AS counted_opened,
    sum(counted_closed)::DOUBLE AS counted_closed,
    sum(counted_variance)::DOUBLE AS counted_variance,
    sum(lost_records)::DOUBLE AS lost_records
FROM evidence
WHERE system IS NOT NULL
GROUP BY day, system, source, hour_no
