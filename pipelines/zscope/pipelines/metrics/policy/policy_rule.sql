-- One AT-TLS rule that is in force, with its place in the order in which rules are tried.
--
-- Of each system and stack, the newest policy counts, and a report of pasearch before a policy file: the file
-- can contain changes that are not active. A rule with a condition that could not be read has no direction. It
-- keeps its place, because it can govern connections before the rules after it.

WITH policy AS (
    SELECT DISTINCT system, stack, policy_form, load_id, file, taken_utc, taken_local
    FROM tls_rule
),

newest AS (
    SELECT *
    FROM policy
    QUALIFY row_number() OVER (
        PARTITION BY system, stack
        ORDER BY
            policy_form = 'pasearch' DESC,
            coalesce(epoch_us(taken_utc), epoch_us(taken_local)) DESC NULLS LAST,
            load_id DESC,
            file
    ) = 1
),

numbered AS (
    SELECT
        *,
        row_number() OVER (ORDER BY system NULLS LAST, stack NULLS LAST) AS policy_no
    FROM newest
)

SELECT
    n.policy_no::BIGINT AS policy_no,
    row_number() OVER (
        PARTITION BY n.policy_no
        -- A rule that could not be read completely, without its priority, can be the first one.
        ORDER BY
            (r.direction IS NULL AND r.rule_priority IS NULL) DESC,
            r.rule_priority DESC NULLS LAST,
            upper(r.rule_name),
            r.rule_name,
            r.line_no
    )::BIGINT AS place,
    r.system::VARCHAR AS system,
    r.stack::VARCHAR AS stack,
    r.policy_form::VARCHAR AS policy_form,
    r.rule_name::VARCHAR AS rule_name,
    r.rule_priority::BIGINT AS rule_priority,
    r.direction::VARCHAR AS direction,
    r.local_addresses::VARCHAR AS local_addresses,
    r.remote_addresses::VARCHAR AS remote_addresses,
    r.local_ports::VARCHAR AS local_ports,
    r.remote_ports::VARCHAR AS remote_ports,
    r.job_name::VARCHAR AS job_name,
    r.user_id::VARCHAR AS user_id,
    r.time_condition::VARCHAR AS time_condition,
    r.ranges_from::VARCHAR AS ranges_from,
    r.group_action::VARCHAR AS group_action,
    r.environment_action::VARCHAR AS environment_action,
    r.connection_action::VARCHAR AS connection_action,
    r.direction IS NOT NULL AS is_complete
FROM tls_rule AS r
JOIN numbered AS n
    ON
        r.load_id = n.load_id
        AND r.file = n.file
        AND r.policy_form = n.policy_form
        AND r.system IS NOT DISTINCT FROM n.system
        AND r.stack IS NOT DISTINCT FROM n.stack
        AND r.taken_local IS NOT DISTINCT FROM n.taken_local
WHERE coalesce(upper(r.status), 'ACTIVE') = 'ACTIVE'
