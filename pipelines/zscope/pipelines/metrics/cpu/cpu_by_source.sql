-- The CPU use of a system in one interval from one source: SMF 70 records, RMF XML, RMF listings.
--
-- CPU time is busy time, by the processors that the partition had:
--   shared processors              time dispatched (SMF), online time x LPAR busy % (RMF)
--   the same with wait completion  time dispatched minus time waited, as waiting keeps the processor
--   dedicated processors           time online minus time waited: they are dispatched all the time
--   multithreading                 busy time of the core, where the record has it
-- Where reports lack LPAR busy %, the dispatched time of their partition table is used instead if it means
-- the same: for shared processors without wait completion. If a value is not known for one processor, it is
-- not known for all together.
--
-- Sources record the same interval if it begins within two seconds on the clock of the system: records have
-- fractions of a second, which reports leave out. The hour that a clock shows twice a year is distinguished
-- by UTC, if the sources have it.

WITH smf_interval AS (
    -- DISTINCT here and below: a dump that was loaded twice counts once.
    SELECT DISTINCT
        day,
        system::VARCHAR AS system,
        interval_start_local,
        load_id,
        record_no,
        record_offset,
        interval_ms::DOUBLE AS interval_ms,
        partition_number,
        -- The offset in the record is that of its writing. If the clock was changed between the start of the
        -- interval and that, the end of the interval, which is in UTC, is off by whole half hours.
        epoch_us(interval_start_local)
        - coalesce(local_offset_us, epoch_us(written_local) - epoch_us(written_utc)) AS start_us,
        epoch_us(interval_end_utc) - interval_ms::BIGINT * 1000 AS start_by_end_us
    FROM smf70_interval
    WHERE interval_ms > 0
),

smf_own_partition AS (
    SELECT DISTINCT
        i.* EXCLUDE (start_us, start_by_end_us),
        CASE
            WHEN
                abs(start_by_end_us - start_us) BETWEEN 1800000000 AND 7200000000
                AND abs(start_by_end_us - start_us) % 1800000000 < 1000000
                THEN start_by_end_us
            ELSE start_us
        END AS start_us,
        p.logical_cpu_skip::BIGINT AS first_cpu,
        p.logical_cpu_count::BIGINT AS cpu_count,
        p.maximum_thread_id AS maximum_thread_id
    FROM smf_interval AS i
    INNER JOIN smf70_partition AS p
        ON
            i.system = p.system::VARCHAR
            AND i.interval_start_local = p.interval_start_local
            AND i.load_id IS NOT DISTINCT FROM p.load_id
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
        l.logical_cpu_address,
        l.weight = 65535 AS dedicated,
        l.logical_cpu_flags & 128 > 0 AS wait_completion,
        -- Older machines do not record the online time.
        CASE
            WHEN l.online_us = 0 AND l.dispatch_us > 0 THEN o.interval_ms * 1000
            ELSE l.online_us::DOUBLE
        END AS online_us,
        l.dispatch_us::DOUBLE AS dispatch_us
    FROM smf_own_partition AS o
    INNER JOIN smf70_logical_cpu AS l
        ON
            o.system = l.system::VARCHAR
            AND o.interval_start_local = l.interval_start_local
            AND o.load_id IS NOT DISTINCT FROM l.load_id
            AND o.record_no = l.record_no
            AND o.record_offset = l.record_offset
            AND l.section_no BETWEEN o.first_cpu AND o.first_cpu + o.cpu_count - 1
    -- References to entries of types count from 1.
    INNER JOIN smf70_cpu_type AS t
        ON
            o.system = t.system::VARCHAR
            AND o.interval_start_local = t.interval_start_local
            AND o.load_id IS NOT DISTINCT FROM t.load_id
            AND o.record_no = t.record_no
            AND o.record_offset = t.record_offset
            AND l.cpu_type_index = t.section_no + 1
),

smf_wait AS (
    -- If the record counts in cores, its processors are identified by their position, not by their number.
    SELECT DISTINCT
        p.system::VARCHAR AS system,
        p.interval_start_local,
        p.load_id,
        p.record_no,
        p.record_offset,
        coalesce(c.core_id, p.cpu_id) AS logical_cpu_address,
        p.wait_us::DOUBLE AS wait_us
    FROM smf70_cpu AS p
    LEFT JOIN smf70_core AS c
        ON
            p.system::VARCHAR = c.system::VARCHAR
            AND p.interval_start_local = c.interval_start_local
            AND p.load_id IS NOT DISTINCT FROM c.load_id
            AND p.record_no = c.record_no
            AND p.record_offset = c.record_offset
            AND p.section_no BETWEEN c.cpu_skip AND c.cpu_skip::BIGINT + c.cpu_count - 1
    -- For a CPU that was reconfigured within the interval, the record states that its data is not valid; for
    -- several threads of a core, it does not contain the time in which all of them waited.
    WHERE coalesce(p.config_flags & 2 = 0, true) AND coalesce(c.cpu_count = 1, true)
),

smf_core AS (
    SELECT DISTINCT
        system::VARCHAR AS system,
        interval_start_local,
        load_id,
        record_no,
        record_offset,
        core_id,
        lpar_busy_ms::DOUBLE * 1000 AS core_busy_us
    FROM smf70_core
    WHERE core_flags & 128 > 0
),

smf_busy AS (
    SELECT
        l.*,
        CASE
            WHEN l.maximum_thread_id > 0 THEN coalesce(c.core_busy_us, l.dispatch_us)
            WHEN l.online_us = 0 THEN 0
            WHEN NOT l.dedicated AND NOT l.wait_completion THEN l.dispatch_us
            -- Without wait time there is no busy time: greatest() would ignore the null.
            WHEN w.wait_us IS NULL THEN NULL
            WHEN l.dedicated THEN greatest(l.online_us - w.wait_us, 0)
            ELSE greatest(l.dispatch_us - w.wait_us, 0)
        END AS busy_us
    FROM smf_logical AS l
    LEFT JOIN smf_wait AS w
        ON
            l.system = w.system
            AND l.interval_start_local = w.interval_start_local
            AND l.load_id IS NOT DISTINCT FROM w.load_id
            AND l.record_no = w.record_no
            AND l.record_offset = w.record_offset
            AND l.logical_cpu_address = w.logical_cpu_address
    LEFT JOIN smf_core AS c
        ON
            l.system = c.system
            AND l.interval_start_local = c.interval_start_local
            AND l.load_id IS NOT DISTINCT FROM c.load_id
            AND l.record_no = c.record_no
            AND l.record_offset = c.record_offset
            AND l.logical_cpu_address = c.core_id
),

smf_type_use AS (
    SELECT
        day,
        system,
        interval_start_local,
        start_us,
        interval_ms,
        load_id,
        record_no,
        record_offset,
        cpu_count,
        cpu_type_name,
        count(DISTINCT section_no) AS sections,
        sum(online_us) AS online_us,
        CASE WHEN count(busy_us) = count(*) THEN sum(busy_us) END AS busy_us,
        CASE
            WHEN bool_and(dedicated) THEN 'dedicated'
            WHEN NOT bool_or(dedicated) THEN 'shared'
            ELSE 'unknown'
        END AS kind
    FROM smf_busy
    GROUP BY ALL
),

smf_record AS (
    SELECT
        'smf70' AS source,
        day,
        load_id,
        record_no,
        record_offset,
        system,
        interval_start_local,
        start_us,
        interval_ms,
        max(kind) FILTER (WHERE cpu_type_name = 'CP') AS cp_kind,
        sum(online_us) FILTER (WHERE cpu_type_name = 'CP') / (interval_ms * 1000) AS cps_online,
        100 * sum(busy_us) FILTER (WHERE cpu_type_name = 'CP')
        / nullif(sum(online_us) FILTER (WHERE cpu_type_name = 'CP'), 0) AS lpar_busy_pct,
        sum(busy_us) FILTER (WHERE cpu_type_name = 'CP') / 1e6 AS cpu_s,
        sum(online_us) FILTER (WHERE cpu_type_name = 'IIP') / (interval_ms * 1000) AS ziips_online,
        100 * sum(busy_us) FILTER (WHERE cpu_type_name = 'IIP')
        / nullif(sum(online_us) FILTER (WHERE cpu_type_name = 'IIP'), 0) AS ziip_busy_pct,
        sum(busy_us) FILTER (WHERE cpu_type_name = 'IIP') / 1e6 AS ziip_s
    FROM smf_type_use
    GROUP BY day, system, interval_start_local, start_us, interval_ms, load_id, record_no, record_offset, cpu_count
    -- A list of processors that continues in another record is skipped.
    HAVING sum(sections) = cpu_count
),

-- Two records for one interval should be equal. If not, the first counts, and the value that differs most
-- from it is kept for cpu_interval_disagreement.
smf_use AS (
    SELECT
        * EXCLUDE (load_id, record_no, record_offset),
        CASE
            WHEN max(lpar_busy_pct) OVER records - lpar_busy_pct > lpar_busy_pct - min(lpar_busy_pct) OVER records
                THEN max(lpar_busy_pct) OVER records
            ELSE min(lpar_busy_pct) OVER records
        END AS other_lpar_busy_pct,
        CASE
            WHEN max(cpu_s) OVER records - cpu_s > cpu_s - min(cpu_s) OVER records THEN max(cpu_s) OVER records
            ELSE min(cpu_s) OVER records
        END AS other_cpu_s
    FROM smf_record
    WINDOW records AS (PARTITION BY system, interval_start_local, start_us)
    QUALIFY row_number() OVER (
        PARTITION BY system, interval_start_local, start_us ORDER BY load_id, record_no, record_offset
    ) = 1
),

-- A report that is in two files, or twice in one, counts once. If several begin together, the shortest
-- counts: reports can combine many intervals into one.
rmf_one_interval AS (
    SELECT
        day,
        source::VARCHAR AS source,
        system::VARCHAR AS system,
        interval_start_local,
        epoch_us(interval_start_utc) AS start_us,
        interval_ms::DOUBLE AS interval_ms,
        partition_name::VARCHAR AS partition_name,
        wait_completion
    FROM rmf_interval
    WHERE system IS NOT NULL AND interval_start_local IS NOT NULL AND interval_ms > 0
    QUALIFY row_number() OVER (
        PARTITION BY source, system, interval_start_local, interval_start_utc
        ORDER BY interval_ms, partition_name IS NULL, file, line_no
    ) = 1
),

rmf_processor AS (
    SELECT
        source::VARCHAR AS source,
        system::VARCHAR AS system,
        interval_start_local,
        epoch_us(interval_start_utc) AS start_us,
        interval_ms::DOUBLE AS interval_ms,
        cpu_type_name::VARCHAR AS cpu_type_name,
        online_pct,
        lpar_busy_pct
    FROM rmf_cpu
    WHERE row_kind::VARCHAR = 'processor'
    QUALIFY row_number() OVER (
        PARTITION BY
            source, system, interval_start_local, interval_start_utc, interval_ms, cpu_type_name, cpu_id
        ORDER BY file, line_no
    ) = 1
),

rmf_type AS (
    SELECT
        source,
        system,
        interval_start_local,
        start_us,
        interval_ms,
        cpu_type_name,
        CASE WHEN count(online_pct) = count(*) THEN sum(online_pct) / 100 END AS online,
        CASE
            WHEN count(*) FILTER (WHERE online_pct IS NULL OR (online_pct > 0 AND lpar_busy_pct IS NULL)) = 0
                THEN sum(lpar_busy_pct * online_pct) / nullif(sum(online_pct), 0)
        END AS busy_pct
    FROM rmf_processor
    GROUP BY ALL
),

rmf_time AS (
    SELECT
        source::VARCHAR AS source,
        system::VARCHAR AS system,
        interval_start_local,
        epoch_us(interval_start_utc) AS start_us,
        interval_ms::DOUBLE AS interval_ms,
        partition_name::VARCHAR AS partition_name,
        cpu_type_name::VARCHAR AS cpu_type_name,
        dedicated,
        dispatch_ms::DOUBLE / 1000 AS dispatched_s
    FROM rmf_partition
    WHERE row_kind::VARCHAR = 'partition'
    QUALIFY row_number() OVER (
        PARTITION BY
            source, system, interval_start_local, interval_start_utc, interval_ms,
            partition_name, cpu_type_name
        ORDER BY file, line_no
    ) = 1
),

rmf_type_use AS (
    SELECT
        i.* EXCLUDE (partition_name, wait_completion),
        kind.cpu_type_name,
        t.online,
        t.busy_pct,
        CASE d.dedicated WHEN true THEN 'dedicated' WHEN false THEN 'shared' END AS kind,
        coalesce(
            t.busy_pct / 100 * t.online * i.interval_ms / 1000,
            CASE WHEN NOT d.dedicated AND NOT i.wait_completion THEN d.dispatched_s END
        ) AS used_s
    FROM rmf_one_interval AS i
    CROSS JOIN (VALUES ('CP'), ('IIP')) AS kind (cpu_type_name)
    LEFT JOIN rmf_type AS t
        ON
            i.source = t.source
            AND i.system = t.system
            AND i.interval_start_local = t.interval_start_local
            AND i.start_us IS NOT DISTINCT FROM t.start_us
            AND i.interval_ms = t.interval_ms
            AND kind.cpu_type_name = t.cpu_type_name
    LEFT JOIN rmf_time AS d
        ON
            i.source = d.source
            AND i.system = d.system
            AND i.interval_start_local = d.interval_start_local
            AND i.start_us IS NOT DISTINCT FROM d.start_us
            AND i.interval_ms = d.interval_ms
            AND i.partition_name = d.partition_name
            AND kind.cpu_type_name = d.cpu_type_name
),

rmf_use AS (
    SELECT
        day,
        source,
        system,
        interval_start_local,
        start_us,
        interval_ms,
        coalesce(max(kind) FILTER (WHERE cpu_type_name = 'CP'), 'unknown') AS cp_kind,
        max(online) FILTER (WHERE cpu_type_name = 'CP') AS cps_online,
        max(busy_pct) FILTER (WHERE cpu_type_name = 'CP') AS lpar_busy_pct,
        max(used_s) FILTER (WHERE cpu_type_name = 'CP') AS cpu_s,
        max(online) FILTER (WHERE cpu_type_name = 'IIP') AS ziips_online,
        max(busy_pct) FILTER (WHERE cpu_type_name = 'IIP') AS ziip_busy_pct,
        max(used_s) FILTER (WHERE cpu_type_name = 'IIP') AS ziip_s
    FROM rmf_type_use
    GROUP BY day, source, system, interval_start_local, start_us, interval_ms
    HAVING cps_online IS NOT NULL OR cpu_s IS NOT NULL
),

-- Materialized: many views read this one, and DuckDB would plan what is below again for each grouping or window
-- above it.
every_source AS MATERIALIZED (
    SELECT
        *,
        CASE source WHEN 'smf70' THEN 1 WHEN 'xml' THEN 2 ELSE 3 END AS preference,
        -- In quarter hours: offsets of clocks are multiples of it, so leap seconds do not change an offset.
        round((epoch_us(interval_start_local) - start_us) / 900000000) AS clock
    FROM (SELECT * FROM smf_use UNION ALL BY NAME SELECT * FROM rmf_use)
),

clocks AS (
    SELECT
        *,
        list(clock) FILTER (WHERE source = 'smf70' AND clock IS NOT NULL) OVER near AS clocks_of_records,
        min(clock) OVER near AS any_clock
    FROM every_source
    WINDOW near AS (
        PARTITION BY system
        ORDER BY epoch_us(interval_start_local) RANGE BETWEEN 2000000 PRECEDING AND 2000000 FOLLOWING
    )
),

-- An interval of a report has the clock of the record of the same interval, as the time zone given for
-- reports can be wrong or missing.
matched AS (
    SELECT
        * EXCLUDE (clock, any_clock, clocks_of_records),
        CASE
            WHEN list_contains(clocks_of_records, clock) THEN clock
            ELSE coalesce(clocks_of_records[1], clock, any_clock)
        END AS clock
    FROM clocks
),

begins AS (
    SELECT
        *,
        coalesce(
            interval_start_local - lag(interval_start_local) OVER in_time > INTERVAL 2 SECOND,
            true
        ) AS begins
    FROM matched
    WINDOW in_time AS (PARTITION BY system, clock ORDER BY interval_start_local, preference)
)

SELECT
    source::VARCHAR AS source,
    system::VARCHAR AS system,
    interval_start_local::TIMESTAMP AS interval_start_local,
    make_timestamptz(start_us) AS interval_start_utc,
    make_timestamptz(start_us + interval_ms::BIGINT * 1000) AS interval_end_utc,
    interval_ms::BIGINT AS interval_ms,
    cp_kind::VARCHAR AS cp_kind,
    cps_online::DOUBLE AS cps_online,
    lpar_busy_pct::DOUBLE AS lpar_busy_pct,
    cpu_s::DOUBLE AS cpu_s,
    coalesce(ziips_online, 0)::DOUBLE AS ziips_online,
    ziip_busy_pct::DOUBLE AS ziip_busy_pct,
    CASE WHEN ziips_online > 0 THEN ziip_s ELSE coalesce(ziip_s, 0) END::DOUBLE AS ziip_s,
    other_lpar_busy_pct::DOUBLE AS other_lpar_busy_pct,
    other_cpu_s::DOUBLE AS other_cpu_s,
    preference::INTEGER AS preference,
    -- Local time moved by the clock, so that the repeated hour in autumn is another interval. Without a clock
    -- it is the local time, marked so that it is not taken for UTC.
    CASE WHEN clock IS NULL THEN 'local ' ELSE '' END || strftime(
        max(interval_start_local - to_seconds(coalesce(clock, 0) * 900)) FILTER (WHERE begins) OVER (
            PARTITION BY system, clock ORDER BY interval_start_local, preference ROWS UNBOUNDED PRECEDING
        ),
        '%Y-%m-%d %H:%M:%S.%g'
    )::VARCHAR AS interval_key,
    day::DATE AS day
FROM begins
