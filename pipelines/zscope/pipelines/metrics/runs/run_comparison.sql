-- Measures of two benchmark runs: the change from baseline to candidate in percent, with its interval.
--
-- All ordered pairs of runs of the same kind of workload, each role with the same role. The runs are
-- independent measurements: the half widths of their intervals, on the logarithm, add up as the root of the
-- sum of squares, which is the half width of the interval of the ratio. If runs have few intervals, this is
-- too wide (by a fifth with five each) rather than too narrow. A change is distinguishable from noise if its
-- interval does not contain zero.
--
-- The smallest change that two runs can show is the half width of the interval, but not less than
-- run_visible_pct: the same run differs by more from one day to the next, however even its intervals are.
--
-- If the sources of a run contradict each other (run_contradiction), changes of figures that depend on counted
-- connections are refused: they have no change and no interval. Supplied counts do not depend on them.

WITH result AS (
    SELECT
        r.*,
        log_half_width(r.low, r.high) AS log_half,
        q.contradiction,
        q.contradiction IS NOT NULL
        AND (
            r.measure = 'throughput'
            OR r.counted_by NOT LIKE '%supplied%'
            OR coalesce(r.latency_by = 'duration of connections', false)
        ) AS is_contradicted,
        q.doubt,
        q.left_out,
        CASE r.measure
            WHEN 'cpu_per_tran' THEN q.all_cpu_us_per_tran
            WHEN 'transaction_rate' THEN q.all_transactions_per_s
        END AS untrimmed_value
    FROM run_result AS r
    LEFT JOIN run_contradiction AS q ON r.name = q.name AND r.role = q.role
),

pair AS (
    SELECT
        b.name AS baseline,
        c.name AS candidate,
        b.role,
        b.measure,
        b.unit,
        b.value AS baseline_value,
        c.value AS candidate_value,
        coalesce(b.is_contradicted OR c.is_contradicted, false) AS is_refused,
        CASE WHEN NOT is_refused THEN c.value / nullif(b.value, 0) END AS ratio,
        change_pct(b.untrimmed_value, c.untrimmed_value) AS untrimmed_change_pct,
        b.left_out AS baseline_left_out,
        c.left_out AS candidate_left_out,
        combined_half_width(b.log_half, c.log_half) AS log_half,
        b.intervals AS baseline_intervals,
        c.intervals AS candidate_intervals,
        b.workload_kind,
        b.synthetic OR c.synthetic AS synthetic,
        without_nulls([
            CASE WHEN b.status <> 'ok' THEN b.name || ': ' || b.status END,
            CASE WHEN c.status <> 'ok' THEN c.name || ': ' || c.status END,
            b.name || ': ' || b.contradiction,
            c.name || ': ' || c.contradiction,
            CASE
                WHEN
                    upper(replace(b.workload, ' ', ''))
                    IS DISTINCT FROM upper(replace(c.workload, ' ', ''))
                    THEN
                        'other workload: ' || coalesce(b.workload, 'not named') || ' and '
                        || coalesce(c.workload, 'not named')
            END,
            CASE
                WHEN
                    b.counted_by <> c.counted_by
                    AND (
                        b.measure IN ('cpu_per_tran', 'ziip_per_tran', 'transaction_rate')
                        -- Of these it is computed from the rate.
                        OR (b.measure = 'latency' AND b.workload_kind IN ('RR', 'STR'))
                    )
                    THEN 'counted in two ways: ' || b.counted_by || ' and ' || c.counted_by
            END,
            CASE
                WHEN b.latency_by <> c.latency_by
                    THEN 'latency in two ways: ' || b.latency_by || ' and ' || c.latency_by
            END,
            CASE WHEN b.synthetic <> c.synthetic THEN 'one was measured, the other generated' END,
            b.name || ': ' || b.doubt,
            c.name || ': ' || c.doubt
        ]) AS problems
    FROM result AS b
    INNER JOIN result AS c
        ON
            b.role = c.role
            AND b.measure = c.measure
            AND b.workload_kind IS NOT DISTINCT FROM c.workload_kind
            AND b.name <> c.name
),

judged AS (
    SELECT
        *,
        100 * (ratio - 1) AS change_pct,
        100 * (ratio * exp(-log_half) - 1) AS low_pct,
        100 * (ratio * exp(log_half) - 1) AS high_pct,
        greatest(100 * (exp(log_half) - 1), coalesce(getvariable('run_visible_pct')::DOUBLE, 0.5))
            AS known_smallest_pct,
        CASE WHEN log_half IS NOT NULL AND ratio IS NOT NULL THEN known_smallest_pct END AS smallest_visible_pct,
        CASE
            WHEN ratio IS NULL THEN 'not compared'
            WHEN log_half IS NULL THEN 'no interval'
            WHEN abs(ln(ratio)) > log_half AND abs(change_pct) >= smallest_visible_pct THEN 'visible change'
            ELSE 'no visible change'
        END AS visibility,
        CASE measure
            WHEN 'cpu_per_tran' THEN 'CPU per transaction'
            WHEN 'ziip_per_tran' THEN 'zIIP time per transaction'
            WHEN 'transaction_rate' THEN 'transactions per second'
            ELSE measure
        END AS measure_name,
        joined(problems, '; ') AS remarks
    FROM pair
)

SELECT
    baseline::VARCHAR AS baseline,
    candidate::VARCHAR AS candidate,
    role::VARCHAR AS role,
    measure::VARCHAR AS measure,
    unit::VARCHAR AS unit,
    baseline_value::DOUBLE AS baseline_value,
    candidate_value::DOUBLE AS candidate_value,
    change_pct::DOUBLE AS change_pct,
    low_pct::DOUBLE AS low_pct,
    high_pct::DOUBLE AS high_pct,
    (abs(ln(nullif(ratio, 0))) > log_half)::BOOLEAN AS distinguishable,
    CASE
        WHEN is_refused THEN 'refused'
        WHEN len(problems) > 0 THEN 'warning'
        ELSE 'ok'
    END::VARCHAR AS status,
    (CASE WHEN baseline_left_out + candidate_left_out > 0 THEN untrimmed_change_pct END)::DOUBLE
        AS untrimmed_change_pct,
    baseline_intervals::BIGINT AS baseline_intervals,
    candidate_intervals::BIGINT AS candidate_intervals,
    baseline_left_out::BIGINT AS baseline_left_out,
    candidate_left_out::BIGINT AS candidate_left_out,
    workload_kind::VARCHAR AS workload_kind,
    synthetic::BOOLEAN AS synthetic,
    remarks::VARCHAR AS remarks,
    smallest_visible_pct::DOUBLE AS smallest_visible_pct,
    visibility::VARCHAR AS visibility,
    measure_name::VARCHAR AS measure_name,
    (
        candidate || ', ' || CASE role WHEN 'both' THEN 'both sides' ELSE role END || ': ' || measure_name || ' '
        || CASE
            WHEN change_pct IS NULL THEN 'not compared'
            WHEN visibility = 'no visible change'
                THEN format('as of {}: no visible change; one below {:.1f} % would not be seen', baseline, smallest_visible_pct)
            ELSE
                format(
                    '{:.1f} % {} {}', abs(change_pct), CASE WHEN change_pct > 0 THEN 'above' ELSE 'below' END, baseline
                )
                || CASE
                    WHEN visibility = 'no interval' THEN '; too few intervals for a confidence interval'
                    ELSE format(' (95 % interval: {:+.1f} to {:+.1f})', round(low_pct, 1) + 0, round(high_pct, 1) + 0)
                END
        END
        || coalesce('; ' || remarks, '')
    )::VARCHAR AS sentence
FROM judged
ORDER BY baseline, candidate, role, measure
