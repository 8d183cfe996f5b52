-- CPU time per day that a system would save at a resumption rate, by its own fit or by a published bound.
--
-- Moved handshakes are the full ones that would be resumed at that rate. By the fit, each saves the
-- difference in cost between full and resumed handshakes. By the published bound, each saves at most a share
-- of the CPU time of a transaction with a full handshake. That time follows from the present cost of
-- handshakes, assuming that the resumed ones among them already cost less by that share.

WITH parameters AS (
    SELECT coalesce(getvariable('target_pct')::DOUBLE, 95) AS pct
),

target AS (
    SELECT DISTINCT
        unnest([
            50, 60, 70, 80, 90, 95, 100,
            CASE WHEN pct BETWEEN 0 AND 100 THEN pct ELSE error('target_pct goes from 0 to 100, not ' || pct) END
        ]) AS target_pct
    FROM parameters
),

-- The maximum share of the CPU time of a transaction that resumption saves; published as a change, so
-- negative.
published AS (
    SELECT
        -max(value) FILTER (WHERE id = 'tls31-resumption-tls12-cpu') / 100 AS tls12_bound,
        -max(value) FILTER (WHERE id = 'tls31-resumption-tls13-cpu') / 100 AS tls13_bound
    FROM reference_result
),

daily AS (
    SELECT
        *,
        86400 / measured_s AS days_share,
        full_handshakes + resumed_handshakes AS handshakes,
        handshakes * days_share AS handshakes_per_day,
        cpu_s * days_share AS cpu_s_per_day,
        100 * resumed_handshakes / nullif(handshakes, 0) AS resumed_pct,
        (full_tls12 * tls12_bound + full_tls13 * tls13_bound) / nullif(full_handshakes, 0) AS bound_of_full,
        (resumed_tls12 * tls12_bound + resumed_tls13 * tls13_bound) / nullif(handshakes, 0) AS saved_now,
        cpu_s / nullif(handshakes, 0) / (1 - saved_now) AS full_transaction_s,
        100 * (full_tls12 + full_tls13) / nullif(full_handshakes, 0) AS bounded_pct
    FROM handshake_cost
    CROSS JOIN published
),

aimed AS (
    SELECT
        *,
        -- Not greatest(), which would return 0 for an unknown rate.
        CASE
            WHEN resumed_pct >= target_pct THEN 0
            ELSE (target_pct - resumed_pct) / 100 * handshakes_per_day
        END AS moved
    FROM daily
    CROSS JOIN target
),

by_fit AS (
    SELECT
        *,
        'fit' AS basis,
        moved * difference_us / 1e6 AS saving,
        moved * difference_low_us / 1e6 AS saving_low,
        moved * difference_high_us / 1e6 AS saving_high,
        NULL AS bounded,
        CASE
            WHEN status = 'refused' THEN 'handshake_cost: ' || why
            WHEN difference_us IS NULL THEN 'handshake_cost lacks one of the two costs: ' || why
        END AS reason
    FROM aimed
),

by_bound AS (
    SELECT
        *,
        'published bound' AS basis,
        NULL AS saving,
        0 * moved AS saving_low,
        -- Without full handshakes none are moved, and there is no bound to multiply by.
        CASE
            WHEN full_handshakes = 0 THEN 0 * moved
            ELSE moved * bound_of_full * full_transaction_s
        END AS saving_high,
        bounded_pct AS bounded,
        CASE
            WHEN full_handshakes = 0 THEN 'every handshake is resumed already'
            ELSE format(
                'at most: {:.1f} % of {:.0f} us, the CPU time of a transaction with a full handshake',
                100 * bound_of_full,
                1e6 * full_transaction_s
            )
        END AS reason
    FROM aimed
),

either AS (
    SELECT * FROM by_fit
    UNION ALL BY NAME
    SELECT * FROM by_bound
)

SELECT
    system::VARCHAR AS system,
    period_from_utc::TIMESTAMPTZ AS period_from_utc,
    period_to_utc::TIMESTAMPTZ AS period_to_utc,
    target_pct::DOUBLE AS target_pct,
    basis::VARCHAR AS basis,
    resumed_pct::DOUBLE AS resumed_pct,
    handshakes_per_day::DOUBLE AS handshakes_per_day,
    moved::DOUBLE AS moved_per_day,
    cpu_s_per_day::DOUBLE AS cpu_s_per_day,
    saving::DOUBLE AS saving_s_per_day,
    saving_low::DOUBLE AS saving_low_s_per_day,
    saving_high::DOUBLE AS saving_high_s_per_day,
    (100 * saving_high / nullif(cpu_s_per_day, 0))::DOUBLE AS saving_high_pct,
    bounded::DOUBLE AS bounded_pct,
    if(handshakes = 0, 'there were no full or resumed handshakes', reason)::VARCHAR AS why
FROM either
ORDER BY system, period_from_utc, target_pct, basis
