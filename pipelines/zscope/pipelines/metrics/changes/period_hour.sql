-- An hour of one of the two periods, and whether its records count for a comparison.
--
-- An hour counts if the records are complete in it, also without a connection. Connections are those of the source
-- that most connections of the system outside of benchmark runs come from, which can be zERT summaries. Handshakes
-- are those of zERT details, the use of TLS is that of the source of the price. Where the coverage is not known, the
-- hours in which the system has a connection, or CPU time, count. Hours of benchmark runs do not count. A period
-- without any hour of the records has one row without an hour.

WITH connections AS MATERIALIZED (
    SELECT
        system,
        hour_utc,
        reported_by,
        sum(connections) AS connections
    FROM tls_hour
    WHERE source IN ('each connection once', 'zERT summary') AND hour_utc IS NOT NULL
    GROUP BY system, hour_utc, reported_by
),

cpu_hour AS MATERIALIZED (
    SELECT DISTINCT
        system,
        time_bucket(INTERVAL 1 HOUR, interval_start_utc) AS hour_utc
    FROM cpu_slot
    WHERE passed_over IS NULL AND cpu_s IS NOT NULL
),

covered AS MATERIALIZED (
    SELECT
        system,
        source,
        hour_utc,
        covered_hours
    FROM coverage_hour
),

handshakes AS MATERIALIZED (
    SELECT DISTINCT
        system,
        hour_utc
    FROM handshake_hour
),

recorded AS MATERIALIZED (
    SELECT
        c.system,
        'connections' AS counted,
        c.reported_by AS source
    FROM connections AS c
    LEFT JOIN left_out_hour AS l ON c.system = l.system AND c.hour_utc = l.hour_utc
    GROUP BY c.system, c.reported_by
    -- Runs can have many more connections than production.
    QUALIFY
        row_number() OVER (
            PARTITION BY c.system
            ORDER BY sum(c.connections) FILTER (l.hour_utc IS NULL) DESC NULLS LAST, c.reported_by
        ) = 1
    UNION ALL
    SELECT DISTINCT
        system,
        'handshakes',
        'zERT detail'
    FROM handshakes
    UNION ALL
    SELECT
        system,
        'use of TLS',
        handshake_source
    FROM handshake_cost
    UNION ALL
    SELECT
        h.system,
        'CPU time',
        arg_max(coalesce(c.source, 'not known'), (c.covered_hours, c.source)) AS source
    FROM (
        SELECT DISTINCT system FROM cpu_hour
    ) AS h
    LEFT JOIN (
        SELECT
            system,
            source,
            sum(covered_hours) AS covered_hours
        FROM covered
        WHERE source IN ('70', 'RMF')
        GROUP BY system, source
    ) AS c ON h.system = c.system
    GROUP BY h.system
),

known AS MATERIALIZED (
    SELECT
        r.system,
        r.counted,
        c.hour_utc,
        100 * c.covered_hours >= least_covered_pct() AS is_complete
    FROM recorded AS r
    INNER JOIN covered AS c
        ON
            r.system = c.system
            AND CASE r.source
                WHEN 'zERT detail' THEN '119-11'
                WHEN 'zERT summary' THEN '119-12'
                WHEN 'AT-TLS' THEN '119-1/2'
                ELSE r.source
            END = c.source
),

-- Handshakes of connections that are still open show no complete hour.
seen AS (
    SELECT
        system,
        'connections' AS counted,
        hour_utc,
        true AS is_complete
    FROM connections
    UNION
    SELECT system, unnest(['handshakes', 'use of TLS']), hour_utc, true FROM connections
    UNION
    SELECT h.system, 'handshakes', h.hour_utc, false
    FROM handshakes AS h
    ANTI JOIN connections AS c ON h.system = c.system AND h.hour_utc = c.hour_utc
    UNION
    SELECT system, 'CPU time', hour_utc, true FROM cpu_hour
),

hours AS (
    SELECT * FROM known
    UNION ALL BY NAME
    SELECT s.* FROM seen AS s ANTI JOIN known AS k ON s.system = k.system AND s.counted = k.counted
)

SELECT
    r.system::VARCHAR AS system,
    r.counted::VARCHAR AS counted,
    r.source::VARCHAR AS source,
    p.period::VARCHAR AS period,
    h.hour_utc::TIMESTAMPTZ AS hour_utc,
    ((r.system, r.counted) IN (SELECT (k.system, k.counted) FROM known AS k))::BOOLEAN AS is_known,
    coalesce(h.is_complete AND l.system IS NULL, false)::BOOLEAN AS is_counted
FROM recorded AS r
INNER JOIN compared_period AS p ON p.from_utc < p.to_utc
LEFT JOIN hours AS h
    ON r.system = h.system AND r.counted = h.counted AND h.hour_utc >= p.from_utc AND h.hour_utc < p.to_utc
LEFT JOIN left_out_hour AS l ON h.system = l.system AND h.hour_utc = l.hour_utc
