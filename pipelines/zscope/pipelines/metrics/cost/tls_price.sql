-- CPU time per day that TLS costs on a system, in all and by job or port, as a range or interval with a status.
--
-- The price of a system comes from cost_estimate. Jobs and ports have shares of it: their shares of the full
-- handshakes, the resumed ones and the megabytes, weighted with the price of each kind. If full and resumed
-- handshakes are not estimated separately, all handshakes have the same price. A share is not an estimate.
--
-- The MSU of TLS are its share of the CPU time in the four hours with the most CPU time, multiplied by the
-- highest four-hour average in SMF 70 on the days of the estimate.

WITH parameters AS (
    SELECT getvariable('price_per_msu')::DOUBLE AS price_per_msu
),

by_unit AS (
    SELECT
        system,
        item AS part,
        any_value(first_local) AS first_local,
        any_value(last_local) AS last_local,
        any_value(status) FILTER (WHERE unit = 's/day') AS status,
        any_value(why) FILTER (WHERE unit = 's/day') AS why,
        any_value(value) FILTER (WHERE unit = 's/day') AS day_s,
        any_value(low) FILTER (WHERE unit = 's/day') AS low_day_s,
        any_value(high) FILTER (WHERE unit = 's/day') AS high_day_s,
        any_value(value) FILTER (WHERE unit = '% of LPAR') AS lpar_pct,
        any_value(low) FILTER (WHERE unit = '% of LPAR') AS low_lpar_pct,
        any_value(high) FILTER (WHERE unit = '% of LPAR') AS high_lpar_pct,
        any_value(value) FILTER (WHERE unit = '% of peak') AS peak_pct,
        any_value(low) FILTER (WHERE unit = '% of peak') AS low_peak_pct,
        any_value(high) FILTER (WHERE unit = '% of peak') AS high_peak_pct
    FROM cost_estimate
    WHERE unit <> 'us'
    GROUP BY system, item
),

-- The highest four-hour average of the days of the estimate.
peak AS (
    SELECT
        e.system,
        max(i.long_term_average_msu) AS peak_msu
    FROM (SELECT DISTINCT system, first_local, last_local FROM by_unit) AS e
    INNER JOIN smf70_interval AS i
        ON e.system = i.system AND i.interval_start_local BETWEEN e.first_local AND e.last_local
    GROUP BY e.system
),

-- Handshakes and megabytes of the jobs and ports in the last 92 days.
used AS (
    SELECT
        system,
        job_name,
        server_port,
        hour_utc,
        if(kind = 'full', handshakes, 0) AS full_handshakes,
        if(kind = 'resumed', handshakes, 0) AS resumed_handshakes,
        0 AS megabytes
    FROM handshake_hour
    WHERE kind IN ('full', 'resumed')
    UNION ALL
    SELECT
        system,
        job_name,
        server_port,
        hour_utc,
        0,
        0,
        (coalesce(in_bytes, 0) + coalesce(out_bytes, 0)) / 1e6
    FROM tls_hour
    WHERE source = 'zERT detail' AND is_tls
),

recent AS (
    SELECT
        system,
        job_name,
        server_port,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(megabytes) AS megabytes
    FROM (
        SELECT *
        FROM used
        QUALIFY hour_utc > max(hour_utc) OVER (PARTITION BY system) - INTERVAL 92 DAY
    )
    GROUP BY system, job_name, server_port
),

grouped AS (
    SELECT
        system,
        CASE grouping(job_name, server_port) WHEN 3 THEN 'system' WHEN 1 THEN 'job' ELSE 'port' END AS shared_by,
        job_name,
        server_port,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(megabytes) AS megabytes
    FROM recent
    GROUP BY GROUPING SETS ((system), (system, job_name), (system, server_port))
),

of_system AS (
    SELECT *
    FROM grouped
    WHERE shared_by = 'system'
),

-- The share of a job or port of the handshakes of each kind and of the megabytes.
counted AS (
    SELECT
        g.system,
        g.shared_by,
        g.job_name,
        g.server_port,
        unnest([
            {'kind': 'full handshakes', 'share': g.full_handshakes / nullif(s.full_handshakes, 0)},
            {'kind': 'resumed handshakes', 'share': g.resumed_handshakes / nullif(s.resumed_handshakes, 0)},
            {
                'kind': 'handshakes',
                'share': (g.full_handshakes + g.resumed_handshakes)
                / nullif(s.full_handshakes + s.resumed_handshakes, 0)
            },
            {'kind': 'bulk data', 'share': g.megabytes / nullif(s.megabytes, 0)}
        ], recursive := true)
    FROM grouped AS g
    INNER JOIN of_system AS s ON g.system = s.system
    WHERE g.shared_by <> 'system'
),

-- The kinds that have a price. Handshakes count as one kind only if full and resumed ones have none.
priced AS (
    SELECT
        system,
        part AS kind,
        day_s
    FROM by_unit
    WHERE day_s IS NOT NULL AND part <> 'TLS'
    QUALIFY part <> 'handshakes' OR count_if(part IN ('full handshakes', 'resumed handshakes')) OVER (PARTITION BY system) < 2
),

-- The kinds that belong to each part of the price.
membership AS (
    FROM (VALUES
        ('full handshakes', 'full handshakes'),
        ('resumed handshakes', 'resumed handshakes'),
        ('handshakes', 'full handshakes'),
        ('handshakes', 'resumed handshakes'),
        ('handshakes', 'handshakes'),
        ('bulk data', 'bulk data'),
        ('TLS', 'full handshakes'),
        ('TLS', 'resumed handshakes'),
        ('TLS', 'handshakes'),
        ('TLS', 'bulk data')
    ) AS of_part (part, kind)
),

part AS (
    SELECT
        c.system,
        c.shared_by,
        c.job_name,
        c.server_port,
        m.part,
        sum(c.share * p.day_s) / nullif(sum(p.day_s), 0) AS share
    FROM counted AS c
    INNER JOIN priced AS p ON c.system = p.system AND c.kind = p.kind
    INNER JOIN membership AS m ON c.kind = m.kind
    GROUP BY c.system, c.shared_by, c.job_name, c.server_port, m.part
)

SELECT
    e.system::VARCHAR AS system,
    p.shared_by::VARCHAR AS shared_by,
    p.job_name::VARCHAR AS job_name,
    p.server_port::BIGINT AS server_port,
    e.part::VARCHAR AS part,
    e.status::VARCHAR AS status,
    (e.day_s * p.share)::DOUBLE AS cpu_s_per_day,
    (e.low_day_s * p.share)::DOUBLE AS low_cpu_s_per_day,
    (e.high_day_s * p.share)::DOUBLE AS high_cpu_s_per_day,
    (100 * p.share)::DOUBLE AS share_pct,
    (e.lpar_pct * p.share)::DOUBLE AS lpar_pct,
    (e.low_lpar_pct * p.share)::DOUBLE AS low_lpar_pct,
    (e.high_lpar_pct * p.share)::DOUBLE AS high_lpar_pct,
    (e.peak_pct * p.share)::DOUBLE AS peak_pct,
    (e.low_peak_pct * p.share)::DOUBLE AS low_peak_pct,
    (e.high_peak_pct * p.share)::DOUBLE AS high_peak_pct,
    (m.peak_msu * e.peak_pct * p.share / 100)::DOUBLE AS msu,
    (m.peak_msu * e.low_peak_pct * p.share / 100)::DOUBLE AS low_msu,
    (m.peak_msu * e.high_peak_pct * p.share / 100)::DOUBLE AS high_msu,
    (m.peak_msu * e.peak_pct * p.share / 100 * a.price_per_msu)::DOUBLE AS price,
    CASE
        WHEN p.shared_by = 'system' OR e.status = 'refused' THEN e.why
        ELSE concat_ws('; ', 'a share of the price of the system', e.why)
    END::VARCHAR AS why,
    e.first_local::TIMESTAMP AS first_local,
    e.last_local::TIMESTAMP AS last_local
FROM by_unit AS e
CROSS JOIN parameters AS a
INNER JOIN (
    SELECT system, shared_by, job_name, server_port, part, share FROM part
    UNION ALL
    SELECT system, 'system', NULL, NULL, part, 1 FROM by_unit
) AS p ON e.system = p.system AND e.part = p.part
LEFT JOIN peak AS m ON e.system = m.system
WHERE p.shared_by = 'system' OR p.share > 0
ORDER BY e.system, p.shared_by <> 'system', p.shared_by, e.part <> 'TLS', e.part, p.share DESC, p.job_name, p.server_port
