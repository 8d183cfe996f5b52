-- The benchmark run that a row of a z/VM listing or a sample of a z/TPF series is a measurement of.
--
-- What the row itself names comes first. Else it is the run in whose time the period begins or the sample was
-- taken, on the same system; of several, the one that began last. Else the file gives the name. Listings that
-- tell of the same period of a system then share the name of one file: FCX112 and FCX215 may stand in two.

WITH measured AS (
    SELECT
        'zvm_user' AS table_name,
        load_id,
        file,
        line_no,
        system,
        run,
        interval_start_utc AS moment_utc,
        interval_start_local AS period_local
    FROM zvm_user
    UNION ALL BY NAME
    SELECT
        'zvm_channel' AS table_name,
        load_id,
        file,
        line_no,
        system,
        run,
        interval_start_utc AS moment_utc,
        interval_start_local AS period_local
    FROM zvm_channel
    UNION ALL BY NAME
    SELECT
        'ztpf_series' AS table_name,
        load_id,
        file,
        line_no,
        system,
        run,
        sample_utc AS moment_utc
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

by_time AS (
    SELECT
        m.*,
        o.name AS run_of_time
    FROM measured AS m
    LEFT JOIN of_moment AS o ON m.system = o.system AND m.moment_utc = o.moment_utc
),

named AS (
    SELECT
        *,
        CASE WHEN run IS NULL AND run_of_time IS NULL THEN file END AS own_file
    FROM by_time
)

SELECT
    table_name::VARCHAR AS table_name,
    load_id::BIGINT AS load_id,
    file::VARCHAR AS file,
    line_no::BIGINT AS line_no,
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
