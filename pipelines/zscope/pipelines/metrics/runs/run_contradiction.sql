-- What in the data of a side of a benchmark run makes its figures doubtful, or wrong.
--
-- Contradictions refuse the figures that depend on counted connections: another source has more connections than
-- the one that was counted, intervals have few transactions and the CPU time of the others, or records were
-- written at another time than the connections ended. Intervals that were left out, and a time zone that is not
-- known, are doubts. Values of all intervals inside the run show what leaving some out changed.

WITH connection_record AS (
    SELECT
        'SMF 119-2' AS source,
        system,
        end_utc,
        epoch_us(written_utc) - epoch_us(end_utc) AS late_us
    FROM smf119_tcp_term
    UNION ALL
    SELECT
        'zERT' AS source,
        system,
        end_utc,
        epoch_us(written_utc) - epoch_us(end_utc) AS late_us
    FROM smf119_zert_detail
    WHERE event_type IN (3, 4)
),

recorded AS (
    SELECT
        r.name,
        r.role,
        count(*) FILTER (WHERE c.source = 'SMF 119-2') AS tcp_connections,
        count(*) FILTER (WHERE c.source = 'zERT') AS zert_connections,
        median(c.late_us) / 60000000 AS late_minutes
    FROM run AS r
    INNER JOIN connection_record AS c ON r.system = c.system AND c.end_utc >= r.from_utc AND c.end_utc < r.to_utc
    GROUP BY r.name, r.role
),

-- Statistics of the stack that lie in the run as a whole.
closed AS (
    SELECT
        r.name,
        r.role,
        sum(s.closed_connections)::BIGINT AS closed_connections
    FROM run AS r
    INNER JOIN smf119_stack_statistics AS s
        ON
            r.system = s.system
            AND epoch_us(s.written_utc) - s.interval_us::BIGINT >= epoch_us(r.from_utc) - 2000000
            AND epoch_us(s.written_utc) <= epoch_us(r.to_utc) + 2000000
    GROUP BY r.name, r.role
),

inside AS (
    SELECT
        *,
        cpu_s / interval_ms AS busy,
        median(cpu_s / interval_ms) FILTER (WHERE NOT trimmed) OVER (PARTITION BY name, system, role) AS usual_busy,
        median(transactions / interval_ms) FILTER (WHERE NOT trimmed) OVER (PARTITION BY name, system, role)
            AS usual_rate
    FROM run_interval
    WHERE why IS NULL OR why NOT IN ('begins before the run', 'ends after the run')
),

of_system AS (
    SELECT
        name,
        system,
        role,
        any_value(counted_by) AS counted_by,
        count(*) AS intervals,
        count(*) FILTER (WHERE trimmed) AS left_out,
        string_agg(DISTINCT why, ', ' ORDER BY why) AS left_out_as,
        count(*) FILTER (
            WHERE busy > 0.5 * usual_busy AND transactions / interval_ms < 0.5 * usual_rate * busy / usual_busy
        ) AS busy_without_transactions,
        1e6 * sum(cpu_s) FILTER (WHERE transactions IS NOT NULL)
        / nullif(sum(transactions) FILTER (WHERE cpu_s IS NOT NULL), 0) AS all_cpu_us_per_tran,
        1000 * sum(transactions) / nullif(sum(interval_ms) FILTER (WHERE transactions IS NOT NULL), 0)
            AS all_transactions_per_s
    FROM inside
    GROUP BY name, system, role
),

unzoned AS (
    SELECT DISTINCT system
    FROM cpu_slot
    WHERE passed_over = 'no UTC'
),

side AS (
    SELECT
        o.name,
        o.role,
        sum(o.intervals) AS intervals,
        sum(o.left_out) AS left_out,
        string_agg(DISTINCT o.left_out_as, ', ' ORDER BY o.left_out_as) AS left_out_as,
        sum(o.busy_without_transactions) AS busy_without_transactions,
        bool_or(o.counted_by IN ('connections ended', 'zERT connections', 'bytes over request size'))
            AS counts_connections,
        bool_or(o.counted_by = 'zERT connections') AS counts_zert,
        -- Rates of the systems of a side add up, and so does their CPU time per second.
        sum(o.all_cpu_us_per_tran * o.all_transactions_per_s) / nullif(sum(o.all_transactions_per_s), 0)
            AS all_cpu_us_per_tran,
        sum(o.all_transactions_per_s) AS all_transactions_per_s,
        string_agg(DISTINCT u.system, ', ' ORDER BY u.system) AS unzoned
    FROM of_system AS o
    LEFT JOIN unzoned AS u ON o.system = u.system
    GROUP BY o.name, o.role
),

judged AS (
    SELECT
        s.*,
        coalesce(r.tcp_connections, 0) AS tcp_connections,
        coalesce(r.zert_connections, 0) AS zert_connections,
        c.closed_connections,
        if(s.counts_zert, coalesce(r.zert_connections, 0), coalesce(r.tcp_connections, 0)) AS counted,
        1 + coalesce(getvariable('run_source_tolerance_pct'), 10) / 100 AS most,
        without_nulls([
            CASE
                WHEN s.counts_connections AND zert_connections > most * counted
                    THEN format('SMF 119-2 has {:,} connections, zERT {:,}', tcp_connections, zert_connections)
            END,
            CASE
                WHEN s.counts_connections AND c.closed_connections > most * counted
                    THEN format('records of {:,} connections, but SMF 119-5 counts {:,}', counted, c.closed_connections)
            END,
            CASE
                WHEN s.counts_connections AND s.busy_without_transactions > 0.2 * s.intervals
                    THEN format(
                        '{:,} of {:,} intervals have twice the usual CPU time per transaction: records are missing, clocks differ, or other work used the CPU',
                        s.busy_without_transactions, s.intervals
                    )
            END,
            CASE
                WHEN abs(r.late_minutes) > 15
                    THEN format(
                        'records were written {:.0f} minutes {} their connections ended: the clock or time zone is wrong',
                        abs(r.late_minutes), if(r.late_minutes > 0, 'after', 'before')
                    )
            END
        ]) AS contradictions,
        without_nulls([
            CASE
                WHEN s.left_out > 0
                    THEN format('{:,} of {:,} intervals left out ({})', s.left_out, s.intervals, s.left_out_as)
            END,
            CASE
                WHEN s.unzoned IS NOT NULL
                    THEN
                        'the time zone of CPU intervals of ' || s.unzoned
                        || ' is not known: load them with --timezone'
            END
        ]) AS doubts
    FROM side AS s
    LEFT JOIN recorded AS r ON s.name = r.name AND s.role = r.role
    LEFT JOIN closed AS c ON s.name = c.name AND s.role = c.role
),

each_role AS (
    SELECT * FROM judged
    UNION ALL BY NAME
    SELECT
        c.name,
        'both' AS role,
        c.intervals + s.intervals AS intervals,
        c.left_out + s.left_out AS left_out,
        c.tcp_connections,
        c.zert_connections,
        c.closed_connections,
        c.all_cpu_us_per_tran + s.all_cpu_us_per_tran AS all_cpu_us_per_tran,
        c.all_transactions_per_s,
        list_concat(
            list_transform(c.contradictions, lambda t : 'client: ' || t),
            list_transform(s.contradictions, lambda t : 'server: ' || t)
        ) AS contradictions,
        list_concat(
            list_transform(c.doubts, lambda t : 'client: ' || t),
            list_transform(s.doubts, lambda t : 'server: ' || t)
        ) AS doubts
    FROM judged AS c
    INNER JOIN judged AS s ON c.name = s.name
    WHERE c.role = 'client' AND s.role = 'server'
)

SELECT
    name::VARCHAR AS name,
    role::VARCHAR AS role,
    intervals::BIGINT AS intervals,
    left_out::BIGINT AS left_out,
    tcp_connections::BIGINT AS tcp_connections,
    zert_connections::BIGINT AS zert_connections,
    closed_connections::BIGINT AS closed_connections,
    all_cpu_us_per_tran::DOUBLE AS all_cpu_us_per_tran,
    all_transactions_per_s::DOUBLE AS all_transactions_per_s,
    joined(contradictions, '; ')::VARCHAR AS contradiction,
    joined(doubts, '; ')::VARCHAR AS doubt
FROM each_role
