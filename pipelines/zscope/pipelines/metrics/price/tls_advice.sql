-- CPU time per day that a change of AT-TLS or related settings would save, per rule, port or system.
--
-- By the estimate, a handshake that is resumed instead of full saves what a full one costs more at equal load. By
-- published percentages, a handshake saves that share of what a full handshake costs. If only some of the full
-- handshakes of a system are of the more expensive kind, the cost of these follows from that of all: with share s and
-- saving p, it is at most cost / (s + (1 - s) x (1 - p) x r), where others cost at least r times as much as one of this
-- kind after the change. The cheapest ones have RSA key exchange. The two bases are never added.
--
-- Rules and ports have the share of the full handshakes of their system that they had in the last seven days, so what
-- they save has the condition that handshakes of all of them cost the same. Which setting can raise resumption follows
-- from resumption_setting. A sentence contains the conditions of its saving. What else could be avoided is in
-- avoidable_work. Rows are sorted by advice_group.
--
-- What a change saves is not stated if the zERT details of the last seven days cover fewer hours than a working day has:
-- least_advice_hours.

WITH published AS (
    SELECT
        max(-value) FILTER (WHERE id = 'tls31-resumption-tls12-cpu') / 100 AS resumption_tls12,
        max(-value) FILTER (WHERE id = 'tls31-resumption-tls13-cpu') / 100 AS resumption_tls13,
        max(-value) FILTER (WHERE id = 'tls31-sysplex-tickets-cpu') / 100 AS tickets,
        max(value) FILTER (WHERE id = 'tls31-sysplex-tickets-hit') AS resumed_pct,
        max(-value) FILTER (WHERE id = 'tls31-ecdhe-vs-dhe-cpu') / 100 AS dhe,
        max(-value) FILTER (WHERE id = 'tls31-ecdhe-vs-rsa-kx-cpu') / 100 AS rsa,
        1 - 1 / (1 + max(value) FILTER (WHERE id = 'perf32-icsf-sessionobj-cpu-server') / 100) AS server_audit,
        1 - 1 / (1 + max(value) FILTER (WHERE id = 'perf32-icsf-sessionobj-cpu-client') / 100) AS client_audit,
        1 / (1 - rsa) AS least_of_tls12,
        1 / (1 - dhe) / least_of_tls12 AS dhe_times,
        least_of_tls12 / (1 + max(value) FILTER (WHERE id = 'tls31-tls13-vs-tls12-cpu') / 100) AS least_of_tls13,
        max(-value) FILTER (WHERE id = 'tls31-nonfips-coproc-max') / 100 AS coprocessor,
        max(-value) FILTER (WHERE id = 'tls31-fips-accel-cpu') / 100 AS accelerator
    FROM reference_result
),

-- Computed once, however often it is read below.
every_use AS MATERIALIZED (
    SELECT * FROM tls_use
),

-- CPU time of a connection with a full handshake, minus that of one with a resumed handshake, measured by CRR runs of the
-- system that differ only in the tag `resumption`.
crr_run AS (
    SELECT
        r.system,
        m.value,
        list_contains(r.tags, 'resumption=none') AS is_full,
        list_sort(list_filter(r.tags, lambda tag : NOT starts_with(tag, 'resumption='))) AS other_tags
    FROM run_result AS m
    INNER JOIN run AS r ON m.name = r.name AND m.role = r.role
    WHERE
        m.measure = 'cpu_per_tran'
        AND m.workload_kind = 'CRR'
        AND m.value IS NOT NULL
        AND len(other_tags) < len(r.tags)
),

own_run AS (
    SELECT
        f.system,
        min(f.value - t.value) AS least_us,
        max(f.value - t.value) AS most_us
    FROM crr_run AS f
    INNER JOIN crr_run AS t ON f.system = t.system AND f.other_tags = t.other_tags AND f.is_full AND NOT t.is_full
    GROUP BY f.system
),

-- Handshakes per day of the rules and ports, by their shares in the last seven days.
user_of_tls AS MATERIALIZED (
    SELECT
        u.system,
        u.shared_by,
        u.rule_name,
        u.server_port,
        u.attainable_pct,
        u.highest_pct,
        c.status,
        c.why,
        c.difference_status,
        c.difference_why,
        c.difference_us,
        c.difference_low_us,
        c.difference_high_us,
        format(
            'own CRR runs measured {} us more for a full than for a resumed handshake, and the estimate is {} to {} us',
            if(o.least_us = o.most_us, '', number_text(o.least_us) || ' to ') || number_text(o.most_us),
            number_text(c.difference_low_us),
            number_text(c.difference_high_us)
        ) AS measured_difference,
        -- From zERT summaries the share of full handshakes is not known, so that of the detail there is counts.
        s.full_handshakes / nullif(s.full_handshakes + s.resumed_handshakes, 0) AS full_share,
        coalesce(c.full_handshakes_per_day, c.handshakes_per_day * full_share) AS all_full,
        coalesce(c.resumed_handshakes_per_day, c.handshakes_per_day * (1 - full_share)) AS all_resumed,
        -- A resumed handshake does not cost less than nothing.
        coalesce(c.full_high_us, c.mean_high_us / nullif(full_share, 0)) AS full_most_us,
        u.full_handshakes / nullif(s.full_handshakes, 0) * all_full AS full_per_day,
        coalesce(u.resumed_handshakes / nullif(s.resumed_handshakes, 0), 0) * all_resumed AS resumed_per_day,
        100 * u.resumed_handshakes / nullif(u.full_handshakes + u.resumed_handshakes, 0) AS resumed_pct,
        u.full_tls12 / nullif(u.full_handshakes, 0) AS tls12_share,
        u.full_tls13 / nullif(u.full_handshakes, 0) AS tls13_share,
        u.full_dhe / nullif(u.full_handshakes, 0) AS dhe_share,
        u.full_rsa / nullif(u.full_handshakes, 0) AS rsa_share,
        s.full_tls13 / nullif(s.full_handshakes, 0) AS all_tls13_share,
        s.full_dhe / nullif(s.full_handshakes, 0) AS all_dhe_share,
        CASE
            WHEN u.full_handshakes + u.resumed_handshakes < s.full_handshakes + s.resumed_handshakes
                THEN format('handshakes of all {}s cost the same', u.shared_by)
        END AS cost_alike,
        g AS limited_by
    FROM every_use AS u
    INNER JOIN every_use AS s ON u.system = s.system AND s.shared_by = 'system'
    INNER JOIN handshake_cost AS c ON u.system = c.system
    LEFT JOIN own_run AS o ON u.system = o.system
    LEFT JOIN resumption_setting AS g
        ON
            u.system = g.system
            AND u.shared_by = g.shared_by
            AND u.rule_name IS NOT DISTINCT FROM g.rule_name
            AND u.server_port IS NOT DISTINCT FROM g.server_port
    WHERE u.shared_by <> 'client network' AND c.handshakes_per_day IS NOT NULL
),

-- More handshakes are resumed: up to the share that the data contain, and up to the published one.
resumption AS (
    SELECT
        u.*,
        t.target_pct,
        (t.target_pct - u.resumed_pct) / 100 * (u.full_per_day + u.resumed_per_day) AS affected_per_day,
        resumption_bound(
            coalesce(u.tls12_share, 0) * p.resumption_tls12 + coalesce(u.tls13_share, 0) * p.resumption_tls13,
            coalesce(u.dhe_share, 0),
            p.dhe_times
        ) AS bound,
        nullif(
            concat_ws(
                '; ',
                CASE
                    WHEN t.target_pct <= u.attainable_pct THEN NULL
                    WHEN t.target_pct <= u.highest_pct
                        THEN format('if handshakes beyond a resumed share of {:.1f} % save as much', u.attainable_pct)
                    ELSE format(
                        'if handshakes beyond a resumed share of {:.1f} % save as much (no hour with many handshakes had a '
                        || 'higher share)',
                        greatest(u.highest_pct, u.resumed_pct)
                    )
                END,
                'if ' || u.cost_alike
            ),
            ''
        ) AS condition
    FROM user_of_tls AS u
    CROSS JOIN published AS p,
        LATERAL (
            SELECT DISTINCT unnest([floor(10 * u.attainable_pct) / 10, p.resumed_pct]) AS target_pct
        ) AS t
    WHERE t.target_pct > u.resumed_pct
),

resumed_more AS (
    SELECT
        *,
        format('resume {:.1f} % of the handshakes, not {:.1f} %', target_pct, resumed_pct) AS change,
        'estimate' AS basis,
        CASE
            WHEN difference_status = 'estimate' AND condition IS NOT NULL THEN 'conditional' ELSE difference_status
        END AS rated,
        if(difference_status <> 'not enough data', affected_per_day * difference_us / 1e6, NULL) AS saving,
        if(difference_status <> 'not enough data', affected_per_day * difference_low_us / 1e6, NULL) AS saving_low,
        if(difference_status <> 'not enough data', affected_per_day * difference_high_us / 1e6, NULL) AS saving_high,
        if(difference_status <> 'not enough data', measured_difference, NULL) AS measured,
        concat_ws('; ', if(difference_status = 'not enough data', NULL, condition), difference_why, measured) AS reason
    FROM resumption
    UNION ALL BY NAME
    SELECT
        *,
        format('resume {:.1f} % of the handshakes, not {:.1f} %', target_pct, resumed_pct) AS change,
        'published' AS basis,
        if(full_most_us IS NULL, 'not enough data', 'conditional') AS rated,
        NULL AS saving,
        0 * full_most_us AS saving_low,
        affected_per_day * bound * full_most_us / 1e6 AS saving_high,
        if(
            full_most_us IS NULL,
            why,
            concat_ws('; ', condition, format(
                'at most, if this workload is like the published one: up to {:.0f} % of a full handshake', 100 * bound
            ))
        ) AS reason
    FROM resumption
    WHERE bound > 0
),

-- What TLS costs the systems, rules, ports and client networks.
price AS MATERIALIZED (
    SELECT
        system,
        shared_by,
        rule_name,
        server_port,
        client_network,
        cpu_s_per_day AS day_s,
        high_cpu_s_per_day AS high_s
    FROM tls_price
    WHERE part = 'TLS' AND shared_by IN ('system', 'rule', 'port', 'client network') AND high_cpu_s_per_day IS NOT NULL
),

-- Changes of which only a published percentage is known: the share of the full handshakes that they concern, of the
-- rule or port and of its system, the share of the cost of such a handshake that they save, and what others cost at
-- least, as a share of what remains of it.
published_change AS (
    SELECT
        u.*,
        unnest([
            {
                'change': 'cache session tickets across the sysplex',
                'part': if(u.limited_by.side = 'server', u.tls13_share, NULL), 'in_all': u.all_tls13_share,
                'saved': p.tickets, 'least': p.least_of_tls13,
                'parameter': 'GSK_SYSPLEX_SESSION_TICKET_CACHE', 'practice': NULL
            },
            {
                'change': 'ECDHE instead of DHE', 'part': u.dhe_share, 'in_all': u.all_dhe_share,
                'saved': p.dhe, 'least': p.least_of_tls12,
                'parameter': 'V3CIPHERSUITES', 'practice': NULL
            },
            {
                'change': 'ECDHE instead of RSA key exchange', 'part': u.rsa_share, 'in_all': 1,
                'saved': p.rsa, 'least': 1,
                'parameter': 'V3CIPHERSUITES', 'practice': NULL
            },
            {
                'change': 'no auditing of ICSF session objects', 'part': u.tls13_share, 'in_all': u.tls13_share,
                'saved': if(u.limited_by.side = 'client', p.client_audit, p.server_audit), 'least': p.least_of_tls13,
                'parameter': NULL, 'practice': 'icsf-audit'
            },
            {
                'change': 'Crypto Express also as coprocessor, where FIPS mode is off', 'part': 1, 'in_all': 1,
                'saved': p.coprocessor, 'least': 1,
                'parameter': NULL, 'practice': 'crypto-mix'
            },
            {
                'change': 'Crypto Express also as accelerator, where FIPS mode is on', 'part': 1, 'in_all': 1,
                'saved': p.accelerator, 'least': 1,
                'parameter': NULL, 'practice': 'crypto-mix'
            }
        ], recursive := true)
    FROM user_of_tls AS u
    CROSS JOIN published AS p
),

by_published AS (
    SELECT
        *,
        'published' AS basis,
        part * full_per_day AS affected_per_day,
        -- What such a handshake costs at most.
        full_most_us / (in_all + (1 - in_all) * (1 - saved) * least) AS kind_us,
        affected_per_day * saved * kind_us / 1e6 AS saving_end,
        if(full_most_us IS NULL, 'not enough data', 'conditional') AS rated,
        CASE
            WHEN full_most_us IS NULL THEN why
            WHEN saved < 0
                THEN concat_ws(
                    '; ',
                    'if such ' || cost_alike,
                    format(
                        'a full handshake costs up to {:.0f} % more, if this workload is like the published one; it has '
                        || 'forward secrecy',
                        -100 * saved
                    )
                )
            ELSE concat_ws(
                '; ',
                'if such ' || cost_alike,
                format(
                    'at most, if this workload is like the published one: up to {:.0f} % of {:,.0f} us for a handshake',
                    100 * saved,
                    kind_us
                )
            )
        END AS reason
    FROM published_change
    -- Without a full handshake in the details nothing is known of any change of them.
    WHERE part > 0 AND full_share > 0 AND ((shared_by = 'system') = (practice IS NOT NULL))
),

-- Changes that concern a system, with what is known of their setting.
setting AS (
    SELECT
        practice,
        system,
        status AS setting_status,
        evidence
    FROM best_practice_check
    WHERE practice IN ('icsf-audit', 'crypto-mix', 'heappools64')
),

without_number AS (
    SELECT
        c.system,
        'system' AS shared_by,
        'HEAPPOOLS64(ON) for the TCP/IP address space' AS change,
        'published' AS basis,
        'conditional' AS rated,
        'published as lower CPU time, without a number' AS reason,
        'heappools64' AS practice
    FROM handshake_cost AS c
    UNION ALL BY NAME
    SELECT
        c.system,
        'system' AS shared_by,
        'post-quantum key exchange' AS change,
        'published' AS basis,
        'not enough data' AS rated,
        'the records have no field for the group of the key exchange, so neither its use nor its cost is known; '
        || 'groups that the policy allows are in tls_action' AS reason
    FROM handshake_cost AS c
),

every_change AS (
    SELECT
        *,
        limited_by.parameter AS parameter
    FROM resumed_more
    UNION ALL BY NAME
    SELECT
        *,
        CASE WHEN saving_end < 0 THEN saving_end ELSE 0 * saving_end END AS saving_low,
        CASE WHEN saving_end < 0 THEN 0 ELSE saving_end END AS saving_high
    FROM by_published
    UNION ALL BY NAME
    SELECT * FROM without_number
    UNION ALL BY NAME
    SELECT
        system,
        'system' AS shared_by,
        change,
        'counted' AS basis,
        status AS rated,
        handshakes_per_day AS affected_per_day,
        saving_low_s_per_day AS saving_low,
        saving_high_s_per_day AS saving_high,
        why AS reason,
        recommended,
        statement AS set_by,
        parameter,
        client_network
    FROM avoidable_work
),

statement AS (
    FROM (VALUES
        ('cache session tickets across the sysplex', 'TTLSGskAdvancedParms', 'On', ['tls31-sysplex-tickets-cpu']),
        ('ECDHE instead of DHE', 'TTLSCipherParms', 'suites C02B to C030 instead of those with DHE',
            ['tls31-ecdhe-vs-dhe-cpu']),
        ('ECDHE instead of RSA key exchange', 'TTLSCipherParms', 'suites C02B to C030 instead of those with RSA',
            ['tls31-ecdhe-vs-rsa-kx-cpu']),
        ('no auditing of ICSF session objects', 'ICSF options AUDITKEYLIFETKDS, AUDITPKCS11USG', 'SESSIONOBJ(NO)',
            ['perf32-icsf-sessionobj-cpu-server', 'perf32-icsf-sessionobj-cpu-client']),
        ('Crypto Express also as coprocessor, where FIPS mode is off', 'HMC', 'coprocessor for signatures',
            ['tls31-nonfips-coproc-max']),
        ('Crypto Express also as accelerator, where FIPS mode is on', 'HMC', 'accelerator', ['tls31-fips-accel-cpu']),
        ('HEAPPOOLS64(ON) for the TCP/IP address space', 'CEEOPTS, CEEPRMxx', 'HEAPPOOLS64(ON)',
            ['tls31-heappools64-cpu', 'perf32-heappools64']),
        ('post-quantum key exchange', NULL, NULL, [])
    ) AS of_change (matched, statement, recommended, reference_ids)
),

-- A change does not save more than TLS costs what it concerns: the costs of full and resumed handshakes have ends of their
-- own, which are further apart than those of all handshakes together.
bounded_change AS (
    SELECT
        e.* REPLACE (
            if(e.saving > p.high_s, p.high_s, e.saving) AS saving,
            if(e.saving_low > p.high_s, p.high_s, e.saving_low) AS saving_low,
            if(e.saving_high > p.high_s, p.high_s, e.saving_high) AS saving_high,
            CASE
                WHEN e.saving_high > p.high_s
                    THEN concat_ws('; ', e.reason, format('no more than TLS of the {} costs at most', p.shared_by))
                ELSE e.reason
            END AS reason
        )
    FROM every_change AS e
    LEFT JOIN price AS p
        ON
            e.system = p.system
            AND if(e.client_network IS NULL, e.shared_by, 'client network') = p.shared_by
            AND e.rule_name IS NOT DISTINCT FROM p.rule_name
            AND e.server_port IS NOT DISTINCT FROM p.server_port
            AND e.client_network IS NOT DISTINCT FROM p.client_network
),

-- Without enough hours, the handshakes that a change concerns are not known.
counted_change AS (
    SELECT
        e.* REPLACE (
            if(a.too_few IS NULL, e.rated, 'not enough data') AS rated,
            if(a.too_few IS NULL, e.saving, NULL) AS saving,
            if(a.too_few IS NULL, e.saving_low, NULL) AS saving_low,
            if(a.too_few IS NULL, e.saving_high, NULL) AS saving_high,
            if(a.too_few IS NULL, e.affected_per_day, NULL) AS affected_per_day,
            coalesce(a.too_few, e.reason) AS reason
        ),
        e.affected_per_day IS NOT NULL AS has_handshakes,
        c.covered_hours,
        c.hours
    FROM bounded_change AS e
    LEFT JOIN tls_use_covered AS c ON e.system = c.system,
        LATERAL (
            SELECT
                CASE
                    WHEN e.affected_per_day IS NOT NULL AND c.covered_hours < least_advice_hours()
                        THEN format(
                            'zERT details cover {} of the {} hours of the last seven days, and at least {} are needed',
                            number_text(c.covered_hours),
                            c.hours,
                            least_advice_hours()
                        )
                END AS too_few
        ) AS a
),

-- What TLS costs on a system, or the most that it can cost, and on all of them.
tls_cost AS (
    SELECT
        system,
        day_s,
        list_sum(list(day_s) OVER (ORDER BY system ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS all_day_s
    FROM (
        SELECT
            system,
            coalesce(day_s, high_s) AS day_s
        FROM price
        WHERE shared_by = 'system'
    )
),

-- What each change saves in words, and the conditions of that: what follows an if in the reason.
worded AS (
    SELECT
        *,
        concat_ws(
            '; ',
            if(practice IS NOT NULL AND setting_status IS DISTINCT FROM 'fail', 'if it is not set so already', NULL),
            reason
        ) AS full_reason,
        list_transform(
            list_filter(string_split(full_reason, '; '), lambda part : regexp_matches(part, '\bif ')),
            lambda part : regexp_extract(part, '\bif .*')
        ) AS conditions,
        CASE
            WHEN rated = 'not enough data' THEN 'what it saves is not known'
            WHEN saving_high IS NULL THEN 'saves CPU time, but how much is not published'
            WHEN saving_low < 0 AND saving_high <= 0
                THEN format('can cost up to {} CPU seconds a day more', number_text(-saving_low))
            WHEN saving IS NOT NULL
                THEN format(
                    'saves {} CPU seconds a day ({} to {})',
                    number_text(saving),
                    number_text(saving_low),
                    number_text(saving_high)
                )
            WHEN saving_low <> 0
                THEN format('saves {} to {} CPU seconds a day', number_text(saving_low), number_text(saving_high))
            ELSE format('can save at most {} CPU seconds a day', number_text(saving_high))
        END || if(rated = 'not enough data' OR conditions = [], '', ', ' || array_to_string(conditions, ', and '))
        AS saves
    FROM (
        SELECT
            e.*,
            b.setting_status,
            b.evidence
        FROM counted_change AS e
        LEFT JOIN setting AS b ON e.system = b.system AND e.practice = b.practice
    )
)

SELECT
    e.system::VARCHAR AS system,
    e.shared_by::VARCHAR AS shared_by,
    e.rule_name::VARCHAR AS rule_name,
    e.server_port::BIGINT AS server_port,
    e.change::VARCHAR AS change,
    e.basis::VARCHAR AS basis,
    e.rated::VARCHAR AS status,
    e.saving::DOUBLE AS saving_s_per_day,
    e.saving_low::DOUBLE AS saving_low_s_per_day,
    e.saving_high::DOUBLE AS saving_high_s_per_day,
    -- The bound by published percentages counts only where the costs of the system say nothing.
    coalesce(
        any_value(e.saving_high) FILTER (WHERE e.basis = 'estimate') OVER of_change,
        any_value(e.saving_high) OVER of_change
    )::DOUBLE AS upper_s_per_day,
    (100 * upper_s_per_day / nullif(c.day_s, 0))::DOUBLE AS cost_pct,
    (100 * upper_s_per_day / nullif(c.all_day_s, 0))::DOUBLE AS all_cost_pct,
    e.affected_per_day::DOUBLE AS handshakes_per_day,
    concat(
        e.system,
        CASE e.shared_by
            WHEN 'port' THEN coalesce(', port ' || e.server_port, ', port not known')
            WHEN 'rule'
                THEN
                    CASE e.rule_name
                        WHEN 'no rule' THEN ', connections that no known rule matches'
                        ELSE coalesce(', rule ' || e.rule_name, ', connections whose rule is not known')
                    END
        END,
        ': ',
        e.change,
        ': ',
        e.saves,
        -- The published bound of a change is not the most that it can save if the costs of the system allow less.
        if(
            e.saving_high > upper_s_per_day,
            format('; no more than {} by the costs of this system', number_text(upper_s_per_day)),
            NULL
        ),
        if(e.rated = 'not enough data', NULL, '; ' || e.measured),
        CASE
            WHEN e.covered_hours < least_advice_hours() AND e.has_handshakes THEN ': ' || e.reason
            WHEN 100 * e.covered_hours < least_covered_pct() * e.hours
                THEN format(
                    '; zERT details cover {} of the {} hours of the last seven days', number_text(e.covered_hours), e.hours
                )
        END
    )::VARCHAR AS sentence,
    e.full_reason::VARCHAR AS why,
    coalesce(s.statement, e.set_by, e.limited_by.statement)::VARCHAR AS statement,
    CASE
        WHEN e.parameter = 'V3CIPHERSUITES' THEN 'V3CipherSuites' ELSE e.parameter
    END::VARCHAR AS parameter,
    coalesce(s.recommended, e.recommended, if(s.matched IS NULL, e.limited_by.recommended, NULL))::VARCHAR
    AS recommended,
    CASE
        WHEN s.matched IS NULL THEN e.limited_by.value_today
        ELSE coalesce(t.parameter_value, a.parameter_value, e.setting_status || ': ' || e.evidence)
    END::VARCHAR AS value_today,
    CASE WHEN s.matched IS NULL THEN e.limited_by.set_in ELSE coalesce(t.set_in, a.set_in) END::VARCHAR AS set_in,
    CASE WHEN s.matched IS NULL THEN e.limited_by.why_full END::VARCHAR AS why_full,
    CASE
        WHEN e.basis = 'counted' THEN NULL
        WHEN s.matched IS NULL THEN 'tls31-resumption-tls12-cpu, tls31-resumption-tls13-cpu'
        ELSE nullif(array_to_string(s.reference_ids, ', '), '')
    END::VARCHAR AS reference_ids,
    CASE
        WHEN e.practice IS NOT NULL THEN e.setting_status IS NOT DISTINCT FROM 'fail'
        WHEN e.parameter IS NULL OR e.parameter = 'V3CIPHERSUITES' THEN e.has_handshakes
        ELSE value_today IS NOT NULL AND (s.matched IS NOT NULL OR coalesce(e.limited_by.is_limit, true))
    END::BOOLEAN AS is_seen,
    names_setting(coalesce(s.statement, e.set_by, e.limited_by.statement), e.parameter, is_seen)::BOOLEAN AS names_setting,
    'zERT detail' AS source,
    (100 * e.covered_hours / e.hours)::DOUBLE AS covered_pct
FROM worded AS e
LEFT JOIN statement AS s ON e.change = s.matched
LEFT JOIN tls_cost AS c ON e.system = c.system
LEFT JOIN rule_parameter AS t ON e.rule_name = t.rule_name AND e.parameter = t.parameter AND e.system = t.system
LEFT JOIN rule_parameter AS a ON e.rule_name = a.rule_name AND e.parameter = a.parameter AND a.system IS NULL
WHERE
    coalesce(e.setting_status, '') <> 'pass'
    AND (
        e.change <> 'cache session tickets across the sysplex'
        OR upper(coalesce(t.parameter_value, a.parameter_value, '')) <> 'ON'
    )
WINDOW of_change AS (PARTITION BY e.system, e.shared_by, e.rule_name, e.server_port, e.change)
ORDER BY
    advice_group(e.rated, upper_s_per_day, all_cost_pct, cost_pct, names_setting, is_seen),
    upper_s_per_day DESC NULLS LAST,
    e.system,
    e.shared_by,
    e.rule_name,
    e.server_port,
    e.change,
    saving_high_s_per_day IS NOT DISTINCT FROM upper_s_per_day DESC,
    e.basis
