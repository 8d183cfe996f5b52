-- The figure of one published result, calculated from loaded captures of MQ, z/VM and z/TPF.
--
-- A measure is the baseline of a result if it has the tags of its baseline, and the candidate if it has those
-- of its candidate; if only the baseline has a tag, the candidate must have another value. Other requirements
-- are not conditions but are listed in `problems`, as in benchmark_pair, so a pair that nearly fits is shown
-- with its problems. The pair for the result is also chosen in the same way; pairs of one run come first. The
-- measured values do not matter.
--
-- Every result that inputs fill has a row. If one of its sides is not loaded, `lacking` names it.

WITH wanted AS (
    SELECT
        p.id,
        f.measure,
        p.subject,
        f.level,
        p.value_kind,
        p.as_printed,
        p.environment,
        p.baseline_tags,
        p.candidate_tags,
        list_concat(p.condition_tags, f.both_tags) AS same_tags,
        len(p.baseline_tags) > 0 AS has_baseline,
        list_filter(
            p.baseline_tags,
            lambda t : len(tags_with_key(p.candidate_tags, tag_key(t))) = 0
        ) AS baseline_only_tags,
        list_concat(
            tag_keys(list_concat(p.baseline_tags, p.candidate_tags)),
            f.free_tags
        ) AS varied_keys,
        CASE
            WHEN p.value_kind = 'percent_share' THEN 'share'
            WHEN len(p.baseline_tags) = 0 THEN 'level'
            -- The document also has the level that the difference is of, so that a percentage is known.
            WHEN p.value_kind = 'difference' AND f.percent_of IS NOT NULL THEN 'change'
            WHEN p.value_kind = 'difference' THEN 'difference'
            -- With a baseline of 0 there is no percentage.
            WHEN p.value_kind = 'absolute' AND p.recomputed_pct IS NULL THEN 'level'
            ELSE 'change'
        END AS compared_by
    FROM reference_result AS p
    INNER JOIN reference_filling AS f ON p.id = f.id
    WHERE f.filled_from = 'inputs'
),

-- Both sides of every result. Sides with the fewest missing tags come first; those far down the list cannot
-- be in a chosen pair, however many measures there are.
matching AS (
    SELECT
        w.id,
        s.side,
        m.*
    FROM wanted AS w
    INNER JOIN input_measure AS m ON w.measure = m.measure AND w.subject IS NOT DISTINCT FROM m.subject
    INNER JOIN (VALUES ('baseline'), ('candidate')) AS s (side)
        ON
            list_has_all(m.tags, CASE s.side WHEN 'baseline' THEN w.baseline_tags ELSE w.candidate_tags END)
            AND (s.side = 'candidate' OR w.has_baseline)
            AND (
                s.side = 'baseline'
                OR (
                    NOT list_has_any(m.tags, w.baseline_only_tags)
                    AND list_has_all(
                        tag_keys(m.tags),
                        tag_keys(w.baseline_only_tags)
                    )
                )
            )
    QUALIFY row_number() OVER (
        PARTITION BY w.id, s.side
        ORDER BY
            len(w.same_tags) - len(list_intersect(w.same_tags, m.tags)),
            m.synthetic,
            -- For each message size, both sides are among those examined.
            list_filter(m.tags, lambda t : NOT list_contains(w.varied_keys, tag_key(t))),
            m.measured_utc DESC NULLS LAST,
            m.measure_no
    ) <= 40
),

pair AS (
    SELECT
        w.id,
        w.same_tags,
        w.varied_keys,
        w.environment,
        w.compared_by,
        c.measure_no AS candidate_no,
        b.measure_no AS baseline_no,
        c.run AS candidate_run,
        b.run AS baseline_run,
        c.system AS candidate_system,
        b.system AS baseline_system,
        c.value AS candidate_value,
        b.value AS baseline_value,
        c.low AS candidate_low,
        b.low AS baseline_low,
        c.high AS candidate_high,
        b.high AS baseline_high,
        c.formula AS candidate_formula,
        c.unit AS level_unit,
        c.measured_utc AS candidate_utc,
        b.measured_utc AS baseline_utc,
        nullif(concat_ws('; ', b.remarks, CASE WHEN c.remarks <> b.remarks THEN c.remarks END), '')
            AS remarks,
        c.synthetic OR coalesce(b.synthetic, false) AS synthetic,
        c.synthetic <> coalesce(b.synthetic, c.synthetic) AS one_synthetic,
        -- A measure without a baseline has no differences.
        coalesce(b.tags, c.tags) AS b_tags,
        c.tags AS c_tags
    FROM wanted AS w
    INNER JOIN matching AS c ON w.id = c.id AND c.side = 'candidate'
    LEFT JOIN matching AS b ON w.id = b.id AND b.side = 'baseline'
    WHERE b.id IS NOT NULL OR NOT w.has_baseline
),

-- Keys with different values on the two sides, although the result does not vary them.
differing AS (
    SELECT
        *,
        differing_tag_keys(b_tags, c_tags, varied_keys) AS differing_keys
    FROM pair
),

judged AS (
    SELECT
        *,
        -- A key that only one side has can have another value on the other side.
        keys_on_one_side(tag_keys(list_concat(b_tags, c_tags)), b_tags, c_tags, varied_keys) AS said_by_one,
        without_nulls(list_concat(
            [
                CASE WHEN one_synthetic THEN 'one of the two is synthetic, the other is not' END,
                CASE
                    WHEN compared_by = 'change' AND baseline_value = 0
                        THEN 'the baseline is 0, of which nothing is a percent'
                END
            ],
            required_tag_problems(same_tags, b_tags, c_tags, differing_keys, 'not stated here: '),
            differing_tag_problems(differing_keys, b_tags, c_tags)
        )) AS problems,
        list_sort(list_intersect(b_tags, c_tags)) AS shared_tags,
        len(environment_of_run(environment_of_run(environment, b_tags), c_tags)) AS environment_in_common
    FROM differing
),

best AS (
    SELECT
        *,
        count(*) FILTER (WHERE len(problems) = 0) OVER (PARTITION BY id) AS pairs_found
    FROM judged
    QUALIFY row_number() OVER (
        PARTITION BY id
        ORDER BY
            len(problems),
            len(differing_keys),
            synthetic,
            baseline_run IS DISTINCT FROM candidate_run,
            said_by_one,
            baseline_system IS DISTINCT FROM candidate_system,
            environment_in_common DESC,
            candidate_utc DESC NULLS LAST,
            baseline_utc DESC NULLS LAST,
            baseline_run,
            candidate_run,
            baseline_no,
            candidate_no
    ) = 1
),

computed AS (
    SELECT
        w.* EXCLUDE (same_tags, varied_keys, environment, compared_by),
        w.compared_by,
        b.* EXCLUDE (id, same_tags, varied_keys, environment, compared_by, b_tags, c_tags),
        w.same_tags AS asked_of_both,
        b.id IS NOT NULL AS has_source,
        -- As for runs: half widths on the logarithm are those of the ratio.
        combined_half_width(
            log_half_width(b.baseline_low, b.baseline_high), log_half_width(b.candidate_low, b.candidate_high)
        ) AS log_half,
        combined_half_width(b.baseline_high - b.baseline_low, b.candidate_high - b.candidate_low) / 2 AS half
    FROM wanted AS w
    LEFT JOIN best AS b ON w.id = b.id
),

put AS (
    SELECT
        *,
        CASE compared_by
            WHEN 'change' THEN change_pct(baseline_value, candidate_value)
            WHEN 'difference' THEN candidate_value - baseline_value
            ELSE candidate_value
        END AS value,
        CASE compared_by
            WHEN 'change' THEN change_pct_end(baseline_value, candidate_value, -log_half)
            WHEN 'difference' THEN candidate_value - baseline_value - half
            ELSE candidate_low
        END AS low,
        CASE compared_by
            WHEN 'change' THEN change_pct_end(baseline_value, candidate_value, log_half)
            WHEN 'difference' THEN candidate_value - baseline_value + half
            ELSE candidate_high
        END AS high,
        CASE WHEN compared_by IN ('change', 'share') THEN 'pct' ELSE level_unit END AS unit
    FROM computed
),

-- Values are shown with four digits, or with all digits before the decimal point if there are more.
worded AS (
    SELECT
        *,
        list_transform(
            [baseline_value, candidate_value, value, low, high],
            lambda x : CASE WHEN abs(x) >= 1000 THEN format('{:.0f}', x) ELSE format('{:.4g}', x) END
        ) AS words,
        measure || coalesce(' (' || subject || ')', '') AS measure_told,
        joined(asked_of_both, ' ') AS both_told
    FROM put
)

SELECT
    id::VARCHAR AS id,
    measure::VARCHAR AS measure,
    subject::VARCHAR AS subject,
    compared_by::VARCHAR AS compared_by,
    has_source::BOOLEAN AS has_source,
    (compared_by IN ('change', 'share') OR (compared_by = 'level' AND level IS NULL))::BOOLEAN
        AS comparable,
    value::DOUBLE AS value,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    unit::VARCHAR AS unit,
    CASE compared_by
        WHEN 'change'
            THEN
                points_text(value) || ' %'
                || CASE WHEN low < high THEN format(' [{}, {}]', points_text(low), points_text(high)) ELSE '' END
                || ' (' || words[1] || ' to ' || words[2] || ' ' || level_unit || ')'
        WHEN 'share'
            THEN
                format('{:.1f} %', value)
                || CASE WHEN low < high THEN format(' [{:.1f}, {:.1f}]', low, high) ELSE '' END
        ELSE
            CASE WHEN compared_by = 'difference' AND value >= 0 THEN '+' ELSE '' END
            || words[3]
            || CASE WHEN low < high THEN ' [' || words[4] || ', ' || words[5] || ']' ELSE '' END
            || ' ' || level_unit
            || CASE
                WHEN compared_by = 'difference' THEN ' (' || words[1] || ' to ' || words[2] || ')'
                WHEN has_baseline THEN ' (from ' || words[1] || ')'
                ELSE ''
            END
    END::VARCHAR AS value_text,
    CASE
        WHEN compared_by = 'change' THEN '100 x (' || words[2] || ' / ' || words[1] || ' - 1)'
        WHEN compared_by = 'difference' THEN words[2] || ' - ' || words[1]
        ELSE candidate_formula
    END::VARCHAR AS formula,
    baseline_value::DOUBLE AS baseline_value,
    candidate_value::DOUBLE AS candidate_value,
    level_unit::VARCHAR AS level_unit,
    baseline_run::VARCHAR AS baseline_run,
    candidate_run::VARCHAR AS candidate_run,
    baseline_no::BIGINT AS baseline_no,
    candidate_no::BIGINT AS candidate_no,
    CASE
        WHEN has_source
            THEN
                measure_told || ' of '
                || CASE
                    WHEN baseline_run <> candidate_run THEN 'runs ' || baseline_run || ' and ' || candidate_run
                    ELSE coalesce('run ' || coalesce(candidate_run, baseline_run), 'what was loaded')
                END
    END::VARCHAR AS measured_by,
    coalesce(pairs_found, 0)::BIGINT AS pairs_found,
    coalesce(problems, [])::VARCHAR[] AS problems,
    coalesce(shared_tags, [])::VARCHAR[] AS shared_tags,
    synthetic::BOOLEAN AS synthetic,
    remarks::VARCHAR AS remarks,
    CASE
        WHEN value IS NULL OR NOT has_source THEN NULL
        WHEN low IS NULL AND has_baseline THEN 'one value on a side has no spread'
        WHEN low IS NULL THEN 'one value has no spread'
    END::VARCHAR AS spread_remark,
    CASE
        WHEN NOT has_source OR compared_by IN ('change', 'share') OR (compared_by = 'level' AND level IS NULL)
            THEN NULL
        ELSE
            CASE WHEN compared_by = 'difference' AND value >= 0 THEN '+' ELSE '' END
            || words[3] || ' ' || level_unit || ' here, ' || as_printed || ' published: ' || level
    END::VARCHAR AS level_remark,
    CASE
        WHEN NOT has_baseline AND len(candidate_tags) = 0 AND both_told IS NULL THEN measure_told
        WHEN NOT has_baseline
            THEN
                measure_told || ' tagged '
                || concat_ws(' ', joined(candidate_tags, ' '), both_told)
        ELSE
            measure_told || ', the baseline tagged ' || array_to_string(baseline_tags, ' ')
            || ', the candidate '
            || concat_ws(
                ' and ',
                'tagged ' || joined(candidate_tags, ' '),
                'not ' || joined(baseline_only_tags, ' ')
            )
            || coalesce(', both tagged ' || both_told, '')
    END::VARCHAR AS asked_for,
    CASE
        WHEN has_source THEN NULL
        WHEN NOT has_baseline THEN 'none is loaded'
        WHEN id IN (SELECT m.id FROM matching AS m WHERE m.side = 'baseline') THEN 'the candidate is missing'
        WHEN id IN (SELECT m.id FROM matching AS m WHERE m.side = 'candidate') THEN 'the baseline is missing'
        ELSE 'both are missing'
    END::VARCHAR AS lacking
FROM worded
ORDER BY id
