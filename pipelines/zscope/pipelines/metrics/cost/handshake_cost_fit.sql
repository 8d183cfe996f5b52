-- One fit of the cost of handshakes, megabytes and time on a system in a period: of the data or a replicate.
--
-- The model. An interval of L seconds with F full handshakes, R resumed ones and M megabytes costs
--     CPU = full x F + resumed x R + mb x M + constant x L + noise,    no coefficient below zero.
-- The noise is that of about L independent seconds: its variance is proportional to L, so an interval has
-- weight 1/L. Divided by L, this is a fit of rates per second with a plain constant, in which the weight of
-- an interval is its length. Intervals of one minute and of fifteen are on one scale, and where all have the
-- same length it is the ordinary fit.
--
-- The solution. The best non-negative fit is the best of the ordinary fits on the subsets of the terms that
-- have no negative coefficient. With three terms and a constant there are 16 subsets, and all are tried:
-- exact, and without iteration. With the constant, the normal equations are those of deviations from the
-- mean.
--
-- Replicates. Replicate 0 is the data. In each other one the blocks of intervals have random weights from the
-- exponential distribution (the Bayesian bootstrap: no block ever drops out, and so no term does). Noise is
-- correlated over time, so a block is an hour if there are at least 48 of them, otherwise an interval. The
-- weights are hashes: the same data give the same replicates. These are ordinary fits, in which a coefficient
-- may be negative: non-negative fits have too little spread near zero. The data are fitted both ways.

WITH parameters AS (
    SELECT
        coalesce(getvariable('cost_period')::VARCHAR, 'all') AS period,
        coalesce(getvariable('cost_from')::TIMESTAMPTZ, '-infinity'::TIMESTAMPTZ) AS from_utc,
        coalesce(getvariable('cost_to')::TIMESTAMPTZ, 'infinity'::TIMESTAMPTZ) AS to_utc,
        string_split(
            replace(coalesce(getvariable('cost_terms')::VARCHAR, 'full,resumed,mb'), ' ', ''), ','
        ) AS terms,
        coalesce(getvariable('cost_min_seen')::INTEGER, 6) AS min_seen,
        coalesce(getvariable('cost_min_variation_pct')::DOUBLE, 5) AS min_variation_pct,
        coalesce(getvariable('cost_run_margin_minutes')::INTEGER, 15) AS run_margin_minutes,
        coalesce(getvariable('cost_replicates')::INTEGER, 400) AS replicates,
        coalesce(getvariable('cost_block_minutes')::INTEGER, 60) * 60000000::BIGINT AS block_us
),

-- 1. The intervals, as rates per second.

chosen AS (
    SELECT
        i.*,
        CASE a.period
            WHEN 'all' THEN 0
            -- Not date_trunc: that follows the time zone of the session. Weeks begin on Monday.
            WHEN 'week' THEN epoch_us(time_bucket(INTERVAL 7 DAY, i.interval_start_utc))
            WHEN 'day' THEN epoch_us(time_bucket(INTERVAL 1 DAY, i.interval_start_utc))
            ELSE error('cost_period is all, week or day, not ' || a.period)
        END AS period,
        (i.in_bytes + i.out_bytes) / 1e6 AS mb,
        i.interval_ms / 1000 AS seconds,
        i.full_handshakes / seconds AS full_rate,
        i.resumed_handshakes / seconds AS resumed_rate,
        mb / seconds AS mb_rate,
        1e6 * i.cpu_s / seconds AS cpu_rate,
        epoch_us(i.interval_start_utc) AS start_us,
        coalesce(start_us // nullif(a.block_us, 0), start_us) AS hour
    FROM handshake_interval AS i
    CROSS JOIN parameters AS a
    -- A benchmark run has other costs, as it varies the configuration on a system that does nothing else. The
    -- same applies shortly before and after.
    ANTI JOIN run AS r
        ON
            i.system = r.system
            AND i.interval_start_utc < r.to_utc + to_minutes(a.run_margin_minutes)
            AND i.interval_end_utc > r.from_utc - to_minutes(a.run_margin_minutes)
    WHERE i.interval_start_utc >= a.from_utc AND i.interval_start_utc < a.to_utc AND i.interval_ms > 0
),

total AS (
    SELECT
        system,
        period,
        min(interval_start_utc) AS period_from_utc,
        max(interval_end_utc) AS period_to_utc,
        count(*) AS intervals,
        count(DISTINCT hour) >= 48 AS in_hours,
        CASE WHEN in_hours THEN count(DISTINCT hour) ELSE count(*) END AS blocks,
        sum(seconds) AS measured_s,
        sum(cpu_s) AS cpu_s,
        sum(full_handshakes) AS full_handshakes,
        sum(full_tls12) AS full_tls12,
        sum(full_tls13) AS full_tls13,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(resumed_tls12) AS resumed_tls12,
        sum(resumed_tls13) AS resumed_tls13,
        sum(mb) AS mb,
        sum(full_handshakes) / sum(seconds) AS full_mean,
        sum(resumed_handshakes) / sum(seconds) AS resumed_mean,
        sum(mb) / sum(seconds) AS mb_mean,
        1e6 * sum(cpu_s) / sum(seconds) AS cpu_mean
    FROM chosen
    GROUP BY system, period
),

spread AS (
    SELECT
        c.system,
        c.period,
        sqrt(sum(c.seconds * (c.full_rate - t.full_mean) ** 2) / sum(c.seconds)) AS full_sd,
        sqrt(sum(c.seconds * (c.resumed_rate - t.resumed_mean) ** 2) / sum(c.seconds)) AS resumed_sd,
        sqrt(sum(c.seconds * (c.mb_rate - t.mb_mean) ** 2) / sum(c.seconds)) AS mb_sd,
        sqrt(sum(c.seconds * (c.cpu_rate - t.cpu_mean) ** 2) / sum(c.seconds)) AS cpu_sd,
        count(*) FILTER (WHERE c.full_handshakes > 0) AS full_seen,
        count(*) FILTER (WHERE c.resumed_handshakes > 0) AS resumed_seen,
        count(*) FILTER (WHERE c.mb > 0) AS mb_seen
    FROM chosen AS c
    INNER JOIN total AS t ON c.system = t.system AND c.period = t.period
    GROUP BY c.system, c.period
),

-- 2. The terms that can be fitted, and why others cannot.

term AS (
    SELECT
        t.system,
        t.period,
        unnest(
            [
                {
                    'name': 'full', 'said': 'full handshakes', 'seen': full_seen,
                    'mean': full_mean, 'sd': full_sd
                },
                {
                    'name': 'resumed', 'said': 'resumed handshakes', 'seen': resumed_seen,
                    'mean': resumed_mean, 'sd': resumed_sd
                },
                {'name': 'mb', 'said': 'megabytes', 'seen': mb_seen, 'mean': mb_mean, 'sd': mb_sd}
            ],
            recursive := true
        )
    FROM total AS t
    INNER JOIN spread AS s ON t.system = s.system AND t.period = s.period
),

judged_term AS (
    SELECT
        t.*,
        CASE
            WHEN NOT list_has_all(['full', 'resumed', 'mb'], a.terms)
                THEN error('cost_terms are full, resumed and mb, not ' || array_to_string(a.terms, ','))
            WHEN NOT list_contains(a.terms, name) THEN said || ': left out by cost_terms'
            WHEN seen = 0 THEN said || ': none'
            WHEN seen < a.min_seen
                THEN format('{}: in {} intervals only, {} are needed', said, seen, a.min_seen)
            WHEN 100 * sd < a.min_variation_pct * mean
                THEN format(
                    '{}: vary by {:.1f} % only, so their cost is in the constant', said, 100 * sd / mean
                )
        END AS lacks
    FROM term AS t
    CROSS JOIN parameters AS a
),

-- Each term is divided by its standard deviation, so that all have the same scale.
scale AS (
    SELECT
        j.system,
        j.period,
        string_agg(lacks, '; ' ORDER BY name) AS lacking,
        count(*) FILTER (WHERE name = 'full' AND lacks IS NULL) AS has_full,
        count(*) FILTER (WHERE name = 'resumed' AND lacks IS NULL) AS has_resumed,
        count(*) FILTER (WHERE name = 'mb' AND lacks IS NULL) AS has_mb,
        any_value(CASE WHEN full_sd > 0 THEN full_sd ELSE 1 END) AS full_unit,
        any_value(CASE WHEN resumed_sd > 0 THEN resumed_sd ELSE 1 END) AS resumed_unit,
        any_value(CASE WHEN mb_sd > 0 THEN mb_sd ELSE 1 END) AS mb_unit,
        -- Rounding errors are not variation.
        any_value(cpu_sd > 1e-9 * cpu_mean) AS cpu_varies,
        any_value(CASE WHEN cpu_sd > 1e-9 * cpu_mean THEN cpu_sd ELSE 1 END) AS cpu_unit
    FROM judged_term AS j
    INNER JOIN spread AS s ON j.system = s.system AND j.period = s.period
    INNER JOIN total AS t ON j.system = t.system AND j.period = t.period
    GROUP BY j.system, j.period
),

-- 3. Products of the deviations from the mean (f, r, m of the terms, y of the CPU time), summed in each
-- block, then over the weighted blocks of each replicate.

deviation AS (
    SELECT
        c.system,
        c.period,
        CASE WHEN t.in_hours THEN c.hour ELSE c.start_us END AS block,
        c.seconds AS w,
        (c.full_rate - t.full_mean) / s.full_unit AS f,
        (c.resumed_rate - t.resumed_mean) / s.resumed_unit AS r,
        (c.mb_rate - t.mb_mean) / s.mb_unit AS m,
        (c.cpu_rate - t.cpu_mean) / s.cpu_unit AS y
    FROM chosen AS c
    INNER JOIN total AS t ON c.system = t.system AND c.period = t.period
    INNER JOIN scale AS s ON c.system = s.system AND c.period = s.period
),

block_sum AS (
    SELECT
        system,
        period,
        block,
        sum(w) AS w,
        sum(w * f) AS f,
        sum(w * r) AS r,
        sum(w * m) AS m,
        sum(w * y) AS y,
        sum(w * f * f) AS ff,
        sum(w * f * r) AS fr,
        sum(w * f * m) AS fm,
        sum(w * f * y) AS fy,
        sum(w * r * r) AS rr,
        sum(w * r * m) AS rm,
        sum(w * r * y) AS ry,
        sum(w * m * m) AS mm,
        sum(w * m * y) AS my,
        sum(w * y * y) AS yy
    FROM deviation
    GROUP BY system, period, block
),

weighted AS (
    SELECT
        b.*,
        n.replicate,
        -- Block and replicate are hashed separately, then together: with hash(block, replicate) the
        -- replicates resemble each other. 1 is added because 0 has no logarithm.
        CASE
            WHEN n.replicate = 0 THEN 1
            ELSE -ln((hash(xor(hash(b.system, b.block), hash(n.replicate)))::DOUBLE + 1) / 2 ** 64)
        END AS v
    FROM block_sum AS b
    CROSS JOIN (SELECT unnest(range(0, replicates + 1)) AS replicate FROM parameters) AS n
),

-- Means, variances and covariances.
moment AS (
    SELECT
        system,
        period,
        replicate,
        sum(v * w) AS vw,
        sum(v * f) / vw AS fbar,
        sum(v * r) / vw AS rbar,
        sum(v * m) / vw AS mbar,
        sum(v * y) / vw AS ybar,
        sum(v * ff) / vw - fbar * fbar AS ff,
        sum(v * fr) / vw - fbar * rbar AS fr,
        sum(v * fm) / vw - fbar * mbar AS fm,
        sum(v * fy) / vw - fbar * ybar AS fy,
        sum(v * rr) / vw - rbar * rbar AS rr,
        sum(v * rm) / vw - rbar * mbar AS rm,
        sum(v * ry) / vw - rbar * ybar AS ry,
        sum(v * mm) / vw - mbar * mbar AS mm,
        sum(v * my) / vw - mbar * ybar AS my,
        sum(v * yy) / vw - ybar * ybar AS yy
    FROM weighted
    GROUP BY system, period, replicate
),

-- 4. Ordinary fits: of the data on all subsets of the terms, of replicates on all terms.

subset AS (
    SELECT
        f.has AS f,
        r.has AS r,
        m.has AS m,
        c.has AS c
    FROM (VALUES (0), (1)) AS f (has)
    CROSS JOIN (VALUES (0), (1)) AS r (has)
    CROSS JOIN (VALUES (0), (1)) AS m (has)
    CROSS JOIN (VALUES (0), (1)) AS c (has)
),

tried AS (
    SELECT
        d.system,
        d.period,
        d.replicate,
        u.*,
        u.f + u.r + u.m + u.c = s.has_full + s.has_resumed + s.has_mb + 1 AS is_ordinary,
        -- The means, now counted from zero.
        d.fbar + t.full_mean / s.full_unit AS fbar,
        d.rbar + t.resumed_mean / s.resumed_unit AS rbar,
        d.mbar + t.mb_mean / s.mb_unit AS mbar,
        d.ybar + t.cpu_mean / s.cpu_unit AS ybar,
        d.* EXCLUDE (system, period, replicate, vw, fbar, rbar, mbar, ybar)
    FROM moment AS d
    INNER JOIN total AS t ON d.system = t.system AND d.period = t.period
    INNER JOIN scale AS s ON d.system = s.system AND d.period = s.period
    INNER JOIN subset AS u ON u.f <= s.has_full AND u.r <= s.has_resumed AND u.m <= s.has_mb
    WHERE d.replicate = 0 OR is_ordinary
),

-- With the constant (c = 1), of variances and covariances; without it, of mean products, which are larger by
-- the product of the means. A term outside the subset has the equation "coefficient = 0".
normal_equation AS (
    SELECT
        * REPLACE (
            CASE WHEN f = 1 THEN ff + (1 - c) * fbar * fbar ELSE 1 END AS ff,
            CASE WHEN r = 1 THEN rr + (1 - c) * rbar * rbar ELSE 1 END AS rr,
            CASE WHEN m = 1 THEN mm + (1 - c) * mbar * mbar ELSE 1 END AS mm,
            f * r * (fr + (1 - c) * fbar * rbar) AS fr,
            f * m * (fm + (1 - c) * fbar * mbar) AS fm,
            r * m * (rm + (1 - c) * rbar * mbar) AS rm,
            f * (fy + (1 - c) * fbar * ybar) AS fy,
            r * (ry + (1 - c) * rbar * ybar) AS ry,
            m * (my + (1 - c) * mbar * ybar) AS my,
            yy + (1 - c) * ybar * ybar AS yy
        )
    FROM tried
),

-- Cramer's rule, with the cofactors of the symmetric matrix.
cofactor AS (
    SELECT
        *,
        rr * mm - rm * rm AS c_ff,
        fm * rm - fr * mm AS c_fr,
        fr * rm - fm * rr AS c_fm,
        ff * mm - fm * fm AS c_rr,
        fr * fm - ff * rm AS c_rm,
        ff * rr - fr * fr AS c_mm,
        ff * c_ff + fr * c_fr + fm * c_fm AS determinant
    FROM normal_equation
),

solved AS (
    SELECT
        system,
        period,
        replicate,
        is_ordinary,
        (c_ff * fy + c_fr * ry + c_fm * my) / determinant AS full_x,
        (c_fr * fy + c_rr * ry + c_rm * my) / determinant AS resumed_x,
        (c_fm * fy + c_rm * ry + c_mm * my) / determinant AS mb_x,
        c * (ybar - full_x * fbar - resumed_x * rbar - mb_x * mbar) AS constant_x,
        yy - full_x * fy - resumed_x * ry - mb_x * my AS unexplained
    FROM cofactor
    -- If terms are multiples of each other, one is enough, and there are subsets without the other.
    WHERE determinant > 1e-12 * ff * rr * mm
),

fitted AS (
    SELECT
        *,
        false AS non_negative
    FROM solved
    WHERE is_ordinary

    UNION ALL

    SELECT
        *,
        true AS non_negative
    FROM solved
    WHERE replicate = 0 AND full_x >= 0 AND resumed_x >= 0 AND mb_x >= 0 AND constant_x >= 0
    QUALIFY row_number() OVER (PARTITION BY system, period ORDER BY unexplained) = 1
)

SELECT
    t.system::VARCHAR AS system,
    t.period_from_utc::TIMESTAMPTZ AS period_from_utc,
    t.period_to_utc::TIMESTAMPTZ AS period_to_utc,
    b.replicate::BIGINT AS replicate,
    b.non_negative::BOOLEAN AS non_negative,
    CASE WHEN s.has_full = 1 THEN b.full_x * s.cpu_unit / s.full_unit END::DOUBLE AS full_us,
    CASE WHEN s.has_resumed = 1 THEN b.resumed_x * s.cpu_unit / s.resumed_unit END::DOUBLE AS resumed_us,
    CASE WHEN s.has_mb = 1 THEN b.mb_x * s.cpu_unit / s.mb_unit END::DOUBLE AS mb_us,
    (b.constant_x * s.cpu_unit)::DOUBLE AS constant_us_per_s,
    s.lacking::VARCHAR AS lacking,
    (s.has_full + s.has_resumed + s.has_mb)::BIGINT AS terms,
    -- A perfect fit has a rounding error of either sign.
    (s.cpu_unit * sqrt(greatest(b.unexplained, 0)))::DOUBLE AS residual_us_per_s,
    CASE WHEN s.cpu_varies THEN 100 * (1 - greatest(b.unexplained, 0) / d.yy) END::DOUBLE AS r2_pct,
    if(s.has_full + s.has_resumed = 2, d.fr / sqrt(d.ff * d.rr), NULL)::DOUBLE AS full_resumed_correlation,
    if(s.has_full + s.has_mb = 2, d.fm / sqrt(d.ff * d.mm), NULL)::DOUBLE AS full_mb_correlation,
    if(s.has_resumed + s.has_mb = 2, d.rm / sqrt(d.rr * d.mm), NULL)::DOUBLE AS resumed_mb_correlation,
    t.intervals::BIGINT AS intervals,
    t.blocks::BIGINT AS blocks,
    t.measured_s::DOUBLE AS measured_s,
    t.cpu_s::DOUBLE AS cpu_s,
    t.full_handshakes::BIGINT AS full_handshakes,
    t.full_tls12::BIGINT AS full_tls12,
    t.full_tls13::BIGINT AS full_tls13,
    t.resumed_handshakes::BIGINT AS resumed_handshakes,
    t.resumed_tls12::BIGINT AS resumed_tls12,
    t.resumed_tls13::BIGINT AS resumed_tls13,
    t.mb::DOUBLE AS mb
FROM fitted AS b
INNER JOIN moment AS d ON b.system = d.system AND b.period = d.period AND b.replicate = d.replicate
INNER JOIN total AS t ON b.system = t.system AND b.period = t.period
INNER JOIN scale AS s ON b.system = s.system AND b.period = s.period
