-- Share of the CPU time of a system that one SMF source accounts for, per CPU interval.
--
-- SMF 72 is the sum over service classes, SMF 30 the sum over address spaces. Both leave out time that belongs
-- to no class or address space, so the ratio is below 1; above 1, records and CPU intervals contradict each
-- other. Intervals of SMF 72 are those of RMF: one is compared if it begins and ends with a CPU interval,
-- within two seconds. A class without a value leaves its sum without a value; address spaces without one are left
-- out, because the first record of subtype 6 never has one.

WITH slot AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us
    FROM cpu_slot
    WHERE passed_over IS NULL
),

class_use AS (
    SELECT
        source,
        system,
        epoch_us(interval_start_utc) AS start_us,
        epoch_us(interval_end_utc) AS end_us,
        count(*) AS parts,
        if(count(cp_s) = count(*), sum(cp_s), NULL) AS cp_s,
        if(count(ziip_s) = count(*), sum(ziip_s), NULL) AS ziip_s
    FROM service_class_cpu
    WHERE class_kind = 'service class' AND interval_start_utc IS NOT NULL
    GROUP BY source, system, interval_start_utc, interval_end_utc
),

captured AS (
    SELECT
        c.source,
        s.*,
        c.parts,
        c.cp_s AS captured_s,
        c.ziip_s AS captured_ziip_s
    FROM slot AS s
    INNER JOIN class_use AS c
        ON
            s.system = c.system
            AND c.start_us BETWEEN s.begin_us - 2000000 AND s.begin_us + 2000000
            AND c.end_us BETWEEN s.until_us - 2000000 AND s.until_us + 2000000
    UNION ALL BY NAME
    SELECT
        'SMF 30' AS source,
        s.*,
        a.parts,
        a.captured_s,
        a.captured_ziip_s
    FROM slot AS s
    INNER JOIN (
        SELECT
            system,
            interval_start_utc,
            interval_end_utc,
            count(*) AS parts,
            sum(cp_s) AS captured_s,
            sum(ziip_s) AS captured_ziip_s
        FROM address_space_part
        WHERE status <> 'no CPU interval'
        GROUP BY ALL
    ) AS a
        ON
            s.system = a.system
            AND s.interval_start_utc = a.interval_start_utc
            AND s.interval_end_utc = a.interval_end_utc
)

SELECT
    source::VARCHAR AS source,
    system::VARCHAR AS system,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
    parts::BIGINT AS parts,
    cpu_s::DOUBLE AS cpu_s,
    captured_s::DOUBLE AS captured_s,
    ziip_s::DOUBLE AS ziip_s,
    captured_ziip_s::DOUBLE AS captured_ziip_s
FROM captured
ORDER BY system, interval_start_utc, source
