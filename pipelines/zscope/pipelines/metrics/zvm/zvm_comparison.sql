-- One measure of two runs of a link on z/VM in the form of the published tables: values, difference, percent.
--
-- Difference and percent are those of the rounded values, as printed: ETR without decimals, CPU per
-- transaction with three. All ordered pairs of runs on the same system; if each run has only one system, the
-- two can differ.

WITH measured AS (
    SELECT
        *,
        count(DISTINCT coalesce(system, '')) OVER (PARTITION BY run) AS systems
    FROM zvm_cpu_per_tx
),

printed AS (
    SELECT
        run,
        system,
        systems,
        server AS measure,
        'CPU/tx' AS unit,
        round(cpu_per_tx, 3) AS value,
        shared,
        synthetic
    FROM measured
    UNION ALL
    SELECT
        run,
        system,
        systems,
        'ETR',
        'transactions/s (scaled)',
        round(etr, 0),
        shared,
        synthetic
    FROM measured
    WHERE server = 'combined'
),

pair AS (
    SELECT
        b.run AS baseline_run,
        c.run AS candidate_run,
        c.system,
        b.system AS baseline_system,
        b.measure,
        b.unit,
        b.value AS baseline,
        c.value AS candidate,
        -- Differences of decimal fractions have rounding errors.
        round(c.value - b.value, 3) AS delta,
        b.shared OR c.shared AS shared,
        b.synthetic OR c.synthetic AS synthetic
    FROM printed AS b
    INNER JOIN printed AS c
        ON
            b.run <> c.run
            AND b.measure = c.measure
            AND (b.system IS NOT DISTINCT FROM c.system OR (b.systems = 1 AND c.systems = 1))
)

SELECT
    baseline_run::VARCHAR AS baseline_run,
    candidate_run::VARCHAR AS candidate_run,
    system::VARCHAR AS system,
    baseline_system::VARCHAR AS baseline_system,
    measure::VARCHAR AS measure,
    unit::VARCHAR AS unit,
    baseline::DOUBLE AS baseline,
    candidate::DOUBLE AS candidate,
    delta::DOUBLE AS delta,
    (100 * delta / nullif(baseline, 0))::DOUBLE AS pct,
    shared::BOOLEAN AS shared,
    synthetic::BOOLEAN AS synthetic
FROM pair
ORDER BY
    baseline_run, candidate_run, system, list_position(['ETR', 'SSL', 'TCPIP', 'RSCS', 'combined'], measure)
