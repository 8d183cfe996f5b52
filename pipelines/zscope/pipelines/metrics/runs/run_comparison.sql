-- One measure of two benchmark runs: the change from baseline to candidate in percent, and its interval.
--
-- All ordered pairs of runs of the same kind of workload, each role with the same role. The runs are
-- independent measurements: the half widths of their intervals, on the logarithm, add up as the root of the
-- sum of squares, which is the half width of the interval of the ratio. If runs have few intervals, this is
-- too wide (by a fifth with five each) rather than too narrow. A change is distinguishable from noise if its
-- interval does not contain zero.

WITH result AS (
    SELECT
        *,
        log_half_width(low, high) AS log_half
    FROM run_result
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
        c.value / nullif(b.value, 0) AS ratio,
        combined_half_width(b.log_half, c.log_half) AS log_half,
        b.intervals AS baseline_intervals,
        c.intervals AS candidate_intervals,
        b.workload_kind,
        b.synthetic OR c.synthetic AS synthetic,
        without_nulls([
            CASE WHEN b.status <> 'ok' THEN b.name || ': ' || b.status END,
            CASE WHEN c.status <> 'ok' THEN c.name || ': ' || c.status END,
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
                    AND b.measure IN ('cpu_per_tran', 'ziip_per_tran', 'transaction_rate')
                    THEN 'counted in two ways: ' || b.counted_by || ' and ' || c.counted_by
            END,
            CASE WHEN b.synthetic <> c.synthetic THEN 'one was measured, the other generated' END
        ]) AS problems
    FROM result AS b
    INNER JOIN result AS c
        ON
            b.role = c.role
            AND b.measure = c.measure
            AND b.workload_kind IS NOT DISTINCT FROM c.workload_kind
            AND b.name <> c.name
)

SELECT
    baseline::VARCHAR AS baseline,
    candidate::VARCHAR AS candidate,
    role::VARCHAR AS role,
    measure::VARCHAR AS measure,
    unit::VARCHAR AS unit,
    baseline_value::DOUBLE AS baseline_value,
    candidate_value::DOUBLE AS candidate_value,
    (100 * (ratio - 1))::DOUBLE AS change_pct,
    (100 * (ratio * exp(-log_half) - 1))::DOUBLE AS low_pct,
    (100 * (ratio * exp(log_half) - 1))::DOUBLE AS high_pct,
    (abs(ln(nullif(ratio, 0))) > log_half)::BOOLEAN AS distinguishable,
    baseline_intervals::BIGINT AS baseline_intervals,
    candidate_intervals::BIGINT AS candidate_intervals,
    workload_kind::VARCHAR AS workload_kind,
    synthetic::BOOLEAN AS synthetic,
    joined(problems, '; ')::VARCHAR AS remarks
FROM pair
ORDER BY baseline, candidate, role, measure
