-- CPU time of a full handshake, a resumed handshake, a megabyte and a second on a system in a period.
--
-- The fits are those of handshake_cost_fit, which describes the method: the costs from the non-negative fit
-- of the data, their intervals of confidence from the replicates. This metric rates them: if the data cannot
-- distinguish the terms, or the terms explain too little, the row has the reason and no numbers.

WITH parameters AS (
    SELECT
        coalesce(getvariable('cost_min_intervals')::INTEGER, 12) AS min_intervals,
        coalesce(getvariable('cost_max_condition')::DOUBLE, 10) AS max_condition,
        coalesce(getvariable('cost_min_r2_pct')::DOUBLE, 20) AS min_r2_pct
),

fit AS (
    SELECT *
    FROM handshake_cost_fit
),

-- Condition number: the longest over the shortest axis of the cloud of points, from the largest and smallest
-- eigenvalue of the matrix of correlations. A term that is not fitted has no effect, as its correlations are
-- 0.
axes AS (
    SELECT
        *,
        coalesce(full_resumed_correlation, 0) AS fr,
        coalesce(full_mb_correlation, 0) AS fm,
        coalesce(resumed_mb_correlation, 0) AS rm,
        sqrt((fr * fr + fm * fm + rm * rm) / 3) AS radius,
        acos(greatest(-1, least(1, coalesce(fr * fm * rm / nullif(radius, 0) ** 3, 0)))) / 3 AS angle,
        1 + 2 * radius * cos(angle) AS largest,
        greatest(1 + 2 * radius * cos(angle + 2 * pi() / 3), 1e-12) AS smallest,
        sqrt(largest / smallest) AS condition_number
    FROM fit
    WHERE non_negative
),

-- The share of the variation of each term that the other two explain. If those are multiples of each other,
-- they explain no more than one of them.
dependence AS (
    SELECT
        *,
        greatest(1 + 2 * fr * fm * rm - fr * fr - fm * fm - rm * rm, 0) AS determinant,
        CASE WHEN rm * rm > 1 - 1e-9 THEN fr * fr ELSE 1 - determinant / (1 - rm * rm) END AS full_follows,
        CASE WHEN fm * fm > 1 - 1e-9 THEN fr * fr ELSE 1 - determinant / (1 - fm * fm) END AS resumed_follows,
        CASE WHEN fr * fr > 1 - 1e-9 THEN fm * fm ELSE 1 - determinant / (1 - fr * fr) END AS mb_follows
    FROM axes
),

verdict AS (
    SELECT
        d.*,
        -- Three for each coefficient, one of which is the constant.
        greatest(a.min_intervals, 3 * (d.terms + 1)) AS needed,
        CASE
            WHEN d.intervals < needed
                THEN format('{} intervals have CPU time and zERT data, {} are needed', d.intervals, needed)
            WHEN d.r2_pct IS NULL THEN 'the CPU time is the same in all intervals'
            WHEN d.full_us IS NULL AND d.resumed_us IS NULL THEN 'there is no term for handshakes'
            WHEN d.condition_number > a.max_condition
                THEN format(
                    'the terms move together (condition number {:.1f}, limit {:.1f}); share of their variation '
                    || 'that the other terms explain: {}; choose a time in which they vary independently, or '
                    || 'leave one out (cost_terms)',
                    d.condition_number,
                    a.max_condition,
                    concat_ws(
                        ', ',
                        if(d.full_us >= 0, format('full handshakes {:.1f} %', 100 * d.full_follows), NULL),
                        if(
                            d.resumed_us >= 0,
                            format('resumed handshakes {:.1f} %', 100 * d.resumed_follows),
                            NULL
                        ),
                        if(d.mb_us >= 0, format('megabytes {:.1f} %', 100 * d.mb_follows), NULL)
                    )
                )
            WHEN d.r2_pct < a.min_r2_pct
                THEN format(
                    'the terms explain {:.1f} % of the variation of the CPU time, {:.1f} % are needed: other '
                    || 'work decides it',
                    d.r2_pct,
                    a.min_r2_pct
                )
        END AS refusal
    FROM dependence AS d
    CROSS JOIN parameters AS a
),

-- One row for each cost, so that all are treated alike.
cost AS (
    SELECT
        system,
        period_from_utc,
        replicate,
        non_negative,
        greatest(blocks - terms - 1, 1) AS degrees,
        (1.95996 + 2.3723 / degrees + 2.8225 / degrees ** 2) * blocks / degrees AS widening,
        unnest(
            [
                {'name': 'full', 'cost': full_us},
                {'name': 'resumed', 'cost': resumed_us},
                {'name': 'difference', 'cost': full_us - resumed_us},
                {'name': 'mb', 'cost': mb_us},
                {'name': 'constant', 'cost': constant_us_per_s}
            ],
            recursive := true
        )
    FROM fit
),

-- 95 % intervals: the half width is the standard error (the spread of the replicates), times the 97.5th
-- percentile of Student's distribution (by the series of Cornish and Fisher), times blocks / degrees of
-- freedom, as every block pulls the fit towards itself. The center is the ordinary fit.
span AS (
    SELECT
        system,
        period_from_utc,
        name,
        max(cost) FILTER (WHERE non_negative) AS us,
        max(cost) FILTER (WHERE replicate = 0 AND NOT non_negative) AS middle,
        any_value(widening) * stddev_samp(cost) FILTER (WHERE replicate > 0) AS margin,
        middle - margin AS lowest,
        middle + margin AS highest,
        -- Costs are not negative; only a difference can be. The interval contains the cost itself.
        CASE
            WHEN lowest > us THEN us
            WHEN lowest < 0 AND name <> 'difference' THEN 0
            ELSE lowest
        END AS low,
        CASE WHEN highest < us THEN us ELSE highest END AS high
    FROM cost
    GROUP BY system, period_from_utc, name
),

-- Refused fits have no numbers.
accepted AS (
    SELECT
        s.system,
        s.period_from_utc,
        max(us) FILTER (WHERE name = 'full') AS full_us,
        max(low) FILTER (WHERE name = 'full') AS full_low_us,
        max(high) FILTER (WHERE name = 'full') AS full_high_us,
        max(us) FILTER (WHERE name = 'resumed') AS resumed_us,
        max(low) FILTER (WHERE name = 'resumed') AS resumed_low_us,
        max(high) FILTER (WHERE name = 'resumed') AS resumed_high_us,
        max(us) FILTER (WHERE name = 'difference') AS difference_us,
        max(low) FILTER (WHERE name = 'difference') AS difference_low_us,
        max(high) FILTER (WHERE name = 'difference') AS difference_high_us,
        max(us) FILTER (WHERE name = 'mb') AS mb_us,
        max(low) FILTER (WHERE name = 'mb') AS mb_low_us,
        max(high) FILTER (WHERE name = 'mb') AS mb_high_us,
        max(us) FILTER (WHERE name = 'constant') AS constant_us_per_s,
        max(low) FILTER (WHERE name = 'constant') AS constant_low_us_per_s,
        max(high) FILTER (WHERE name = 'constant') AS constant_high_us_per_s
    FROM span AS s
    SEMI JOIN (SELECT * FROM verdict WHERE refusal IS NULL) AS v
        ON s.system = v.system AND s.period_from_utc = v.period_from_utc
    GROUP BY s.system, s.period_from_utc
)

SELECT
    v.system::VARCHAR AS system,
    v.period_from_utc::TIMESTAMPTZ AS period_from_utc,
    v.period_to_utc::TIMESTAMPTZ AS period_to_utc,
    if(v.refusal IS NULL, 'ok', 'refused')::VARCHAR AS status,
    nullif(concat_ws('; ', v.refusal, v.lacking), '')::VARCHAR AS why,
    t.full_us::DOUBLE AS full_us,
    t.full_low_us::DOUBLE AS full_low_us,
    t.full_high_us::DOUBLE AS full_high_us,
    t.resumed_us::DOUBLE AS resumed_us,
    t.resumed_low_us::DOUBLE AS resumed_low_us,
    t.resumed_high_us::DOUBLE AS resumed_high_us,
    t.difference_us::DOUBLE AS difference_us,
    t.difference_low_us::DOUBLE AS difference_low_us,
    t.difference_high_us::DOUBLE AS difference_high_us,
    t.mb_us::DOUBLE AS mb_us,
    t.mb_low_us::DOUBLE AS mb_low_us,
    t.mb_high_us::DOUBLE AS mb_high_us,
    t.constant_us_per_s::DOUBLE AS constant_us_per_s,
    t.constant_low_us_per_s::DOUBLE AS constant_low_us_per_s,
    t.constant_high_us_per_s::DOUBLE AS constant_high_us_per_s,
    v.r2_pct::DOUBLE AS r2_pct,
    v.condition_number::DOUBLE AS condition_number,
    v.residual_us_per_s::DOUBLE AS residual_us_per_s,
    v.intervals::BIGINT AS intervals,
    v.blocks::BIGINT AS blocks,
    v.measured_s::DOUBLE AS measured_s,
    v.cpu_s::DOUBLE AS cpu_s,
    v.full_handshakes::BIGINT AS full_handshakes,
    v.full_tls12::BIGINT AS full_tls12,
    v.full_tls13::BIGINT AS full_tls13,
    v.resumed_handshakes::BIGINT AS resumed_handshakes,
    v.resumed_tls12::BIGINT AS resumed_tls12,
    v.resumed_tls13::BIGINT AS resumed_tls13,
    v.mb::DOUBLE AS mb
FROM verdict AS v
LEFT JOIN accepted AS t ON v.system = t.system AND v.period_from_utc = t.period_from_utc
ORDER BY v.system, v.period_from_utc
