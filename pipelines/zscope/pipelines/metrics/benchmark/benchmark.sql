-- One published result and what was measured here, with a verdict.
--
-- Every result has a row, filled or not. reference_filling states what fills it: a pair of benchmark runs
-- (chosen by benchmark_pair), a metric, or tables of other captures (chosen by benchmark_input). The
-- comparison is of percent changes, never of levels of another machine; if two levels are published, it is of
-- the change between them.
--
-- The accepted range is the published bound, or the published value with a tolerance on both sides: a share
-- of the change or of what remains after it, whichever is less, and never less than the rounding of the printed
-- digits. So 14.4 to 17.6 % are accepted for 16 %, but 97.5 to 98.5 % less for 98 % less, as a tenth of a
-- change by 98 % would be five times what remains. If the document prints both values of a change, each change
-- between values that round to them is accepted, too. A bound that a direction leaves open ends at no change. A
-- measurement agrees if its 95 % interval overlaps with the accepted range. An interval that contains both no
-- change and the published value would agree with everything, so it is not compared.
--
-- An absolute value of another machine is neither: its ratio to the published one is stated instead.
--
-- If a document does not state its side, there are three readings of it: client, server, and both together. If
-- all three have the same verdict, it does not matter which is meant, and the side is `any`. In the same way, a
-- document that says performance means all that it measures: all of its measures must have the same outcome.

WITH every_pair AS MATERIALIZED (
    -- Materialized: DuckDB plans the statements of a view that it inlines again for each grouping or window
    -- above them.
    SELECT * FROM benchmark_pair
),

every_input AS MATERIALIZED (
    SELECT * FROM benchmark_input
),

targeted AS (
    SELECT
        p.*,
        i.id IS NOT NULL AS is_input,
        coalesce(i.comparable, p.unit = 'pct') AS comparable,
        coalesce(i.compared_by, '') = 'level' AS is_level,
        i.compared_by = 'change' AND p.value_kind IN ('absolute', 'difference') AS is_made_a_change,
        g.percent_of,
        -- What a measurement is compared with, and its unit: documents with two levels do not print the
        -- change.
        CASE
            WHEN is_made_a_change AND g.percent_of IS NOT NULL THEN 100 * p.value / g.percent_of
            WHEN is_made_a_change THEN p.recomputed_pct
            ELSE p.value
        END AS target,
        -- A published difference of a published level is a change in percent of it.
        coalesce(100 * p.low / g.percent_of, p.low) AS target_low,
        coalesce(100 * p.high / g.percent_of, p.high) AS target_high,
        CASE
            WHEN i.compared_by = 'change' OR (i.id IS NULL AND p.unit IS NULL) THEN 'pct'
            ELSE p.unit
        END AS compared_unit,
        -- The rounding of a published level is that of both ends of recomputed_low and recomputed_high.
        CASE
            WHEN g.percent_of IS NOT NULL THEN 100 * p.rounding / g.percent_of
            WHEN NOT is_made_a_change THEN p.rounding
        END AS rounded_by
    FROM reference_result AS p
    INNER JOIN reference_filling AS g ON p.id = g.id
    LEFT JOIN every_input AS i ON p.id = i.id
),

result AS (
    SELECT
        p.*,
        f.rule,
        f.filled_from,
        f.measure,
        f.also_measures,
        f.both_tags,
        f.run_kinds,
        f.captures,
        f.obstacle,
        p.direction IN ('comparable', 'no_change') AS no_difference,
        p.value_kind = 'percent_share' AS is_share,
        -- An improvement is a decrease of the measure.
        p.direction IN ('decrease', 'improved') AS is_less,
        greatest(
            p.rounded_by,
            CASE
                WHEN p.is_made_a_change AND p.direction = 'no_change' THEN k.comparable_pct
                WHEN p.value_kind = 'percent_change' OR p.is_made_a_change
                    THEN least(abs(p.target), 100 + p.target) * k.tolerated
                WHEN p.is_level THEN abs(p.target) * k.tolerated
                ELSE least(p.target, 100 - p.target) * k.tolerated
            END
        ) AS tolerance,
        k.comparable_pct
    FROM targeted AS p
    CROSS JOIN (
        SELECT
            coalesce(getvariable('benchmark_tolerance_pct')::DOUBLE, 10) / 100 AS tolerated,
            coalesce(getvariable('benchmark_comparable_pct')::DOUBLE, 5) AS comparable_pct
    ) AS k
    INNER JOIN reference_filling AS f ON p.id = f.id
),

accepting AS MATERIALIZED (
    SELECT
        *,
        -- CPU time is that of a side, even if the document names none for a network between two systems.
        side = 'unspecified' OR (side = 'n/a' AND filled_from = 'runs' AND measure = 'cpu_per_tran') AS is_side_open,
        compared_unit = 'pct' AND NOT is_share AND recomputed_low IS NOT NULL AS has_both_values,
        CASE
            WHEN kind = 'qualitative' OR NOT comparable THEN NULL
            WHEN kind <> 'bound'
                THEN least(target - tolerance, CASE WHEN has_both_values THEN recomputed_low END)
            WHEN target_low IS NOT NULL THEN target_low - tolerance
            WHEN is_share OR direction = 'increase' THEN 0
        END AS accepted_low,
        CASE
            WHEN kind = 'qualitative' OR NOT comparable THEN NULL
            WHEN kind <> 'bound'
                THEN greatest(target + tolerance, CASE WHEN has_both_values THEN recomputed_high END)
            WHEN target_high IS NOT NULL THEN target_high + tolerance
            WHEN is_share THEN 100
            WHEN direction = 'decrease' THEN 0
        END AS accepted_high,
        CASE
            WHEN coalesce(accepted_low, accepted_high) IS NULL THEN NULL
            WHEN kind = 'bound'
                THEN format('the bound, with {:.4g} for rounding and tolerance', tolerance)
            ELSE
                concat_ws(
                    '; ',
                    CASE
                        WHEN is_made_a_change
                            THEN format('{:+.2f} % between the published values, computed here', target)
                        ELSE format('the figure {:g}', target)
                    END
                    || format(' with a tolerance of {:.4g}', tolerance),
                    format('rounding of the printed figure: {:.4g}', rounded_by),
                    CASE
                        WHEN has_both_values
                            THEN
                                format(
                                    'values that round to the printed ones change by {:+.2f} to {:+.2f} %',
                                    recomputed_low, recomputed_high
                                )
                    END
                )
        END AS accepted_why
    FROM result
),

nearest_pair AS (
    SELECT *
    FROM (
        SELECT *, count(*) FILTER (WHERE fits) OVER (PARTITION BY id) AS pairs_found
        FROM every_pair
    )
    WHERE place = 1
),

-- Runs of another workload or with other settings do not measure the result.
pair AS (
    SELECT * FROM nearest_pair WHERE meets_conditions
),

other_pair AS (
    SELECT
        id,
        'the closest runs, ' || baseline_run || ' and ' || candidate_run || ': '
        || array_to_string(problems, '; ') AS text
    FROM nearest_pair
    WHERE NOT meets_conditions
),

-- The measurement for a result, and its source.
source AS (
    SELECT
        id, baseline_run, candidate_run, pairs_found, synthetic, problems, shared_tags, sending_role, systems,
        observed_tags, contradictions, NULL::VARCHAR AS measured_by, NULL::VARCHAR AS spread_remark, NULL::VARCHAR AS remarks
    FROM pair
    UNION ALL BY NAME
    SELECT
        id, baseline_run, candidate_run, pairs_found, synthetic, problems, shared_tags, measured_by,
        spread_remark, remarks
    FROM every_input
    WHERE has_source
),

displayed AS (
    SELECT
        system,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS end_us,
        hits AS resumed,
        added AS full_ones
    FROM gsk_cache_delta
    WHERE cache = 'TLS 1.3 tickets' AND basis = 'between displays'
),

-- Runs with the tags that their data show.
run_known AS (
    SELECT r.* REPLACE (list_concat(r.tags, t.observed_tags) AS tags)
    FROM run AS r
    LEFT JOIN (
        SELECT
            name,
            system,
            role,
            list(key || '=' || observed) AS observed_tags
        FROM run_tag
        WHERE status = 'observed'
        GROUP BY ALL
    ) AS t ON r.name = t.name AND r.system = t.system AND r.role = t.role
),

-- Displays belong to a run that covers at least four fifths of the time between them.
displayed_in_run AS (
    SELECT
        a.id,
        r.name AS run,
        sum(d.resumed) AS resumed,
        sum(d.full_ones) AS full_ones,
        bool_or(r.synthetic) AS synthetic,
        [] AS problems
    FROM accepting AS a
    INNER JOIN run_known AS r ON list_has_all(r.tags, list_concat(a.candidate_tags, a.condition_tags))
    INNER JOIN displayed AS d ON r.system = d.system
    WHERE
        a.filled_from = 'metric' AND a.measure = 'resumption_rate' AND r.role = a.side
        AND lies_mostly_in(d.begin_us, d.end_us, epoch_us(r.from_utc), epoch_us(r.to_utc))
    GROUP BY a.id, r.name
    HAVING sum(d.resumed) + sum(d.full_ones) > 0
    QUALIFY row_number() OVER (
        PARTITION BY a.id ORDER BY bool_or(r.synthetic), max(r.from_utc) DESC, r.name
    ) = 1
),

-- Records and displays do not show whether they were generated; runs on their systems do.
system_origin AS (
    SELECT system, bool_or(synthetic) AS synthetic
    FROM run
    GROUP BY system
),

-- Displays outside of runs are also shown. A display that overlaps a run is not used: the run can have other tags and
-- many handshakes.
displayed_elsewhere AS (
    SELECT
        a.id,
        NULL AS run,
        sum(d.resumed) AS resumed,
        sum(d.full_ones) AS full_ones,
        bool_or(g.synthetic) AS synthetic,
        [
            'the displays are of no run tagged '
            || array_to_string(list_concat(a.candidate_tags, a.condition_tags), ' ')
        ] AS problems
    FROM accepting AS a
    CROSS JOIN (
        FROM displayed AS o
        ANTI JOIN run AS r
            ON o.system = r.system AND overlap_us(o.begin_us, o.end_us, epoch_us(r.from_utc), epoch_us(r.to_utc)) > 0
    ) AS d
    LEFT JOIN system_origin AS g ON d.system = g.system
    WHERE a.filled_from = 'metric' AND a.measure = 'resumption_rate'
    GROUP BY a.id, a.candidate_tags, a.condition_tags
    HAVING sum(d.resumed) + sum(d.full_ones) > 0
),

-- The stacks need at least this share. If it is above what is accepted, the whole share is too; if it is not,
-- the whole share is not known.
network_use AS (
    SELECT
        a.id,
        'both' AS role,
        NULL AS run,
        n.share AS value,
        n.synthetic,
        []::VARCHAR[] AS problems,
        format('at least {:.1f} %', n.share) AS value_text,
        CASE
            WHEN n.share <= a.accepted_high
                THEN
                    format('at least {:.1f} %: ', n.share)
                    || 'sockets and AT-TLS in the address spaces of applications are not recorded apart'
        END AS level_remark
    FROM accepting AS a
    CROSS JOIN (
        SELECT
            100 * sum(s.stack_s) / nullif(sum(s.workload_s), 0) AS share,
            bool_or(g.synthetic) AS synthetic
        FROM network_share AS s
        LEFT JOIN system_origin AS g ON s.system = g.system
    ) AS n
    WHERE a.filled_from = 'metric' AND a.measure = 'network_share' AND n.share IS NOT NULL
),

ticket_use AS (
    SELECT
        id,
        'server' AS role,
        run,
        100.0 * resumed / (resumed + full_ones) AS value,
        synthetic,
        problems,
        NULL::VARCHAR AS value_text,
        NULL::VARCHAR AS level_remark
    FROM (
        SELECT * FROM displayed_in_run
        UNION ALL
        SELECT e.* FROM displayed_elsewhere AS e ANTI JOIN displayed_in_run AS i ON e.id = i.id
    )
),

metric_value AS (
    SELECT * FROM network_use
    UNION ALL BY NAME
    SELECT * FROM ticket_use
),

pair_side AS (
    SELECT id, unnest(sides) AS side
    FROM pair
),

pair_also AS (
    SELECT id, unnest(also) AS reading
    FROM pair
),

lacking AS (
    SELECT id, string_agg(DISTINCT side.remarks, '; ' ORDER BY side.remarks) AS remarks
    FROM pair_side
    WHERE side.change_pct IS NULL
    GROUP BY id
),

-- The measurements of each side.
measured AS (
    SELECT
        id,
        NULL AS also_measure,
        side.role AS role,
        side.change_pct AS value,
        side.low_pct AS low,
        side.high_pct AS high,
        side.remarks AS remarks,
        -- Values that are distributed evenly over the intervals do not show how far they vary.
        coalesce(side.high_pct - side.low_pct < 1e-9, true) AS unknown_spread,
        NULL AS value_text,
        NULL AS level_remark
    FROM pair_side
    WHERE side.change_pct IS NOT NULL
    UNION ALL
    SELECT
        id,
        reading.measure AS also_measure,
        reading.role AS role,
        reading.change_pct AS value,
        reading.low_pct AS low,
        reading.high_pct AS high,
        reading.remarks AS remarks,
        coalesce(reading.high_pct - reading.low_pct < 1e-9, true) AS unknown_spread,
        NULL AS value_text,
        NULL AS level_remark
    FROM pair_also
    WHERE reading.change_pct IS NOT NULL
    UNION ALL
    SELECT
        id, NULL AS also_measure, role, value, value AS low, value AS high, NULL AS remarks, false AS unknown_spread, value_text,
        level_remark
    FROM metric_value
    UNION ALL
    -- A capture often has only one value; the remark says that the spread is not known, and the verdict is
    -- still given.
    SELECT
        id, NULL AS also_measure, 'input' AS role, value, coalesce(low, value) AS low, coalesce(high, value) AS high,
        NULL AS remarks, false AS unknown_spread, value_text, level_remark
    FROM every_input
    WHERE value IS NOT NULL
),

compared AS MATERIALIZED (
    SELECT
        a.id,
        m.also_measure,
        m.role,
        m.value,
        m.low,
        m.high,
        -- An improvement is a decrease of CPU time and latency, and an increase of a rate.
        a.is_less <> (a.direction = 'improved' AND coalesce(m.also_measure, a.measure) = 'transaction_rate')
            AS less_is_published,
        CASE WHEN a.is_share THEN format('{:.1f} %', m.value) ELSE points_text(m.value) || ' %' END
            AS short_text,
        coalesce(
            m.value_text,
            short_text
            || CASE WHEN m.low < m.high THEN format(' [{}, {}]', points_text(m.low), points_text(m.high)) ELSE '' END
        ) AS value_text,
        CASE
            WHEN m.level_remark IS NOT NULL AND a.is_input THEN 'other machine'
            WHEN m.level_remark IS NOT NULL THEN 'not comparable'
            WHEN m.unknown_spread OR m.remarks LIKE '%counted in two ways%' THEN 'not comparable'
            WHEN a.kind = 'qualitative' THEN 'direction only'
            WHEN
                NOT a.is_share AND a.target <> 0
                AND m.low <= least(0, a.target) AND m.high >= greatest(0, a.target)
                THEN 'not comparable'
            WHEN m.low <= a.accepted_high AND m.high >= a.accepted_low THEN 'agrees'
            ELSE 'differs'
        END AS verdict,
        CASE
            WHEN a.kind <> 'qualitative' OR m.unknown_spread THEN NULL
            -- What becomes comparable is higher until then.
            WHEN a.quantifier = 'becomes' AND m.low >= -a.comparable_pct THEN 'agrees'
            WHEN a.no_difference AND greatest(abs(m.low), abs(m.high)) <= a.comparable_pct THEN 'agrees'
            WHEN a.no_difference AND m.low <= a.comparable_pct AND m.high >= -a.comparable_pct
                THEN 'within noise'
            WHEN a.no_difference THEN 'contradicts'
            WHEN m.low <= 0 AND m.high >= 0 THEN 'within noise'
            WHEN (m.high < 0) = less_is_published THEN 'agrees'
            ELSE 'contradicts'
        END AS direction_matches,
        CASE
            WHEN a.is_input AND NOT a.comparable THEN m.value / coalesce(
                a.target, greatest(least(m.value, a.high), a.low)
            )
        END AS ratio,
        CASE
            WHEN ratio IS NOT NULL THEN format('ratio {:.2f}: ', ratio) || m.level_remark
            WHEN m.level_remark IS NOT NULL THEN m.level_remark
            WHEN m.low IS NULL THEN concat_ws(': ', 'how far it varies is not known', m.remarks)
            WHEN m.unknown_spread
                THEN 'how far it varies is not known: every interval of each run has the same'
            WHEN m.remarks LIKE '%counted in two ways%' THEN m.remarks
            WHEN
                a.kind <> 'qualitative' AND NOT a.is_share AND a.target <> 0
                AND m.low <= least(0, a.target) AND m.high >= greatest(0, a.target)
                THEN 'too noisy: the interval contains both no change and the published figure'
            WHEN a.kind = 'bound' AND m.value < a.accepted_low
                THEN format('{:.1f} points below the bound', coalesce(a.target_low, 0) - m.value)
            WHEN a.kind = 'bound' AND m.value > a.accepted_high
                THEN format('{:.1f} points above the bound', m.value - coalesce(a.target_high, 0))
            WHEN a.kind = 'bound' THEN 'inside the bound'
            WHEN a.kind <> 'qualitative'
                THEN format('{:.1f} {} {} the published {}, {:.1f} are tolerated',
                    abs(m.value - a.target),
                    CASE a.compared_unit WHEN 'pct' THEN 'points' ELSE a.compared_unit END,
                    CASE WHEN m.value < a.target THEN 'below' ELSE 'above' END,
                    CASE
                        WHEN a.is_made_a_change THEN format('change of {:+.1f} %', a.target) ELSE 'figure'
                    END,
                    a.tolerance)
                || CASE
                    WHEN abs(m.value - a.target) <= a.tolerance THEN ''
                    WHEN verdict = 'agrees' AND (m.high < a.target - a.tolerance OR m.low > a.target + a.tolerance)
                        THEN ', and the printed values make it that'
                    WHEN verdict = 'agrees' THEN ', and its interval reaches that'
                    ELSE ''
                END
            WHEN a.no_difference AND greatest(abs(m.low), abs(m.high)) <= a.comparable_pct
                THEN format('less than {:g} % apart', a.comparable_pct)
            WHEN m.low <= 0 AND m.high >= 0 THEN 'no difference distinguishable from noise'
            WHEN a.no_difference AND m.low <= a.comparable_pct AND m.high >= -a.comparable_pct
                THEN format('perhaps less than {:g} % apart', a.comparable_pct)
            ELSE CASE WHEN m.high < 0 THEN 'lower' ELSE 'higher' END
        END || CASE
            WHEN verdict <> 'differs' OR m.low IS NULL OR is_better_higher(a.metric) IS NULL THEN ''
            WHEN (m.value > a.accepted_high) = is_better_higher(a.metric) THEN ', better than published'
            ELSE ', worse than published'
        END AS finding,
        CASE
            WHEN verdict <> 'direction only' OR direction_matches = 'within noise'
                THEN coalesce(direction_matches, verdict)
            ELSE 'direction ' || direction_matches
        END AS outcome
    FROM accepting AS a
    INNER JOIN measured AS m ON a.id = m.id
),

-- All sides, not only the one that the document is about.
all_sides AS (
    SELECT
        id,
        max(value) FILTER (WHERE role = 'client') AS client_value,
        max(value) FILTER (WHERE role = 'server') AS server_value,
        max(value) FILTER (WHERE role = 'both') AS both_value,
        string_agg(
            role || ' ' || value_text || ': ' || finding || ', ' || coalesce(direction_matches, verdict),
            '; ' ORDER BY role_no
        ) AS would_be,
        'it would be: ' || string_agg(role || ' ' || outcome, ', ' ORDER BY role_no) AS outcomes,
        count(*) = 3 AND count(DISTINCT outcome) = 1 AS unanimous,
        string_agg(role || ' ' || short_text, ', ' ORDER BY role_no) AS text_by_side,
        list(role) AS roles
    FROM (
        SELECT
            *,
            list_position(['client', 'server', 'both'], role) AS role_no
        FROM compared
        WHERE role <> 'input' AND also_measure IS NULL
    )
    GROUP BY id
),

machine AS (
    SELECT DISTINCT
        system::VARCHAR AS system,
        'cpc=' || concat_ws(' ', nullif(trim(machine_type), ''), nullif(trim(physical_model), '')) AS cpc,
        -- ZV030200 is version 3, release 2, modification 0.
        CASE
            WHEN regexp_full_match(zos_level, 'ZV\d{6}')
                THEN 'os=z/OS ' || substr(zos_level, 3, 2)::INTEGER || '.' || substr(zos_level, 5, 2)::INTEGER
        END AS os
    FROM smf70_interval
),

here AS (
    SELECT p.id, list_sort(list_distinct(flatten(list([m.cpc, m.os])))) AS machines
    FROM (SELECT id, unnest(systems) AS system FROM source) AS p
    INNER JOIN machine AS m ON p.system = m.system
    GROUP BY p.id
),

placed AS MATERIALIZED (
    SELECT
        a.*,
        p.baseline_run,
        p.measured_by,
        p.spread_remark,
        p.remarks,
        coalesce(p.candidate_run, t.run) AS candidate_run,
        coalesce(p.pairs_found, 0) AS pairs_found,
        coalesce(p.synthetic, t.synthetic) AS synthetic,
        coalesce(p.problems, t.problems, []) AS problems,
        joined(coalesce(p.problems, t.problems), '; ') AS problems_told,
        p.id IS NOT NULL OR t.id IS NOT NULL AS has_source,
        list_filter(
            list_concat(coalesce(p.shared_tags, []), coalesce(h.machines, [])), lambda x : x <> 'cpc='
        ) AS environment_here,
        coalesce(p.observed_tags, []) AS observed_tags,
        coalesce(p.contradictions, []) AS contradictions,
        a.is_side_open AND coalesce(s.unanimous, false) AS is_any_side,
        s.client_value,
        s.server_value,
        s.both_value,
        -- A pair that does not fit is not a result.
        CASE WHEN len(coalesce(p.problems, t.problems)) = 0 THEN s.would_be END AS would_be,
        CASE WHEN len(coalesce(p.problems, t.problems)) = 0 THEN s.outcomes END AS outcomes,
        s.text_by_side,
        s.roles,
        l.remarks AS lacking,
        CASE
            WHEN a.is_input THEN 'input'
            -- If the side does not matter, the value is that of all CPU time.
            WHEN is_any_side THEN 'both'
            WHEN a.side IN ('client', 'server', 'both') THEN a.side
            WHEN a.side = 'sender' THEN p.sending_role
            WHEN a.side = 'receiver'
                THEN CASE p.sending_role WHEN 'client' THEN 'server' WHEN 'server' THEN 'client' END
            -- If both ends record it, the value is that of the end that opens the connections.
            WHEN a.side = 'n/a' AND NOT a.is_side_open THEN [x FOR x IN ['client', 'server', 'both'] IF list_contains(s.roles, x)][1]
        END AS role,
        'runs of ' || coalesce(
            a.workload, joined(a.run_kinds, ', '), 'any workload'
        )
        || ', the baseline tagged ' || array_to_string(a.baseline_tags, ' ')
        || ', the candidate tagged ' || array_to_string(a.candidate_tags, ' ')
        || coalesce(
            ', both tagged '
            || joined(list_concat(a.condition_tags, a.both_tags), ' '),
            ''
        ) AS runs_needed
    FROM accepting AS a
    LEFT JOIN source AS p ON a.id = p.id
    LEFT JOIN metric_value AS t ON a.id = t.id
    LEFT JOIN here AS h ON a.id = h.id
    LEFT JOIN all_sides AS s ON a.id = s.id
    LEFT JOIN lacking AS l ON a.id = l.id
),

-- The outcomes of the other measures on the side of the result, next to its own.
also_compared AS (
    SELECT
        p.id,
        any_value(c.outcome) FILTER (WHERE c.also_measure IS NULL) AS own_outcome,
        count(DISTINCT c.also_measure) AS also_measured,
        count(DISTINCT c.outcome) AS outcomes,
        string_agg(
            coalesce(c.also_measure, p.measure) || ' ' || c.short_text || ': ' || c.outcome, ', '
            ORDER BY c.also_measure NULLS FIRST
        ) AS readings
    FROM placed AS p
    INNER JOIN compared AS c ON p.id = c.id AND p.role = c.role
    WHERE len(p.also_measures) > 0
    GROUP BY p.id
),

decided AS (
    SELECT
        p.*,
        c.value AS measured_value,
        c.low AS measured_low,
        c.ratio,
        c.high AS measured_high,
        coalesce(c.value_text, p.text_by_side) AS value_text,
        -- A lower bound is stated as "at least".
        CASE
            WHEN starts_with(c.value_text, 'at least') AND NOT starts_with(c.finding, 'at least')
                THEN c.value_text || ': '
            ELSE ''
        END || c.finding AS finding,
        o.readings,
        coalesce(len(p.also_measures) = 0 OR (o.also_measured = len(p.also_measures) AND o.outcomes = 1), false)
            AS all_alike,
        CASE
            WHEN p.filled_from = 'nothing' THEN 'not comparable'
            WHEN NOT p.has_source THEN 'no data'
            WHEN len(p.problems) > 0 THEN 'not comparable'
            WHEN p.role IS NULL AND p.side IN ('sender', 'receiver') THEN 'not comparable'
            WHEN p.is_side_open AND p.roles IS NOT NULL AND NOT p.is_any_side THEN 'not comparable'
            WHEN c.id IS NULL THEN 'no data'
            WHEN NOT all_alike THEN 'not comparable'
            ELSE c.verdict
        END AS verdict,
        c.direction_matches AS side_matches,
        CASE p.filled_from
            WHEN 'runs' THEN p.runs_needed || '; ' || p.captures
            WHEN 'inputs' THEN i.asked_for || '; ' || p.captures
            ELSE p.captures
        END AS needs,
        i.lacking AS lacking_input,
        n.text AS other_runs
    FROM placed AS p
    LEFT JOIN other_pair AS n ON p.id = n.id
    LEFT JOIN every_input AS i ON p.id = i.id
    LEFT JOIN compared AS c ON p.id = c.id AND p.role = c.role AND c.also_measure IS NULL
    LEFT JOIN also_compared AS o ON p.id = o.id
)

SELECT
    id::VARCHAR AS id,
    place::BIGINT AS place,
    area::VARCHAR AS area,
    document::VARCHAR AS document,
    section::VARCHAR AS section,
    figure::VARCHAR AS figure,
    metric::VARCHAR AS metric,
    CASE WHEN is_any_side AND verdict NOT IN ('not comparable', 'no data') THEN 'any' ELSE side END::VARCHAR
        AS side,
    side::VARCHAR AS published_side,
    workload::VARCHAR AS workload,
    verdict::VARCHAR AS verdict,
    CASE WHEN verdict = 'direction only' THEN side_matches END::VARCHAR AS direction_matches,
    CASE
        WHEN filled_from = 'nothing' THEN obstacle
        WHEN verdict = 'not comparable' AND len(problems) > 0 THEN problems_told
        WHEN verdict = 'not comparable' AND role IS NULL AND is_side_open
            THEN
                'the document does not state which side it is about; '
                || CASE WHEN len(roles) < 3 THEN 'not every side was measured; ' ELSE '' END || outcomes
        WHEN verdict = 'not comparable' AND role IS NULL
            THEN 'the workload does not show which side sends'
        WHEN verdict = 'not comparable' AND NOT all_alike
            THEN
                'the document does not state which performance it is about; it measures '
                || array_to_string(list_concat([measure], also_measures), ', ') || '; here '
                || readings
        WHEN verdict = 'no data' AND has_source AND filled_from = 'runs'
            THEN
                concat_ws(': ', 'the runs have no ' || measure || coalesce(' of ' || role, ''), lacking)
                || '; needs ' || captures
        WHEN verdict = 'no data' THEN concat_ws('; ', concat_ws(': ', lacking_input, 'needs ' || needs), other_runs)
        WHEN verdict = 'direction only'
            THEN
                concat_ws(
                    '; ', finding || ', published as ' || replace(direction, '_', ' ') || ': ' || side_matches,
                    spread_remark, remarks
                )
        WHEN verdict = 'other machine'
            THEN
                concat_ws(
                    '; ', finding, 'published for ' || joined(environment, ', '),
                    'here ' || coalesce(
                        joined(
                            list_filter(
                                environment_here,
                                lambda t : list_contains(tag_keys(environment), tag_key(t))
                            ),
                            ', '
                        ),
                        'the machine is not recorded'
                    ),
                    remarks
                )
        ELSE concat_ws('; ', finding, CASE WHEN comparable THEN spread_remark END, remarks)
    END::VARCHAR AS why,
    CASE
        WHEN value_text IS NULL THEN NULL
        ELSE value_text || CASE WHEN synthetic THEN ' synthetic' ELSE '' END
    END::VARCHAR AS measured,
    as_printed::VARCHAR AS as_printed,
    kind::VARCHAR AS kind,
    quantifier::VARCHAR AS quantifier,
    value::DOUBLE AS published_value,
    low::DOUBLE AS published_low,
    high::DOUBLE AS published_high,
    unit::VARCHAR AS published_unit,
    direction::VARCHAR AS published_direction,
    accepted_low::DOUBLE AS accepted_low,
    accepted_high::DOUBLE AS accepted_high,
    accepted_why::VARCHAR AS accepted_why,
    CASE
        WHEN is_input THEN measured_by
        WHEN filled_from = 'runs' THEN 'runs ' || baseline_run || ' and ' || candidate_run
        WHEN has_source THEN concat_ws(', run ', 'metric ' || measure, candidate_run)
    END::VARCHAR AS measured_by,
    baseline_run::VARCHAR AS baseline_run,
    candidate_run::VARCHAR AS candidate_run,
    pairs_found::BIGINT AS pairs_found,
    measure::VARCHAR AS measure,
    CASE WHEN NOT is_input THEN role WHEN side <> 'n/a' THEN side END::VARCHAR AS measured_side,
    measured_value::DOUBLE AS measured_value,
    measured_low::DOUBLE AS measured_low,
    measured_high::DOUBLE AS measured_high,
    compared_unit::VARCHAR AS measured_unit,
    CASE WHEN is_made_a_change THEN target END::DOUBLE AS published_change_pct,
    CASE WHEN comparable THEN measured_value - target END::DOUBLE AS difference,
    ratio::DOUBLE AS ratio,
    CASE WHEN NOT is_share THEN client_value END::DOUBLE AS measured_client_pct,
    CASE WHEN NOT is_share THEN server_value END::DOUBLE AS measured_server_pct,
    CASE WHEN NOT is_share THEN both_value END::DOUBLE AS measured_both_pct,
    would_be::VARCHAR AS would_be,
    environment::VARCHAR[] AS environment_published,
    environment_here::VARCHAR[] AS environment_here,
    observed_tags::VARCHAR[] AS observed_tags,
    contradictions::VARCHAR[] AS contradictions,
    filled_from::VARCHAR AS filled_from,
    rule::VARCHAR AS rule,
    needs::VARCHAR AS needs,
    synthetic::BOOLEAN AS synthetic,
    conflict::VARCHAR AS conflict,
    conflicts_with::VARCHAR[] AS conflicts_with
FROM decided
ORDER BY verdict = 'no data', id
