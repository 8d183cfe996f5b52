-- The benchmark run of rows of a z/VM listing or of samples of a z/TPF series.
--
-- A run that the row names has priority. Otherwise it is the run on the same system during which the period
-- begins or the sample was taken; of several, the one that began last. Otherwise the name of the file is
-- used. Listings of the same period of a system then share the name of one file: FCX112 and FCX215 may be in
-- two.
--
-- Rows are identified by their values, not by their line: one line of JSON can contain all rows of a file.

WITH measured AS (
    SELECT
        file,
        system,
        run,
        interval_start_utc AS moment_utc,
        interval_start_local AS period_local
    FROM zvm_user
    UNION
    SELECT
        file,
        system,
        run,
        interval_start_utc,
        interval_start_local
    FROM zvm_channel
    UNION
    SELECT
        file,
        system,
        run,
        sample_utc,
        NULL
    FROM ztpf_series
),

-- Few moments and few runs, whatever the number of rows.
of_moment AS (
    SELECT
        m.system,
        m.moment_utc,
        r.name
    FROM (SELECT DISTINCT system, moment_utc FROM measured) AS m
    INNER JOIN run AS r ON m.system = r.system AND m.moment_utc >= r.from_utc AND m.moment_utc < r.to_utc
    QUALIFY row_number() OVER (PARTITION BY m.system, m.moment_utc ORDER BY r.from_utc DESC, r.name) = 1
),

named AS (
    SELECT
        m.*,
        o.name AS run_of_time,
        CASE WHEN m.run IS NULL AND o.name IS NULL THEN m.file END AS own_file
    FROM measured AS m
    LEFT JOIN of_moment AS o ON m.system = o.system AND m.moment_utc = o.moment_utc
)

SELECT
    file::VARCHAR AS file,
    system::VARCHAR AS system,
    run::VARCHAR AS told_run,
    moment_utc::TIMESTAMPTZ AS moment_utc,
    period_local::TIMESTAMP AS period_local,
    CASE
        WHEN own_file IS NULL THEN coalesce(run, run_of_time)
        WHEN period_local IS NULL THEN file
        ELSE min(own_file) OVER (PARTITION BY system, period_local)
    END::VARCHAR AS run,
    CASE
        WHEN run IS NOT NULL THEN 'row'
        WHEN run_of_time IS NOT NULL THEN 'time'
        ELSE 'file'
    END::VARCHAR AS run_from
FROM named
