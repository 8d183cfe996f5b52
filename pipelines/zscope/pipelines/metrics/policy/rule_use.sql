-- AT-TLS rules with their actions, their use in the last seven days, errors and findings.
--
-- A rule of a policy without a system counts for each system with TLS that has no policy of its own. A finding
-- belongs to the first rule whose conditions on ports and jobs fit its port and job.

-- Computed once, however often it is read below.
WITH every_use AS MATERIALIZED (
    SELECT * FROM tls_use
),

own_policy AS (
    SELECT DISTINCT system FROM policy_rule WHERE system IS NOT NULL
),

without_policy AS (
    SELECT DISTINCT
        u.system,
        TRUE AS any_system
    FROM every_use AS u
    ANTI JOIN own_policy AS o ON u.system = o.system
),

rule AS MATERIALIZED (
    SELECT
        p.* EXCLUDE (system),
        coalesce(p.system, w.system) AS system,
        if(p.direction = 'Outbound', p.remote_ports, p.local_ports) AS server_ports
    FROM policy_rule AS p
    LEFT JOIN without_policy AS w ON (p.system IS NULL) = w.any_system
),

rule_traffic AS (
    SELECT *
    FROM every_use
    WHERE shared_by = 'rule' AND rule_name IS NOT NULL
),

known_rule AS (
    SELECT
        r.place,
        coalesce(r.system, u.system) AS system,
        r.stack,
        coalesce(r.rule_name, u.rule_name) AS rule_name,
        r.rule_priority,
        r.direction,
        r.server_ports,
        r.job_name AS job_condition,
        r.group_action,
        r.environment_action,
        r.connection_action,
        u.full_handshakes,
        u.resumed_handshakes,
        u.megabytes
    FROM rule AS r
    FULL JOIN rule_traffic AS u ON r.system = u.system AND r.rule_name = u.rule_name
),

cpu AS MATERIALIZED (
    SELECT
        system,
        rule_name,
        status,
        cpu_s_per_day,
        high_cpu_s_per_day
    FROM tls_price
    WHERE shared_by = 'rule' AND part = 'TLS'
),

-- Messages write the names of rules in upper case.
failure AS (
    SELECT
        system,
        upper(ttls_rule) AS rule_key,
        count(*) AS errors,
        mode(return_code) AS return_code
    FROM tls_message
    WHERE return_code > 0 AND ttls_rule IS NOT NULL
    GROUP BY system, upper(ttls_rule)
),

finding_of_rule AS (
    SELECT
        r.system,
        r.stack,
        r.rule_name,
        f.severity,
        f.what
    FROM (SELECT *, row_number() OVER () AS finding_no FROM finding) AS f
    INNER JOIN rule AS r
        ON
            f.system = r.system
            AND (
                r.server_ports IS NULL
                OR list_bool_or(
                    list_transform(
                        string_split(r.server_ports, ', '),
                        lambda ports : f.server_port BETWEEN split_part(ports, '-', 1)::BIGINT
                        AND coalesce(nullif(split_part(ports, '-', 2), ''), ports)::BIGINT
                    )
                )
            )
            AND (r.job_name IS NULL OR f.job_name LIKE replace(r.job_name, '*', '%'))
    QUALIFY row_number() OVER (PARTITION BY f.finding_no ORDER BY r.place) = 1
),

finding_summary AS (
    SELECT
        system,
        stack,
        rule_name,
        count(*) AS findings,
        arg_min(severity || ': ' || what, (list_position(['high', 'medium', 'low', 'info'], severity), what))
            AS worst_finding
    FROM finding_of_rule
    GROUP BY system, stack, rule_name
)

SELECT
    k.system::VARCHAR AS system,
    k.stack::VARCHAR AS stack,
    k.rule_name::VARCHAR AS rule_name,
    k.place::BIGINT AS place,
    k.rule_priority::BIGINT AS rule_priority,
    k.direction::VARCHAR AS direction,
    k.server_ports::VARCHAR AS server_ports,
    k.job_condition::VARCHAR AS job_condition,
    k.group_action::VARCHAR AS group_action,
    k.environment_action::VARCHAR AS environment_action,
    k.connection_action::VARCHAR AS connection_action,
    k.full_handshakes::BIGINT AS full_handshakes,
    k.resumed_handshakes::BIGINT AS resumed_handshakes,
    (100 * k.resumed_handshakes / nullif(k.full_handshakes + k.resumed_handshakes, 0))::DOUBLE AS resumed_pct,
    k.megabytes::DOUBLE AS megabytes,
    if(k.full_handshakes IS NOT NULL, 'zERT detail', NULL)::VARCHAR AS source,
    if(k.full_handshakes IS NOT NULL, 100 * v.covered_hours / nullif(v.hours, 0), NULL)::DOUBLE AS covered_pct,
    c.status::VARCHAR AS status,
    c.cpu_s_per_day::DOUBLE AS cpu_s_per_day,
    c.high_cpu_s_per_day::DOUBLE AS high_cpu_s_per_day,
    coalesce(e.errors, 0)::BIGINT AS errors,
    coalesce(t.text, 'code ' || e.return_code)::VARCHAR AS most_frequent_error,
    coalesce(f.findings, 0)::BIGINT AS findings,
    f.worst_finding::VARCHAR AS worst_finding
FROM known_rule AS k
LEFT JOIN cpu AS c ON k.system = c.system AND k.rule_name = c.rule_name
LEFT JOIN tls_use_covered AS v ON k.system = v.system
LEFT JOIN failure AS e ON k.system = e.system AND upper(k.rule_name) = e.rule_key
LEFT JOIN code_attls_return_code AS t ON e.return_code = t.code
LEFT JOIN finding_summary AS f
    ON k.system = f.system AND k.stack IS NOT DISTINCT FROM f.stack AND k.rule_name = f.rule_name
ORDER BY k.system, k.stack, k.place NULLS LAST, k.rule_name
