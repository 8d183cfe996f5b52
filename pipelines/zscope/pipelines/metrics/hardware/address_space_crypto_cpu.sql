-- The CPU time that calls of CPACF took in a job on a day, as a range: by group of algorithms and purpose.
--
-- SMF 30 counts the calls of a job, SMF 113 the calls and cycles of the system. How long the calls of a job take, compared
-- with all others of the group, is in neither: it depends on the algorithms and on the length of the texts. With the
-- share f of the calls, and calls that take between 1/r and r times as long as the others, the share of the time is
-- between f / (f + r (1 - f)) and f r / (f r + 1 - f). If all calls are of the job, this is one value.
--
-- Calls can be on any processors. At least so many are on general-purpose processors as the others cannot have made.

WITH named AS (
    SELECT
        c.system,
        c.use_day AS day,
        c.hour_utc,
        c.job_name,
        c.counter_number,
        coalesce(crypto_group_of(n.kind, n.algorithm), 'unknown') AS crypto_group,
        coalesce(crypto_purpose_of(n.kind), 'unknown') AS purpose,
        coalesce(n.name_status, 'unknown') AS name_status,
        c.instructions
    FROM crypto_counter_day AS c
    LEFT JOIN crypto_counter_name AS n ON c.counter_number = n.counter_number
    ANTI JOIN run_hour AS l ON c.system = l.system AND c.hour_utc = l.hour_utc
),

-- All calls of a group that SMF 30 counts in an hour of a system.
recorded AS (
    SELECT
        system,
        hour_utc,
        crypto_group,
        sum(instructions) AS instructions,
        count(DISTINCT counter_number) FILTER (WHERE instructions > 0) AS functions
    FROM named
    GROUP BY ALL
),

space_hour AS (
    SELECT
        system,
        job_name,
        time_bucket(INTERVAL 1 HOUR, coalesce(interval_start_utc, interval_end_utc)) AS hour_utc,
        sum_of_all(cp_s + coalesce(ziip_s, 0)) AS cpu_s
    FROM address_space_interval
    WHERE basis IN ('interval', 'difference', 'since restart')
    GROUP BY ALL
),

counted_hour AS (
    SELECT
        system,
        hour_utc,
        max(covered_hours) AS covered_hours
    FROM crypto_group_hour
    GROUP BY ALL
),

job_hour AS (
    SELECT
        n.system,
        n.day,
        n.hour_utc,
        n.job_name,
        n.crypto_group,
        n.purpose,
        max(n.name_status) AS name_status,
        sum(n.instructions) AS instructions
    FROM named AS n
    GROUP BY ALL
),

compared AS (
    SELECT
        j.*,
        p.cpu_s,
        h.calls,
        h.calls_s,
        h.cp_calls,
        h.cp_calls_s,
        r.functions,
        most_call_ratio(j.crypto_group, r.functions = 1 AND r.instructions >= 0.95 * h.calls) AS call_ratio,
        CASE
            WHEN j.crypto_group = 'unknown' THEN 'the names of the counters are not known'
            WHEN j.crypto_group = 'others' THEN 'SMF 113 has no counter of these calls'
            WHEN c.system IS NULL THEN 'no record of SMF 113'
            WHEN 100 * c.covered_hours < least_covered_pct() THEN 'counters of SMF 113 do not cover the hour'
            WHEN h.calls IS NULL THEN 'the processors do not count this group'
            WHEN r.instructions > 1.05 * h.calls THEN 'SMF 30 counts more calls than SMF 113'
        END AS why_not
    FROM job_hour AS j
    INNER JOIN recorded AS r
        ON j.system = r.system AND j.hour_utc IS NOT DISTINCT FROM r.hour_utc AND j.crypto_group = r.crypto_group
    LEFT JOIN counted_hour AS c ON j.system = c.system AND j.hour_utc = c.hour_utc
    LEFT JOIN crypto_group_hour AS h
        ON j.system = h.system AND j.hour_utc = h.hour_utc AND j.crypto_group = h.crypto_group
    LEFT JOIN space_hour AS p ON j.system = p.system AND j.job_name = p.job_name AND j.hour_utc = p.hour_utc
),

shared AS (
    SELECT
        *,
        why_not IS NULL AS is_used,
        least(1, coalesce(instructions / nullif(calls, 0), 0)) AS share,
        least(1, greatest(0, instructions - (calls - cp_calls)) / nullif(cp_calls, 0)) AS cp_share
    FROM compared
),

summed AS (
    SELECT
        system,
        day,
        job_name,
        crypto_group,
        purpose,
        max(name_status) AS name_status,
        sum(instructions) AS instructions,
        coalesce(sum(instructions) FILTER (WHERE is_used), 0) AS used_instructions,
        count(DISTINCT hour_utc) AS hours,
        count(DISTINCT hour_utc) FILTER (WHERE is_used) AS used_hours,
        sum(calls_s * least_share(share, call_ratio)) FILTER (WHERE is_used) AS low_s,
        sum(calls_s * share) FILTER (WHERE is_used) AS mean_s,
        sum(calls_s * least_share(share, 1 / call_ratio)) FILTER (WHERE is_used) AS high_s,
        sum(coalesce(cp_calls_s * least_share(cp_share, call_ratio), 0)) FILTER (WHERE is_used) AS low_cp_s,
        sum(calls_s) FILTER (WHERE is_used) AS group_s,
        sum(calls) FILTER (WHERE is_used) AS group_calls,
        max(call_ratio) FILTER (WHERE is_used AND share > 0 AND share < 1) AS call_ratio,
        max(functions) FILTER (WHERE is_used) AS functions,
        sum_of_all(if(is_used, cpu_s, 0)) AS cpu_s,
        string_agg(DISTINCT why_not, '; ' ORDER BY why_not) AS why_not
    FROM shared
    GROUP BY ALL
)

SELECT
    system::VARCHAR AS system,
    day::DATE AS day,
    job_name::VARCHAR AS job_name,
    crypto_group::VARCHAR AS crypto_group,
    purpose::VARCHAR AS purpose,
    CASE
        WHEN used_hours = 0 THEN 'not known'
        WHEN used_hours < hours THEN 'part of the day'
        WHEN call_ratio IS NULL THEN 'measured'
        ELSE 'range'
    END::VARCHAR AS status,
    low_s::DOUBLE AS low_s,
    high_s::DOUBLE AS high_s,
    mean_s::DOUBLE AS mean_s,
    low_cp_s::DOUBLE AS low_cp_s,
    CASE WHEN used_hours > 0 THEN cpu_s END::DOUBLE AS cpu_s,
    (100 * low_s / nullif(cpu_s, 0))::DOUBLE AS low_pct,
    (100 * high_s / nullif(cpu_s, 0))::DOUBLE AS high_pct,
    group_s::DOUBLE AS group_s,
    instructions::DOUBLE AS instructions,
    (100 * used_instructions / nullif(group_calls, 0))::DOUBLE AS calls_pct,
    (1e6 * group_s / nullif(group_calls, 0))::DOUBLE AS us_per_call,
    call_ratio::DOUBLE AS call_ratio,
    functions::BIGINT AS functions,
    hours::BIGINT AS hours,
    used_hours::BIGINT AS used_hours,
    (100 * used_instructions / nullif(instructions, 0))::DOUBLE AS used_pct,
    name_status::VARCHAR AS name_status,
    CASE
        WHEN used_hours = 0 THEN why_not
        ELSE nullif(concat_ws(
            '; ',
            CASE
                WHEN call_ratio IS NOT NULL
                    THEN 'calls of ' || crypto_group || ' can take up to ' || call_ratio::BIGINT || ' times as long as others: '
                        || if(
                            functions = 1,
                            'one function with texts of different lengths',
                            'the counter of SMF 113 contains ' || counted_text(functions, 'function') || ' of SMF 30'
                        )
            END,
            used_hours || ' of ' || hours || ' hours count: ' || why_not,
            CASE WHEN cpu_s IS NULL THEN 'the CPU time of the address space is not known' END,
            CASE WHEN high_s > cpu_s THEN 'high_s is more than its CPU time in SMF 30' END
        ), '')
    END::VARCHAR AS why
FROM summed
ORDER BY system, day, job_name, crypto_group, purpose
