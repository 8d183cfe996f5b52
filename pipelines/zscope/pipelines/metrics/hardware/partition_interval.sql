-- The use of the physical processors of one type by one partition of a machine, in one interval that a system recorded.
--
-- SMF 70 records are preferred. They contain the time in which each logical processor was dispatched; a Partition Data
-- report contains the share of the physical processors. A report of an interval that begins within two seconds of that
-- of a record of the same system is not used.
--
-- Weights of a record are those of its logical processors, which are equal within a partition and type; 65535 marks
-- dedicated processors. A partition that is not active has no logical processors, and no row.

WITH part AS (
    SELECT
        day,
        system::VARCHAR AS system,
        interval_start_local,
        load_id,
        record_no,
        record_offset,
        interval_ms::DOUBLE / 1000 AS interval_s,
        -- The offset of the clock is that at which the record was written.
        epoch_us(interval_start_local) - epoch_us(written_local) + epoch_us(written_utc) AS start_us,
        partition_name::VARCHAR AS partition_name,
        nullif(system_name::VARCHAR, '') AS system_name,
        logical_cpu_skip::BIGINT AS first_cpu,
        logical_cpu_count::BIGINT AS cpu_count
    FROM smf70_partition
    WHERE interval_ms > 0
),

-- A record that was loaded twice counts once.
recorded AS (
    SELECT
        p.day,
        'SMF 70' AS source,
        p.system,
        p.interval_start_local,
        p.start_us,
        p.interval_s,
        t.cpu_type_name::VARCHAR AS cpu_type_name,
        p.partition_name,
        CASE
            WHEN p.partition_name = 'PHYSICAL' THEN 'management'
            WHEN bool_and(l.weight = 65535) THEN 'dedicated'
            ELSE 'shared'
        END AS sharing,
        p.system_name,
        coalesce(t.physical_cpus_total / nullif(t.diagnose_sample_count, 0), t.physical_cpu_count)::DOUBLE
        AS physical_cpus,
        sum(l.dispatch_us) / 1e6 AS used_s,
        sum(l.online_us) / 1e6 AS online_s,
        max(l.weight) FILTER (WHERE l.weight NOT IN (0, 65535))::DOUBLE AS weight
    FROM part AS p
    INNER JOIN smf70_logical_cpu AS l
        ON
            p.system = l.system::VARCHAR
            AND p.interval_start_local = l.interval_start_local
            AND p.load_id IS NOT DISTINCT FROM l.load_id
            AND p.record_no = l.record_no
            AND p.record_offset = l.record_offset
            AND l.section_no BETWEEN p.first_cpu AND p.first_cpu + p.cpu_count - 1
    -- References to entries of types count from 1.
    INNER JOIN smf70_cpu_type AS t
        ON
            p.system = t.system::VARCHAR
            AND p.interval_start_local = t.interval_start_local
            AND p.load_id IS NOT DISTINCT FROM t.load_id
            AND p.record_no = t.record_no
            AND p.record_offset = t.record_offset
            AND l.cpu_type_index = t.section_no + 1
    GROUP BY
        p.day, p.system, p.interval_start_local, p.start_us, p.interval_s, p.load_id, p.record_no, p.record_offset,
        p.partition_name, p.system_name, t.cpu_type_name, t.physical_cpus_total, t.diagnose_sample_count,
        t.physical_cpu_count
    QUALIFY row_number() OVER (
        PARTITION BY p.system, p.interval_start_local, p.start_us, p.partition_name, t.cpu_type_name
        ORDER BY p.load_id, p.record_no, p.record_offset
    ) = 1
),

-- Materialized, so that a row has the same number in every place that reads it.
reported AS MATERIALIZED (
    SELECT
        row_number() OVER () AS report_no,
        day,
        'RMF' AS source,
        system::VARCHAR AS system,
        interval_start_local,
        epoch_us(interval_start_utc) AS start_us,
        interval_ms::DOUBLE / 1000 AS interval_s,
        cpu_type_name::VARCHAR AS cpu_type_name,
        trim(partition_name::VARCHAR, '*') AS partition_name,
        CASE
            WHEN row_kind::VARCHAR = 'physical' THEN 'management'
            WHEN dedicated THEN 'dedicated'
            ELSE 'shared'
        END AS sharing,
        dispatch_ms::DOUBLE / 1000 AS used_s,
        physical_total_pct / 100 AS used_share,
        logical_cpus * interval_ms / 1000 AS online_s,
        weight::DOUBLE AS weight
    FROM rmf_partition
    WHERE
        row_kind::VARCHAR IN ('partition', 'physical')
        AND partition_status::VARCHAR IS DISTINCT FROM 'deactivated'
        AND system IS NOT NULL
        AND interval_ms > 0
    -- Of reports with the same start the shortest one counts: a longer one contains it.
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_local, interval_start_utc, partition_name, cpu_type_name
        ORDER BY interval_ms, source DESC, file, line_no
    ) = 1
),

recorded_start AS (
    SELECT DISTINCT
        system,
        start_us,
        epoch_us(interval_start_local) AS local_us
    FROM recorded
),

also_recorded AS (
    SELECT r.report_no
    FROM reported AS r
    INNER JOIN (SELECT *, unnest(near_minutes(local_us)) AS near_minute FROM recorded_start) AS s
        ON
            r.system = s.system
            AND minute_of(epoch_us(r.interval_start_local)) = s.near_minute
            AND is_same_start(epoch_us(r.interval_start_local), s.local_us)
            -- The hour that a clock shows twice is known by UTC, if both have it.
            AND coalesce(is_same_start(r.start_us, s.start_us), true)
),

every AS (
    SELECT
        *,
        used_s / nullif(physical_cpus * interval_s, 0) AS used_share
    FROM recorded
    UNION ALL BY NAME
    SELECT * EXCLUDE (report_no) FROM reported WHERE report_no NOT IN (SELECT a.report_no FROM also_recorded AS a)
)

SELECT
    day,
    source,
    system,
    make_timestamptz(start_us) AS interval_start_utc,
    make_timestamptz(start_us + (interval_s * 1e6)::BIGINT) AS interval_end_utc,
    CASE cpu_type_name
        WHEN 'IIP' THEN 'zIIP'
        WHEN 'AAP' THEN 'zAAP'
        WHEN 'IFA' THEN 'zAAP'
        ELSE cpu_type_name
    END AS cpu_type,
    partition_name,
    sharing,
    system_name,
    1::BIGINT AS intervals,
    if(used_share IS NULL, NULL, interval_s)::DOUBLE AS interval_s,
    used_s::DOUBLE AS used_s,
    (used_share * interval_s)::DOUBLE AS share_s,
    if(sharing = 'management' OR used_share IS NULL, NULL, online_s)::DOUBLE AS online_s,
    if(weight IS NULL, NULL, interval_s)::DOUBLE AS weighted_s,
    (weight * interval_s)::DOUBLE AS weight_by_time,
    (
        interval_s * weight
        / nullif(sum(weight) OVER (PARTITION BY source, system, interval_start_local, start_us, cpu_type_name), 0)
    )::DOUBLE AS entitled_s,
    physical_cpus::DOUBLE AS physical_cpus
FROM every
ORDER BY system, interval_start_utc, cpu_type, sharing = 'management', partition_name
