-- What to run and to record for a published result that benchmark runs can fill, one line after the other.
--
-- Baseline and candidate have the same workload and as many minutes. A change is known as well as asked for if half of
-- its 95 % interval is not wider: with m minutes on both sides, student_t(m - 1) x noise x sqrt(2 / m). The noise is
-- the standard deviation of a minute, from the intervals of runs in the store with the same kind of workload, or of all
-- runs with the same measure, or assumed. Two more minutes are for start and end, which are trimmed. Rates of
-- connections that stay open vary by connection if nothing counts their transactions by interval, so longer runs do not
-- help there.

WITH wanted AS (
    SELECT
        p.id,
        f.measure,
        p.baseline_tags,
        p.candidate_tags,
        list_concat(p.condition_tags, f.both_tags, f.assumed_tags) AS both_tags,
        f.run_kinds,
        f.captures,
        -- One that can be a name of runs, or the words of the document.
        CASE
            WHEN len(f.workloads) > 0 THEN f.workloads[1]
            WHEN len(f.run_kinds) = 0 THEN p.workload
            WHEN f.run_kinds[1] = 'RR' THEN format('RR60({}kB)', greatest(4, coalesce(f.least_payload_bytes, 0) // 1000))
            WHEN f.run_kinds[1] = 'STR' THEN 'STR3(1B/20MB)'
            ELSE 'CRR40(64B/8kB)'
        END AS workload,
        coalesce(
            getvariable('run_plan_width_pct'),
            -- Half of the accepted range, which is a tenth of the change or of what remains after it.
            CASE
                WHEN p.value IS NOT NULL AND coalesce(p.unit, 'pct') = 'pct'
                    THEN least(5, greatest(0.5, least(abs(p.value), coalesce(nullif(100 + p.value, 0), 100)) / 10))
                ELSE 2
            END
        ) AS width_pct
    FROM reference_result AS p
    INNER JOIN reference_filling AS f ON p.id = f.id
    WHERE f.filled_from = 'runs'
),

named AS (
    -- Several workloads at once have no kind.
    SELECT *, regexp_extract(workload, '^(CRR|RR|STR)\d+\([^()]*\)$', 1) AS kind
    FROM wanted
),

-- The standard deviation of a minute of each run, on the logarithm.
run_noise AS (
    SELECT
        measure,
        workload_kind,
        log_half_width(low, high) / student_t(intervals - 1) * sqrt(measured_s / 60) AS noise
    FROM run_result
    WHERE
        status = 'ok'
        AND intervals >= 3
        AND role <> 'both'
        AND (measure NOT IN ('latency', 'transaction_rate', 'throughput') OR counted_by LIKE '%supplied count%')
        AND NOT (measure = 'throughput' AND coalesce(workload_kind, '') <> 'CRR')
),

known_noise AS (
    SELECT
        w.id,
        median(n.noise) FILTER (WHERE n.workload_kind = w.kind) AS noise_of_kind,
        count(*) FILTER (WHERE n.workload_kind = w.kind) AS sides_of_kind,
        median(n.noise) AS noise_of_all,
        count(n.noise) AS all_sides
    FROM named AS w
    LEFT JOIN run_noise AS n ON w.measure = n.measure
    GROUP BY w.id
),

timed AS (
    SELECT
        w.*,
        coalesce(k.noise_of_kind, k.noise_of_all, coalesce(getvariable('run_plan_noise_pct'), 2) / 100) AS noise,
        CASE
            WHEN k.sides_of_kind > 0
                THEN format('as in {:,} sides of {} runs here', k.sides_of_kind, w.kind)
            WHEN k.all_sides > 0 THEN format('as in {:,} sides of runs here', k.all_sides)
            ELSE 'assumed, as no run here shows it'
        END AS noise_from,
        list_filter(
            range(5, 241), lambda m : student_t(m - 1) * noise * sqrt(2 / m) <= ln(1 + width_pct / 100)
        )[1] + 2 AS minutes
    FROM named AS w
    INNER JOIN known_noise AS k ON w.id = k.id
),

keyed AS (
    SELECT id, unnest(list_distinct(tag_keys(list_concat(baseline_tags, candidate_tags, both_tags)))) AS key
    FROM timed
),

line AS (
    SELECT id, 1 AS place, 'both' AS part, 'workload' AS what, workload AS value
    FROM timed
    UNION ALL
    SELECT id, 2 AS place, 'baseline' AS part, 'tag' AS what, unnest(baseline_tags) AS value
    FROM timed
    UNION ALL
    SELECT id, 3 AS place, 'candidate' AS part, 'tag' AS what, unnest(candidate_tags) AS value
    FROM timed
    UNION ALL
    SELECT id, 4 AS place, 'both' AS part, 'tag' AS what, unnest(both_tags) AS value
    FROM timed
    UNION ALL
    SELECT k.id, 5 AS place, 'both' AS part, 'setting' AS what, s.key || ': ' || s.setting AS value
    FROM keyed AS k
    INNER JOIN (
        VALUES
        ('version', 'AT-TLS policy, TLSv1.2 and TLSv1.3: only one of them On'),
        ('cipher', 'AT-TLS policy, V3CipherSuites4Char: only this suite'),
        ('fips', 'AT-TLS policy, FIPS140'),
        ('key_share', 'AT-TLS policy, ClientKeyShareGroups and ServerKeyShareGroups'),
        (
            'resumption',
            'AT-TLS policy, GSK_V3_SESSION_TIMEOUT and GSK_V3_SIDCACHE_SIZE; for TLSv1.3 GSK_SESSION_TICKET_SERVER_ENABLE'
        ),
        ('sysplex_tickets', 'AT-TLS policy, GSK_SYSPLEX_SESSION_TICKET_CACHE'),
        ('heappools64', 'run-time option HEAPPOOLS64 of the jobs that own the connections'),
        ('interface', 'TCP/IP profile, INTERFACE: the only interface that is ready'),
        ('mtu', 'TCP/IP profile, MTU of the interface')
    ) AS s (key, setting) ON k.key = s.key
    UNION ALL
    SELECT id, 6 AS place, 'both' AS part, 'record' AS what, captures AS value
    FROM timed
    UNION ALL
    SELECT DISTINCT k.id, 7 AS place, 'both' AS part, 'record' AS what, s.record AS value
    FROM keyed AS k
    INNER JOIN (
        VALUES
        ('version', 'SMF 119-11 (zERT connection detail), which shows version, cipher suite, resumption and FIPS mode'),
        ('cipher', 'SMF 119-11 (zERT connection detail), which shows version, cipher suite, resumption and FIPS mode'),
        ('adapter_mode', 'SMF 70-2, which shows the mode of the adapters'),
        ('signature', 'a display of NETSTAT TTLS during the run, which shows the signature'),
        ('key_share', 'a display of NETSTAT TTLS during the run, which shows the key share'),
        ('interface', 'a display of NETSTAT DEVLINKS during the run, which shows the interface'),
        ('sysplex_tickets', 'displays of GSKSRVR before and after the run')
    ) AS s (key, record) ON k.key = s.key
    UNION ALL
    SELECT id, 8 AS place, 'both' AS part, 'record' AS what, 'a count of transactions for each minute' AS value
    FROM timed
    WHERE kind = '' OR (kind <> 'CRR' AND measure IN ('latency', 'transaction_rate'))
    UNION ALL
    SELECT id, 9 AS place, 'both' AS part, 'width' AS what,
        format('{:.1f} % on each side of the change, if a minute varies by {:.1f} % ({})',
            width_pct, 100 * noise, noise_from) AS value
    FROM timed
    UNION ALL
    SELECT id, 10 AS place, 'both' AS part, 'minutes' AS what,
        coalesce(minutes::VARCHAR, 'more than four hours: allow a greater width') AS value
    FROM timed
)

SELECT
    id::VARCHAR AS id,
    row_number() OVER (PARTITION BY id ORDER BY place, value)::BIGINT AS line,
    part::VARCHAR AS part,
    what::VARCHAR AS what,
    value::VARCHAR AS value
FROM line
ORDER BY id, line
