-- Whether the data cover an hour of a system and a source: complete, partial, lost, not recorded, or not known, and why.
--
-- An hour is complete only if something shows it: intervals that cover it, or records of connections without a sign
-- of a loss. The share of a partial hour is the smallest that a sign shows. In the first and the last hour of a source,
-- only the time from its first to its last record is shown, unless the stack counted the connections or hours between them
-- have silences as long. An hour without connections is complete in a file that has all records that SMF wrote by its own
-- count (23), if nothing else is known of it. Where a source has nothing:
--   not recorded  the system has no such records or reports in any load, zERT was disabled, or the stack counted
--                 connections that are recorded neither in most hours of the files nor in six of most days
--   lost          a loaded file covers the hour, and SMF says that it lost records, the stack counted connections, the
--                 intervals have a gap while the system was up, a reset of the counters of GSKSRVR has lost their counts,
--                 or connections are otherwise never silent
--   not known     nothing shows what happened: no loaded file covers the hour, or an idle hour looks the same
-- All sources of a system have the same hours: those from its first evidence of any source to its last, which are records,
-- intervals, or the files with them. Of days without any, only those between others that are less than a month apart.
-- Displays of GSKSRVR count since a start that can be days before: hours that only they show are hours of no other source.
-- Runs can be days before or after production, on a system that is down between them: outside of the time of production, only
-- hours of runs and those with more than a minute of records count.

WITH source_kind(source, of_connections, in_sequence) AS (
    VALUES
    ('119-1/2', true, false), ('119-11', true, false), ('119-12', false, false), ('119-5', false, true),
    ('70', false, true), ('72', false, true), ('30', false, true), ('RMF', false, false), ('GSKSRVR', false, false),
    ('MQ', false, true)
),

evidence AS MATERIALIZED (
    SELECT
        system,
        source,
        epoch_us(hour_utc) // 3600000000 AS hour_no,
        max(offset_s) AS offset_s,
        sum(records)::BIGINT AS records,
        bit_or(minutes) & ~bit_or(uncounted_minutes) AS minutes,
        bit_count(bit_or(uncounted_minutes)) AS uncounted_minutes,
        sum(starts)::BIGINT AS starts,
        sum(ends)::BIGINT AS ends,
        sum(began)::BIGINT AS began,
        sum(began_and_ended)::BIGINT AS began_and_ended,
        sum(counted_opened) AS counted_opened,
        sum(counted_closed) AS counted_closed,
        sum(counted_variance) AS counted_variance,
        sum(lost_records) AS lost_records,
        -- The longest time without a record, in minutes.
        CASE
            WHEN source IN ('119-1/2', '119-11')
                THEN list_max(list_transform(
                    string_split(lpad(bin(bit_or(minutes)), 60, '0'), '1'), lambda silence : len(silence)
                ))
        END AS silence,
        -- Minutes before the first record and after the last one.
        length(bin(bit_or(minutes))) - length(rtrim(bin(bit_or(minutes)), '0')) AS minutes_before,
        60 - length(bin(bit_or(minutes))) AS minutes_after
    FROM coverage_day
    WHERE hour_utc IS NOT NULL
    GROUP BY system, source, hour_no
),

clock AS (
    SELECT
        system,
        hour_no,
        max(offset_s) AS offset_s
    FROM evidence
    WHERE offset_s IS NOT NULL
    GROUP BY system, hour_no
),

local_clock AS (
    SELECT
        system,
        offset_s,
        make_timestamp((hour_no * 3600 + offset_s)::BIGINT * 1000000) AS hour_local
    FROM clock
),

local_day AS (
    SELECT
        system,
        unnest(range(day_no, least(next_day_no, day_no + 31))) AS day_no
    FROM (
        SELECT
            system,
            day_no,
            coalesce(lead(day_no) OVER (PARTITION BY system ORDER BY day_no), day_no + 1) AS next_day_no
        FROM (SELECT DISTINCT system, (hour_no * 3600 + offset_s) // 86400 AS day_no FROM clock)
    )
),

-- The offset of an hour without records is that of the hour before. A window is used, as a join with the last hour
-- before is many times slower.
hour_of_day AS (
    SELECT
        h.system,
        h.hour_no,
        h.offset_s
    FROM (
        SELECT
            d.system,
            d.hour_no,
            coalesce(
                last_value(c.offset_s IGNORE NULLS) OVER (PARTITION BY d.system ORDER BY d.hour_no),
                first_value(c.offset_s IGNORE NULLS) OVER (
                    PARTITION BY d.system
                    ORDER BY d.hour_no
                    ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
                )
            ) AS offset_s
        FROM (
            SELECT DISTINCT
                system,
                unnest(range(day_no * 24 - 15, day_no * 24 + 39)) AS hour_no
            FROM local_day
        ) AS d
        LEFT JOIN clock AS c ON d.system = c.system AND d.hour_no = c.hour_no
    ) AS h
    SEMI JOIN local_day AS d ON h.system = d.system AND (h.hour_no * 3600 + h.offset_s) // 86400 = d.day_no
),

recorded_hour AS (
    SELECT
        *,
        min(hour_no) OVER of_source AS first_hour,
        max(hour_no) OVER of_source AS last_hour,
        hour_no > first_hour AND hour_no < last_hour AS is_between
    FROM evidence
    WHERE source <> '7' AND (records > 0 OR minutes > 0)
    WINDOW of_source AS (PARTITION BY system, source)
),

-- Hours in which a recording begins or ends say nothing about others, if there are others.
usual AS (
    SELECT
        e.system,
        e.source,
        any_value(e.first_hour) AS first_hour,
        any_value(e.last_hour) AS last_hour,
        bool_or(e.starts > 0) AS has_starts,
        bool_or(e.ends > 0) AS has_ends,
        median(e.silence) AS silence,
        max(e.silence) FILTER (e.is_between) AS silence_between,
        median(e.ends / nullif(c.counted_closed, 0)) FILTER (c.counted_closed >= 20 AND e.ends > 0) AS share_of_all,
        median(e.ends / nullif(c.counted_closed, 0)) FILTER (
            c.counted_closed >= 20 AND e.ends > 0 AND e.is_between
        ) AS share_between
    FROM recorded_hour AS e
    LEFT JOIN evidence AS c ON c.source = '119-5' AND e.system = c.system AND e.hour_no = c.hour_no AND bit_count(c.minutes) = 60
    GROUP BY e.system, e.source
),

-- The share of the connections with an end, among all that began more than a day before the last record.
usual_end AS (
    SELECT
        e.system,
        e.source,
        sum(e.began_and_ended) / sum(e.began) AS share
    FROM evidence AS e
    INNER JOIN usual AS u ON e.system = u.system AND e.source = u.source
    WHERE u.has_ends AND u.has_starts AND e.hour_no < u.last_hour - 24
    GROUP BY e.system, e.source
    HAVING sum(e.began) >= 20
),

-- The hours in which a system was up.
up AS (
    SELECT DISTINCT
        system,
        hour_no
    FROM evidence
    WHERE source NOT IN ('7', 'GSKSRVR') AND minutes > 0
),

-- The minutes from the first to the last record of a system in each file that has a kind of records. A file without
-- any record of a kind shows nothing about it.
file_kind AS (
    SELECT DISTINCT
        load_id,
        system,
        CASE
            WHEN record_type = 119 AND record_subtype IN (1, 2) THEN '119-1/2'
            WHEN record_type = 119 AND record_subtype IN (5, 11, 12) THEN '119-' || record_subtype
            WHEN record_type IN (30, 70, 72) THEN record_type::VARCHAR
            WHEN record_type IN (115, 116) THEN 'MQ'
        END AS source
    FROM load_kind
),

-- The first and last times of files among the hours of the clock, whose offset they have.
file_span AS (
    SELECT
        load_id,
        system,
        min(epoch_us(moment) - offset_s * 1000000) AS start_us,
        max(epoch_us(moment) - offset_s * 1000000) AS end_us
    FROM (
        SELECT
            load_id,
            system,
            moment,
            coalesce(
                last_value(offset_s IGNORE NULLS) OVER (PARTITION BY system ORDER BY moment, load_id NULLS FIRST),
                first_value(offset_s IGNORE NULLS) OVER (
                    PARTITION BY system
                    ORDER BY moment, load_id NULLS FIRST
                    ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
                )
            ) AS offset_s
        FROM (
            SELECT
                NULL AS load_id,
                system,
                hour_local AS moment,
                offset_s
            FROM local_clock
            UNION ALL
            SELECT
                load_id,
                system,
                unnest([min(first_local), max(last_local)]) AS moment,
                NULL AS offset_s
            FROM load_kind
            GROUP BY load_id, system
        )
    )
    WHERE load_id IS NOT NULL
    GROUP BY load_id, system
),

file_hour AS (
    SELECT
        system,
        source,
        hour_no,
        bit_or(covered_minutes(start_us, end_us, hour_no)) AS minutes
    FROM (
        SELECT
            s.system,
            k.source,
            minute_of(s.start_us) * 60000000 AS start_us,
            (minute_of(s.end_us) + 1) * 60000000 AS end_us,
            unnest(hours_of(s.start_us, s.end_us + 1)) AS hour_no
        FROM file_span AS s
        INNER JOIN file_kind AS k ON s.load_id = k.load_id AND s.system = k.system
        WHERE s.end_us - s.start_us BETWEEN 0 AND 34560000000000
    )
    GROUP BY system, source, hour_no
),

-- The time of files that have all records that SMF wrote, and the smallest share that others have.
written_hour AS (
    SELECT
        system,
        hour_no,
        bit_or(covered_minutes(start_us, end_us, hour_no)) FILTER (state = 'complete') AS minutes,
        min(seen_pct) FILTER (state = 'filtered') AS least_seen_pct
    FROM (
        SELECT
            s.system,
            w.state,
            w.seen_pct,
            minute_of(s.start_us) * 60000000 AS start_us,
            (minute_of(s.end_us) + 1) * 60000000 AS end_us,
            unnest(hours_of(s.start_us, s.end_us + 1)) AS hour_no
        FROM file_span AS s
        INNER JOIN smf_written AS w ON s.load_id = w.load_id AND s.system = w.system
        WHERE s.end_us - s.start_us BETWEEN 0 AND 34560000000000
    )
    GROUP BY system, hour_no
),

-- The time from the first evidence of production to the last, of systems with runs. The hours beside those of a run are no
-- production: the system is started before, and the last records are written after.
production AS (
    SELECT
        e.system,
        min(e.hour_no) AS first_hour,
        max(e.hour_no) AS last_hour
    FROM evidence AS e
    SEMI JOIN run_hour AS s ON e.system = s.system
    ANTI JOIN (
        SELECT
            system,
            epoch_us(hour_utc) // 3600000000 + unnest([-1, 0, 1]) AS hour_no
        FROM run_hour
    ) AS r ON e.system = r.system AND e.hour_no = r.hour_no
    WHERE e.source NOT IN ('7', 'GSKSRVR') AND e.minutes > 0
    GROUP BY e.system
),

-- The hours from the first evidence of any source of a system to the last. The record of an interval is written just after
-- it, so one minute of a file is none.
hour AS MATERIALIZED (
    SELECT
        h.*,
        h.hour_no BETWEEN coalesce(p.first_of_records, p.first_hour) AND coalesce(p.last_of_records, p.last_hour)
        AND (r.system IS NULL OR h.hour_no BETWEEN r.first_hour AND r.last_hour OR s.system IS NOT NULL OR e.has_records)
            AS is_of_records
    FROM hour_of_day AS h
    INNER JOIN (
        SELECT
            system,
            min(hour_no) AS first_hour,
            max(hour_no) AS last_hour,
            min(hour_no) FILTER (source <> 'GSKSRVR') AS first_of_records,
            max(hour_no) FILTER (source <> 'GSKSRVR') AS last_of_records
        FROM (
            SELECT system, source, hour_no FROM evidence WHERE offset_s IS NOT NULL
            UNION ALL
            SELECT system, source, hour_no FROM file_hour WHERE bit_count(minutes) > 1
        )
        GROUP BY system
    ) AS p ON h.system = p.system AND h.hour_no BETWEEN p.first_hour AND p.last_hour
    LEFT JOIN production AS r ON h.system = r.system
    LEFT JOIN run_hour AS s ON h.system = s.system AND h.hour_no = epoch_us(s.hour_utc) // 3600000000
    LEFT JOIN (
        SELECT
            system,
            hour_no,
            bool_or(source <> 'GSKSRVR' AND bit_count(minutes) > 1) AS has_records,
            bool_or(source = 'GSKSRVR') AS has_display
        FROM evidence
        GROUP BY system, hour_no
    ) AS e ON h.system = e.system AND h.hour_no = e.hour_no
    WHERE is_of_records OR e.has_display OR r.system IS NULL
),

-- Whether a kind of records is in most hours of the files that have it at all, or in a quarter of the hours of most days:
-- that is no recording of a part of the time, but one that loses more than half.
usually_recorded AS (
    SELECT
        system,
        source
    FROM (
        SELECT
            f.system,
            f.source,
            count(*) AS file_hours,
            count(e.hour_no) AS recorded_hours
        FROM file_hour AS f
        LEFT JOIN evidence AS e
            ON f.system = e.system AND f.source = e.source AND f.hour_no = e.hour_no AND e.minutes > 0
        GROUP BY f.system, f.source, f.hour_no // 24
    )
    GROUP BY system, source
    HAVING sum(recorded_hours) >= 0.5 * sum(file_hours) OR count(*) FILTER (WHERE recorded_hours >= 6) >= 0.5 * count(*)
),

-- The whole hours between two intervals of one load of RMF reports, of which the file has no span of records.
report_gap AS (
    SELECT DISTINCT
        system,
        'RMF' AS source,
        unnest(
            range((epoch_us(from_local) + 3599999999) // 3600000000, epoch_us(to_local) // 3600000000)
        ) AS local_hour
    FROM load_gap
    WHERE source = 'rmf_interval' AND to_local - from_local < INTERVAL 31 DAY
),

removed AS (
    SELECT DISTINCT unnest(range(epoch_us(first_local) // 3600000000, epoch_us(last_local) // 3600000000 + 1)) AS local_hour
    FROM load
    WHERE status = 'removed' AND last_local - first_local < INTERVAL 400 DAY
),

-- zERT is off on a stack from a record that it was disabled to the next one, or to the end of the data.
off_hour AS (
    SELECT
        system,
        hour_no,
        bit_or(covered_minutes(from_us, to_us, hour_no)) AS minutes
    FROM (
        SELECT
            *,
            unnest(hours_of(from_us, to_us)) AS hour_no
        FROM (
            SELECT
                w.system,
                w.event_type,
                epoch_us(w.first_utc) AS from_us,
                coalesce(
                    epoch_us(lead(w.first_utc) OVER (PARTITION BY w.system, w.stack ORDER BY w.first_utc, w.event_type)),
                    (h.last_hour + 1) * 3600000000
                ) AS to_us
            FROM zert_written AS w
            INNER JOIN (SELECT system, max(hour_no) AS last_hour FROM hour GROUP BY system) AS h ON w.system = h.system
            WHERE w.event_type IN (5, 6)
        )
        WHERE event_type = 6 AND to_us - from_us BETWEEN 1 AND 34560000000000
    )
    GROUP BY system, hour_no
),

compared AS (
    SELECT
        h.system,
        k.source,
        k.of_connections,
        k.in_sequence,
        h.hour_no,
        h.offset_s,
        coalesce(e.records, 0) AS records,
        bit_count(coalesce(e.minutes, 0)) AS minutes,
        u.system IS NOT NULL AS is_recorded,
        bit_count(coalesce(f.minutes, 0)) AS file_minutes,
        coalesce(bit_count(w.minutes) = 60, false) AS is_whole,
        w.least_seen_pct,
        y.system IS NOT NULL AS is_usual,
        a.system IS NOT NULL AS is_up,
        r.local_hour IS NOT NULL AS was_removed,
        g.local_hour IS NOT NULL AS is_in_gap,
        e.uncounted_minutes,
        e.silence,
        u.silence AS usual_silence,
        bit_count(l.minutes) AS lost_minutes,
        l.lost_records,
        if(k.source IN ('119-11', '119-12'), bit_count(o.minutes), 0) AS off_minutes,
        e.began,
        e.began_and_ended,
        u.has_ends AND u.has_starts AND h.hour_no < u.last_hour - 24 AND e.began >= 20 AS ends_are_judged,
        n.share AS usual_end_share,
        CASE
            WHEN k.source = '119-1/2' AND u.has_starts AND u.has_ends THEN c.counted_opened + c.counted_closed
            WHEN k.source = '119-1/2' AND u.has_starts THEN c.counted_opened
            WHEN k.source = '119-1/2' THEN c.counted_closed
            WHEN k.source = '119-11' THEN c.counted_closed * coalesce(u.share_between, u.share_of_all, 1)
        END AS counted_at_least,
        -- If the intervals cover only a part of the hour, the count is a lower bound.
        CASE WHEN bit_count(c.minutes) = 60 THEN counted_at_least END AS counted,
        -- Three standard deviations. A short connection starts and ends in the same interval.
        3 * sqrt(coalesce(c.counted_variance, 0) * if(k.source = '119-1/2', 2, 0.5)) AS counted_error,
        if(k.source = '119-1/2', e.starts + e.ends, e.ends) AS seen,
        -- The counts of the stack show the whole hour, unless the usual share of zERT details is that of a part of it.
        CASE
            WHEN k.of_connections AND (counted IS NULL OR (k.source = '119-11' AND u.share_between IS NULL))
                THEN if(
                    h.hour_no = u.first_hour AND e.minutes_before > coalesce(u.silence_between, 0), e.minutes_before, 0
                )
                + if(h.hour_no = u.last_hour AND e.minutes_after > coalesce(u.silence_between, 0), e.minutes_after, 0)
            ELSE 0
        END AS outside_minutes
    FROM hour AS h
    INNER JOIN source_kind AS k ON h.is_of_records OR k.source = 'GSKSRVR'
    LEFT JOIN evidence AS e ON h.system = e.system AND k.source = e.source AND h.hour_no = e.hour_no
    LEFT JOIN usual AS u ON h.system = u.system AND k.source = u.source
    LEFT JOIN evidence AS c ON c.source = '119-5' AND h.system = c.system AND h.hour_no = c.hour_no
    LEFT JOIN evidence AS l ON l.source = '7' AND h.system = l.system AND h.hour_no = l.hour_no
    LEFT JOIN off_hour AS o ON h.system = o.system AND h.hour_no = o.hour_no
    LEFT JOIN file_hour AS f ON h.system = f.system AND k.source = f.source AND h.hour_no = f.hour_no
    LEFT JOIN written_hour AS w ON h.system = w.system AND h.hour_no = w.hour_no
    LEFT JOIN usually_recorded AS y ON h.system = y.system AND k.source = y.source
    LEFT JOIN usual_end AS n ON h.system = n.system AND k.source = n.source
    LEFT JOIN up AS a ON h.system = a.system AND h.hour_no = a.hour_no
    LEFT JOIN report_gap AS g
        ON h.system = g.system AND k.source = g.source AND (h.hour_no * 3600 + h.offset_s) // 3600 = g.local_hour
    LEFT JOIN removed AS r ON (h.hour_no * 3600 + h.offset_s) // 3600 = r.local_hour
),

-- The share of an hour with records that each sign of a loss leaves; 1 or null without the sign.
signs AS (
    SELECT
        *,
        if(of_connections, 1, minutes / 60) AS interval_share,
        if(of_connections, 1 - lost_minutes / 60, 1) AS loss_share,
        if(of_connections, 1 - off_minutes / 60, 1) AS off_share,
        if(of_connections AND counted IS NULL, file_minutes / 60, 1) AS file_share,
        1 - outside_minutes / 60 AS inside_share,
        if(seen < 0.95 * counted_at_least - counted_error, seen / counted_at_least, 1) AS count_share,
        -- Hours with few connections, and those of the last day, are judged by all others.
        if(ends_are_judged, began_and_ended / began, usual_end_share) AS ended_share,
        if(ended_share < 0.95, ended_share, 1) AS end_share,
        if(
            counted IS NULL AND lost_minutes IS NULL AND coalesce(off_minutes, 0) = 0
            AND usual_silence <= 2 AND silence >= 15,
            1 - silence / 60,
            1
        ) AS silence_share
    FROM compared
),

-- Short connections have no record of their start in 119-11, so a loss of ends is seen in 119-1/2 only.
compared_ends AS (
    SELECT
        *,
        if(
            source = '119-11',
            max(end_share) FILTER (WHERE source = '119-1/2' AND minutes > 0 AND is_usual)
                OVER (PARTITION BY system, hour_no),
            1
        ) AS other_end_share
    FROM signs
),

judged AS (
    SELECT
        *,
        least(
            interval_share, loss_share, off_share, file_share, inside_share, count_share, end_share, other_end_share,
            silence_share
        ) AS share
    FROM compared_ends
),

decided AS (
    SELECT
        *,
        CASE
            WHEN NOT is_recorded THEN 'not recorded'
            WHEN off_minutes = 60 AND records = 0 AND minutes = 0 THEN 'not recorded'
            WHEN minutes > 0 THEN if(share < 1, 'partial', 'complete')
            WHEN of_connections AND counted < 0.5 THEN 'complete'
            WHEN lost_minutes IS NOT NULL AND file_minutes = 60 THEN 'lost'
            WHEN of_connections AND counted_at_least >= 20 THEN if(file_minutes = 60 AND is_usual, 'lost', 'not recorded')
            WHEN is_in_gap OR uncounted_minutes > 0 THEN 'lost'
            WHEN file_minutes = 60 AND is_up AND is_usual AND (in_sequence OR (of_connections AND usual_silence <= 2))
                THEN 'lost'
            WHEN of_connections AND is_usual AND is_whole AND counted IS NULL THEN 'complete'
            ELSE 'not known'
        END AS state
    FROM judged
),

explained AS (
    SELECT
        *,
        CASE
            WHEN NOT is_recorded THEN 'no load has such data of the system'
            WHEN state = 'not recorded' AND off_minutes = 60 THEN 'zERT was disabled'
            WHEN state = 'not recorded' THEN 'the stack counted connections, which are not recorded at this time'
            WHEN state = 'partial' THEN concat_ws(
                '; ',
                CASE WHEN interval_share < 1 THEN 'intervals cover ' || minutes || ' of 60 minutes' END,
                CASE WHEN interval_share < 1 AND lost_minutes IS NOT NULL THEN 'SMF lost records' END,
                CASE
                    WHEN uncounted_minutes > 0
                        THEN 'a reset of the counters has lost their counts of ' || counted_text(uncounted_minutes, 'minute')
                END,
                CASE WHEN loss_share < 1 THEN 'SMF lost records in ' || lost_minutes || ' minutes' END,
                CASE WHEN off_share < 1 THEN 'zERT was disabled for ' || off_minutes || ' minutes' END,
                CASE WHEN file_share < 1 THEN 'the files cover ' || file_minutes || ' of 60 minutes' END,
                CASE
                    WHEN inside_share < least(file_share, loss_share, off_share, silence_share)
                        THEN 'nothing shows ' || outside_minutes || ' minutes before the first or after the last record'
                END,
                CASE
                    WHEN count_share < 1
                        THEN 'records of ' || percent_text(100 * count_share) || ' of what the stack counted leads to expect'
                END,
                CASE
                    WHEN end_share < 1 AND ends_are_judged
                        THEN began - began_and_ended || ' of ' || began
                            || ' connections that began have no record of their end'
                    WHEN end_share < 1
                        THEN round(100 - 100 * end_share)::BIGINT
                            || ' % of all connections that began have no record of their end'
                END,
                CASE
                    WHEN other_end_share < 1
                        THEN round(100 - 100 * other_end_share)::BIGINT || ' % of the ends are missing in 119-1/2'
                END,
                CASE
                    WHEN silence_share < 1 THEN 'no record for ' || silence || ' minutes, which is unusual'
                END
            )
            WHEN state = 'complete' AND NOT of_connections THEN 'intervals cover the hour'
            WHEN state = 'complete' AND records = 0 AND counted IS NULL
                THEN 'no records, and the file has all that SMF wrote'
            WHEN state = 'complete' AND records = 0 THEN 'the stack counted no connections'
            WHEN state = 'complete' AND counted IS NOT NULL THEN 'as many records as the stack counted connections'
            WHEN state = 'complete' THEN 'records in ' || minutes || ' minutes, and no sign of a loss'
            WHEN state = 'lost' AND lost_minutes IS NOT NULL
                THEN 'SMF lost ' || coalesce(number_text(lost_records), 'an unknown number of') || ' records of all types'
            WHEN state = 'lost' AND counted_at_least >= 20
                THEN 'no records, but the stack counted ' || number_text(counted_at_least) || ' starts and ends of connections'
            WHEN state = 'lost' AND uncounted_minutes > 0 THEN 'a reset of the counters has lost their counts'
            WHEN state = 'lost' AND (in_sequence OR is_in_gap) THEN 'a gap in the intervals of a file'
            WHEN state = 'lost' THEN 'no record, in a file that is otherwise never silent'
            WHEN file_minutes = 0 AND (of_connections OR in_sequence) THEN 'no loaded file covers the hour'
            ELSE 'no records: lost, idle, or the system was down'
        END
        || coalesce(
            if(state = 'not known', '; a file has ' || percent_text(least_seen_pct) || ' of the records that SMF wrote', ''), ''
        )
        || if(state IN ('lost', 'not known') AND was_removed, '; a load of this time was removed', '') AS why
    FROM decided
)

SELECT
    system::VARCHAR AS system,
    source::VARCHAR AS source,
    make_timestamptz(hour_no::BIGINT * 3600000000) AS hour_utc,
    make_timestamp((hour_no * 3600 + offset_s)::BIGINT * 1000000) AS hour_local,
    make_timestamp((hour_no * 3600 + offset_s)::BIGINT * 1000000)::DATE AS day,
    state::VARCHAR AS state,
    why::VARCHAR AS why,
    records::BIGINT AS records,
    1::BIGINT AS hours,
    CASE state
        WHEN 'complete' THEN 1
        WHEN 'partial' THEN greatest(0, share)
        ELSE 0
    END::DOUBLE AS covered_hours,
    (state IN ('lost', 'partial'))::BIGINT AS hours_with_loss,
    (state = 'not recorded')::BIGINT AS hours_not_recorded,
    (state = 'not known')::BIGINT AS hours_not_known,
    CASE WHEN minutes > 0 AND counted_at_least > 0 THEN least(100, 100 * seen / counted_at_least) END::DOUBLE AS recorded_pct
FROM explained
