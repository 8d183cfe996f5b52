-- CPU time of the TCP/IP stack and of the listener of an experiment in one interval of the stack, with what the test
-- connections and the real ones did in it.
--
-- Intervals are those of SMF 30 of the stack, from seven days before the experiment to seven days after it.
-- Connections count when they begin, handshakes at their moment, and bytes are distributed evenly over the life of
-- a connection. Connections are cut at full hours and joined by the hour, which is faster than a comparison of
-- moments.

WITH test AS (
    SELECT
        system,
        epoch_us(from_utc) AS from_us,
        epoch_us(to_utc) AS to_us,
        tag_values(tags, 'arm') AS arm,
        try_cast(tag_values(tags, 'tls_port') AS BIGINT) AS test_port,
        try_cast(tag_values(tags, 'plain_port') AS BIGINT) AS plain_port,
        try_cast(tag_values(tags, 'full') AS BIGINT) AS client_full,
        try_cast(tag_values(tags, 'resumed') AS BIGINT) AS client_resumed,
        transactions AS client_connections
    FROM run
    WHERE role = 'tls-test' AND test_port IS NOT NULL
),

experiment AS (
    SELECT
        system,
        test_port,
        list_distinct(flatten(list([test_port, plain_port]))) AS ports,
        min(from_us) - 7 * 86400000000 AS from_us,
        max(to_us) + 7 * 86400000000 AS to_us
    FROM test
    GROUP BY system, test_port
),

-- Connections to the listener of another experiment of the system are not real ones either.
system_ports AS (
    SELECT
        system,
        flatten(list(ports)) AS ports
    FROM experiment
    GROUP BY system
),

connection AS (
    SELECT
        c.system,
        e.test_port,
        c.stack,
        c.job_name,
        c.is_tls,
        CASE
            WHEN list_contains(e.ports, c.local_port) THEN 'test'
            WHEN NOT list_contains(p.ports, c.local_port) THEN 'real'
        END AS origin,
        epoch_us(c.start_utc) AS start_us,
        greatest(epoch_us(c.end_utc), epoch_us(c.start_utc) + 1) AS end_us,
        (coalesce(c.in_bytes, 0) + coalesce(c.out_bytes, 0)) / 1e6 AS mb
    FROM connection_detail AS c
    INNER JOIN experiment AS e
        ON
            c.system = e.system
            AND overlap_us(epoch_us(c.start_utc), epoch_us(c.end_utc), e.from_us, e.to_us) >= 0
    INNER JOIN system_ports AS p ON c.system = p.system
    WHERE c.start_utc <= c.end_utc
),

event AS (
    SELECT
        h.system,
        e.test_port,
        epoch_us(h.event_utc) AS start_us,
        epoch_us(h.event_utc) + 1 AS end_us,
        CASE
            WHEN list_contains(e.ports, h.local_port) THEN 'test'
            WHEN NOT list_contains(p.ports, h.local_port) THEN 'real'
        END || ' ' || h.kind AS what,
        1 AS amount
    FROM handshake AS h
    INNER JOIN experiment AS e
        ON h.system = e.system AND epoch_us(h.event_utc) BETWEEN e.from_us AND e.to_us
    INNER JOIN system_ports AS p ON h.system = p.system
    UNION ALL
    SELECT
        system,
        test_port,
        start_us,
        start_us + 1 AS end_us,
        origin || ' plain' AS what,
        1 AS amount
    FROM connection
    WHERE NOT is_tls
    UNION ALL
    SELECT
        system,
        test_port,
        start_us,
        end_us,
        origin || if(is_tls, ' TLS MB', ' plain MB') AS what,
        mb AS amount
    FROM connection
),

space_role AS (
    SELECT DISTINCT
        system,
        test_port,
        stack AS job_name,
        'stack' AS role
    FROM connection
    WHERE stack IS NOT NULL
    UNION
    SELECT DISTINCT
        system,
        test_port,
        job_name,
        'listener' AS role
    FROM connection
    WHERE origin = 'test' AND job_name IS NOT NULL
),

space AS (
    SELECT
        a.system,
        r.test_port,
        r.role,
        epoch_us(a.interval_start_utc) AS start_us,
        epoch_us(a.interval_end_utc) AS end_us,
        a.cp_s
    FROM address_space_interval AS a
    INNER JOIN space_role AS r ON a.system = r.system AND a.job_name = r.job_name
    INNER JOIN experiment AS e ON r.system = e.system AND r.test_port = e.test_port
    WHERE
        a.basis <> 'no record before'
        AND a.cp_s IS NOT NULL
        -- A longer one says little about the arms in it.
        AND a.interval_end_utc <= a.interval_start_utc + INTERVAL 1 HOUR
        AND epoch_us(a.interval_start_utc) >= e.from_us
        AND epoch_us(a.interval_end_utc) <= e.to_us
),

-- Several stacks of a system end their intervals within seconds of each other.
slot AS (
    SELECT
        system,
        test_port,
        min(start_us) AS start_us,
        max(end_us) AS end_us
    FROM space
    WHERE role = 'stack'
    GROUP BY system, test_port, round(start_us / 60000000)
),

slot_hour AS (
    SELECT
        system,
        test_port,
        start_us,
        end_us,
        unnest(hours_of(start_us, end_us)) AS hour_no
    FROM slot
),

cpu AS (
    SELECT
        s.system,
        s.test_port,
        s.start_us,
        sum(p.cp_s * p.common_us / (p.end_us - p.start_us)) FILTER (WHERE p.role = 'stack') AS stack_cpu_s,
        sum(p.cp_s * p.common_us / (p.end_us - p.start_us)) FILTER (WHERE p.role = 'listener') AS listener_cpu_s
    FROM slot AS s
    INNER JOIN (
        SELECT
            t.system,
            t.test_port,
            t.start_us AS slot_us,
            a.role,
            a.cp_s,
            a.start_us,
            a.end_us,
            overlap_us(
                greatest(a.start_us, t.hour_no * 3600000000),
                least(a.end_us, (t.hour_no + 1) * 3600000000),
                t.start_us,
                t.end_us
            ) AS common_us
        FROM (SELECT *, unnest(hours_of(start_us, end_us)) AS hour_no FROM space) AS a
        INNER JOIN slot_hour AS t
            ON a.system = t.system AND a.test_port = t.test_port AND a.hour_no = t.hour_no
    ) AS p
        ON s.system = p.system AND s.test_port = p.test_port AND s.start_us = p.slot_us AND p.common_us > 0
    GROUP BY s.system, s.test_port, s.start_us
),

counts AS (
    SELECT
        s.system,
        s.test_port,
        s.start_us,
        sum(v.part) FILTER (WHERE v.what = 'test plain') AS test_plain,
        sum(v.part) FILTER (WHERE v.what = 'test full') AS test_full,
        sum(v.part) FILTER (WHERE v.what = 'test resumed') AS test_resumed,
        sum(v.part) FILTER (WHERE v.what = 'test TLS MB') AS test_tls_mb,
        sum(v.part) FILTER (WHERE v.what = 'test plain MB') AS test_plain_mb,
        sum(v.part) FILTER (WHERE v.what = 'real full') AS real_full,
        sum(v.part) FILTER (WHERE v.what = 'real resumed') AS real_resumed,
        sum(v.part) FILTER (WHERE v.what = 'real TLS MB') AS real_tls_mb,
        sum(v.part) FILTER (WHERE v.what = 'real plain') AS real_plain,
        sum(v.part) FILTER (WHERE v.what = 'real plain MB') AS real_plain_mb
    FROM slot AS s
    INNER JOIN (
        SELECT
            t.system,
            t.test_port,
            t.start_us,
            e.what,
            e.amount * greatest(0, overlap_us(
                greatest(e.start_us, t.hour_no * 3600000000),
                least(e.end_us, (t.hour_no + 1) * 3600000000),
                t.start_us,
                t.end_us
            )) / (e.end_us - e.start_us) AS part
        FROM (SELECT *, unnest(hours_of(start_us, end_us)) AS hour_no FROM event WHERE what IS NOT NULL) AS e
        INNER JOIN slot_hour AS t
            ON e.system = t.system AND e.test_port = t.test_port AND e.hour_no = t.hour_no
    ) AS v ON s.system = v.system AND s.test_port = v.test_port AND s.start_us = v.start_us
    GROUP BY s.system, s.test_port, s.start_us
),

-- What the client logged for the interval of which its arm has more than half.
logged AS (
    SELECT
        s.system,
        s.test_port,
        s.start_us,
        any_value(t.arm) AS arm,
        sum(t.client_connections) AS client_connections,
        sum(t.client_full) AS client_full,
        sum(t.client_resumed) AS client_resumed
    FROM slot AS s
    INNER JOIN test AS t
        ON
            s.system = t.system
            AND s.test_port = t.test_port
            AND 2 * overlap_us(t.from_us, t.to_us, s.start_us, s.end_us) > s.end_us - s.start_us
    GROUP BY s.system, s.test_port, s.start_us
)

SELECT
    s.system::VARCHAR AS system,
    s.test_port::BIGINT AS test_port,
    make_timestamptz(s.start_us)::TIMESTAMPTZ AS interval_start_utc,
    ((s.end_us - s.start_us) / 1e6)::DOUBLE AS seconds,
    l.arm::VARCHAR AS arm,
    l.client_connections::BIGINT AS client_connections,
    l.client_full::BIGINT AS client_full,
    l.client_resumed::BIGINT AS client_resumed,
    c.stack_cpu_s::DOUBLE AS stack_cpu_s,
    c.listener_cpu_s::DOUBLE AS listener_cpu_s,
    coalesce(n.test_plain, 0)::DOUBLE AS test_plain,
    coalesce(n.test_full, 0)::DOUBLE AS test_full,
    coalesce(n.test_resumed, 0)::DOUBLE AS test_resumed,
    coalesce(n.test_tls_mb, 0)::DOUBLE AS test_tls_mb,
    coalesce(n.test_plain_mb, 0)::DOUBLE AS test_plain_mb,
    coalesce(n.real_full, 0)::DOUBLE AS real_full,
    coalesce(n.real_resumed, 0)::DOUBLE AS real_resumed,
    coalesce(n.real_tls_mb, 0)::DOUBLE AS real_tls_mb,
    coalesce(n.real_plain, 0)::DOUBLE AS real_plain,
    coalesce(n.real_plain_mb, 0)::DOUBLE AS real_plain_mb
FROM slot AS s
INNER JOIN cpu AS c ON s.system = c.system AND s.test_port = c.test_port AND s.start_us = c.start_us
LEFT JOIN counts AS n ON s.system = n.system AND s.test_port = n.test_port AND s.start_us = n.start_us
LEFT JOIN logged AS l ON s.system = l.system AND s.test_port = l.test_port AND s.start_us = l.start_us
ORDER BY s.system, s.test_port, s.start_us
