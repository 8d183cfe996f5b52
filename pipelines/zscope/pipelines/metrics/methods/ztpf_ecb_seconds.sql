-- How many ECBs one flood of TLS sessions held and for how long, beside another flood.
--
-- Published method ztpf-ecb-seconds: the integral of the ECBs in use over time, by trapezoids between
-- samples. Where the ECBs stay at their peak all the time it is peak times duration, as in the published
-- figures.
--
-- Reads ztpf_series: run, sample_utc, ecbs_in_use, sessions (in the flood).

WITH stretch AS (
    SELECT
        run,
        sessions,
        ecbs_in_use,
        (ecbs_in_use + lead(ecbs_in_use) OVER in_time) / 2.0 AS mean_ecbs,
        (epoch_us(lead(sample_utc) OVER in_time) - epoch_us(sample_utc)) / 1e6 AS stretch_s
    FROM ztpf_series
    WHERE ecbs_in_use IS NOT NULL
    WINDOW in_time AS (PARTITION BY run ORDER BY sample_utc)
),

flood AS (
    SELECT
        run,
        max(ecbs_in_use) AS peak_ecbs,
        sum(mean_ecbs * stretch_s) AS ecb_seconds,
        sum(mean_ecbs * stretch_s) / nullif(max(sessions), 0) AS per_session
    FROM stretch
    GROUP BY run
)

SELECT
    baseline.run::VARCHAR AS baseline_run,
    candidate.run::VARCHAR AS candidate_run,
    baseline.peak_ecbs::DOUBLE AS baseline_peak_ecbs,
    candidate.peak_ecbs::DOUBLE AS candidate_peak_ecbs,
    baseline.ecb_seconds::DOUBLE AS baseline_ecb_seconds,
    candidate.ecb_seconds::DOUBLE AS candidate_ecb_seconds,
    baseline.per_session::DOUBLE AS baseline_per_session,
    candidate.per_session::DOUBLE AS candidate_per_session,
    (100 * (candidate.ecb_seconds - baseline.ecb_seconds) / nullif(baseline.ecb_seconds, 0))::DOUBLE
        AS change_pct
FROM flood AS baseline
INNER JOIN flood AS candidate ON baseline.run <> candidate.run
ORDER BY baseline_run, candidate_run
