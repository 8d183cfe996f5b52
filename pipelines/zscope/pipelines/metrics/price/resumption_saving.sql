-- CPU time per day that a higher resumption rate would save, from the costs of the system or from a published bound.
--
-- Moved handshakes are the full ones that would be resumed at that rate. By the estimate, each saves what a full
-- handshake costs more than a resumed one. By the published bound, each saves at most a share of
-- what a full handshake costs with its connection.
--
-- The data show what resumption saves only up to the resumed shares that they contain. A target above the share
-- that 95 % of the handshakes do not exceed, counted by the hour, is extrapolated; that share is a target too.

WITH parameters AS (
    SELECT coalesce(getvariable('target_pct')::DOUBLE, 95) AS pct
),

-- The maximum share of the CPU time of a transaction that resumption saves; published as a change, so
-- negative.
published AS (
    SELECT
        -max(value) FILTER (WHERE id = 'tls31-resumption-tls12-cpu') / 100 AS tls12_bound,
        -max(value) FILTER (WHERE id = 'tls31-resumption-tls13-cpu') / 100 AS tls13_bound,
        -- As a multiple of the cheapest one, with RSA key exchange.
        (1 + max(value) FILTER (WHERE id = 'tls31-ecdhe-vs-rsa-kx-cpu') / 100)
        / (1 + max(value) FILTER (WHERE id = 'tls31-ecdhe-vs-dhe-cpu') / 100) AS dhe_times
    FROM reference_result
),

recent AS (
    SELECT *
    FROM handshake_hour
    WHERE kind IN ('full', 'resumed')
    QUALIFY hour_utc > max(hour_utc) OVER (PARTITION BY system) - INTERVAL 92 DAY
),

version AS (
    SELECT
        system,
        coalesce(sum(handshakes) FILTER (WHERE kind = 'full'), 0) AS full_handshakes,
        full_handshakes / sum(handshakes) AS full_share,
        sum(handshakes) FILTER (WHERE kind = 'full' AND tls_version = 'TLSv1.2') AS full_tls12,
        sum(handshakes) FILTER (WHERE kind = 'full' AND tls_version = 'TLSv1.3') AS full_tls13,
        sum(handshakes) FILTER (WHERE kind = 'full' AND key_exchange LIKE 'DHE%') AS full_dhe
    FROM recent
    GROUP BY system
),

-- Hours with few handshakes can have any share.
hour_share AS (
    SELECT
        system,
        handshakes,
        100 * resumed / handshakes AS resumed_pct
    FROM (
        SELECT
            system,
            hour_utc,
            sum(handshakes) AS handshakes,
            coalesce(sum(handshakes) FILTER (WHERE kind = 'resumed'), 0) AS resumed
        FROM recent
        GROUP BY system, hour_utc
    )
    QUALIFY handshakes >= least(100, max(handshakes) OVER (PARTITION BY system))
),

seen AS (
    SELECT
        system,
        max(resumed_pct) AS highest_pct,
        min(resumed_pct) FILTER (WHERE up_to_here >= 0.95 * in_all) AS attainable_pct
    FROM (
        SELECT
            system,
            resumed_pct,
            sum(handshakes) OVER (PARTITION BY system ORDER BY resumed_pct) AS up_to_here,
            sum(handshakes) OVER (PARTITION BY system) AS in_all
        FROM hour_share
    )
    GROUP BY system
),

daily AS (
    SELECT
        c.*,
        s.highest_pct,
        s.attainable_pct,
        -- From zERT summaries the share of full handshakes is not known, so that of the detail there is counts.
        100 * coalesce(c.resumed_handshakes_per_day / nullif(c.handshakes_per_day, 0), 1 - v.full_share) AS resumed_pct,
        -- A resumed handshake does not cost less than nothing.
        coalesce(c.full_high_us, c.mean_high_us / nullif(v.full_share, 0)) AS full_most_us,
        resumption_bound(
            (coalesce(v.full_tls12, 0) * p.tls12_bound + coalesce(v.full_tls13, 0) * p.tls13_bound)
            / nullif(v.full_handshakes, 0),
            coalesce(v.full_dhe, 0) / v.full_handshakes,
            p.dhe_times
        ) AS bound,
        100 * (coalesce(v.full_tls12, 0) + coalesce(v.full_tls13, 0)) / nullif(v.full_handshakes, 0) AS bounded_pct
    FROM handshake_cost AS c
    CROSS JOIN published AS p
    LEFT JOIN version AS v ON c.system = v.system
    LEFT JOIN seen AS s ON c.system = s.system
    WHERE c.handshakes_per_day IS NOT NULL
),

aimed AS (
    SELECT
        d.*,
        t.target_pct,
        CASE
            WHEN t.target_pct <= greatest(d.attainable_pct, d.resumed_pct) THEN 'seen'
            WHEN t.target_pct <= d.highest_pct THEN 'extrapolated'
            WHEN d.highest_pct IS NOT NULL THEN 'far'
        END AS reach,
        -- Not greatest(), which would return 0 for an unknown rate.
        CASE
            WHEN d.resumed_pct >= t.target_pct THEN 0
            ELSE (t.target_pct - d.resumed_pct) / 100 * d.handshakes_per_day
        END AS moved
    FROM daily AS d
    CROSS JOIN parameters AS a,
        LATERAL (
            SELECT DISTINCT
                unnest([
                    50, 60, 70, 80, 90, 95, 100,
                    CASE
                        WHEN a.pct BETWEEN 0 AND 100 THEN a.pct
                        ELSE error('target_pct goes from 0 to 100, not ' || a.pct)
                    END,
                    floor(10 * d.attainable_pct) / 10
                ]) AS target_pct
        ) AS t
    WHERE t.target_pct IS NOT NULL
),

by_estimate AS (
    SELECT
        *,
        'estimate' AS basis,
        CASE WHEN difference_status = 'estimate' AND reach <> 'seen' THEN 'conditional' ELSE difference_status END AS rated,
        moved * difference_us / 1e6 AS saving,
        moved * difference_low_us / 1e6 AS saving_low,
        moved * difference_high_us / 1e6 AS saving_high,
        NULL AS bounded,
        concat_ws(
            '; ',
            CASE
                WHEN difference_status = 'not enough data' THEN NULL
                WHEN reach = 'extrapolated'
                    THEN format(
                        'if handshakes beyond a resumed share of {:.1f} % save as much (only 5 % of the handshakes were in '
                        || 'hours with a higher share)',
                        attainable_pct
                    )
                WHEN reach = 'far'
                    THEN format(
                        'if handshakes beyond a resumed share of {:.1f} % save as much (no hour with many handshakes had a '
                        || 'higher share)',
                        greatest(highest_pct, resumed_pct)
                    )
            END,
            difference_why
        ) AS reason
    FROM aimed
),

by_bound AS (
    SELECT
        *,
        'published bound' AS basis,
        CASE WHEN full_most_us IS NULL AND moved > 0 THEN 'not enough data' ELSE 'conditional' END AS rated,
        NULL AS saving,
        0 * moved AS saving_low,
        CASE WHEN moved = 0 THEN 0 ELSE moved * bound * full_most_us / 1e6 END AS saving_high,
        bounded_pct AS bounded,
        CASE
            WHEN moved = 0 THEN 'as many handshakes are resumed already'
            WHEN full_most_us IS NULL THEN difference_why
            ELSE format(
                'at most, if this workload is like the published one: {:.1f} % of {:.0f} us, which a full handshake '
                || 'costs at most',
                100 * bound,
                full_most_us
            )
        END AS reason
    FROM aimed
)

SELECT
    system::VARCHAR AS system,
    target_pct::DOUBLE AS target_pct,
    basis::VARCHAR AS basis,
    rated::VARCHAR AS status,
    reach::VARCHAR AS reach,
    saving::DOUBLE AS saving_s_per_day,
    saving_low::DOUBLE AS saving_low_s_per_day,
    saving_high::DOUBLE AS saving_high_s_per_day,
    (100 * saving_high / nullif(cpu_s_per_day, 0))::DOUBLE AS saving_high_pct,
    resumed_pct::DOUBLE AS resumed_pct,
    attainable_pct::DOUBLE AS attainable_pct,
    highest_pct::DOUBLE AS highest_pct,
    handshakes_per_day::DOUBLE AS handshakes_per_day,
    moved::DOUBLE AS moved_per_day,
    cpu_s_per_day::DOUBLE AS cpu_s_per_day,
    bounded::DOUBLE AS bounded_pct,
    if(handshakes_per_day = 0, 'there were no full or resumed handshakes', reason)::VARCHAR AS why,
    covered_pct::DOUBLE AS covered_pct,
    first_local::TIMESTAMP AS first_local,
    last_local::TIMESTAMP AS last_local
FROM (
    SELECT * FROM by_estimate
    UNION ALL BY NAME
    SELECT * FROM by_bound
)
ORDER BY system, target_pct, basis
