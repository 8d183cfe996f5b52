-- One moment of a z/TPF series with its sampled values, and the run it belongs to.
--
-- A series consists of the samples of one run, or of one file if there is no run: Grafana exports a file for
-- each chart, and those of one run belong together. A file with several successive floods is split: samples
-- between two runs belong to the second. The same moment in two files is one sample. If some samples of a
-- series have no moment, all are ordered by the time since the first sample of their file.

WITH measured AS (
    SELECT
        s.* EXCLUDE (run),
        CASE WHEN m.run_from <> 'file' THEN m.run END AS run
    FROM ztpf_series AS s
    INNER JOIN measured_run AS m
        ON
            s.file = m.file
            AND s.system IS NOT DISTINCT FROM m.system
            AND s.run IS NOT DISTINCT FROM m.told_run
            AND s.sample_utc IS NOT DISTINCT FROM m.moment_utc
            AND m.period_local IS NULL
),

cut AS (
    SELECT * REPLACE (
        coalesce(
            first_value(run IGNORE NULLS) OVER (
                in_time ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
            ),
            last_value(run IGNORE NULLS) OVER (in_time ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
        ) AS run
    )
    FROM measured
    WINDOW in_time AS (PARTITION BY load_id, file, series, system ORDER BY since_start_us)
),

timed AS (
    SELECT
        *,
        coalesce(run, series) AS name,
        CASE
            WHEN bool_and(sample_utc IS NOT NULL) OVER (PARTITION BY coalesce(run, series), system)
                THEN epoch_us(sample_utc)
            ELSE since_start_us::BIGINT
        END AS at_us
    FROM cut
),

moment AS (
    SELECT
        name,
        system,
        any_value(run) AS run,
        at_us,
        min(sample_utc) AS sample_utc,
        max(ecbs_in_use) AS ecbs_in_use,
        max(tls_starts_completed) AS tls_starts_completed,
        max(worker_threads) AS worker_threads,
        max(threads_starting) AS threads_starting,
        max(sessions_requested) AS sessions_requested
    FROM timed
    GROUP BY name, system, at_us
),

-- Of a run with several sides, the one on the system of the series has the start of the flood.
begun AS (
    SELECT
        m.name,
        m.system,
        coalesce(min(r.from_utc) FILTER (WHERE r.system = m.system), min(r.from_utc)) AS from_utc
    FROM (SELECT DISTINCT name, system, run FROM moment) AS m
    INNER JOIN run AS r ON m.run = r.name
    GROUP BY m.name, m.system
)

SELECT
    m.name::VARCHAR AS series,
    m.system::VARCHAR AS system,
    m.run::VARCHAR AS run,
    (m.at_us - min(m.at_us) OVER (PARTITION BY m.name, m.system))::BIGINT AS since_start_us,
    m.sample_utc::TIMESTAMPTZ AS sample_utc,
    (m.sample_utc < b.from_utc)::BOOLEAN AS before_flood,
    m.ecbs_in_use::DOUBLE AS ecbs_in_use,
    m.tls_starts_completed::DOUBLE AS tls_starts_completed,
    m.worker_threads::BIGINT AS worker_threads,
    m.threads_starting::DOUBLE AS threads_starting,
    m.sessions_requested::BIGINT AS sessions_requested
FROM moment AS m
LEFT JOIN begun AS b ON m.name = b.name AND m.system IS NOT DISTINCT FROM b.system
