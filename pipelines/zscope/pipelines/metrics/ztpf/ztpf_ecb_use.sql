-- The ECBs in use of one z/TPF series: baseline, peak, duration, ECB seconds.
--
-- Published method ztpf-ecb-seconds. A stretch is the time between two samples: its area is a trapezoid, or
-- with the step rule the first value times its length. The baseline is the median of the samples before the
-- flood; if there is none, the least value is used. The flood lasts as long as the threshold is reached, with
-- crossings on the line between two samples; if nothing is above the baseline, there is no duration. A
-- stretch longer than three times the median is a gap: it counts only as a gap, as nothing is known about it.

WITH parameters AS (
    SELECT
        coalesce(getvariable('ztpf_threshold')::DOUBLE, 0.1) AS fraction,
        lower(trim(coalesce(getvariable('ztpf_rule')::VARCHAR, 'trapezoid'))) AS rule
),

sampled AS (
    SELECT
        series,
        system,
        since_start_us,
        before_flood,
        ecbs_in_use AS ecbs
    FROM ztpf_sample
    WHERE ecbs_in_use IS NOT NULL
),

level AS (
    SELECT
        s.series,
        s.system,
        count(*) AS samples,
        coalesce(median(s.ecbs) FILTER (WHERE s.before_flood), min(s.ecbs)) AS baseline,
        max(s.ecbs) AS peak,
        -- The first of several.
        arg_max(s.since_start_us, (s.ecbs, -s.since_start_us)) AS peak_at_us,
        baseline + any_value(a.fraction) * (peak - baseline) AS threshold,
        any_value(a.rule) AS rule
    FROM sampled AS s
    CROSS JOIN parameters AS a
    GROUP BY s.series, s.system
),

stretch AS (
    SELECT
        series,
        system,
        ecbs AS ecbs_1,
        lead(ecbs) OVER in_time AS ecbs_2,
        (lead(since_start_us) OVER in_time - since_start_us) / 1e6 AS lasts_s
    FROM sampled
    WINDOW in_time AS (PARTITION BY series, system ORDER BY since_start_us)
    QUALIFY ecbs_2 IS NOT NULL
),

judged AS (
    SELECT
        *,
        lasts_s > 3 * median(lasts_s) OVER (PARTITION BY series, system) AS is_gap
    FROM stretch
),

known AS (
    SELECT
        l.series,
        l.system,
        j.is_gap,
        j.lasts_s,
        CASE l.rule
            WHEN 'trapezoid' THEN j.lasts_s * (j.ecbs_1 + j.ecbs_2) / 2
            WHEN 'step' THEN j.lasts_s * j.ecbs_1
        END AS total,
        CASE l.rule
            WHEN 'trapezoid'
                THEN j.lasts_s * (greatest(0, j.ecbs_1 - l.baseline) + greatest(0, j.ecbs_2 - l.baseline)) / 2
            WHEN 'step' THEN j.lasts_s * greatest(0, j.ecbs_1 - l.baseline)
        END AS excess,
        CASE
            WHEN l.rule NOT IN ('trapezoid', 'step') THEN NULL
            WHEN l.peak = l.baseline THEN 0
            WHEN j.ecbs_1 >= l.threshold AND (l.rule = 'step' OR j.ecbs_2 >= l.threshold) THEN j.lasts_s
            WHEN l.rule = 'step' OR greatest(j.ecbs_1, j.ecbs_2) < l.threshold THEN 0
            ELSE
                j.lasts_s * (greatest(j.ecbs_1, j.ecbs_2) - l.threshold) / abs(j.ecbs_2 - j.ecbs_1)
        END AS high_s
    FROM judged AS j
    INNER JOIN level AS l ON j.series = l.series AND j.system IS NOT DISTINCT FROM l.system
),

added AS (
    SELECT
        series,
        system,
        sum(total) FILTER (WHERE NOT is_gap) AS ecb_seconds,
        sum(excess) FILTER (WHERE NOT is_gap) AS excess_ecb_seconds,
        sum(high_s) FILTER (WHERE NOT is_gap) AS duration_s,
        count(*) FILTER (WHERE is_gap) AS gaps,
        coalesce(sum(lasts_s) FILTER (WHERE is_gap), 0) AS gap_s
    FROM known
    GROUP BY series, system
)

SELECT
    l.series::VARCHAR AS series,
    l.system::VARCHAR AS system,
    l.samples::BIGINT AS samples,
    l.baseline::DOUBLE AS baseline_ecbs,
    l.peak::DOUBLE AS peak_ecbs,
    (l.peak_at_us / 1e6)::DOUBLE AS peak_at_s,
    l.threshold::DOUBLE AS threshold_ecbs,
    a.duration_s::DOUBLE AS duration_s,
    a.ecb_seconds::DOUBLE AS ecb_seconds,
    a.excess_ecb_seconds::DOUBLE AS excess_ecb_seconds,
    coalesce(a.gaps, 0)::BIGINT AS gaps,
    coalesce(a.gap_s, 0)::DOUBLE AS gap_s,
    CASE
        WHEN l.rule NOT IN ('trapezoid', 'step') THEN 'ztpf_rule is neither trapezoid nor step'
        WHEN a.series IS NULL THEN 'a single sample of ECBs'
    END::VARCHAR AS lacking
FROM level AS l
LEFT JOIN added AS a ON l.series = a.series AND l.system IS NOT DISTINCT FROM a.system
