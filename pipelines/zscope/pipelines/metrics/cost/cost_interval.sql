-- Handshakes, other connections, megabytes and CPU time of a system in one interval, for the estimate of costs.
--
-- From zERT connection detail, these are the CPU intervals that it covers. From zERT summaries, these are their
-- intervals, with the CPU time of the CPU intervals in them; the handshakes are those of all kinds. A system has
-- intervals of one of the two: of summaries, if those cover more than twice the time that detail covers.
--
-- Intervals between the first and the last record of that source which its data do not cover have CPU time, but no
-- handshakes, and hours whose SMF 70 intervals are lost have neither: they show how much of the time is missing.
--
-- Connections without TLS, their megabytes and UDP datagrams are work of the same address spaces, so the estimate has
-- to know them. Datagrams are those of the statistics of the TCP/IP stacks, apportioned by time; an interval of which a
-- stack's statistics cover less than 98 % has none.
--
-- A benchmark run has other costs, as it varies the configuration on a system that does nothing else. So the
-- intervals of runs are left out, with fifteen minutes before and after. Gaps are not filled.

WITH slot AS (
    SELECT
        s.system,
        s.interval_start_utc,
        s.interval_end_utc,
        c.interval_start_local,
        s.interval_ms,
        s.cpu_s,
        c.lpar_busy_pct,
        t.tls_spaces_cpu_s,
        t.stack_cpu_s,
        t.tls_spaces_ziip_s,
        t.tls_classes_cpu_s
    FROM cpu_slot AS s
    INNER JOIN (
        SELECT
            system,
            interval_start_utc,
            interval_ms,
            min(interval_start_local) AS interval_start_local,
            max(lpar_busy_pct) AS lpar_busy_pct
        FROM cpu_interval
        WHERE interval_start_local IS NOT NULL
        GROUP BY ALL
    ) AS c
        ON
            s.system = c.system
            AND s.interval_start_utc = c.interval_start_utc
            AND s.interval_ms = c.interval_ms
    LEFT JOIN tls_space_interval AS t ON s.system = t.system AND s.interval_start_utc = t.interval_start_utc
    WHERE s.passed_over IS NULL AND s.cpu_s IS NOT NULL AND s.interval_ms > 0
),

detail AS (
    SELECT
        s.*,
        'zERT detail' AS handshake_source,
        i.full_handshakes,
        i.resumed_handshakes,
        i.full_handshakes + i.resumed_handshakes AS handshakes,
        i.tls_bytes / 1e6 AS tls_mb,
        i.plain_connections,
        (i.in_bytes + i.out_bytes - i.tls_bytes) / 1e6 AS plain_mb
    FROM slot AS s
    INNER JOIN handshake_interval AS i ON s.system = i.system AND s.interval_start_utc = i.interval_start_utc
),

-- An hour without any CPU interval, in a file that has intervals of other hours.
slot_or_gap AS (
    SELECT * FROM slot
    UNION ALL BY NAME
    SELECT
        c.system,
        c.hour_utc AS interval_start_utc,
        c.hour_utc + INTERVAL 1 HOUR AS interval_end_utc,
        c.hour_local AS interval_start_local,
        3600000 AS interval_ms
    FROM coverage_hour AS c
    ANTI JOIN (
        SELECT
            system,
            unnest([
                time_bucket(INTERVAL 1 HOUR, interval_start_utc),
                time_bucket(INTERVAL 1 HOUR, interval_end_utc - INTERVAL 1 SECOND)
            ]) AS hour_utc
        FROM slot
    ) AS s ON c.system = s.system AND c.hour_utc = s.hour_utc
    WHERE c.source = '70' AND c.state = 'lost'
),

watch AS (
    SELECT
        system,
        min(first_utc) AS first_utc,
        max(last_utc) AS last_utc
    FROM zert_written
    GROUP BY system
),

detail_gap AS (
    SELECT
        s.*,
        'zERT detail' AS handshake_source
    FROM slot_or_gap AS s
    INNER JOIN watch AS w
        ON s.system = w.system AND s.interval_start_utc >= w.first_utc AND s.interval_end_utc <= w.last_utc
    ANTI JOIN handshake_interval AS i ON s.system = i.system AND s.interval_start_utc = i.interval_start_utc
),

summary AS (
    SELECT
        s.system,
        y.interval_start_utc,
        y.interval_end_utc,
        min(s.interval_start_local) AS interval_start_local,
        sum(s.interval_ms) AS interval_ms,
        sum(s.cpu_s) AS cpu_s,
        sum(s.lpar_busy_pct * s.interval_ms) / sum(s.interval_ms) AS lpar_busy_pct,
        if(count(s.tls_spaces_cpu_s) = count(*), sum(s.tls_spaces_cpu_s), NULL) AS tls_spaces_cpu_s,
        if(count(s.stack_cpu_s) = count(*), sum(s.stack_cpu_s), NULL) AS stack_cpu_s,
        if(count(s.tls_spaces_ziip_s) = count(*), sum(s.tls_spaces_ziip_s), NULL) AS tls_spaces_ziip_s,
        if(count(s.tls_classes_cpu_s) = count(*), sum(s.tls_classes_cpu_s), NULL) AS tls_classes_cpu_s,
        'zERT summary' AS handshake_source,
        NULL AS full_handshakes,
        NULL AS resumed_handshakes,
        any_value(y.handshakes) AS handshakes,
        any_value(y.tls_mb) AS tls_mb,
        any_value(y.plain_connections) AS plain_connections,
        any_value(y.plain_mb) AS plain_mb
    FROM slot AS s
    ASOF JOIN (
        -- The interval of a summary whose stacks differ is not known to be that of the whole system.
        SELECT
            system,
            interval_start_utc,
            interval_end_utc,
            sum(handshakes) AS handshakes,
            sum(tls_mb) AS tls_mb,
            sum(plain_connections) AS plain_connections,
            sum(plain_mb) AS plain_mb
        FROM summary_interval
        GROUP BY system, interval_start_utc, interval_end_utc
    ) AS y ON s.system = y.system AND s.interval_start_utc + INTERVAL 5 SECOND >= y.interval_start_utc
    WHERE s.interval_end_utc <= y.interval_end_utc + INTERVAL 5 SECOND
    GROUP BY s.system, y.interval_start_utc, y.interval_end_utc
    HAVING sum(s.interval_ms) >= 0.98 * epoch_ms(y.interval_end_utc - y.interval_start_utc)
),

summary_gap AS (
    SELECT
        s.*,
        'zERT summary' AS handshake_source
    FROM slot_or_gap AS s
    INNER JOIN (
        SELECT
            system,
            min(interval_start_utc) AS first_utc,
            max(interval_end_utc) AS last_utc
        FROM summary_interval
        GROUP BY system
    ) AS w ON s.system = w.system AND s.interval_start_utc >= w.first_utc AND s.interval_end_utc <= w.last_utc
    ASOF LEFT JOIN summary AS y ON s.system = y.system AND s.interval_start_utc + INTERVAL 5 SECOND >= y.interval_start_utc
    WHERE y.system IS NULL OR s.interval_end_utc > y.interval_end_utc + INTERVAL 5 SECOND
),

preferred AS (
    SELECT
        system,
        if(
            sum(interval_ms) FILTER (WHERE handshake_source = 'zERT summary')
            > 2 * coalesce(sum(interval_ms) FILTER (WHERE handshake_source = 'zERT detail'), 0),
            'zERT summary',
            'zERT detail'
        ) AS handshake_source
    FROM (
        SELECT system, handshake_source, interval_ms FROM detail
        UNION ALL
        SELECT system, handshake_source, interval_ms FROM summary
        UNION ALL
        -- A system without any complete interval has rows as well: they tell why it has no price.
        SELECT system, 'none' AS handshake_source, interval_ms FROM detail_gap
        UNION ALL
        SELECT system, 'none' AS handshake_source, interval_ms FROM summary_gap
    )
    GROUP BY system
),

chosen AS MATERIALIZED (
    SELECT i.*
    FROM (
        SELECT * FROM detail
        UNION ALL BY NAME
        SELECT * FROM summary
        UNION ALL BY NAME
        SELECT * FROM detail_gap
        UNION ALL BY NAME
        SELECT * FROM summary_gap
    ) AS i
    INNER JOIN preferred AS p ON i.system = p.system AND i.handshake_source = p.handshake_source
),

chosen_hour AS (
    SELECT
        system,
        interval_start_utc,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us,
        unnest(hours_of(epoch_us(interval_start_utc), epoch_us(interval_end_utc))) AS hour_no
    FROM chosen
    WHERE handshakes IS NOT NULL
),

of_stack AS (
    SELECT
        c.system,
        c.interval_start_utc,
        c.until_us - c.begin_us AS length_us,
        sum(overlap_us(d.from_us, d.to_us, c.begin_us, c.until_us)) AS common_us,
        sum(d.datagrams * overlap_us(d.from_us, d.to_us, c.begin_us, c.until_us) / (d.to_us - d.from_us)) AS datagrams
    FROM chosen_hour AS c
    INNER JOIN datagram_hour AS d ON c.system = d.system AND c.hour_no = d.hour_no
    WHERE d.from_us < c.until_us AND d.to_us > c.begin_us
    GROUP BY c.system, c.interval_start_utc, c.begin_us, c.until_us, d.stack
),

stacks AS (
    SELECT
        system,
        interval_start_utc,
        sum(datagrams) AS datagrams
    FROM of_stack
    GROUP BY system, interval_start_utc
    HAVING bool_and(common_us >= 0.98 * length_us)
)

SELECT
    i.system::VARCHAR AS system,
    i.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    i.interval_start_local::TIMESTAMP AS start_local,
    (i.interval_ms / 1000)::DOUBLE AS seconds,
    i.cpu_s::DOUBLE AS cpu_s,
    i.handshake_source::VARCHAR AS handshake_source,
    i.full_handshakes::DOUBLE AS full_handshakes,
    i.resumed_handshakes::DOUBLE AS resumed_handshakes,
    i.handshakes::DOUBLE AS handshakes,
    i.tls_mb::DOUBLE AS tls_mb,
    i.plain_connections::DOUBLE AS plain_connections,
    i.plain_mb::DOUBLE AS plain_mb,
    d.datagrams::DOUBLE AS datagrams,
    i.tls_spaces_cpu_s::DOUBLE AS tls_spaces_cpu_s,
    i.stack_cpu_s::DOUBLE AS stack_cpu_s,
    i.tls_spaces_ziip_s::DOUBLE AS tls_spaces_ziip_s,
    i.tls_classes_cpu_s::DOUBLE AS tls_classes_cpu_s,
    (i.lpar_busy_pct / 100)::DOUBLE AS busy_share
FROM chosen AS i
LEFT JOIN stacks AS d ON i.system = d.system AND i.interval_start_utc = d.interval_start_utc
ANTI JOIN run AS r
    ON
        i.system = r.system
        AND i.interval_start_utc < r.to_utc + INTERVAL 15 MINUTE
        AND i.interval_end_utc > r.from_utc - INTERVAL 15 MINUTE
