-- One line of the arithmetic of a row of benchmark, from the published figure to the verdict.
--
-- Numbers are computed here a second time, from the intervals of the runs or from the measures of other
-- captures, and shown with those of benchmark (part `check`); the two are the same unless one of them is
-- wrong. Only the 95 % intervals of single runs and measures are not computed again: those of runs come from
-- drawings of the same intervals (run_replicate). The half width of the interval of the change, on the
-- logarithm, is the root of the sum of squares of those of both sides.

-- Materialized: DuckDB plans the statements of a view that it inlines again for each grouping above them.
WITH every_verdict AS MATERIALIZED (
    SELECT * FROM benchmark
),

every_pair AS MATERIALIZED (
    SELECT * FROM benchmark_pair
),

every_input AS MATERIALIZED (
    SELECT * FROM benchmark_input
),

every_interval AS MATERIALIZED (
    SELECT * FROM run_interval
),

every_count AS MATERIALIZED (
    SELECT
        system,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS end_us,
        hits AS resumed,
        added AS full_ones
    FROM gsk_cache_delta
    WHERE cache = 'TLS 1.3 tickets' AND basis = 'between displays'
),

every_result AS MATERIALIZED (
    SELECT * FROM run_result
),

chosen_run AS (
    SELECT id, filled_from, measure, measured_side, 'baseline' AS stands_for, baseline_run AS run
    FROM every_verdict
    WHERE baseline_run IS NOT NULL
    UNION ALL
    SELECT id, filled_from, measure, measured_side, 'candidate' AS stands_for, candidate_run AS run
    FROM every_verdict
    WHERE candidate_run IS NOT NULL
),

piece AS (
    SELECT
        c.*,
        i.* EXCLUDE (name),
        i.interval_ms / 1000 AS seconds,
        i.in_bytes + i.out_bytes AS bytes
    FROM chosen_run AS c
    INNER JOIN every_interval AS i ON c.run = i.name
    WHERE c.filled_from = 'runs' AND coalesce(c.measured_side, 'both') IN ('both', i.role)
),

system_sum AS (
    SELECT
        id, measure, stands_for, run, role, system,
        count(*) AS intervals,
        sum(seconds) AS seconds,
        sum(cpu_s) AS cpu_s,
        sum(transactions) AS transactions,
        sum(bytes) AS bytes,
        sum(latency_ms * latency_n) / nullif(sum(latency_n), 0) AS latency_ms,
        sum(latency_n) AS latency_n
    FROM piece
    WHERE NOT trimmed
    GROUP BY ALL
),

closed_loop AS (
    SELECT name, role, min(clients) AS clients
    FROM run
    WHERE workload_kind IN ('RR', 'STR')
    GROUP BY ALL
),

setting AS (
    SELECT
        name,
        role,
        system,
        string_agg(key || '=' || observed || ' (' || source || ')', ', ' ORDER BY key, source)
            FILTER (WHERE status = 'observed') AS observed,
        string_agg(why, '; ' ORDER BY key, source) AS contradicted
    FROM run_tag
    GROUP BY ALL
),

-- Systems in one role work at the same time: their rates per second are added up.
side_sum AS (
    SELECT
        id, measure, stands_for, run, role,
        count(*) AS systems,
        CASE WHEN count(cpu_s) = count(*) THEN sum(cpu_s / seconds) END AS cpu_per_s,
        CASE WHEN count(transactions) = count(*) THEN sum(transactions / seconds) END AS transactions_per_s,
        CASE WHEN count(bytes) = count(*) THEN sum(bytes / seconds) END AS bytes_per_s,
        sum(latency_ms * latency_n / seconds) / nullif(sum(latency_n / seconds), 0) AS latency_ms
    FROM system_sum
    GROUP BY ALL
),

one_side AS (
    SELECT
        s.*,
        CASE measure
            WHEN 'cpu_per_tran' THEN 1e6 * cpu_per_s / nullif(transactions_per_s, 0)
            WHEN 'transaction_rate' THEN transactions_per_s
            WHEN 'throughput' THEN bytes_per_s
            WHEN 'latency' THEN coalesce(1000.0 * c.clients / nullif(transactions_per_s, 0), latency_ms)
        END AS value,
        CASE measure
            WHEN 'cpu_per_tran' THEN format(
                '1e6 x {:.6f} CPU s per s / {:.4f} transactions per s', cpu_per_s, transactions_per_s
            )
            WHEN 'latency' THEN coalesce(
                format('1000 x {} clients / {:.4f} transactions per s', c.clients, transactions_per_s),
                'mean time of the connections that ended'
            )
            ELSE 'over the seconds of the intervals that count'
        END AS derivation
    FROM side_sum AS s
    LEFT JOIN closed_loop AS c ON s.run = c.name AND s.role = c.role
),

figure AS (
    SELECT id, measure, stands_for, run, role, value, derivation
    FROM one_side
    UNION ALL
    SELECT
        c.id,
        c.measure,
        c.stands_for,
        c.run,
        'both' AS role,
        CASE WHEN c.measure = 'cpu_per_tran' THEN c.value + s.value ELSE c.value END AS value,
        CASE
            WHEN c.measure = 'cpu_per_tran' THEN 'client + server'
            ELSE 'as the client sees it'
        END AS derivation
    FROM one_side AS c
    INNER JOIN one_side AS s ON c.id = s.id AND c.stands_for = s.stands_for
    WHERE c.role = 'client' AND s.role = 'server'
),

figure_between AS (
    SELECT
        f.*,
        r.low,
        r.high,
        r.unit,
        log_half_width(r.low, r.high) AS log_half
    FROM figure AS f
    LEFT JOIN every_result AS r ON f.run = r.name AND f.role = r.role AND f.measure = r.measure
),

change AS (
    SELECT
        b.id,
        b.role,
        b.value AS baseline_value,
        c.value AS candidate_value,
        b.unit,
        change_pct(b.value, c.value) AS value,
        change_pct_end(b.value, c.value, -combined_half_width(b.log_half, c.log_half)) AS low,
        change_pct_end(b.value, c.value, combined_half_width(b.log_half, c.log_half)) AS high
    FROM figure_between AS b
    INNER JOIN figure_between AS c ON b.id = c.id AND b.role = c.role
    WHERE b.stands_for = 'baseline' AND c.stands_for = 'candidate'
),

-- If the displays belong to no run, all of them are shown.
displayed AS (
    SELECT
        t.id,
        t.candidate_run,
        d.*,
        -- If no run has the tags, displays that overlap no run are used.
        if(
            t.candidate_run IS NULL,
            count(r.name) = 0,
            coalesce(
                bool_or(
                    r.name = t.candidate_run AND r.role = t.side
                    AND lies_mostly_in(d.begin_us, d.end_us, epoch_us(r.from_utc), epoch_us(r.to_utc))
                ),
                false
            )
        ) AS counts
    FROM every_verdict AS t
    CROSS JOIN every_count AS d
    LEFT JOIN run AS r
        ON d.system = r.system AND overlap_us(d.begin_us, d.end_us, epoch_us(r.from_utc), epoch_us(r.to_utc)) > 0
    WHERE t.filled_from = 'metric' AND t.measure = 'resumption_rate'
    GROUP BY t.id, t.candidate_run, t.side, d.system, d.begin_us, d.end_us, d.resumed, d.full_ones
),

-- The measures of a result that is filled from other captures.
chosen_measure AS (
    SELECT
        i.id,
        i.compared_by,
        i.formula AS how,
        s.stands_for,
        m.*,
        (m.high - m.low) / 2 AS half,
        log_half_width(m.low, m.high) AS log_half
    FROM every_input AS i
    INNER JOIN (VALUES ('baseline'), ('candidate')) AS s (stands_for) ON i.has_source
    INNER JOIN input_measure AS m
        ON m.measure_no = CASE s.stands_for WHEN 'baseline' THEN i.baseline_no ELSE i.candidate_no END
),

made_of AS (
    SELECT
        c.id,
        c.compared_by,
        c.how,
        c.unit,
        b.value AS b_value,
        c.value AS c_value,
        c.low AS c_low,
        c.high AS c_high,
        combined_half_width(b.log_half, c.log_half) AS log_half,
        combined_half_width(b.half, c.half) AS half
    FROM chosen_measure AS c
    LEFT JOIN chosen_measure AS b ON c.id = b.id AND b.stands_for = 'baseline'
    WHERE c.stands_for = 'candidate'
),

input_change AS (
    SELECT
        m.id,
        m.how,
        CASE WHEN m.compared_by IN ('change', 'share') THEN '%' ELSE m.unit END AS unit,
        CASE m.compared_by
            WHEN 'change' THEN change_pct(m.b_value, m.c_value)
            WHEN 'difference' THEN m.c_value - m.b_value
            ELSE m.c_value
        END AS value,
        CASE m.compared_by
            WHEN 'change' THEN change_pct_end(m.b_value, m.c_value, -m.log_half)
            WHEN 'difference' THEN m.c_value - m.b_value - m.half
            ELSE m.c_low
        END AS low,
        CASE m.compared_by
            WHEN 'change' THEN change_pct_end(m.b_value, m.c_value, m.log_half)
            WHEN 'difference' THEN m.c_value - m.b_value + m.half
            ELSE m.c_high
        END AS high
    FROM made_of AS m
),

line AS (
    SELECT
        id,
        1 AS part_no,
        'published' AS part,
        as_printed AS what,
        published_value AS value,
        published_low AS low,
        published_high AS high,
        published_unit AS unit,
        concat_ws(
            '; ', document || ', ' || section || coalesce(', ' || figure, ''),
            metric || ' of side ' || side, 'workload ' || workload,
            'environment: ' || joined(environment_published, ', ')
        ) AS text
    FROM every_verdict
    UNION ALL BY NAME
    SELECT
        id,
        2 AS part_no,
        'conflict' AS part,
        array_to_string(conflicts_with, ', ') AS what,
        conflict AS text
    FROM every_verdict
    WHERE conflict IS NOT NULL
    UNION ALL BY NAME
    SELECT
        id, 3 AS part_no, 'rule' AS part, rule AS what,
        CASE filled_from
            WHEN 'nothing' THEN 'nothing that is loaded can fill it'
            WHEN 'inputs' THEN 'filled from inputs; ' || needs
            ELSE 'filled from ' || filled_from || coalesce(': ' || measure, '') || '; ' || needs
        END AS text
    FROM every_verdict
    UNION ALL BY NAME
    SELECT
        id,
        4 AS part_no,
        'pair' AS part,
        place AS place,
        baseline_run || ' and ' || candidate_run AS what,
        CASE
            WHEN place = 1 AND fits THEN 'chosen'
            WHEN place = 1 THEN 'closest, but it does not fit: ' || array_to_string(problems, '; ')
            WHEN fits THEN 'also fits; another one has priority'
            ELSE 'does not fit: ' || array_to_string(problems, '; ')
        END
        || format(
            '; {}, {} tags of the published environment{}',
            CASE WHEN same_systems THEN 'on the same systems' ELSE 'on other systems' END,
            environment_in_common,
            CASE WHEN synthetic THEN ', synthetic' ELSE '' END
        ) AS text
    FROM every_pair
    UNION ALL BY NAME
    SELECT DISTINCT
        c.id,
        5 AS part_no,
        'run' AS part,
        c.stands_for || ' ' || c.run AS what,
        c.stands_for,
        c.run,
        r.role,
        r.system,
        concat_ws(
            '; ',
            strftime(r.from_utc AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S') || ' to '
            || strftime(r.to_utc AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S') || ' UTC',
            'workload ' || r.workload,
            joined(r.tags, ' '),
            'observed: ' || t.observed,
            t.contradicted,
            CASE WHEN r.synthetic THEN 'synthetic' END,
            r.note
        ) AS text
    FROM chosen_run AS c
    INNER JOIN run AS r ON c.run = r.name
    LEFT JOIN setting AS t ON r.name = t.name AND r.role = t.role AND r.system = t.system
    UNION ALL BY NAME
    SELECT
        id, 6 AS part_no, 'interval' AS part, stands_for || ' ' || run AS what, stands_for, run, role, system,
        interval_start_utc, seconds, cpu_s, transactions, bytes, latency_ms, latency_n, NOT trimmed AS counts,
        CASE WHEN trimmed THEN 'left out: ' || why ELSE 'counts; transactions: ' || counted_by END AS text
    FROM piece
    UNION ALL BY NAME
    SELECT
        id, 7 AS part_no, 'sum' AS part, stands_for || ' ' || run AS what, stands_for, run, role, system,
        seconds, cpu_s, transactions, bytes, latency_ms, latency_n,
        intervals || ' intervals that count' AS text
    FROM system_sum
    UNION ALL BY NAME
    SELECT
        id, 8 AS part_no, 'figure' AS part, stands_for || ' ' || run AS what, stands_for, run, role,
        value, low, high, unit, measure || ' = ' || derivation AS text
    FROM figure_between
    UNION ALL BY NAME
    SELECT
        p.id, 8 AS part_no, 'also' AS part, a.measure AS what, a.role,
        a.change_pct AS value, a.low_pct AS low, a.high_pct AS high, '%' AS unit,
        concat_ws(
            '; ', 'has to have the same outcome', format('{:g} to {:g} {}', a.baseline_value, a.candidate_value, a.unit),
            a.remarks
        ) AS text
    FROM (SELECT id, unnest(also) AS a FROM every_pair WHERE place = 1) AS p
    INNER JOIN every_verdict AS t ON p.id = t.id AND a.role = t.measured_side AND t.baseline_run IS NOT NULL
    UNION ALL BY NAME
    SELECT
        id, 9 AS part_no, 'change' AS part, role, 'candidate against baseline' AS what,
        value, low, high, '%' AS unit,
        format('100 x ({:.6f} / {:.6f} - 1)', candidate_value, baseline_value) AS text
    FROM change
    UNION ALL BY NAME
    SELECT
        c.id, 10 AS part_no, 'check' AS part, c.role, 'the same in benchmark' AS what,
        CASE c.role
            WHEN 'client' THEN t.measured_client_pct
            WHEN 'server' THEN t.measured_server_pct
            ELSE t.measured_both_pct
        END AS value,
        CASE WHEN c.role = t.measured_side THEN t.measured_low END AS low,
        CASE WHEN c.role = t.measured_side THEN t.measured_high END AS high,
        '%' AS unit
    FROM change AS c
    INNER JOIN every_verdict AS t ON c.id = t.id
    UNION ALL BY NAME
    SELECT
        id, 8 AS part_no, 'count' AS part, 'between displays' AS what, 'server' AS role, system,
        make_timestamptz(min(begin_us)) AS interval_start_utc, sum(end_us - begin_us) / 1e6 AS seconds,
        sum(resumed + full_ones)::DOUBLE AS transactions,
        100.0 * sum(resumed) / sum(resumed + full_ones) AS value, '%' AS unit,
        counts,
        format(
            '100 x {:,} resumed / ({:,} resumed + {:,} full), from {}',
            sum(resumed)::BIGINT, sum(resumed)::BIGINT, sum(full_ones)::BIGINT,
            counted_text(count(*), 'interval')
        ) || CASE
            WHEN counts THEN ''
            WHEN candidate_run IS NULL THEN '; left out: of runs with other tags'
            ELSE '; left out: not of the run'
        END AS text
    FROM displayed
    WHERE resumed + full_ones > 0
    GROUP BY id, candidate_run, system, counts
    UNION ALL BY NAME
    SELECT
        id, 9 AS part_no, 'change' AS part, 'server' AS role, 'share over the displays that count' AS what,
        100.0 * sum(resumed) / sum(resumed + full_ones) AS value, '%' AS unit,
        format('100 x {} / {}', sum(resumed), sum(resumed + full_ones)) AS text
    FROM displayed
    WHERE counts
    GROUP BY id
    HAVING sum(resumed + full_ones) > 0
    UNION ALL BY NAME
    SELECT
        t.id, 8 AS part_no, 'count' AS part, 'TCP/IP stacks' AS what, 'both' AS role, n.system, n.seconds,
        n.stack_s AS cpu_s, n.ended_transactions::DOUBLE AS transactions, n.least_share_pct AS value, '%' AS unit,
        format('100 x {:.6f} s of the stacks / {:.6f} s of all service classes', n.stack_s, n.workload_s) AS text
    FROM every_verdict AS t
    CROSS JOIN network_share AS n
    WHERE t.filled_from = 'metric' AND t.measure = 'network_share'
    UNION ALL BY NAME
    SELECT
        t.id, 9 AS part_no, 'change' AS part, 'both' AS role, 'share over all systems' AS what,
        100 * sum(n.stack_s) / sum(n.workload_s) AS value, '%' AS unit,
        format('at least, of the stacks alone: 100 x {:.6f} / {:.6f}', sum(n.stack_s), sum(n.workload_s)) AS text
    FROM every_verdict AS t
    CROSS JOIN network_share AS n
    WHERE t.filled_from = 'metric' AND t.measure = 'network_share'
    GROUP BY t.id
    HAVING sum(n.workload_s) > 0
    UNION ALL BY NAME
    SELECT
        id, 10 AS part_no, 'check' AS part, measured_side AS role, 'the same in benchmark' AS what,
        measured_value AS value, '%' AS unit
    FROM every_verdict
    WHERE filled_from = 'metric' AND measured_value IS NOT NULL
    UNION ALL BY NAME
    SELECT
        id, 4 AS part_no, 'pair' AS part, measured_by AS what,
        CASE
            WHEN len(problems) = 0 THEN format('chosen, of {} that fit', pairs_found)
            ELSE 'closest, but it does not fit: ' || array_to_string(problems, '; ')
        END
        || CASE WHEN synthetic THEN ', synthetic' ELSE '' END AS text
    FROM every_input
    WHERE has_source
    UNION ALL BY NAME
    SELECT
        id, 8 AS part_no, 'measure' AS part,
        concat_ws(' ', stands_for, measure, '(' || subject || ')') AS what,
        stands_for, run, system, value, low, high, unit,
        concat_ws(
            '; ', formula, joined(tags, ' '), 'series ' || series,
            CASE WHEN synthetic THEN 'synthetic' END, remarks
        ) AS text
    FROM chosen_measure
    UNION ALL BY NAME
    SELECT
        i.id, 9 AS part_no, 'change' AS part, t.measured_side AS role,
        CASE i.unit WHEN '%' THEN 'candidate against baseline' ELSE 'what they come to' END AS what,
        i.value, i.low, i.high, i.unit, i.how AS text
    FROM input_change AS i
    INNER JOIN every_verdict AS t ON i.id = t.id
    WHERE i.value IS NOT NULL
    UNION ALL BY NAME
    SELECT
        t.id, 10 AS part_no, 'check' AS part, t.measured_side AS role, 'the same in benchmark' AS what,
        t.measured_value AS value,
        -- If the spread is not known, the row has the value instead of an interval.
        CASE WHEN i.low IS NOT NULL THEN t.measured_low END AS low,
        CASE WHEN i.low IS NOT NULL THEN t.measured_high END AS high,
        i.unit
    FROM every_verdict AS t
    INNER JOIN input_change AS i ON t.id = i.id
    WHERE t.measured_value IS NOT NULL
    UNION ALL BY NAME
    SELECT
        id, 12 AS part_no, 'accepted' AS part, 'bound, or figure with its tolerance' AS what,
        accepted_low AS low, accepted_high AS high,
        CASE measured_unit WHEN 'pct' THEN '%' ELSE measured_unit END AS unit,
        accepted_why AS text
    FROM every_verdict
    WHERE accepted_low IS NOT NULL OR accepted_high IS NOT NULL
    UNION ALL BY NAME
    SELECT
        id, 13 AS part_no, 'verdict' AS part, verdict AS what, measured_side AS role,
        measured_value AS value, measured_low AS low, measured_high AS high,
        CASE
            WHEN measured_value IS NOT NULL
                THEN CASE measured_unit WHEN 'pct' THEN '%' ELSE measured_unit END
        END AS unit,
        why AS text,
        synthetic AND measured IS NOT NULL AS synthetic
    FROM every_verdict
)

SELECT
    id::VARCHAR AS id,
    row_number() OVER (
        PARTITION BY id
        ORDER BY part_no, place, stands_for, list_position(['client', 'server', 'both'], role), system,
            interval_start_utc, what
    )::BIGINT AS line,
    part::VARCHAR AS part,
    what::VARCHAR AS what,
    stands_for::VARCHAR AS stands_for,
    run::VARCHAR AS run,
    role::VARCHAR AS role,
    system::VARCHAR AS system,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    seconds::DOUBLE AS seconds,
    cpu_s::DOUBLE AS cpu_s,
    transactions::DOUBLE AS transactions,
    bytes::DOUBLE AS bytes,
    latency_ms::DOUBLE AS latency_ms,
    latency_n::BIGINT AS latency_n,
    counts::BOOLEAN AS counts,
    value::DOUBLE AS value,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    unit::VARCHAR AS unit,
    text::VARCHAR AS text,
    synthetic::BOOLEAN AS synthetic
FROM line
