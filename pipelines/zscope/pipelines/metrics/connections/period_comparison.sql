-- One kind of connection or handshake in two periods: how many there were in each.
--
-- Without parameters, the later period is the last seven days of the data, and the earlier one is as long and
-- ends where the later one begins. Periods can differ in length and in their hours with data, so rates are per
-- hour in which the system has a connection.

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
)

SELECT
    c.subject::VARCHAR AS subject,
    c.value::VARCHAR AS value,
    c.system::VARCHAR AS system,
    c.job_name::VARCHAR AS job_name,
    c.server_port::BIGINT AS server_port,
    sum(if(p.period = 'earlier', c.amount, 0))::BIGINT AS earlier,
    sum(if(p.period = 'later', c.amount, 0))::BIGINT AS later,
    any_value(h.earlier_hours)::BIGINT AS earlier_hours,
    any_value(h.later_hours)::BIGINT AS later_hours
FROM counted AS c
INNER JOIN period AS p ON c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
LEFT JOIN hours AS h ON c.system = h.system
GROUP BY c.subject, c.value, c.system, c.job_name, c.server_port
