-- The CPU time of the address spaces with TLS in one CPU interval of a system, from SMF 30, and that of their
-- service classes, from SMF 72.
--
-- These are the TCP/IP stacks and the jobs that had connections with TLS on the same or a neighbouring day. An
-- interval of an address space that does not coincide with the CPU interval is apportioned by time. CPU
-- intervals that no records of a stack cover are left out: others would be missing as well. If jobs with more than one
-- in a hundred TLS connections of a day have no records, the day is left out: the CPU time of the others does not
-- contain all that TLS costs. Both sorts of intervals are cut at full hours and joined by the hour, which is faster than
-- a comparison of moments.

WITH slot AS (
    SELECT
        day,
        system,
        interval_start_utc,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us
    FROM cpu_slot
    WHERE passed_over IS NULL AND cpu_s IS NOT NULL AND interval_start_utc < interval_end_utc
),

tls_job AS (
    SELECT
        day,
        system,
        job_name,
        sum(connections) AS connections
    FROM protection_day
    WHERE is_tls AND job_name IS NOT NULL
    GROUP BY day, system, job_name
),

stack AS (
    SELECT DISTINCT
        system,
        stack
    FROM protection_day
    WHERE stack IS NOT NULL
),

space AS (
    SELECT
        a.system,
        a.job_name,
        a.service_class,
        a.cp_s,
        a.ziip_s,
        epoch_us(a.interval_start_utc) AS start_us,
        epoch_us(a.interval_end_utc) AS end_us,
        address_space_role(a.job_name, a.program, t.stack IS NOT NULL, j.job_name IS NOT NULL) AS role
    FROM address_space_interval AS a
    LEFT JOIN (SELECT DISTINCT system, job_name FROM tls_job) AS j ON a.system = j.system AND a.job_name = j.job_name
    LEFT JOIN stack AS t ON a.system = t.system AND a.job_name = t.stack
    WHERE
        a.basis <> 'no record before'
        AND a.cp_s IS NOT NULL
        AND a.interval_start_utc < a.interval_end_utc
        -- A longer one says little about the intervals in it, and begins on days that are not read.
        AND a.interval_end_utc <= a.interval_start_utc + INTERVAL 6 HOUR
),

incomplete AS (
    SELECT
        j.day,
        j.system
    FROM tls_job AS j
    LEFT JOIN (SELECT DISTINCT system, job_name FROM space) AS s ON j.system = s.system AND j.job_name = s.job_name
    GROUP BY j.day, j.system
    HAVING sum(j.connections) FILTER (s.job_name IS NULL) > 0.01 * sum(j.connections)
),

slot_hour AS (
    SELECT
        *,
        unnest(range(begin_us // 3600000000, (until_us - 1) // 3600000000 + 1)) AS hour_no
    FROM slot
),

space_hour AS (
    SELECT
        *,
        unnest(range(start_us // 3600000000, (end_us - 1) // 3600000000 + 1)) AS hour_no
    FROM space
    WHERE role IN ('TCP/IP stack', 'TLS port')
),

overlap AS (
    SELECT
        s.day,
        s.system,
        s.interval_start_utc,
        s.until_us - s.begin_us AS slot_us,
        p.role,
        p.cp_s,
        p.ziip_s,
        p.end_us - p.start_us AS space_us,
        overlap_us(
            greatest(p.start_us, p.hour_no * 3600000000),
            least(p.end_us, (p.hour_no + 1) * 3600000000),
            s.begin_us,
            s.until_us
        ) AS common_us
    FROM space_hour AS p
    INNER JOIN slot_hour AS s ON p.system = s.system AND p.hour_no = s.hour_no
),

spaces AS (
    SELECT
        day,
        system,
        interval_start_utc,
        sum(cp_s * common_us / space_us) AS cpu_s,
        sum(cp_s * common_us / space_us) FILTER (WHERE role = 'TCP/IP stack') AS stack_cpu_s,
        sum(ziip_s * common_us / space_us) AS ziip_s
    FROM overlap
    WHERE common_us > 0
    GROUP BY ALL
    HAVING sum(common_us) FILTER (WHERE role = 'TCP/IP stack') >= 0.98 * any_value(slot_us)
),

classes AS (
    SELECT
        c.system,
        c.interval_start_utc,
        sum(c.cp_s) AS cpu_s
    FROM service_class_cpu AS c
    SEMI JOIN space_hour AS s ON c.system = s.system AND c.class_name = s.service_class
    WHERE c.source = 'SMF 72' AND c.class_kind = 'service class'
    GROUP BY c.system, c.interval_start_utc
)

SELECT
    s.day::DATE AS day,
    s.system::VARCHAR AS system,
    s.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    s.cpu_s::DOUBLE AS tls_spaces_cpu_s,
    s.stack_cpu_s::DOUBLE AS stack_cpu_s,
    s.ziip_s::DOUBLE AS tls_spaces_ziip_s,
    c.cpu_s::DOUBLE AS tls_classes_cpu_s
FROM spaces AS s
ANTI JOIN incomplete AS i ON s.day = i.day AND s.system = i.system
LEFT JOIN classes AS c ON s.system = c.system AND s.interval_start_utc = c.interval_start_utc
