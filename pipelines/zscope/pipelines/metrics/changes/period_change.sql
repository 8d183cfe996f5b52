-- Number of connections and handshakes of each kind in two periods, for each system, job and port.
--
-- Periods can differ in length and in their hours with data, so rates are per hour, of the hours that count (period_hour). A
-- system of which less than half of a period is complete has no rate.
--
-- The policy of a period is that of the last report of pasearch before its end. Only settings that differ are
-- shown, if both periods have a report.

WITH connections AS MATERIALIZED (
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

bounds AS (
    SELECT
        any_value(from_utc) FILTER (period = 'earlier') AS earlier_from_utc,
        any_value(to_utc) FILTER (period = 'earlier') AS earlier_to_utc,
        any_value(from_utc) FILTER (period = 'later') AS later_from_utc,
        any_value(to_utc) FILTER (period = 'later') AS later_to_utc
    FROM compared_period
),

counted AS (
    SELECT
        system, hour_utc, job_name, server_port, 'connections' AS counted, 'connections' AS subject, 'all' AS value,
        connections AS amount
    FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'connections', 'bytes', 'all', bytes FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'connections', 'protocol', protocol, connections FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'connections', 'cipher', cipher_name, connections
    FROM connections
    WHERE cipher_name IS NOT NULL
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, 'handshakes', 'handshake', kind, handshakes FROM handshake_hour
),

in_period AS (
    SELECT
        c.*,
        p.period,
        b.earlier_from_utc,
        b.earlier_to_utc,
        b.later_from_utc,
        b.later_to_utc,
        if(h.is_counted, c.amount, 0) AS counted_amount,
        s.source,
        s.earlier_hours,
        s.later_hours,
        s.earlier_covered_pct,
        s.later_covered_pct,
        s.why
    FROM counted AS c
    INNER JOIN compared_period AS p ON c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
    CROSS JOIN bounds AS b
    LEFT JOIN period_source AS s ON c.system = s.system AND c.counted = s.counted
    LEFT JOIN period_hour AS h
        ON c.system = h.system AND c.counted = h.counted AND c.hour_utc = h.hour_utc AND p.period = h.period
),

policy_of_period AS (
    SELECT
        s.system,
        s.stack,
        max(s.taken_utc) FILTER (WHERE p.period = 'earlier') AS earlier_utc,
        max(s.taken_utc) FILTER (WHERE p.period = 'later') AS later_utc
    FROM policy_setting AS s
    INNER JOIN compared_period AS p ON s.taken_utc < p.to_utc
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
        'later' AS period,
        'no report of pasearch from before the end of the earlier period' AS why
    FROM policy_of_period
    WHERE earlier_utc IS NULL
),

in_both AS (
    SELECT
        subject,
        value,
        system,
        job_name,
        server_port,
        any_value(source) AS source,
        any_value(earlier_covered_pct) AS earlier_covered_pct,
        any_value(later_covered_pct) AS later_covered_pct,
        sum(if(period = 'earlier', amount, 0)) AS earlier,
        sum(if(period = 'later', amount, 0)) AS later,
        sum(if(period = 'earlier', counted_amount, 0)) AS earlier_counted,
        sum(if(period = 'later', counted_amount, 0)) AS later_counted,
        any_value(earlier_hours) AS earlier_hours,
        any_value(later_hours) AS later_hours,
        any_value(why) AS why,
        any_value(earlier_from_utc) AS earlier_from_utc,
        any_value(earlier_to_utc) AS earlier_to_utc,
        any_value(later_from_utc) AS later_from_utc,
        any_value(later_to_utc) AS later_to_utc,
        min(hour_utc) AS first_hour_utc
    FROM compared
    GROUP BY subject, value, system, job_name, server_port
)

SELECT
    subject::VARCHAR AS subject,
    value::VARCHAR AS value,
    system::VARCHAR AS system,
    job_name::VARCHAR AS job_name,
    server_port::BIGINT AS server_port,
    source::VARCHAR AS source,
    earlier_covered_pct::DOUBLE AS earlier_covered_pct,
    later_covered_pct::DOUBLE AS later_covered_pct,
    earlier::BIGINT AS earlier,
    later::BIGINT AS later,
    earlier_hours::BIGINT AS earlier_hours,
    later_hours::BIGINT AS later_hours,
    why::VARCHAR AS why,
    CASE WHEN why IS NULL THEN earlier_counted / nullif(earlier_hours, 0) END::DOUBLE AS earlier_per_hour,
    CASE WHEN why IS NULL THEN later_counted / nullif(later_hours, 0) END::DOUBLE AS later_per_hour,
    earlier_from_utc,
    earlier_to_utc,
    later_from_utc,
    later_to_utc,
    first_hour_utc
FROM in_both
