-- One ratio of published results, and the same ratio of what was measured here.
--
-- Values of another machine are not compared, but their ratio is: it does not depend on the machine. The accepted
-- range is every ratio of values that round to the printed ones, and the published ratio with its tolerance. Of a
-- result that is itself a change, the range, the interval and the verdict are those of benchmark.
--
-- The two measurements must have the same tags, but for those that the published values vary.

-- Materialized: DuckDB plans the statements of a view that it inlines again for each use.
WITH every_verdict AS MATERIALIZED (
    SELECT * FROM benchmark
),

joined_results AS (
    SELECT
        r.*,
        n.verdict AS of_verdict,
        n.document,
        n.why AS of_why,
        n.measured_value AS of_value,
        n.measured_low AS of_low,
        n.measured_high AS of_high,
        n.accepted_low AS of_accepted_low,
        n.accepted_high AS of_accepted_high,
        d.measured_value AS to_value,
        n.as_printed || coalesce(' to ' || d.as_printed, '') AS as_printed,
        n.synthetic OR coalesce(d.synthetic, false) AS synthetic,
        n.environment_here AS of_tags,
        d.environment_here AS to_tags,
        differing_tag_keys(n.environment_here, d.environment_here, r.varies) AS differing_keys,
        combined_half_width(
            CASE WHEN n.measured_low > 0 THEN log_half_width(n.measured_low, n.measured_high) END,
            CASE WHEN d.measured_low > 0 THEN log_half_width(d.measured_low, d.measured_high) END
        ) AS log_half,
        coalesce(getvariable('benchmark_tolerance_pct')::DOUBLE, 10) / 100 AS tolerated
    FROM reference_ratio AS r
    INNER JOIN every_verdict AS n ON r.of_result = n.id
    LEFT JOIN every_verdict AS d ON r.to_result = d.id
),

computed AS (
    SELECT
        *,
        to_result IS NULL AS is_change,
        CASE WHEN is_change THEN 1 + of_value / 100 ELSE unit_factor * of_value / nullif(to_value, 0) END AS measured,
        CASE WHEN is_change THEN 1 + of_low / 100 ELSE measured * exp(-log_half) END AS measured_low,
        CASE WHEN is_change THEN 1 + of_high / 100 ELSE measured * exp(log_half) END AS measured_high,
        CASE WHEN is_change THEN 1 + of_accepted_low / 100 ELSE least(low, value * (1 - tolerated)) END
            AS accepted_low,
        CASE WHEN is_change THEN 1 + of_accepted_high / 100 ELSE greatest(high, value * (1 + tolerated)) END
            AS accepted_high
    FROM joined_results
),

judged AS (
    SELECT
        *,
        CASE
            WHEN is_change THEN of_verdict
            WHEN measured IS NULL THEN 'no data'
            WHEN len(differing_keys) > 0 OR measured_low IS NULL THEN 'not comparable'
            WHEN measured_low <= accepted_high AND measured_high >= accepted_low THEN 'agrees'
            ELSE 'differs'
        END AS verdict
    FROM computed
)

SELECT
    id::VARCHAR AS id,
    title::VARCHAR AS title,
    document::VARCHAR AS document,
    of_result::VARCHAR AS of_result,
    to_result::VARCHAR AS to_result,
    verdict::VARCHAR AS verdict,
    as_printed::VARCHAR AS as_printed,
    value::DOUBLE AS published_ratio,
    accepted_low::DOUBLE AS accepted_low,
    accepted_high::DOUBLE AS accepted_high,
    measured::DOUBLE AS measured_ratio,
    measured_low::DOUBLE AS measured_low,
    measured_high::DOUBLE AS measured_high,
    CASE
        WHEN is_change THEN of_why
        WHEN verdict = 'no data' THEN 'one of the two is not measured'
        WHEN len(differing_keys) > 0
            THEN array_to_string(differing_tag_problems(differing_keys, of_tags, to_tags), '; ')
        WHEN verdict = 'not comparable' THEN 'how far it varies is not known: an interval contains zero'
        ELSE format('{:.3g} here, {:.3g} published, {:.3g} to {:.3g} agree', measured, value, accepted_low, accepted_high)
    END::VARCHAR AS why,
    synthetic::BOOLEAN AS synthetic
FROM judged
ORDER BY document, id
