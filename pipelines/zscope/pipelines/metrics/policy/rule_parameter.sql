-- The value of each parameter that is in force for an AT-TLS rule: of its actions, that of the connection goes first.
--
-- What a rule sets comes from its newest action in a report of pasearch or in a policy file.

WITH rule_action AS (
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

action_parameter AS (
    SELECT
        system,
        action_scope,
        action_name,
        upper(parameter) AS parameter,
        string_agg(coalesce(code, parameter_value), ', ' ORDER BY member_no) AS parameter_value,
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
)

SELECT
    r.system::VARCHAR AS system,
    r.rule_name::VARCHAR AS rule_name,
    a.parameter::VARCHAR AS parameter,
    a.parameter_value::VARCHAR AS parameter_value,
    format('{} action {}, {} line {}', a.action_scope, a.action_name, a.file, a.line_no)::VARCHAR AS set_in
FROM rule_action AS r
INNER JOIN action_parameter AS a
    ON
        r.action_scope = a.action_scope
        AND r.action_name = a.action_name
        AND r.system IS NOT DISTINCT FROM a.system
QUALIFY row_number() OVER (PARTITION BY r.rule_name, r.system, a.parameter ORDER BY r.rank) = 1
