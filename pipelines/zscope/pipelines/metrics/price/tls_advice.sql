-- CPU time per day that a change of AT-TLS or related settings would save, per rule, port or system.
--
-- By the estimate, a handshake that is resumed instead of full saves what a full one costs more at equal load. By
-- published percentages, a handshake saves that share of what a full handshake costs. If a group has handshakes of
-- which only some are of the more expensive kind, its cost follows from that of all: with share s and saving p,
-- it is cost / (s + (1 - s) x (1 - p)). The two bases are never added.
--
-- Rules and ports have the share of the full handshakes of their system that they had in the last seven days. What
-- a rule sets today comes from its newest action in a report of pasearch or in a policy file.

WITH published AS (
    SELECT
        max(-value) FILTER (WHERE id = 'tls31-resumption-tls12-cpu') / 100 AS resumption_tls12,
        max(-value) FILTER (WHERE id = 'tls31-resumption-tls13-cpu') / 100 AS resumption_tls13,
        max(-value) FILTER (WHERE id = 'tls31-sysplex-tickets-cpu') / 100 AS tickets,
        max(value) FILTER (WHERE id = 'tls31-sysplex-tickets-hit') AS resumed_pct,
        max(-value) FILTER (WHERE id = 'tls31-ecdhe-vs-dhe-cpu') / 100 AS dhe,
        max(-value) FILTER (WHERE id = 'tls31-ecdhe-vs-rsa-kx-cpu') / 100 AS rsa,
        1 - 1 / (1 + max(value) FILTER (WHERE id = 'perf32-icsf-sessionobj-cpu-server') / 100) AS icsf_audit,
        max(-value) FILTER (WHERE id = 'tls31-nonfips-coproc-max') / 100 AS coprocessor,
        max(-value) FILTER (WHERE id = 'tls31-fips-accel-cpu') / 100 AS accelerator
    FROM reference_result
),

-- The newest policy that names each rule, and the actions of the rule.
rule_action AS (
    SELECT
        rule_name,
        system,
        unnest([
            {'action_scope': 'connection', 'action_name': connection_action, 'rank': 1},
            {'action_scope': 'environment', 'action_name': environment_action, 'rank': 2},
            {'action_scope': 'group', 'action_name': group_action, 'rank': 3}
        ], recursive := true)
    FROM policy_rule
),

-- The value of a parameter that is in force for a rule: that of the connection action goes before others.
action_parameter AS (
    SELECT
        system,
        action_scope,
        action_name,
        upper(parameter) AS parameter,
        string_agg(coalesce(code, parameter_value), ', ' ORDER BY member_no) AS value_today,
        any_value(file) AS file,
        min(line_no) AS line_no
    FROM (
        SELECT *
        FROM tls_action
        QUALIFY dense_rank() OVER (
            PARTITION BY system, action_scope, action_name ORDER BY taken_utc DESC NULLS LAST, load_id DESC, file
        ) = 1
    )
    WHERE parameter IS NOT NULL
    GROUP BY system, action_scope, action_name, upper(parameter)
),

rule_setting AS (
    SELECT
        r.rule_name,
        r.system,
        a.parameter,
        a.value_today,
        format('{} action {}, {} line {}', a.action_scope, a.action_name, a.file, a.line_no) AS set_in
    FROM rule_action AS r
    INNER JOIN action_parameter AS a
        ON
            r.action_scope = a.action_scope
            AND r.action_name = a.action_name
            AND r.system IS NOT DISTINCT FROM a.system
    QUALIFY row_number() OVER (PARTITION BY r.rule_name, r.system, a.parameter ORDER BY r.rank) = 1
),

-- Computed once, however often it is read below.
every_use AS MATERIALIZED (
    SELECT * FROM tls_use
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
        -- From zERT summaries the share of full handshakes is not known, so that of the detail there is counts.
        s.full_handshakes / nullif(s.full_handshakes + s.resumed_handshakes, 0) AS full_share,
        coalesce(c.full_handshakes_per_day, c.handshakes_per_day * full_share) AS all_full,
        coalesce(c.resumed_handshakes_per_day, c.handshakes_per_day * (1 - full_share)) AS all_resumed,
        -- A resumed handshake does not cost less than nothing.
        coalesce(c.full_high_us, c.mean_high_us / nullif(full_share, 0)) AS full_most_us,
        coalesce(u.full_handshakes / nullif(s.full_handshakes, 0), 0) * all_full AS full_per_day,
        coalesce(u.resumed_handshakes / nullif(s.resumed_handshakes, 0), 0) * all_resumed AS resumed_per_day,
        100 * u.resumed_handshakes / nullif(u.full_handshakes + u.resumed_handshakes, 0) AS resumed_pct,
        u.full_tls12 / nullif(u.full_handshakes, 0) AS tls12_share,
        u.full_tls13 / nullif(u.full_handshakes, 0) AS tls13_share,
        u.full_dhe / nullif(u.full_handshakes, 0) AS dhe_share,
        u.full_rsa / nullif(u.full_handshakes, 0) AS rsa_share
    FROM every_use AS u
    INNER JOIN every_use AS s ON u.system = s.system AND s.shared_by = 'system'
    INNER JOIN handshake_cost AS c ON u.system = c.system
    WHERE u.shared_by <> 'client network' AND c.handshakes_per_day IS NOT NULL
),

-- More handshakes are resumed: up to the share that the data contain, and up to the published one.
resumption AS (
    SELECT
        u.*,
        t.target_pct,
        (t.target_pct - u.resumed_pct) / 100 * (u.full_per_day + u.resumed_per_day) AS affected_per_day,
        (coalesce(u.tls12_share, 0) * p.resumption_tls12 + coalesce(u.tls13_share, 0) * p.resumption_tls13) AS bound,
        CASE
            WHEN t.target_pct <= u.attainable_pct THEN NULL
            WHEN t.target_pct <= u.highest_pct
                THEN format('if handshakes beyond a resumed share of {:.1f} % save as much', u.attainable_pct)
            ELSE format(
                'if handshakes beyond a resumed share of {:.1f} % save as much: no hour had a higher share',
                u.highest_pct
            )
        END AS condition
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
        concat_ws('; ', if(difference_status = 'not enough data', NULL, condition), difference_why) AS reason
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
            format(
                'at most, if this workload is like the published one: up to {:.0f} % of a full handshake', 100 * bound
            )
        ) AS reason
    FROM resumption
    WHERE bound > 0
),

-- Changes of which only a published percentage is known: the share of the full handshakes that they concern, and
-- the share of the cost of such a handshake that they save.
published_change AS (
    SELECT
        u.*,
        unnest([
            {
                'change': 'cache session tickets across the sysplex', 'part': u.tls13_share, 'saved': p.tickets,
                'parameter': 'GSK_SYSPLEX_SESSION_TICKET_CACHE', 'practice': NULL
            },
            {
                'change': 'ECDHE instead of DHE', 'part': u.dhe_share, 'saved': p.dhe,
                'parameter': 'V3CIPHERSUITES', 'practice': NULL
            },
            {
                'change': 'ECDHE instead of RSA key exchange', 'part': u.rsa_share, 'saved': p.rsa,
                'parameter': 'V3CIPHERSUITES', 'practice': NULL
            },
            {
                'change': 'no auditing of ICSF session objects', 'part': u.tls13_share, 'saved': p.icsf_audit,
                'parameter': NULL, 'practice': 'icsf-audit'
            },
            {
                'change': 'Crypto Express as coprocessor too, outside FIPS mode', 'part': 1, 'saved': p.coprocessor,
                'parameter': NULL, 'practice': 'crypto-mix'
            },
            {
                'change': 'Crypto Express as accelerator too, in FIPS mode', 'part': 1, 'saved': p.accelerator,
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
        -- What such a handshake costs at most, if the others cost what it costs after the change.
        CASE WHEN saved > 0 THEN full_most_us / (part + (1 - part) * (1 - saved)) ELSE full_most_us END AS kind_us,
        affected_per_day * saved * kind_us / 1e6 AS saving_end,
        if(full_most_us IS NULL, 'not enough data', 'conditional') AS rated,
        CASE
            WHEN full_most_us IS NULL THEN why
            WHEN saved < 0
                THEN format(
                    'a full handshake costs up to {:.0f} % more, if this workload is like the published one; it has '
                    || 'forward secrecy',
                    -100 * saved
                )
            ELSE format(
                'at most, if this workload is like the published one: up to {:.0f} % of {:.0f} us', 100 * saved, kind_us
            )
        END AS reason
    FROM published_change
    WHERE part > 0 AND ((shared_by = 'system') = (practice IS NOT NULL))
),

-- Changes that concern a system, with what is known of their setting.
setting AS (
    SELECT
        practice,
        system,
        -- What the tags of benchmark runs state is not known of other times.
        if(evidence LIKE 'stated, not observed%', 'unknown', status) AS setting_status,
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
        if(tls13_share > 0.5, 'GSK_SESSION_TICKET_SERVER_TIMEOUT', 'GSK_V3_SESSION_TIMEOUT') AS parameter
    FROM resumed_more
    UNION ALL BY NAME
    SELECT
        *,
        CASE WHEN saving_end < 0 THEN saving_end ELSE 0 * saving_end END AS saving_low,
        CASE WHEN saving_end < 0 THEN 0 ELSE saving_end END AS saving_high
    FROM by_published
    UNION ALL BY NAME
    SELECT * FROM without_number
),

statement AS (
    FROM (VALUES
        ('GSK_V3_SESSION_TIMEOUT', 'TTLSGskAdvancedParms', 'longer, and GSK_V3_SIDCACHE_SIZE large enough',
            ['tls31-resumption-tls12-cpu', 'tls31-resumption-tls13-cpu']),
        ('GSK_SESSION_TICKET_SERVER_TIMEOUT', 'TTLSGskAdvancedParms', 'longer, and GSK_SESSION_TICKET_SERVER_ENABLE On',
            ['tls31-resumption-tls13-cpu', 'tls31-resumption-tls12-cpu']),
        ('GSK_SYSPLEX_SESSION_TICKET_CACHE', 'TTLSGskAdvancedParms', 'On', ['tls31-sysplex-tickets-cpu']),
        ('ECDHE instead of DHE', 'TTLSCipherParms', 'suites C02B to C030 instead of those with DHE',
            ['tls31-ecdhe-vs-dhe-cpu']),
        ('ECDHE instead of RSA key exchange', 'TTLSCipherParms', 'suites C02B to C030 instead of those with RSA',
            ['tls31-ecdhe-vs-rsa-kx-cpu']),
        ('no auditing of ICSF session objects', 'ICSF options AUDITKEYLIFETKDS, AUDITPKCS11USG', 'SESSIONOBJ(NO)',
            ['perf32-icsf-sessionobj-cpu-server', 'perf32-icsf-sessionobj-cpu-client']),
        ('Crypto Express as coprocessor too, outside FIPS mode', 'HMC', 'coprocessor for signatures',
            ['tls31-nonfips-coproc-max']),
        ('Crypto Express as accelerator too, in FIPS mode', 'HMC', 'accelerator', ['tls31-fips-accel-cpu']),
        ('HEAPPOOLS64(ON) for the TCP/IP address space', 'CEEOPTS, CEEPRMxx', 'HEAPPOOLS64(ON)',
            ['tls31-heappools64-cpu', 'perf32-heappools64']),
        ('post-quantum key exchange', NULL, NULL, [])
    ) AS of_change (matched, statement, recommended, reference_ids)
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
    e.affected_per_day::DOUBLE AS handshakes_per_day,
    concat(
        e.system,
        CASE e.shared_by
            WHEN 'port' THEN format(', port {}', coalesce(e.server_port::VARCHAR, 'unknown'))
            WHEN 'rule' THEN format(', rule {}', coalesce(e.rule_name, 'unknown'))
        END,
        ': ',
        e.change,
        ': ',
        CASE
            WHEN e.rated = 'not enough data' THEN 'what it saves is not known'
            WHEN e.saving_high IS NULL THEN 'saves CPU time, but how much is not published'
            WHEN e.saving_low < 0 AND e.saving_high <= 0
                THEN format('costs up to {} CPU seconds a day more', number_text(-e.saving_low))
            WHEN e.saving IS NULL THEN format('saves at most {} CPU seconds a day', number_text(e.saving_high))
            ELSE format(
                'saves {} CPU seconds a day ({} to {})',
                number_text(e.saving),
                number_text(e.saving_low),
                number_text(e.saving_high)
            )
        END,
        CASE
            WHEN e.rated = 'conditional' AND e.basis = 'published' AND e.saving_high IS NOT NULL
                THEN ', if the workload is like the published one'
            WHEN e.rated = 'conditional' AND e.basis = 'estimate' THEN ' (conditional)'
        END
    )::VARCHAR AS sentence,
    concat_ws(
        '; ',
        if(e.practice IS NOT NULL AND b.setting_status IS DISTINCT FROM 'fail', 'if it is not set so already', NULL),
        e.reason
    )::VARCHAR AS why,
    s.statement::VARCHAR AS statement,
    CASE
        WHEN e.parameter = 'V3CIPHERSUITES' THEN 'V3CipherSuites' ELSE e.parameter
    END::VARCHAR AS parameter,
    s.recommended::VARCHAR AS recommended,
    coalesce(t.value_today, a.value_today, b.setting_status || ': ' || b.evidence)::VARCHAR AS value_today,
    coalesce(t.set_in, a.set_in)::VARCHAR AS set_in,
    nullif(array_to_string(s.reference_ids, ', '), '')::VARCHAR AS reference_ids
FROM every_change AS e
LEFT JOIN statement AS s ON if(starts_with(e.parameter, 'GSK_'), e.parameter, e.change) = s.matched
LEFT JOIN setting AS b ON e.system = b.system AND e.practice = b.practice
LEFT JOIN rule_setting AS t ON e.rule_name = t.rule_name AND e.parameter = t.parameter AND e.system = t.system
LEFT JOIN rule_setting AS a ON e.rule_name = a.rule_name AND e.parameter = a.parameter AND a.system IS NULL
WHERE
    coalesce(b.setting_status, '') <> 'pass'
    AND (
        e.parameter IS DISTINCT FROM 'GSK_SYSPLEX_SESSION_TICKET_CACHE'
        OR upper(coalesce(t.value_today, a.value_today, '')) <> 'ON'
    )
ORDER BY
    e.system, e.shared_by, e.basis, saving_high_s_per_day DESC NULLS LAST, e.rule_name, e.server_port, e.change
