-- CPU time per day for TLS, per system and as shares per job, port, rule and client network, with a status.
--
-- The price of a system comes from cost_estimate. Jobs, ports, AT-TLS rules, client networks, key exchanges and
-- roles have shares of it: their shares of the full handshakes, the resumed ones and the megabytes, weighted with
-- the price of each kind. If full and resumed handshakes are not estimated separately, all handshakes have the same
-- price. A share is on the condition that handshakes and bytes cost the same in all of them, so it is no estimate.
--
-- The MSU of TLS are its share of the CPU time in the four hours with the most CPU time, multiplied by the
-- highest four-hour average in SMF 70 on the days of the estimate. An average of 0 is none: the field has it if nothing
-- was averaged.

WITH parameters AS (
    SELECT getvariable('price_per_msu')::DOUBLE AS price_per_msu
),

by_unit AS (
    SELECT
        system,
        item AS part,
        any_value(first_local) AS first_local,
        any_value(last_local) AS last_local,
        any_value(covered_pct) AS covered_pct,
        any_value(charged_to) AS charged_to,
        any_value(other_work_most_pct) FILTER (WHERE unit = 's/day') AS other_work_most_pct,
        any_value(status) FILTER (WHERE unit = 's/day') AS status,
        any_value(why) FILTER (WHERE unit = 's/day') AS why,
        any_value(value) FILTER (WHERE unit = 's/day') AS day_s,
        any_value(low) FILTER (WHERE unit = 's/day') AS low_day_s,
        any_value(high) FILTER (WHERE unit = 's/day') AS high_day_s,
        any_value(value) FILTER (WHERE unit = '% of LPAR') AS lpar_pct,
        any_value(low) FILTER (WHERE unit = '% of LPAR') AS low_lpar_pct,
        any_value(high) FILTER (WHERE unit = '% of LPAR') AS high_lpar_pct,
        any_value(value) FILTER (WHERE unit = '% of peak') AS peak_pct,
        any_value(low) FILTER (WHERE unit = '% of peak') AS low_peak_pct,
        any_value(high) FILTER (WHERE unit = '% of peak') AS high_peak_pct
    FROM cost_estimate
    WHERE unit <> 'us'
    GROUP BY system, item
),

from_summaries AS (
    SELECT DISTINCT system
    FROM cost_estimate
    WHERE handshake_source = 'zERT summary'
),

-- The hours of benchmark runs are not part of the estimate.
run_hour AS (
    SELECT DISTINCT
        system,
        unnest(
            generate_series(time_bucket(INTERVAL 1 HOUR, from_utc), to_utc - INTERVAL 1 MICROSECOND, INTERVAL 1 HOUR)
        ) AS hour_utc
    FROM run
),

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
        (system), (system, job_name), (system, server_port), (system, key_exchange), (system, handshake_role)
    )
),

-- Computed once, however often it is read below.
every_group AS MATERIALIZED (
    SELECT *
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

-- The rules and client networks are those of the last week: their shares are those of all connections of it.
in_all AS (
    SELECT
        system,
        shared_by,
        sum(handshakes) AS handshakes,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(megabytes) AS megabytes
    FROM every_group
    GROUP BY system, shared_by
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
    INNER JOIN in_all AS s ON g.system = s.system AND g.shared_by = s.shared_by
    WHERE g.shared_by <> 'system'
),

-- The kinds that have a price, with the middle of its range if there is no value. Handshakes count as one kind only if full and resumed ones have none.
priced AS (
    SELECT
        system,
        part AS kind,
        coalesce(day_s, (low_day_s + high_day_s) / 2) AS weight_s
    FROM by_unit
    WHERE weight_s IS NOT NULL AND part <> 'TLS'
    QUALIFY
        part <> 'handshakes'
        OR count_if(part IN ('full handshakes', 'resumed handshakes')) OVER (PARTITION BY system) < 2
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
    INNER JOIN priced AS p ON c.system = p.system AND c.kind = p.kind
    INNER JOIN membership AS m ON c.kind = m.kind
    -- Bytes have no key exchange and no role.
    WHERE c.shared_by NOT IN ('key exchange', 'role') OR m.part NOT IN ('bulk data', 'TLS')
    GROUP BY ALL
),

-- TLS cannot cost more than the service classes of its address spaces used.
contradiction AS (
    SELECT
        c.system,
        c.tls_classes_cpu_s_per_day AS classes_s,
        c.tls_spaces_ziip_s_per_day AS ziip_s,
        CASE
            WHEN b.low_day_s > 1.05 * c.tls_classes_cpu_s_per_day
                THEN format(
                    'TLS would cost at least {:,.0f} s a day, but the service classes of its address spaces used '
                    || '{:,.0f} s (SMF 72); check whether records are missing or of another system',
                    b.low_day_s,
                    c.tls_classes_cpu_s_per_day
                )
        END AS reason
    FROM (
        SELECT DISTINCT
            system,
            tls_classes_cpu_s_per_day,
            tls_spaces_ziip_s_per_day
        FROM cost_estimate
    ) AS c
    LEFT JOIN by_unit AS b ON c.system = b.system AND b.part = 'TLS'
),

estimate AS (
    SELECT
        e.* REPLACE (
            if(c.reason IS NULL, e.status, 'not enough data') AS status,
            coalesce(c.reason, e.why) AS why,
            if(c.reason IS NULL, e.day_s, NULL) AS day_s,
            if(c.reason IS NULL, e.low_day_s, NULL) AS low_day_s,
            if(c.reason IS NULL, e.high_day_s, NULL) AS high_day_s,
            if(c.reason IS NULL, e.lpar_pct, NULL) AS lpar_pct,
            if(c.reason IS NULL, e.low_lpar_pct, NULL) AS low_lpar_pct,
            if(c.reason IS NULL, e.high_lpar_pct, NULL) AS high_lpar_pct,
            if(c.reason IS NULL, e.peak_pct, NULL) AS peak_pct,
            if(c.reason IS NULL, e.low_peak_pct, NULL) AS low_peak_pct,
            if(c.reason IS NULL, e.high_peak_pct, NULL) AS high_peak_pct
        ),
        c.classes_s,
        c.ziip_s
    FROM by_unit AS e
    LEFT JOIN contradiction AS c ON e.system = c.system
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
    e.system::VARCHAR AS system,
    p.shared_by::VARCHAR AS shared_by,
    p.job_name::VARCHAR AS job_name,
    p.server_port::BIGINT AS server_port,
    p.rule_name::VARCHAR AS rule_name,
    p.client_network::VARCHAR AS client_network,
    p.key_exchange::VARCHAR AS key_exchange,
    p.handshake_role::VARCHAR AS handshake_role,
    e.part::VARCHAR AS part,
    if(e.status = 'estimate' AND p.condition IS NOT NULL, 'conditional', e.status)::VARCHAR AS status,
    (e.day_s * p.share)::DOUBLE AS cpu_s_per_day,
    (e.low_day_s * p.share)::DOUBLE AS low_cpu_s_per_day,
    (e.high_day_s * p.share)::DOUBLE AS high_cpu_s_per_day,
    (100 * p.share)::DOUBLE AS share_pct,
    (e.lpar_pct * p.share)::DOUBLE AS lpar_pct,
    (e.low_lpar_pct * p.share)::DOUBLE AS low_lpar_pct,
    (e.high_lpar_pct * p.share)::DOUBLE AS high_lpar_pct,
    (e.peak_pct * p.share)::DOUBLE AS peak_pct,
    (e.low_peak_pct * p.share)::DOUBLE AS low_peak_pct,
    (e.high_peak_pct * p.share)::DOUBLE AS high_peak_pct,
    (m.peak_msu * e.peak_pct * p.share / 100)::DOUBLE AS msu,
    (m.peak_msu * e.low_peak_pct * p.share / 100)::DOUBLE AS low_msu,
    (m.peak_msu * e.high_peak_pct * p.share / 100)::DOUBLE AS high_msu,
    (m.peak_msu * e.peak_pct * p.share / 100 * a.price_per_msu)::DOUBLE AS price,
    (m.peak_msu * e.low_peak_pct * p.share / 100 * a.price_per_msu)::DOUBLE AS low_price,
    (m.peak_msu * e.high_peak_pct * p.share / 100 * a.price_per_msu)::DOUBLE AS high_price,
    CASE
        WHEN e.status = 'not enough data' THEN 'the price is not known'
        WHEN m.peak_msu IS NULL THEN 'no four-hour average above 0 in SMF 70-1 on the days of the estimate'
        WHEN e.high_peak_pct IS NULL THEN 'no four hours in a row have complete data'
    END::VARCHAR AS why_no_msu,
    concat(
        e.system,
        CASE p.shared_by
            WHEN 'job' THEN ', job ' || coalesce(p.job_name, 'unknown')
            WHEN 'port' THEN ', port ' || coalesce(p.server_port::VARCHAR, 'unknown')
            WHEN 'rule' THEN ', rule ' || coalesce(p.rule_name, 'unknown')
            WHEN 'client network' THEN ', clients in ' || coalesce(p.client_network, 'unknown networks')
            WHEN 'key exchange' THEN ', key exchange ' || coalesce(p.key_exchange, 'unknown')
            WHEN 'role' THEN ', as ' || coalesce(p.handshake_role, 'unknown')
        END,
        ': ',
        CASE
            WHEN e.status = 'not enough data' THEN format('the CPU time of {} is not known: {}', e.part, e.why)
            WHEN e.status = 'estimate' AND e.day_s IS NOT NULL
                THEN format(
                    '{} CPU seconds a day for {} ({} to {}), {} % of the LPAR',
                    number_text(e.day_s * p.share),
                    e.part,
                    number_text(e.low_day_s * p.share),
                    number_text(e.high_day_s * p.share),
                    number_text(e.lpar_pct * p.share)
                ) || coalesce(format(' and {} % of its busiest four hours', number_text(e.peak_pct * p.share)), '')
            ELSE format(
                '{} {} CPU seconds a day for {}, at most {} % of the LPAR',
                if(e.low_day_s > 0, number_text(e.low_day_s * p.share) || ' to', 'at most'),
                number_text(e.high_day_s * p.share),
                e.part,
                number_text(e.high_lpar_pct * p.share)
            )
        END,
        -- Where the coverage is the reason, the sentence states it.
        CASE WHEN e.status <> 'not enough data' THEN concat(', ' || p.condition, '; ' || incomplete_text(e.covered_pct)) END
    )::VARCHAR AS sentence,
    CASE
        WHEN p.shared_by = 'system' OR e.status = 'not enough data' THEN e.why
        ELSE concat_ws(
            '; ',
            concat(
                'a share of the price of the system',
                CASE WHEN p.shared_by IN ('rule', 'client network') THEN ' by the last seven days' END,
                ', ',
                p.condition
            ),
            e.why
        )
    END::VARCHAR AS why,
    CASE WHEN p.shared_by = 'system' AND e.part = 'TLS' THEN e.classes_s END::DOUBLE
        AS service_classes_cpu_s_per_day,
    CASE WHEN p.shared_by = 'system' AND e.part = 'TLS' THEN e.ziip_s END::DOUBLE AS ziip_s_per_day,
    CASE WHEN p.shared_by = 'system' AND e.part = 'TLS' THEN k.operations END::DOUBLE AS card_operations_per_day,
    e.charged_to::VARCHAR AS charged_to,
    if(e.status = 'not enough data', NULL, e.other_work_most_pct)::DOUBLE AS other_work_most_pct,
    e.covered_pct::DOUBLE AS covered_pct,
    e.first_local::TIMESTAMP AS first_local,
    e.last_local::TIMESTAMP AS last_local
FROM estimate AS e
CROSS JOIN parameters AS a
INNER JOIN (
    SELECT
        *,
        CASE shared_by
            WHEN 'job' THEN 'if handshakes and bytes of all jobs cost the same'
            WHEN 'port' THEN 'if handshakes and bytes of all ports cost the same'
            WHEN 'rule' THEN 'if handshakes and bytes of all rules cost the same'
            WHEN 'client network' THEN 'if handshakes and bytes of all client networks cost the same'
            WHEN 'key exchange' THEN 'if handshakes of all key exchanges cost the same'
            ELSE 'if handshakes in all roles cost the same'
        END AS condition
    FROM part
    UNION ALL BY NAME
    SELECT
        system,
        'system' AS shared_by,
        part,
        1 AS share
    FROM by_unit
) AS p ON e.system = p.system AND e.part = p.part
LEFT JOIN peak AS m ON e.system = m.system
LEFT JOIN card AS k ON e.system = k.system
WHERE p.shared_by = 'system' OR p.share > 0
ORDER BY
    e.system, p.shared_by <> 'system', p.shared_by, e.part <> 'TLS', e.part, p.share DESC,
    p.job_name, p.server_port, p.rule_name, p.client_network, p.key_exchange, p.handshake_role
