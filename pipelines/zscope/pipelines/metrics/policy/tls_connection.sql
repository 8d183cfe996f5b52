-- Connections with the AT-TLS rule that governs them, how it was found, and why a handshake failed.
--
-- The rule comes from a display that names it, from a message that names it, or from the policy: the first rule
-- by priority and name whose conditions all match. An unknown job, user or direction matches every condition,
-- and then the rule is not certain. A rule with a condition that could not be read never matches, and rules that
-- are tried after it are not certain.

WITH shown AS (
    SELECT
        'NETSTAT TTLS' AS display,
        system, stack, connection_id, local_port, remote_port, ttls_rule, ttls_group_action,
        ttls_environment_action, ttls_connection_action, taken_utc
    FROM netstat_ttls
    UNION ALL
    SELECT
        'NETSTAT ALL',
        system, stack, connection_id, local_port, remote_port, ttls_rule, ttls_group_action,
        ttls_environment_action, ttls_connection_action, taken_utc
    FROM netstat_all
),

named AS (
    SELECT
        system,
        stack,
        connection_id,
        local_port,
        remote_port,
        max(display) AS display,
        arg_min(ttls_rule, taken_utc) AS rule_name,
        arg_min(ttls_group_action, taken_utc) AS group_action,
        arg_min(ttls_environment_action, taken_utc) AS environment_action,
        arg_min(ttls_connection_action, taken_utc) AS connection_action,
        min(taken_utc) AS first_utc,
        max(taken_utc) AS last_utc
    FROM shown
    WHERE ttls_rule IS NOT NULL AND connection_id IS NOT NULL AND taken_utc IS NOT NULL
    GROUP BY ALL
),

message AS (
    SELECT
        system,
        connection_id,
        local_port,
        remote_port,
        arg_min(ttls_rule, taken_utc) AS rule_name,
        min(taken_utc) AS first_utc,
        max(taken_utc) AS last_utc,
        -- The same error can be in the log of syslogd and in that of the console.
        arg_min(m.return_code, m.taken_utc) FILTER (m.return_code > 0) AS failure_code,
        arg_min(m.event, m.taken_utc) FILTER (m.return_code > 0) AS failure_event
    FROM tls_message AS m
    WHERE m.connection_id IS NOT NULL AND m.local_port IS NOT NULL AND m.taken_utc IS NOT NULL
    GROUP BY ALL
),

policy AS (
    SELECT
        policy_no,
        system,
        stack,
        min(place) FILTER (NOT is_complete) AS first_incomplete
    FROM policy_rule
    GROUP BY ALL
),

-- The policy of each stack: its own, that of its system, or one of an unknown system.
governing AS (
    SELECT
        c.system,
        c.stack,
        p.policy_no,
        p.first_incomplete
    FROM (SELECT DISTINCT system, stack FROM connection_protection) AS c
    JOIN policy AS p
        ON
            (c.system = p.system OR p.system IS NULL)
            AND (c.stack = p.stack OR p.stack IS NULL OR c.stack IS NULL)
    QUALIFY row_number() OVER (
        PARTITION BY c.system, c.stack ORDER BY p.system IS NULL, p.stack IS NULL, p.policy_no
    ) = 1
),

connection AS (
    SELECT
        c.*,
        CASE WHEN c.source <> 'zERT summary' THEN g.policy_no END AS policy_no,
        CASE WHEN c.source <> 'zERT summary' THEN g.first_incomplete END AS first_incomplete
    FROM connection_protection AS c
    LEFT JOIN governing AS g ON c.system IS NOT DISTINCT FROM g.system AND c.stack IS NOT DISTINCT FROM g.stack
),

known_value AS (
    SELECT policy_no, 'local address' AS dimension, local_ip AS known_text, ip_key(local_ip) AS known_key
    FROM (SELECT DISTINCT policy_no, local_ip FROM connection WHERE policy_no IS NOT NULL AND local_ip IS NOT NULL)
    UNION ALL
    SELECT policy_no, 'remote address', remote_ip, ip_key(remote_ip)
    FROM (SELECT DISTINCT policy_no, remote_ip FROM connection WHERE policy_no IS NOT NULL AND remote_ip IS NOT NULL)
    UNION ALL
    SELECT policy_no, 'local port', local_port::VARCHAR, port_key(local_port)
    FROM (SELECT DISTINCT policy_no, local_port FROM connection WHERE policy_no IS NOT NULL AND local_port IS NOT NULL)
    UNION ALL
    SELECT policy_no, 'remote port', remote_port::VARCHAR, port_key(remote_port)
    FROM (SELECT DISTINCT policy_no, remote_port FROM connection WHERE policy_no IS NOT NULL AND remote_port IS NOT NULL)
),

-- The segment of each value: the last one that begins before it. As a window, since joins with comparisons can
-- be slow.
ordered AS (
    SELECT policy_no, dimension, known_text, known_key AS place_key, 1 AS is_value, NULL AS segment_no
    FROM known_value
    UNION ALL
    SELECT policy_no, dimension, NULL, low_key, 0, segment_no
    FROM policy_segment
),

located AS (
    SELECT
        policy_no,
        dimension,
        known_text,
        is_value,
        last_value(segment_no IGNORE NULLS) OVER (
            PARTITION BY policy_no, dimension ORDER BY place_key, is_value
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS segment_no
    FROM ordered
    QUALIFY is_value = 1
),

placed AS (
    SELECT
        c.*,
        la.segment_no AS local_segment,
        ra.segment_no AS remote_segment,
        lp.segment_no AS local_port_segment,
        rp.segment_no AS remote_port_segment
    FROM connection AS c
    LEFT JOIN located AS la
        ON c.policy_no = la.policy_no AND la.dimension = 'local address' AND c.local_ip = la.known_text
    LEFT JOIN located AS ra
        ON c.policy_no = ra.policy_no AND ra.dimension = 'remote address' AND c.remote_ip = ra.known_text
    LEFT JOIN located AS lp
        ON
            c.policy_no = lp.policy_no
            AND lp.dimension = 'local port'
            AND c.local_port::VARCHAR = lp.known_text
    LEFT JOIN located AS rp
        ON
            c.policy_no = rp.policy_no
            AND rp.dimension = 'remote port'
            AND c.remote_port::VARCHAR = rp.known_text
),

-- Few combinations, however many connections there are.
combination AS (
    SELECT DISTINCT
        policy_no, local_segment, remote_segment, local_port_segment, remote_port_segment,
        job_name, user_id, direction
    FROM placed
    WHERE policy_no IS NOT NULL
),

owner AS (
    SELECT
        o.policy_no,
        o.job_name,
        o.user_id,
        o.direction,
        string_agg(
            if(
                r.is_complete
                AND name_matches(o.job_name, r.job_name)
                AND name_matches(o.user_id, r.user_id)
                AND (o.direction IS NULL OR upper(r.direction) IN ('BOTH', upper(o.direction))),
                '1',
                '0'
            ),
            ''
            ORDER BY r.place
        )::BIT AS rules
    FROM (SELECT DISTINCT policy_no, job_name, user_id, direction FROM combination) AS o
    JOIN policy_rule AS r ON o.policy_no = r.policy_no
    GROUP BY ALL
),

segment AS MATERIALIZED (
    SELECT
        segment_no,
        matched_rules::BIT AS rules
    FROM policy_segment
),

decided AS (
    SELECT
        c.*,
        bit_position(
            '1'::BIT,
            o.rules
            & coalesce(la.rules, o.rules)
            & coalesce(ra.rules, o.rules)
            & coalesce(lp.rules, o.rules)
            & coalesce(rp.rules, o.rules)
        ) AS place
    FROM combination AS c
    JOIN owner AS o
        ON
            c.policy_no = o.policy_no
            AND c.job_name IS NOT DISTINCT FROM o.job_name
            AND c.user_id IS NOT DISTINCT FROM o.user_id
            AND c.direction IS NOT DISTINCT FROM o.direction
    LEFT JOIN segment AS la ON c.local_segment = la.segment_no
    LEFT JOIN segment AS ra ON c.remote_segment = ra.segment_no
    LEFT JOIN segment AS lp ON c.local_port_segment = lp.segment_no
    LEFT JOIN segment AS rp ON c.remote_port_segment = rp.segment_no
),

matched AS (
    SELECT
        p.*,
        n.display,
        n.rule_name AS displayed_rule,
        n.group_action AS displayed_group,
        n.environment_action AS displayed_environment,
        n.connection_action AS displayed_connection,
        t.rule_name AS message_rule,
        t.failure_code,
        t.failure_event,
        -- Termination records do not show that a handshake failed, but messages of AT-TLS do.
        p.protocol = 'none by AT-TLS' AND t.failure_code IS NOT NULL AS failed_by_message,
        -- Only where nothing else names the rule.
        CASE
            WHEN n.rule_name IS NULL AND t.rule_name IS NULL AND coalesce(p.policy_status, 0) NOT IN (1, 2)
                THEN d.place
        END AS place
    FROM placed AS p
    LEFT JOIN named AS n
        ON
            p.system = n.system
            AND p.stack IS NOT DISTINCT FROM n.stack
            AND p.connection_id = n.connection_id
            AND p.local_port = n.local_port
            AND p.remote_port = n.remote_port
            AND p.start_utc - INTERVAL 1 SECOND <= n.last_utc
            AND p.end_utc + INTERVAL 30 SECOND >= n.first_utc
    LEFT JOIN message AS t
        ON
            p.system = t.system
            AND p.connection_id = t.connection_id
            AND p.local_port = t.local_port
            AND p.remote_port = t.remote_port
            AND p.start_utc - INTERVAL 2 SECOND <= t.last_utc
            AND p.end_utc + INTERVAL 30 SECOND >= t.first_utc
    LEFT JOIN decided AS d
        ON
            p.policy_no = d.policy_no
            AND p.local_segment IS NOT DISTINCT FROM d.local_segment
            AND p.remote_segment IS NOT DISTINCT FROM d.remote_segment
            AND p.local_port_segment IS NOT DISTINCT FROM d.local_port_segment
            AND p.remote_port_segment IS NOT DISTINCT FROM d.remote_port_segment
            AND p.job_name IS NOT DISTINCT FROM d.job_name
            AND p.user_id IS NOT DISTINCT FROM d.user_id
            AND p.direction IS NOT DISTINCT FROM d.direction
),

-- Names on the console are in upper case.
rule_by_name AS (
    SELECT *
    FROM policy_rule
    QUALIFY row_number() OVER (PARTITION BY policy_no, upper(rule_name) ORDER BY place) = 1
)

SELECT
    m.source::VARCHAR AS source,
    m.reported_by::VARCHAR AS reported_by,
    m.system::VARCHAR AS system,
    m.stack::VARCHAR AS stack,
    m.hour_utc::TIMESTAMPTZ AS hour_utc,
    m.connection_id::BIGINT AS connection_id,
    m.start_utc::TIMESTAMPTZ AS start_utc,
    m.end_utc::TIMESTAMPTZ AS end_utc,
    m.local_ip::VARCHAR AS local_ip,
    m.local_port::BIGINT AS local_port,
    m.remote_ip::VARCHAR AS remote_ip,
    m.remote_port::BIGINT AS remote_port,
    m.job_name::VARCHAR AS job_name,
    m.user_id::VARCHAR AS user_id,
    m.direction::VARCHAR AS direction,
    m.server_port::BIGINT AS server_port,
    (m.is_tls OR m.failed_by_message)::BOOLEAN AS is_tls,
    if(m.failed_by_message, 'unknown', m.protocol)::VARCHAR AS protocol,
    m.further_protocols::VARCHAR AS further_protocols,
    m.cipher::VARCHAR AS cipher,
    CASE
        WHEN m.displayed_rule IS NOT NULL THEN coalesce(r.rule_name, m.displayed_rule)
        WHEN m.message_rule IS NOT NULL THEN coalesce(r.rule_name, m.message_rule)
        WHEN m.policy_status IN (1, 2) OR m.place = 0 THEN 'no rule'
        ELSE b.rule_name
    END::VARCHAR AS rule_name,
    CASE
        WHEN m.displayed_rule IS NOT NULL THEN m.display
        WHEN m.message_rule IS NOT NULL THEN 'AT-TLS message'
        WHEN m.policy_status IN (1, 2) THEN 'SMF 119-2'
        WHEN m.place IS NOT NULL THEN 'policy, by address and port'
        WHEN m.source = 'zERT summary' THEN 'not a connection'
        ELSE 'no policy'
    END::VARCHAR AS rule_from,
    CASE
        WHEN m.displayed_rule IS NOT NULL OR m.message_rule IS NOT NULL OR m.policy_status IN (1, 2) THEN true
        WHEN m.place = 0 THEN m.first_incomplete IS NULL
        WHEN m.place > 0
            THEN coalesce(m.place < m.first_incomplete, true)
            AND b.time_condition IS NULL
            AND b.ranges_from IS DISTINCT FROM 'summary'
            AND (b.job_name IS NULL OR m.job_name IS NOT NULL)
            AND (b.user_id IS NULL OR m.user_id IS NOT NULL)
            AND (upper(b.direction) = 'BOTH' OR m.direction IS NOT NULL)
            AND (b.local_addresses IS NULL OR m.local_ip IS NOT NULL)
            AND (b.remote_addresses IS NULL OR m.remote_ip IS NOT NULL)
    END::BOOLEAN AS rule_is_certain,
    coalesce(m.displayed_group, r.group_action, b.group_action)::VARCHAR AS group_action,
    coalesce(m.displayed_environment, r.environment_action, b.environment_action)::VARCHAR
        AS environment_action,
    coalesce(m.displayed_connection, r.connection_action, b.connection_action)::VARCHAR AS connection_action,
    m.failure_code::BIGINT AS failure_code,
    CASE
        WHEN m.failure_code IS NOT NULL
            THEN coalesce(f.text, 'code ' || m.failure_code || ', see System SSL Programming')
    END::VARCHAR AS failure_reason,
    m.failure_event::VARCHAR AS failure_event,
    if(m.failed_by_message, 0, m.connections)::BIGINT AS connections,
    m.partial_connections::BIGINT AS partial_connections,
    if(m.failed_by_message, 1, m.failed_handshakes)::BIGINT AS failed_handshakes,
    m.in_bytes::BIGINT AS in_bytes,
    m.out_bytes::BIGINT AS out_bytes
FROM matched AS m
LEFT JOIN rule_by_name AS r
    ON m.policy_no = r.policy_no AND upper(coalesce(m.displayed_rule, m.message_rule)) = upper(r.rule_name)
LEFT JOIN policy_rule AS b ON m.policy_no = b.policy_no AND m.place = b.place
LEFT JOIN code_attls_return_code AS f ON m.failure_code = f.code
