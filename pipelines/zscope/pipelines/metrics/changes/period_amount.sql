-- How much of a quantity an hour of one of the two periods has, and what it is per: an hour, handshakes or connections.
--
-- The place of an hour in its period is counted on the clock of the system, from midnight of the first day, so that hours
-- of both periods can be compared one with the other. Where both periods are as long, an hour is only used if the same hour
-- of the other period counts as well: otherwise a lost night would look like more work.

WITH unit_cost AS MATERIALIZED (
    SELECT * FROM tls_unit_cost
),

handshake AS MATERIALIZED (
    SELECT
        system,
        hour_utc,
        kind,
        handshakes
    FROM handshake_hour
    WHERE kind IN ('full', 'resumed')
),

counted_hour AS MATERIALIZED (
    SELECT * FROM period_hour
),

tls AS MATERIALIZED (
    SELECT
        system,
        hour_utc,
        source,
        is_tls,
        protocol,
        connections,
        in_bytes,
        out_bytes
    FROM tls_hour
),

use_of_tls AS MATERIALIZED (
    SELECT
        h.system,
        h.hour_utc,
        sum(h.handshakes) AS handshakes,
        sum(h.handshakes) FILTER (WHERE h.kind = 'full') AS full_handshakes,
        NULL AS megabytes
    FROM handshake AS h
    INNER JOIN unit_cost AS u ON h.system = u.system AND u.handshake_source = 'zERT detail'
    GROUP BY h.system, h.hour_utc
    UNION ALL BY NAME
    SELECT
        t.system,
        t.hour_utc,
        sum(t.connections) FILTER (WHERE u.handshake_source = 'zERT summary') AS handshakes,
        sum(coalesce(t.in_bytes, 0) + coalesce(t.out_bytes, 0)) / 1e6 AS megabytes
    FROM tls AS t
    INNER JOIN unit_cost AS u ON t.system = u.system AND t.source = u.handshake_source
    WHERE t.is_tls
    GROUP BY t.system, t.hour_utc
),

connections AS MATERIALIZED (
    SELECT
        t.system,
        t.hour_utc,
        t.connections,
        t.in_bytes + t.out_bytes AS bytes,
        if(t.is_tls AND is_known_version_text(t.protocol), t.connections, 0) AS known_versions,
        if(t.is_tls AND t.protocol = 'TLSv1.3', t.connections, 0) AS tls13,
        if(t.is_tls AND is_old_version_text(t.protocol), t.connections, 0) AS old_versions
    FROM tls AS t
    INNER JOIN (SELECT DISTINCT system, source FROM counted_hour WHERE counted = 'connections') AS c
        ON
            t.system = c.system
            AND t.source = if(c.source = 'zERT summary', c.source, 'each connection once')
),

amount AS (
    SELECT system, hour_utc, 'connections' AS quantity, connections AS amount, NULL AS per FROM connections
    UNION ALL
    SELECT system, hour_utc, 'bytes', bytes, NULL FROM connections
    UNION ALL
    SELECT system, hour_utc, 'TLSv1.3', tls13, known_versions FROM connections
    UNION ALL
    SELECT system, hour_utc, 'old versions', old_versions, known_versions FROM connections
    UNION ALL
    SELECT system, hour_utc, 'handshakes', handshakes, NULL FROM handshake
    UNION ALL
    SELECT system, hour_utc, 'resumed handshakes', if(kind = 'resumed', handshakes, 0), handshakes FROM handshake
    UNION ALL
    SELECT system, hour_utc, 'TLS: handshakes', handshakes, NULL FROM use_of_tls
    UNION ALL
    SELECT system, hour_utc, 'TLS: full handshakes', full_handshakes, NULL FROM use_of_tls
    UNION ALL
    SELECT system, hour_utc, 'TLS: megabytes', megabytes, NULL FROM use_of_tls
    UNION ALL
    -- At the upper ends of the costs.
    SELECT
        t.system,
        t.hour_utc,
        'TLS cost',
        coalesce(t.handshakes * (
            u.high_handshake_s
            - coalesce(u.high_difference_s * u.full_share, 0)
            - coalesce(u.high_megabyte_s, 0) * u.megabytes_per_handshake
        ), 0)
        + coalesce(t.full_handshakes * u.high_difference_s, 0)
        + coalesce(t.megabytes * u.high_megabyte_s, 0),
        NULL
    FROM use_of_tls AS t
    INNER JOIN unit_cost AS u ON t.system = u.system AND u.high_handshake_s IS NOT NULL
    UNION ALL
    SELECT
        system, time_bucket(INTERVAL 1 HOUR, interval_start_utc), 'CPU time', cpu_s, interval_ms / 3600000
    FROM cpu_slot
    WHERE passed_over IS NULL AND cpu_s IS NOT NULL AND interval_ms > 0
),

of_hour AS (
    SELECT
        system,
        hour_utc,
        quantity,
        sum(amount) AS amount,
        sum(per) AS per
    FROM amount
    GROUP BY system, hour_utc, quantity
),

-- What is counted in an hour without it is 0; shares and CPU time are not known in it.
quantity AS (
    FROM (VALUES
        ('CPU time', 'CPU time', false),
        ('connections', 'connections', true),
        ('connections', 'bytes', true),
        ('connections', 'TLSv1.3', false),
        ('connections', 'old versions', false),
        ('handshakes', 'handshakes', true),
        ('handshakes', 'resumed handshakes', false),
        ('use of TLS', 'TLS cost', true),
        ('use of TLS', 'TLS: handshakes', true),
        ('use of TLS', 'TLS: full handshakes', true),
        ('use of TLS', 'TLS: megabytes', true)
    ) AS of_hours (counted, quantity, is_hourly)
),

local_hour AS (
    SELECT
        h.*,
        (h.hour_utc AT TIME ZONE 'UTC') + to_seconds(coalesce(o.offset_s, 0)) AS hour_local
    FROM counted_hour AS h
    ASOF LEFT JOIN clock_offset AS o ON h.system = o.system AND h.hour_utc >= o.from_utc
    WHERE h.is_counted
),

begin AS (
    SELECT
        s.system,
        s.period,
        ((s.from_utc AT TIME ZONE 'UTC') + to_seconds(coalesce(o.offset_s, 0)))::DATE::TIMESTAMP AS begin_local,
        min(s.days) OVER of_system = max(s.days) OVER of_system AS is_paired,
        min(s.days) OVER of_system >= 5 AS in_days
    FROM (
        SELECT
            h.system,
            p.*,
            round(epoch(p.to_utc - p.from_utc) / 86400) AS days
        FROM (SELECT DISTINCT system FROM counted_hour) AS h
        CROSS JOIN compared_period AS p
    ) AS s
    ASOF LEFT JOIN clock_offset AS o ON s.system = o.system AND s.from_utc >= o.from_utc
    WINDOW of_system AS (PARTITION BY s.system)
),

placed AS (
    SELECT
        h.*,
        b.is_paired,
        b.in_days,
        (epoch(h.hour_local - b.begin_local) // 3600)::BIGINT AS place
    FROM local_hour AS h
    INNER JOIN begin AS b ON h.system = b.system AND h.period = b.period
)

SELECT
    h.system::VARCHAR AS system,
    h.counted::VARCHAR AS counted,
    q.quantity::VARCHAR AS quantity,
    h.period::VARCHAR AS period,
    h.hour_utc::TIMESTAMPTZ AS hour_utc,
    h.is_paired::BOOLEAN AS is_paired,
    h.in_days::BOOLEAN AS in_days,
    if(h.in_days, h.place // 24, h.place // 4)::BIGINT AS block,
    coalesce(a.amount, 0)::DOUBLE AS amount,
    if(q.is_hourly, 1, coalesce(a.per, 0))::DOUBLE AS per
FROM placed AS h
INNER JOIN quantity AS q ON h.counted = q.counted
LEFT JOIN of_hour AS a ON h.system = a.system AND h.hour_utc = a.hour_utc AND q.quantity = a.quantity
QUALIFY
    NOT h.is_paired
    OR count(DISTINCT h.period) OVER (PARTITION BY h.system, q.quantity, h.place) = 2
