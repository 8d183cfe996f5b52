-- Number of connections and handshakes of each kind in two periods, for each system, job and port.
--
-- Without parameters, the later period is the last seven days of the data, and the earlier one is as long and
-- ends where the later one begins. Periods can differ in length and in their hours with data, so rates are per
-- hour.
--
-- Only hours with complete records count for a rate, those without connections too. The records are those of the source
-- that most connections of the system come from, and zERT details for handshakes. Where their coverage is not known, the
-- hours in which the system has a connection count. A system of which less than half of a period is complete has no rate.
--
-- The policy of a period is that of the last report of pasearch before its end. Only settings that differ are
-- shown, if both periods have a report.

WITH connections AS (
    SELECT
        t.reported_by,
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

bounds AS (
    SELECT
        e.first_utc AS earlier_from_utc,
        e.last_utc AS earlier_to_utc,
        l.from_utc AS later_from_utc,
        l.to_utc AS later_to_utc
    FROM earlier AS e
    CROSS JOIN later AS l
),

counted AS (
    SELECT
        system, hour_utc, job_name, server_port, false AS of_handshakes, 'connections' AS subject, 'all' AS value,
        connections AS amount
    FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, false, 'bytes', 'all', bytes FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, false, 'protocol', protocol, connections FROM connections
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, false, 'cipher', cipher_name, connections
    FROM connections
    WHERE cipher_name IS NOT NULL
    UNION ALL
    SELECT system, hour_utc, job_name, server_port, true, 'handshake', kind, handshakes FROM handshake_hour
),

recorded AS (
    SELECT
        system,
        false AS of_handshakes,
        reported_by AS source
    FROM connections
    GROUP BY system, reported_by
    QUALIFY row_number() OVER (PARTITION BY system ORDER BY sum(connections) DESC, reported_by) = 1
    UNION ALL
    SELECT DISTINCT
        system,
        true AS of_handshakes,
        'zERT detail' AS source
    FROM handshake_hour
),

-- The hours of systems whose coverage is known.
known_hour AS MATERIALIZED (
    SELECT
        r.system,
        r.of_handshakes,
        c.hour_utc,
        100 * c.covered_hours >= least_covered_pct() AS is_complete
    FROM recorded AS r
    INNER JOIN coverage_hour AS c
        ON
            r.system = c.system
            AND CASE r.source WHEN 'zERT detail' THEN '119-11' WHEN 'AT-TLS' THEN '119-1/2' END = c.source
),

covered_period AS (
    SELECT
        h.system,
        h.of_handshakes,
        count(*) FILTER (h.is_complete AND p.period = 'earlier') AS earlier_hours,
        count(*) FILTER (h.is_complete AND p.period = 'later') AS later_hours
    FROM known_hour AS h
    LEFT JOIN period AS p ON h.hour_utc >= p.from_utc AND h.hour_utc < p.to_utc
    GROUP BY h.system, h.of_handshakes
),

period_with_connections AS (
    SELECT
        c.system,
        count(DISTINCT c.hour_utc) FILTER (p.period = 'earlier') AS earlier_hours,
        count(DISTINCT c.hour_utc) FILTER (p.period = 'later') AS later_hours
    FROM connections AS c
    INNER JOIN period AS p ON c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
    GROUP BY c.system
),

compared_system AS (
    SELECT
        r.system,
        r.of_handshakes,
        r.source,
        k.system IS NOT NULL AS is_known,
        if(is_known, k.earlier_hours, coalesce(w.earlier_hours, 0)) AS earlier_hours,
        if(is_known, k.later_hours, coalesce(w.later_hours, 0)) AS later_hours,
        100 * k.earlier_hours / nullif(l.earlier_length, 0) AS earlier_covered_pct,
        100 * k.later_hours / nullif(l.later_length, 0) AS later_covered_pct
    FROM recorded AS r
    LEFT JOIN covered_period AS k ON r.system = k.system AND r.of_handshakes = k.of_handshakes
    LEFT JOIN period_with_connections AS w ON r.system = w.system
    CROSS JOIN (
        SELECT
            max(epoch(to_utc - from_utc)) FILTER (period = 'earlier') / 3600 AS earlier_length,
            max(epoch(to_utc - from_utc)) FILTER (period = 'later') / 3600 AS later_length
        FROM period
    ) AS l
),

judged_system AS (
    SELECT
        *,
        CASE
            WHEN is_known THEN system || ': complete records of ' || nullif(concat_ws(
                ' and ',
                CASE
                    WHEN earlier_covered_pct < least_pct
                        THEN number_text(earlier_covered_pct) || ' % of the earlier period'
                END,
                CASE
                    WHEN later_covered_pct < least_pct
                        THEN number_text(later_covered_pct) || ' % of the later period'
                END
            ), '') || '; at least ' || number_text(least_pct) || ' % are needed'
            WHEN earlier_hours = 0 AND later_hours = 0 THEN 'no connections in both periods'
            WHEN earlier_hours = 0 THEN 'no connections in the earlier period'
            WHEN later_hours = 0 THEN 'no connections in the later period'
        END AS why
    FROM compared_system
    CROSS JOIN (SELECT coalesce(getvariable('least_period_pct')::DOUBLE, 50) AS least_pct)
),

in_period AS (
    SELECT
        c.*,
        p.period,
        b.earlier_from_utc,
        b.earlier_to_utc,
        b.later_from_utc,
        b.later_to_utc,
        if(h.is_complete OR NOT s.is_known, c.amount, 0) AS counted_amount,
        s.source,
        s.earlier_hours,
        s.later_hours,
        s.earlier_covered_pct,
        s.later_covered_pct,
        s.why
    FROM counted AS c
    INNER JOIN period AS p ON c.hour_utc >= p.from_utc AND c.hour_utc < p.to_utc
    CROSS JOIN bounds AS b
    LEFT JOIN judged_system AS s ON c.system = s.system AND c.of_handshakes = s.of_handshakes
    LEFT JOIN known_hour AS h
        ON c.system = h.system AND c.of_handshakes = h.of_handshakes AND c.hour_utc = h.hour_utc
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
