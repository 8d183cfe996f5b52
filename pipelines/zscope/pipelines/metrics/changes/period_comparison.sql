-- Number of connections and handshakes of each kind in two periods, for each system, job and port.
--
-- Periods can differ in length and in their hours with data, so rates are per hour, of the hours that count (period_hour). A
-- system of which less than half of a period is complete has no rate. Of the policy, only settings that differ are shown.

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
        if(h.is_counted, c.amount, 0) AS counted_amount,
        s.source,
        s.earlier_hours,
        s.later_hours,
        s.earlier_covered_pct,
        s.later_covered_pct,
        s.why
    FROM counted AS c
    INNER JOIN compared_period AS p ON c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
    LEFT JOIN period_source AS s ON c.system = s.system AND c.counted = s.counted
    LEFT JOIN period_hour AS h
        ON c.system = h.system AND c.counted = h.counted AND c.hour_utc = h.hour_utc AND p.period = h.period
),

compared AS (
    SELECT * FROM in_period
    UNION ALL BY NAME
    SELECT
        'AT-TLS policy' AS subject,
        setting || ' ' || unnest(earlier_values) AS value,
        system,
        1 AS amount,
        'earlier' AS period
    FROM policy_difference
    UNION ALL BY NAME
    SELECT
        'AT-TLS policy' AS subject,
        setting || ' ' || unnest(later_values) AS value,
        system,
        1 AS amount,
        'later' AS period
    FROM policy_difference
    UNION ALL BY NAME
    SELECT
        'unknown AT-TLS policy' AS subject,
        'all' AS value,
        system,
        1 AS amount,
        'later' AS period,
        'no report of pasearch from before the end of the earlier period' AS why
    FROM policy_difference
    WHERE setting IS NULL
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
        any_value(why) AS why
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
    CASE WHEN why IS NULL THEN later_counted / nullif(later_hours, 0) END::DOUBLE AS later_per_hour
FROM in_both
