-- CPU time per day for TLS, per system and as shares per job, port, rule and client network, with a status.
--
-- The price of a system comes from cost_estimate, and that of the jobs that have one of their own. A port has shares of
-- the prices of its jobs if all of them have one. Other jobs and ports, AT-TLS rules, client networks, key exchanges and
-- roles have shares of the TLS CPU cost of the system. A share is that of the full handshakes, the resumed ones and the
-- megabytes, weighted with the price of each kind. If full and resumed handshakes are not estimated separately, all
-- handshakes have the same price. A share is on the condition that handshakes and bytes cost the same in all of them,
-- and, with one price, that all resume the same share of them, so it is no estimate.
--
-- The MSU of TLS are its share of the CPU time in the four hours with the most CPU time, multiplied by the
-- highest four-hour average in SMF 70 on the days of the estimate. An average of 0 is none: the field has it if nothing
-- was averaged.

WITH parameters AS (
    SELECT getvariable('price_per_msu')::DOUBLE AS price_per_msu
),

by_unit AS (
    SELECT * FROM estimated_price
),

-- The jobs with a price of their own.
own AS (
    SELECT
        system,
        job_name
    FROM by_unit
    WHERE job_name IS NOT NULL AND part = 'TLS' AND high_day_s IS NOT NULL
),

from_summaries AS (
    SELECT DISTINCT system
    FROM cost_estimate
    WHERE handshake_source = 'zERT summary'
),

-- The hours of benchmark runs, and the four after them, are not part of the estimate.
after_run AS (
    SELECT DISTINCT
        system,
        hour_utc + INTERVAL 1 HOUR * unnest(range(5)) AS hour_utc
    FROM run_hour
),

-- The highest four-hour average of the days of the estimate. Averages that end in the four hours after a run contain
-- the run.
peak AS (
    SELECT
        e.system,
        nullif(max(i.long_term_average_msu), 0) AS peak_msu
    FROM (SELECT DISTINCT system, first_local, last_local FROM by_unit) AS e
    INNER JOIN smf70_interval AS i
        ON e.system = i.system AND i.interval_start_local BETWEEN e.first_local AND e.last_local
    ANTI JOIN after_run AS r
        ON i.system = r.system AND time_bucket(INTERVAL 1 HOUR, i.interval_end_utc - INTERVAL 1 SECOND) = r.hour_utc
    GROUP BY e.system
),

-- Handshakes and megabytes of the last 92 days, from the source of the estimate.
used AS (
    SELECT
        h.system,
        h.job_name,
        h.server_port,
        h.key_exchange,
        h.handshake_role,
        h.hour_utc,
        h.handshakes,
        if(h.kind = 'full', h.handshakes, 0) AS full_handshakes,
        if(h.kind = 'resumed', h.handshakes, 0) AS resumed_handshakes,
        0 AS megabytes
    FROM handshake_hour AS h
    ANTI JOIN from_summaries AS s ON h.system = s.system
    WHERE h.kind IN ('full', 'resumed')
    UNION ALL
    SELECT
        t.system,
        t.job_name,
        t.server_port,
        NULL,
        NULL,
        t.hour_utc,
        if(s.system IS NULL, 0, t.connections),
        0,
        0,
        (coalesce(t.in_bytes, 0) + coalesce(t.out_bytes, 0)) / 1e6
    FROM tls_hour AS t
    LEFT JOIN from_summaries AS s ON t.system = s.system
    WHERE t.source = if(s.system IS NULL, 'zERT detail', 'zERT summary') AND t.is_tls
),

grouped AS (
    SELECT
        system,
        CASE grouping(job_name, server_port, key_exchange, handshake_role)
            WHEN 15 THEN 'system'
            WHEN 7 THEN 'job'
            WHEN 11 THEN 'port'
            WHEN 3 THEN 'port of a job'
            WHEN 13 THEN 'key exchange'
            ELSE 'role'
        END AS shared_by,
        job_name,
        server_port,
        key_exchange,
        handshake_role,
        sum(handshakes) AS handshakes,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(megabytes) AS megabytes
    FROM (
        SELECT u.*
        FROM used AS u
        ANTI JOIN run_hour AS r ON u.system = r.system AND u.hour_utc = r.hour_utc
        QUALIFY hour_utc > max(hour_utc) OVER (PARTITION BY system) - INTERVAL 92 DAY
    )
    GROUP BY GROUPING SETS (
        (system), (system, job_name), (system, server_port), (system, job_name, server_port), (system, key_exchange),
        (system, handshake_role)
    )
),

-- Computed once, however often it is read below.
every_group AS MATERIALIZED (
    SELECT
        *,
        if(shared_by = 'port of a job', job_name, NULL) AS of_job
    FROM grouped
    WHERE shared_by NOT IN ('key exchange', 'role') OR coalesce(key_exchange, handshake_role) IS NOT NULL
    UNION ALL BY NAME
    SELECT
        system,
        shared_by,
        rule_name,
        client_network,
        full_handshakes + resumed_handshakes AS handshakes,
        full_handshakes,
        resumed_handshakes,
        megabytes
    FROM tls_use
    WHERE shared_by IN ('rule', 'client network')
),

-- A port of a job has shares of the job, all others of the system. The rules and client networks are those of the last
-- week: their shares are those of all connections of it.
in_all AS (
    SELECT
        system,
        shared_by,
        of_job,
        sum(handshakes) AS handshakes,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(megabytes) AS megabytes
    FROM every_group
    GROUP BY system, shared_by, of_job
),

-- The share of the handshakes of each kind and of the megabytes.
counted AS (
    SELECT
        g.* EXCLUDE (handshakes, full_handshakes, resumed_handshakes, megabytes),
        unnest([
            {'kind': 'full handshakes', 'share': g.full_handshakes / nullif(s.full_handshakes, 0)},
            {'kind': 'resumed handshakes', 'share': g.resumed_handshakes / nullif(s.resumed_handshakes, 0)},
            {'kind': 'handshakes', 'share': g.handshakes / nullif(s.handshakes, 0)},
            {'kind': 'bulk data', 'share': g.megabytes / nullif(s.megabytes, 0)}
        ], recursive := true)
    FROM every_group AS g
    INNER JOIN in_all AS s
        ON g.system = s.system AND g.shared_by = s.shared_by AND g.of_job IS NOT DISTINCT FROM s.of_job
    WHERE g.shared_by <> 'system'
),

-- The kinds that have a price, with the middle of its range if there is no value. Handshakes count as one kind only if full and resumed ones have none.
priced AS (
    SELECT
        system,
        job_name,
        part AS kind,
        coalesce(day_s, (low_day_s + high_day_s) / 2) AS weight_s
    FROM by_unit
    WHERE weight_s IS NOT NULL AND part <> 'TLS'
    QUALIFY
        part <> 'handshakes'
        OR count_if(part IN ('full handshakes', 'resumed handshakes')) OVER (PARTITION BY system, job_name) < 2
),

-- The systems whose full and resumed handshakes have the same price.
one_price AS (
    SELECT system
    FROM priced
    WHERE kind = 'handshakes' AND job_name IS NULL
),

-- The kinds that belong to each part of the price.
membership AS (
    FROM (VALUES
        ('full handshakes', 'full handshakes'),
        ('resumed handshakes', 'resumed handshakes'),
        ('handshakes', 'full handshakes'),
        ('handshakes', 'resumed handshakes'),
        ('handshakes', 'handshakes'),
        ('bulk data', 'bulk data'),
        ('TLS', 'full handshakes'),
        ('TLS', 'resumed handshakes'),
        ('TLS', 'handshakes'),
        ('TLS', 'bulk data')
    ) AS of_part (part, kind)
),

part AS (
    SELECT
        c.* EXCLUDE (kind, share),
        m.part,
        sum(c.share * p.weight_s) / nullif(sum(p.weight_s), 0) AS share
    FROM counted AS c
    INNER JOIN priced AS p
        ON c.system = p.system AND c.kind = p.kind AND c.of_job IS NOT DISTINCT FROM p.job_name
    INNER JOIN membership AS m ON c.kind = m.kind
    -- Bytes have no key exchange and no role.
    WHERE c.shared_by NOT IN ('key exchange', 'role') OR m.part NOT IN ('bulk data', 'TLS')
    GROUP BY ALL
),

estimate AS (
    SELECT
        * REPLACE (
            if(contradiction IS NULL, status, 'not enough data') AS status,
            coalesce(contradiction, why) AS why,
            if(contradiction IS NULL, day_s, NULL) AS day_s,
            if(contradiction IS NULL, low_day_s, NULL) AS low_day_s,
            if(contradiction IS NULL, high_day_s, NULL) AS high_day_s,
            if(contradiction IS NULL, lpar_pct, NULL) AS lpar_pct,
            if(contradiction IS NULL, low_lpar_pct, NULL) AS low_lpar_pct,
            if(contradiction IS NULL, high_lpar_pct, NULL) AS high_lpar_pct,
            if(contradiction IS NULL, peak_pct, NULL) AS peak_pct,
            if(contradiction IS NULL, low_peak_pct, NULL) AS low_peak_pct,
            if(contradiction IS NULL, high_peak_pct, NULL) AS high_peak_pct
        )
    FROM by_unit
),

-- The jobs of ports of which all jobs have a price of their own.
job_of_port AS (
    SELECT
        p.system,
        p.server_port,
        p.job_name
    FROM every_group AS p
    LEFT JOIN own AS o ON p.system = o.system AND p.job_name = o.job_name
    WHERE p.shared_by = 'port of a job' AND p.handshakes + p.megabytes > 0
    QUALIFY bool_and(o.job_name IS NOT NULL) OVER (PARTITION BY p.system, p.server_port)
),

-- Of which price a row has which share: of that of the system, or of that of each job in `of_job`.
source AS (
    SELECT
        p.*,
        p.share AS factor
    FROM part AS p
    LEFT JOIN own AS o ON p.system = o.system AND p.job_name = o.job_name
    LEFT JOIN (SELECT DISTINCT system, server_port FROM job_of_port) AS j
        ON p.system = j.system AND p.server_port = j.server_port
    WHERE p.shared_by <> 'port of a job' AND o.job_name IS NULL AND (p.shared_by <> 'port' OR j.system IS NULL)
    UNION ALL BY NAME
    SELECT
        p.* REPLACE (p.job_name AS of_job),
        1 AS factor
    FROM part AS p
    SEMI JOIN own AS o ON p.system = o.system AND p.job_name = o.job_name
    WHERE p.shared_by = 'job'
    UNION ALL BY NAME
    -- A part that a job has no price of makes that of the port unknown.
    SELECT
        p.* REPLACE (j.job_name AS of_job),
        coalesce(s.share, 0) AS factor
    FROM part AS p
    INNER JOIN job_of_port AS j ON p.system = j.system AND p.server_port = j.server_port
    LEFT JOIN part AS s
        ON j.system = s.system AND j.server_port = s.server_port AND j.job_name = s.of_job AND p.part = s.part
    WHERE p.shared_by = 'port'
    UNION ALL BY NAME
    SELECT
        system,
        'system' AS shared_by,
        part,
        1 AS share,
        1 AS factor
    FROM by_unit
    WHERE job_name IS NULL
),

added_up AS (
    SELECT
        row(
            s.system, s.shared_by, s.job_name, s.server_port, s.rule_name, s.client_network, s.key_exchange, s.handshake_role
        ) AS price_of,
        s.system,
        s.shared_by,
        s.job_name,
        s.server_port,
        s.rule_name,
        s.client_network,
        s.key_exchange,
        s.handshake_role,
        s.part,
        s.share,
        count(s.of_job) AS jobs,
        min(s.factor) AS least_factor,
        arg_max(e.status, list_position(['estimate', 'conditional', 'range', 'not enough data'], e.status)) AS status,
        string_agg(
            if(s.shared_by = 'port' AND s.of_job IS NOT NULL, 'job ' || s.of_job || ': ', '') || e.why, '; '
            ORDER BY s.of_job
        ) AS why,
        sum_of_all(e.day_s * s.factor) AS day_s,
        sum_of_all(e.low_day_s * s.factor) AS low_day_s,
        sum_of_all(e.high_day_s * s.factor) AS high_day_s,
        sum_of_all(e.lpar_pct * s.factor) AS lpar_pct,
        sum_of_all(e.low_lpar_pct * s.factor) AS low_lpar_pct,
        sum_of_all(e.high_lpar_pct * s.factor) AS high_lpar_pct,
        sum_of_all(e.peak_pct * s.factor) AS peak_pct,
        sum_of_all(e.low_peak_pct * s.factor) AS low_peak_pct,
        sum_of_all(e.high_peak_pct * s.factor) AS high_peak_pct,
        any_value(e.other_work_most_pct) AS other_work_most_pct,
        if(min(e.charged_to) = max(e.charged_to), min(e.charged_to), NULL) AS charged_to,
        any_value(e.classes_s) AS classes_s,
        any_value(e.ziip_s) AS ziip_s,
        -- A share of a price is not measured.
        CASE
            WHEN s.shared_by = 'system' OR s.shared_by = 'job' AND count(s.of_job) > 0 THEN any_value(e.measured_low_cpu_s)
        END AS measured_low_cpu_s,
        any_value(e.covered_pct) AS covered_pct,
        any_value(e.first_local) AS first_local,
        any_value(e.last_local) AS last_local,
        bool_or(o.system IS NOT NULL) AS has_one_price
    FROM source AS s
    LEFT JOIN one_price AS o ON s.system = o.system
    INNER JOIN estimate AS e
        ON s.system = e.system AND s.part = e.part AND s.of_job IS NOT DISTINCT FROM e.job_name
    WHERE s.share > 0
    GROUP BY
        s.system, s.shared_by, s.job_name, s.server_port, s.rule_name, s.client_network, s.key_exchange,
        s.handshake_role, s.part, s.share
),

-- Parts and the whole have different shares of a price.
in_whole AS (
    SELECT * FROM parts_in_whole('added_up')
),

price AS (
    SELECT
        * REPLACE (
            if(jobs > 1, 100 * (1 - low_day_s / high_day_s), other_work_most_pct) AS other_work_most_pct
        ),
        CASE
            WHEN shared_by = 'system' OR shared_by = 'job' AND jobs > 0 THEN 'connections'
            WHEN jobs > 0 THEN 'jobs'
            ELSE 'system'
        END AS derived_from,
        CASE
            WHEN jobs > 0
                THEN if(least_factor < 1, 'if handshakes and bytes of all ports of a job cost the same', NULL)
            WHEN shared_by = 'key exchange' THEN 'if handshakes of all key exchanges cost the same'
            WHEN shared_by = 'role' THEN 'if handshakes in all roles cost the same'
            WHEN shared_by <> 'system' THEN format('if handshakes and bytes of all {}s cost the same', shared_by)
        END || if(jobs = 0 AND has_one_price, ', and all of them resume the same share', '') AS condition
    FROM in_whole
),

-- What the runs of a system measured for a connection with a full handshake, beside the estimate of a full handshake. The run of
-- a connection contains its opening and closing, as the upper end of the estimate does.
own_run AS (
    SELECT
        r.system,
        format(
            'own CRR runs with tag resumption=none measured {} us for a connection with a full handshake, and the estimate is {} '
            || 'to {} us',
            if(min(m.value) = max(m.value), '', number_text(min(m.value)) || ' to ') || number_text(max(m.value)),
            number_text(any_value(f.low)),
            number_text(any_value(f.high))
        ) AS measured
    FROM run_result AS m
    INNER JOIN run AS r ON m.name = r.name AND m.role = r.role
    INNER JOIN cost_estimate AS f ON r.system = f.system
    WHERE
        m.measure = 'cpu_per_tran'
        AND m.workload_kind = 'CRR'
        AND list_contains(r.tags, 'resumption=none')
        AND f.item = 'full handshake'
        AND f.unit = 'us'
        AND f.high IS NOT NULL
        AND m.value IS NOT NULL
    GROUP BY r.system
),

-- Operations on the cryptographic cards of the system alone; records can also count those of the whole machine.
card AS (
    SELECT
        e.system,
        sum(o.operations) / nullif(sum(o.interval_ms), 0) * 86400000 AS operations
    FROM (SELECT DISTINCT system, first_local, last_local FROM by_unit) AS e
    INNER JOIN (
        SELECT
            system,
            interval_start_local,
            max(interval_ms) AS interval_ms,
            sum(operations) AS operations
        FROM (
            SELECT system, interval_start_local, interval_ms, all_operations_count AS operations
            FROM smf70_crypto_cca
            WHERE scope = 1
            UNION ALL
            SELECT
                system,
                interval_start_local,
                interval_ms,
                list_sum([
                    engine_1_me_1024_count, engine_1_me_2048_count, engine_1_crt_1024_count, engine_1_crt_2048_count,
                    engine_2_me_1024_count, engine_2_me_2048_count, engine_2_crt_1024_count, engine_2_crt_2048_count,
                    engine_3_me_1024_count, engine_3_me_2048_count, engine_3_crt_1024_count, engine_3_crt_2048_count,
                    engine_4_me_1024_count, engine_4_me_2048_count, engine_4_crt_1024_count, engine_4_crt_2048_count,
                    engine_5_me_1024_count, engine_5_me_2048_count, engine_5_crt_1024_count, engine_5_crt_2048_count,
                    me_4096_count, crt_4096_count
                ])
            FROM smf70_crypto_accel
            WHERE scope = 1
        )
        GROUP BY system, interval_start_local
    ) AS o ON e.system = o.system AND o.interval_start_local BETWEEN e.first_local AND e.last_local
    GROUP BY e.system
)

SELECT
    p.system::VARCHAR AS system,
    p.shared_by::VARCHAR AS shared_by,
    p.job_name::VARCHAR AS job_name,
    p.server_port::BIGINT AS server_port,
    p.rule_name::VARCHAR AS rule_name,
    p.client_network::VARCHAR AS client_network,
    p.key_exchange::VARCHAR AS key_exchange,
    p.handshake_role::VARCHAR AS handshake_role,
    p.part::VARCHAR AS part,
    p.derived_from::VARCHAR AS derived_from,
    if(p.status = 'estimate' AND p.condition IS NOT NULL, 'conditional', p.status)::VARCHAR AS status,
    p.day_s::DOUBLE AS cpu_s_per_day,
    p.low_day_s::DOUBLE AS low_cpu_s_per_day,
    p.high_day_s::DOUBLE AS high_cpu_s_per_day,
    (100 * p.share)::DOUBLE AS share_pct,
    p.lpar_pct::DOUBLE AS lpar_pct,
    p.low_lpar_pct::DOUBLE AS low_lpar_pct,
    p.high_lpar_pct::DOUBLE AS high_lpar_pct,
    p.peak_pct::DOUBLE AS peak_pct,
    p.low_peak_pct::DOUBLE AS low_peak_pct,
    p.high_peak_pct::DOUBLE AS high_peak_pct,
    (m.peak_msu * p.peak_pct / 100)::DOUBLE AS msu,
    (m.peak_msu * p.low_peak_pct / 100)::DOUBLE AS low_msu,
    (m.peak_msu * p.high_peak_pct / 100)::DOUBLE AS high_msu,
    (m.peak_msu * p.peak_pct / 100 * a.price_per_msu)::DOUBLE AS price,
    (m.peak_msu * p.low_peak_pct / 100 * a.price_per_msu)::DOUBLE AS low_price,
    (m.peak_msu * p.high_peak_pct / 100 * a.price_per_msu)::DOUBLE AS high_price,
    CASE
        WHEN p.status = 'not enough data' THEN 'the TLS CPU cost is not known'
        WHEN m.peak_msu IS NULL THEN 'no four-hour average above 0 in SMF 70-1 on the days of the estimate'
        WHEN p.high_peak_pct IS NULL THEN 'no four hours in a row have complete data'
    END::VARCHAR AS why_no_msu,
    concat(
        p.system,
        CASE p.shared_by
            WHEN 'job' THEN ', job ' || coalesce(p.job_name, 'unknown')
            WHEN 'port' THEN ', port ' || coalesce(p.server_port::VARCHAR, 'unknown')
            WHEN 'rule' THEN ', rule ' || coalesce(p.rule_name, 'unknown')
            WHEN 'client network' THEN ', clients in ' || coalesce(p.client_network, 'unknown networks')
            WHEN 'key exchange' THEN ', key exchange ' || coalesce(p.key_exchange, 'unknown')
            WHEN 'role' THEN ', as ' || coalesce(p.handshake_role, 'unknown')
        END,
        ': ',
        -- A share is no bound, so its condition comes first.
        if(p.status = 'not enough data', NULL, p.condition || ', '),
        CASE
            WHEN p.status = 'not enough data' THEN format('the CPU time of {} is not known: {}', p.part, p.why)
            WHEN p.status = 'estimate' AND p.day_s IS NOT NULL
                THEN format(
                    '{} CPU seconds a day for {} ({} to {}), {} % of the CPU time of the LPAR',
                    number_text(p.day_s),
                    p.part,
                    number_text(p.low_day_s),
                    number_text(p.high_day_s),
                    number_text(p.lpar_pct)
                ) || coalesce(format(' and {} % of its busiest four hours', number_text(p.peak_pct)), '')
            ELSE format(
                '{} {} CPU seconds a day for {}, at most {} % of the CPU time of the LPAR',
                if(p.low_day_s > 0, number_text(p.low_day_s) || ' to', 'at most'),
                number_text(p.high_day_s),
                p.part,
                number_text(p.high_lpar_pct)
            )
        END,
        -- A range without its condition would be signed as a bound. Where the coverage is the reason, it is stated.
        CASE
            WHEN p.status <> 'not enough data'
                THEN concat(
                    ', ' || nullif(trim(regexp_extract(p.why, '\bif the other work [^;(]*')), ''),
                    '; ' || incomplete_text(p.covered_pct)
                )
        END
    )::VARCHAR AS sentence,
    CASE
        WHEN p.status = 'not enough data' THEN p.why
        WHEN p.condition IS NULL THEN concat_ws('; ', p.why, if(p.shared_by = 'system' AND p.part = 'TLS', o.measured, NULL))
        ELSE concat_ws(
            '; ',
            concat(
                if(
                    p.derived_from = 'jobs',
                    'shares of the TLS CPU costs of its jobs',
                    'a share of the TLS CPU cost of the system'
                ),
                CASE WHEN p.shared_by IN ('rule', 'client network') THEN ' by the last seven days' END,
                ', ',
                p.condition
            ),
            j.why,
            p.why
        )
    END::VARCHAR AS why,
    CASE WHEN p.shared_by = 'system' AND p.part = 'TLS' THEN p.classes_s END::DOUBLE
        AS service_classes_cpu_s_per_day,
    CASE WHEN p.shared_by = 'system' AND p.part = 'TLS' THEN p.ziip_s END::DOUBLE AS ziip_s_per_day,
    CASE WHEN p.shared_by = 'system' AND p.part = 'TLS' THEN k.operations END::DOUBLE AS card_operations_per_day,
    p.measured_low_cpu_s::DOUBLE AS measured_low_cpu_s,
    p.charged_to::VARCHAR AS charged_to,
    if(p.status = 'not enough data', NULL, p.other_work_most_pct)::DOUBLE AS other_work_most_pct,
    p.covered_pct::DOUBLE AS covered_pct,
    p.first_local::TIMESTAMP AS first_local,
    p.last_local::TIMESTAMP AS last_local
FROM price AS p
CROSS JOIN parameters AS a
LEFT JOIN peak AS m ON p.system = m.system
LEFT JOIN card AS k ON p.system = k.system
LEFT JOIN own_run AS o ON p.system = o.system
LEFT JOIN by_unit AS j
    ON
        p.system = j.system
        AND if(p.shared_by = 'job', p.job_name, NULL) = j.job_name
        AND j.part = 'TLS'
        AND j.status = 'not enough data'
ORDER BY
    p.system, p.shared_by <> 'system', p.shared_by, p.part <> 'TLS', p.part, p.high_day_s DESC NULLS LAST, p.share DESC,
    p.job_name, p.server_port, p.rule_name, p.client_network, p.key_exchange, p.handshake_role
