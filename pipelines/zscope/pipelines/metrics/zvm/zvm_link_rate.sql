-- The throughput of the channel paths of a z/VM link in one run: the external throughput (ETR).
--
-- Rates of a path are averages weighted by the periods of the run; the paths of the link are added up.

WITH parameters AS (
    SELECT
        nullif(coalesce(getvariable('zvm_scaling')::DOUBLE, 100000), 0) AS scaling,
        list_sort(list_distinct(list_transform(
            regexp_extract_all(upper(coalesce(getvariable('zvm_chpid')::VARCHAR, '54')), '[^,\s]+'),
            lambda path : CASE WHEN length(path) = 1 THEN '0' || path ELSE path END
        ))) AS chpids
),

-- A period that was loaded from several files comes from the first of them.
listed AS (
    SELECT
        m.run,
        c.system,
        c.interval_start_local AS start_local,
        CASE WHEN c.interval_start_local IS NULL THEN (c.load_id, c.file, c.line_no) END AS place,
        c.period_s,
        upper(c.chpid) AS chpid,
        c.write_bytes_per_s + c.read_bytes_per_s AS bytes_per_s,
        c.shared
    FROM zvm_channel AS c
    INNER JOIN measured_run AS m
        ON
            c.file = m.file
            AND c.system IS NOT DISTINCT FROM m.system
            AND c.run IS NOT DISTINCT FROM m.told_run
            AND c.interval_start_utc IS NOT DISTINCT FROM m.moment_utc
            AND c.interval_start_local IS NOT DISTINCT FROM m.period_local
    QUALIFY
        c.interval_start_local IS NULL
        OR rank() OVER (
            PARTITION BY m.run, c.system, upper(c.chpid), c.interval_start_local, c.period_s
            ORDER BY c.load_id, c.file
        ) = 1
),

-- One file can also contain it twice. Rows without a length have the average weight of the others.
weighted AS (
    SELECT
        *,
        coalesce(period_s, avg(period_s) OVER (PARTITION BY run, system), 1) AS weight
    FROM (SELECT DISTINCT * FROM listed) AS once
),

of_path AS (
    SELECT
        w.run,
        w.system,
        w.chpid,
        list_contains(a.chpids, w.chpid) AS requested,
        sum(w.bytes_per_s * w.weight) / nullif(sum(w.weight), 0) AS bytes_per_s,
        bool_or(w.shared) AS shared
    FROM weighted AS w
    CROSS JOIN parameters AS a
    GROUP BY ALL
),

of_link AS (
    SELECT
        run,
        system,
        coalesce(list(chpid ORDER BY chpid) FILTER (WHERE requested), []) AS matched,
        sum(bytes_per_s) FILTER (WHERE requested) AS bytes_per_s,
        bool_or(shared) FILTER (WHERE requested) AS shared
    FROM of_path
    GROUP BY run, system
),

missed AS (
    SELECT
        o.*,
        a.scaling,
        len(a.chpids) AS paths_requested,
        list_filter(a.chpids, lambda path : NOT list_contains(o.matched, path)) AS missing
    FROM of_link AS o
    CROSS JOIN parameters AS a
)

SELECT
    run::VARCHAR AS run,
    system::VARCHAR AS system,
    joined(matched, ', ')::VARCHAR AS chpids,
    bytes_per_s::DOUBLE AS bytes_per_s,
    (bytes_per_s / scaling)::DOUBLE AS etr,
    shared::BOOLEAN AS shared,
    CASE
        WHEN paths_requested = 0 THEN 'zvm_chpid names no path'
        WHEN scaling IS NULL THEN 'zvm_scaling is 0'
        WHEN len(missing) > 0 THEN 'not among the channels: path ' || array_to_string(missing, ', ')
    END::VARCHAR AS lacking
FROM missed
