-- How many more TLS sessions start in the same time in one run than in another.
--
-- Published method ztpf-throughput. The rate of a run is the sessions started between its first and its last
-- sample, over the time between the two.
--
-- Reads ztpf_series: run, sample_utc, tls_starts_completed (counts on from the beginning of the run).

WITH rate AS (
    SELECT
        run,
        1e6 * (max(tls_starts_completed) - min(tls_starts_completed))
        / nullif(epoch_us(max(sample_utc)) - epoch_us(min(sample_utc)), 0) AS starts_per_s
    FROM ztpf_series
    WHERE tls_starts_completed IS NOT NULL
    GROUP BY run
)

SELECT
    baseline.run::VARCHAR AS baseline_run,
    candidate.run::VARCHAR AS candidate_run,
    baseline.starts_per_s::DOUBLE AS baseline_starts_per_s,
    candidate.starts_per_s::DOUBLE AS candidate_starts_per_s,
    (100 * (candidate.starts_per_s / nullif(baseline.starts_per_s, 0) - 1))::DOUBLE AS gain_pct,
    (baseline.starts_per_s / nullif(candidate.starts_per_s, 0))::DOUBLE AS elapsed_ratio
FROM rate AS baseline
INNER JOIN rate AS candidate ON baseline.run <> candidate.run
ORDER BY baseline_run, candidate_run
