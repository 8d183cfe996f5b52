-- CPU use of each system and interval, whatever told of it: SMF 70 records, RMF XML, RMF listings.
--
-- Grain: one row for each system and interval (system, interval_start_local). Where several sources tell of
-- the same interval, SMF 70 goes before XML and XML before listings. Intervals that begin within two seconds
-- are the same, as records have fractions of a second that reports leave out.
--
-- source                smf70, xml or text
-- system                name of the system
-- interval_start_local  start of the interval, local time
-- interval_ms           length of the interval
-- cps_online            CPs that were online, on average
-- lpar_busy_pct         share of their online time in which they were dispatched, averaged over all CPs
-- cpu_s                 CPU seconds: how long the CPs of the own partition were dispatched
-- ziips_online, ziip_busy_pct, ziip_s  the same of the zIIPs
--
-- Percentages of reports have two decimals, so what follows from them is as exact as that. Where a report
-- has no partition data, its CPU seconds follow from the percentages. An SMF record whose list of logical
-- processors is continued in another record is passed over.

WITH smf_interval AS (
    -- DISTINCT here and below: a dump that was loaded twice counts once.
    SELECT DISTINCT
        system::VARCHAR AS system,
        interval_start_local,
        record_no,
        record_offset,
        interval_ms::DOUBLE AS interval_ms,
        partition_number
    FROM smf70_interval
    WHERE interval_ms > 0
),

smf_own_partition AS (
    SELECT DISTINCT
        i.*,
        p.logical_cpu_skip::BIGINT AS first_cpu,
        p.logical_cpu_count::BIGINT AS cpu_count,
        p.maximum_thread_id AS maximum_thread_id
    FROM smf_interval AS i
    INNER JOIN smf70_partition AS p
        ON
            i.system = p.system::VARCHAR
            AND i.interval_start_local = p.interval_start_local
            AND i.record_no = p.record_no
            AND i.record_offset = p.record_offset
            AND i.partition_number = p.partition_number
    WHERE p.partition_name::VARCHAR <> 'PHYSICAL' AND p.logical_cpu_count > 0
),

smf_logical AS (
    SELECT DISTINCT
        o.*,
        t.cpu_type_name::VARCHAR AS cpu_type_name,
        l.section_no,
        -- Older machines do not tell the online time.
        CASE
            WHEN l.online_us = 0 AND l.dispatch_us > 0 THEN o.interval_ms * 1000
            ELSE l.online_us::DOUBLE
        END AS online_us,
        l.dispatch_us::DOUBLE AS dispatch_us,
        -- With dedicated processors or wait completion the dispatched time has waiting in it.
        CASE
            WHEN o.maximum_thread_id > 0 OR c.wait_us IS NULL THEN l.dispatch_us::DOUBLE
            WHEN l.weight = 65535 THEN greatest(o.interval_ms * 1000 - c.wait_us, 0)
            WHEN l.logical_cpu_flags & 128 > 0 THEN greatest(l.dispatch_us::DOUBLE - c.wait_us, 0)
            ELSE l.dispatch_us::DOUBLE
        END AS busy_us
    FROM smf_own_partition AS o
    INNER JOIN smf70_logical_cpu AS l
        ON
            o.system = l.system::VARCHAR
            AND o.interval_start_local = l.interval_start_local
            AND o.record_no = l.record_no
            AND o.record_offset = l.record_offset
            AND l.section_no BETWEEN o.first_cpu AND o.first_cpu + o.cpu_count - 1
    -- Entries of types are counted from 1 where they are referred to.
    INNER JOIN smf70_cpu_type AS t
        ON
            o.system = t.system::VARCHAR
            AND o.interval_start_local = t.interval_start_local
            AND o.record_no = t.record_no
            AND o.record_offset = t.record_offset
            AND l.cpu_type_index = t.section_no + 1
    LEFT JOIN smf70_cpu AS c
        ON
            o.system = c.system::VARCHAR
            AND o.interval_start_local = c.interval_start_local
            AND o.record_no = c.record_no
            AND o.record_offset = c.record_offset
            AND l.logical_cpu_address = c.cpu_id
),

smf_use AS (
    SELECT
        'smf70' AS source,
        system,
        interval_start_local,
        interval_ms,
        sum(online_us) FILTER (WHERE cpu_type_name = 'CP') / (interval_ms * 1000) AS cps_online,
        100 * sum(busy_us) FILTER (WHERE cpu_type_name = 'CP')
        / nullif(sum(online_us) FILTER (WHERE cpu_type_name = 'CP'), 0) AS lpar_busy_pct,
        sum(dispatch_us) FILTER (WHERE cpu_type_name = 'CP') / 1e6 AS cpu_s,
        sum(online_us) FILTER (WHERE cpu_type_name = 'IIP') / (interval_ms * 1000) AS ziips_online,
        100 * sum(busy_us) FILTER (WHERE cpu_type_name = 'IIP')
        / nullif(sum(online_us) FILTER (WHERE cpu_type_name = 'IIP'), 0) AS ziip_busy_pct,
        sum(dispatch_us) FILTER (WHERE cpu_type_name = 'IIP') / 1e6 AS ziip_s
    FROM smf_logical
    GROUP BY system, interval_start_local, interval_ms, record_no, record_offset, cpu_count
    HAVING count(DISTINCT section_no) = cpu_count
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_local ORDER BY record_no, record_offset
    ) = 1
),

-- A report that is in two files, or twice in one, counts once.
rmf_one_interval AS (
    SELECT
        source::VARCHAR AS source,
        system::VARCHAR AS system,
        interval_start_local,
        interval_ms::DOUBLE AS interval_ms,
        partition_name::VARCHAR AS partition_name
    FROM rmf_interval
    WHERE system IS NOT NULL AND interval_start_local IS NOT NULL AND interval_ms > 0
    QUALIFY row_number() OVER (
        PARTITION BY source, system, interval_start_local ORDER BY partition_name IS NULL, file, line_no
    ) = 1
),

rmf_processor AS (
    SELECT
        source::VARCHAR AS source,
        system::VARCHAR AS system,
        interval_start_local,
        cpu_type_name::VARCHAR AS cpu_type_name,
        online_pct,
        lpar_busy_pct
    FROM rmf_cpu
    WHERE row_kind::VARCHAR = 'processor'
    QUALIFY row_number() OVER (
        PARTITION BY source, system, interval_start_local, cpu_type_name, cpu_id ORDER BY file, line_no
    ) = 1
),

rmf_type AS (
    SELECT
        source,
        system,
        interval_start_local,
        cpu_type_name,
        -- What one processor does not tell is not known of all together.
        CASE WHEN count(online_pct) = count(*) THEN sum(online_pct) / 100 END AS online,
        CASE
            WHEN count(*) FILTER (WHERE online_pct IS NULL OR (online_pct > 0 AND lpar_busy_pct IS NULL)) = 0
                THEN sum(lpar_busy_pct * online_pct) / nullif(sum(online_pct), 0)
        END AS busy_pct
    FROM rmf_processor
    GROUP BY source, system, interval_start_local, cpu_type_name
),

rmf_time AS (
    SELECT
        source::VARCHAR AS source,
        system::VARCHAR AS system,
        interval_start_local,
        partition_name::VARCHAR AS partition_name,
        cpu_type_name::VARCHAR AS cpu_type_name,
        dispatch_ms::DOUBLE / 1000 AS dispatched_s
    FROM rmf_partition
    WHERE row_kind::VARCHAR = 'partition' AND dispatch_ms IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY source, system, interval_start_local, partition_name, cpu_type_name
        ORDER BY file, line_no
    ) = 1
),

rmf_type_use AS (
    SELECT
        i.source,
        i.system,
        i.interval_start_local,
        i.interval_ms,
        kind.cpu_type_name,
        t.online,
        t.busy_pct,
        coalesce(d.dispatched_s, t.busy_pct / 100 * t.online * i.interval_ms / 1000) AS used_s
    FROM rmf_one_interval AS i
    CROSS JOIN (VALUES ('CP'), ('IIP')) AS kind (cpu_type_name)
    LEFT JOIN rmf_type AS t
        ON
            i.source = t.source
            AND i.system = t.system
            AND i.interval_start_local = t.interval_start_local
            AND kind.cpu_type_name = t.cpu_type_name
    LEFT JOIN rmf_time AS d
        ON
            i.source = d.source
            AND i.system = d.system
            AND i.interval_start_local = d.interval_start_local
            AND i.partition_name = d.partition_name
            AND kind.cpu_type_name = d.cpu_type_name
),

rmf_use AS (
    SELECT
        source,
        system,
        interval_start_local,
        interval_ms,
        max(online) FILTER (WHERE cpu_type_name = 'CP') AS cps_online,
        max(busy_pct) FILTER (WHERE cpu_type_name = 'CP') AS lpar_busy_pct,
        max(used_s) FILTER (WHERE cpu_type_name = 'CP') AS cpu_s,
        max(online) FILTER (WHERE cpu_type_name = 'IIP') AS ziips_online,
        max(busy_pct) FILTER (WHERE cpu_type_name = 'IIP') AS ziip_busy_pct,
        max(used_s) FILTER (WHERE cpu_type_name = 'IIP') AS ziip_s
    FROM rmf_type_use
    GROUP BY source, system, interval_start_local, interval_ms
    HAVING cps_online IS NOT NULL OR cpu_s IS NOT NULL
),

every_source AS (
    SELECT
        *,
        CASE source WHEN 'smf70' THEN 1 WHEN 'xml' THEN 2 ELSE 3 END AS preference
    FROM (SELECT * FROM smf_use UNION ALL SELECT * FROM rmf_use)
),

begins AS (
    SELECT
        *,
        coalesce(
            interval_start_local - lag(interval_start_local) OVER in_time > INTERVAL 2 SECOND,
            true
        ) AS begins
    FROM every_source
    WINDOW in_time AS (PARTITION BY system ORDER BY interval_start_local, preference)
),

by_source AS (
    SELECT
        source,
        system,
        interval_start_local,
        interval_ms::BIGINT AS interval_ms,
        cps_online,
        lpar_busy_pct,
        cpu_s,
        coalesce(ziips_online, 0) AS ziips_online,
        ziip_busy_pct,
        coalesce(ziip_s, 0) AS ziip_s,
        preference,
        sum(begins::INTEGER) OVER (
            PARTITION BY system ORDER BY interval_start_local, preference ROWS UNBOUNDED PRECEDING
        ) AS interval_no
    FROM begins
)
SELECT
    source,
    system,
    interval_start_local,
    interval_ms,
    cps_online,
    lpar_busy_pct,
    cpu_s,
    ziips_online,
    ziip_busy_pct,
    ziip_s
FROM by_source
QUALIFY preference = min(preference) OVER (PARTITION BY system, interval_no)
ORDER BY system, interval_start_local
