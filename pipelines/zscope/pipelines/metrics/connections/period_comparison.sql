-- Number of connections and handshakes of each kind in two periods.
--
-- Without parameters, the later period is the last seven days of the data, and the earlier one is as long and
-- ends where the later one begins. Periods can differ in length and in their hours with data, so rates are per
-- hour in which the system has a connection.
--
-- The policy of a period is that of the last report of pasearch before its end. Only settings that differ are
-- shown, if both periods have a report.

WITH connections AS (
    SELECT
        t.system,
        t.hour_utc,
        t.job_name,
        t.server_port,
        t.protocol,
        code_text(c.name, t.cipher) AS cipher_name,
        t.connections,
        t.in_bytes + t.out_bytes AS bytes
    FROM tls_hour AS t
    LEFT JOIN cipher AS c ON t.cipher = c.code
    WHERE t.source = 'each connection once' AND t.hour_utc IS NOT NULL
),

later AS (
    SELECT
        coalesce(getvariable('later_to')::TIMESTAMPTZ, max(hour_utc) + INTERVAL 1 HOUR) AS to_utc,
        coalesce(getvariable('later_from')::TIMESTAMPTZ, to_utc - INTERVAL 168 HOUR) AS from_utc
    FROM connections
),

earlier AS (
    SELECT
        coalesce(getvariable('earlier_to')::TIMESTAMPTZ, from_utc) AS last_utc,
        coalesce(getvariable('earlier_from')::TIMESTAMPTZ, last_utc - (to_utc - from_utc)) AS first_utc
    FROM later
),

period AS (
    SELECT
        'later' AS period,
        from_utc,
        to_utc
    FROM later
    UNION ALL
    SELECT
        'earlier' AS period,
        first_utc,
        last_utc
    FROM earlier
),

counted AS (
    SELECT system, hour_utc, job_name, server_port, 'connections' AS subject, 'all' AS value, connections AS amount
    FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'bytes', 'all', bytes FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'protocol', protocol, connections FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'cipher', cipher_name, connections
    FROM connections
    WHERE cipher_name IS NOT NULL
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'handshake', kind, handshakes FROM handshake_hour
),

hours AS (
    SELECT
        c.system,
        count(DISTINCT c.hour_utc) FILTER (WHERE p.period = 'earlier') AS earlier_hours,
        count(DISTINCT c.hour_utc) FILTER (WHERE p.period = 'later') AS later_hours
    FROM connections AS c
    INNER JOIN period AS p ON c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
    GROUP BY c.system
),

in_period AS (
    SELECT
        c.*,
        p.period,
        h.earlier_hours,
        h.later_hours
    FROM counted AS c
    INNER JOIN period AS p ON c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
    LEFT JOIN hours AS h ON c.system = h.system
),

policy_of_period AS (
    SELECT
        s.system,
        s.stack,
        max(s.taken_utc) FILTER (WHERE p.period = 'earlier') AS earlier_utc,
        max(s.taken_utc) FILTER (WHERE p.period = 'later') AS later_utc
    FROM policy_setting AS s
    INNER JOIN period AS p ON s.taken_utc < p.to_utc
    GROUP BY s.system, s.stack
),

policy_change AS (
    SELECT
        s.system,
        s.object || ': ' || s.parameter || ' ' || s.value AS value,
        if(any_value(s.taken_utc) = any_value(p.earlier_utc), 'earlier', 'later') AS period
    FROM policy_setting AS s
    INNER JOIN policy_of_period AS p
        ON
            s.system = p.system
            AND s.stack IS NOT DISTINCT FROM p.stack
            AND (s.taken_utc = p.earlier_utc OR s.taken_utc = p.later_utc)
    WHERE p.earlier_utc < p.later_utc
    GROUP BY s.system, s.stack, s.object, s.parameter, s.value
    HAVING count(DISTINCT s.taken_utc) = 1
),

compared AS (
    SELECT * FROM in_period
    UNION ALL BY NAME
    SELECT
        'AT-TLS policy' AS subject,
        value,
        system,
        1 AS amount,
        period
    FROM policy_change
    UNION ALL BY NAME
    SELECT
        'unknown AT-TLS policy' AS subject,
        'all' AS value,
        system,
        1 AS amount,
        'later' AS period
    FROM policy_of_period
    WHERE earlier_utc IS NULL
)

SELECT
    c.subject::VARCHAR AS subject,
    c.value::VARCHAR AS value,
    c.system::VARCHAR AS system,
    c.job_name::VARCHAR AS job_name,
    c.server_port::BIGINT AS server_port,
    sum(if(c.period = 'earlier', c.amount, 0))::BIGINT AS earlier,
    sum(if(c.period = 'later', c.amount, 0))::BIGINT AS later,
    any_value(c.earlier_hours)::BIGINT AS earlier_hours,
    any_value(c.later_hours)::BIGINT AS later_hours
FROM compared AS c
GROUP BY c.subject, c.value, c.system, c.job_name, c.server_port
