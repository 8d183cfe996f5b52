-- One setting of an AT-TLS policy as a report of pasearch shows it.
--
-- A report states when it was taken, so settings of several reports show what has changed between them. Policy
-- files state no time and are not read.

WITH rule_parameter AS (
    SELECT
        system,
        stack,
        taken_utc,
        'rule ' || rule_name AS object,
        unnest([
            { 'parameter': 'priority', 'value': rule_priority::VARCHAR },
            { 'parameter': 'direction', 'value': direction },
            { 'parameter': 'local addresses', 'value': local_addresses },
            { 'parameter': 'remote addresses', 'value': remote_addresses },
            { 'parameter': 'local ports', 'value': local_ports },
            { 'parameter': 'remote ports', 'value': remote_ports },
            { 'parameter': 'job', 'value': job_name },
            { 'parameter': 'user', 'value': user_id },
            { 'parameter': 'time', 'value': time_condition },
            { 'parameter': 'group action', 'value': group_action },
            { 'parameter': 'environment action', 'value': environment_action },
            { 'parameter': 'connection action', 'value': connection_action }
        ], recursive := true)
    FROM tls_rule
    WHERE policy_form = 'pasearch' AND coalesce(upper(status), 'ACTIVE') = 'ACTIVE'
),

action_parameter AS (
    SELECT
        system,
        stack,
        taken_utc,
        action_scope || ' action ' || action_name AS object,
        parameter,
        string_agg(coalesce(code, parameter_value), ', ' ORDER BY member_no) AS value
    FROM (
        -- The same report can be loaded several times.
        SELECT DISTINCT
            system, stack, taken_utc, action_scope, action_name, section, parameter, member_no, code, parameter_value
        FROM tls_action
        WHERE policy_form = 'pasearch'
    )
    GROUP BY system, stack, taken_utc, action_scope, action_name, section, parameter
)

SELECT DISTINCT
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    taken_utc::TIMESTAMPTZ AS taken_utc,
    object::VARCHAR AS object,
    parameter::VARCHAR AS parameter,
    value::VARCHAR AS value
FROM (SELECT * FROM rule_parameter UNION ALL BY NAME SELECT * FROM action_parameter)
WHERE taken_utc IS NOT NULL AND system IS NOT NULL AND value IS NOT NULL
