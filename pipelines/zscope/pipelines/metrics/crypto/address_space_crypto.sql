-- The instructions that one crypto counter of a job counted on a day, beside the TLS traffic of the job.
--
-- A ratio needs both sides of the same hours: the intervals of SMF 30 and the records of zERT must cover the day.

WITH counted AS (
    SELECT
        c.system,
        c.use_day AS day,
        c.job_name,
        c.counter_number,
        sum(c.instructions) AS instructions
    FROM crypto_counter_day AS c
    ANTI JOIN left_out_hour AS l ON c.system = l.system AND c.hour_utc = l.hour_utc
    GROUP BY ALL
),

-- The traffic of each job, and that of all jobs of a stack as the traffic of the stack.
handshake AS (
    SELECT
        system,
        day,
        job_name,
        sum(handshakes) AS handshakes
    FROM (
        SELECT system, day, handshakes, unnest(list_distinct([job_name, stack])) AS job_name
        FROM handshake_hour
        WHERE kind IN ('full', 'resumed')
    )
    GROUP BY ALL
),

traffic AS (
    SELECT
        system,
        day,
        job_name,
        sum(tls_bytes) / 1e6 AS tls_mb
    FROM (
        SELECT
            t.system,
            s.day,
            t.in_bytes + t.out_bytes AS tls_bytes,
            unnest(list_distinct([t.job_name, t.stack])) AS job_name
        FROM covered_tls_hour AS t
        INNER JOIN protection_source AS s ON t.source = s.source AND t.system = s.system AND t.hour_utc = s.hour_utc
        WHERE t.is_tls AND t.is_counted
    )
    GROUP BY ALL
),

-- Of the source that counts on a day.
traffic_source AS (
    SELECT
        system,
        day,
        any_value(source) AS source,
        100 * max(covered_hours) / nullif(max(hours), 0) AS covered_pct
    FROM protection_source
    WHERE is_counted
    GROUP BY system, day
),

compared AS (
    SELECT
        c.*,
        n.* EXCLUDE (counter_number, kind),
        coalesce(n.kind, 'unknown') AS kind,
        nullif(n.kind, 'unknown') = 'XTS' AS at_rest,
        coalesce(100 * p.covered_hours / p.hours, 0) AS space_pct,
        coalesce(100 * d.covered_hours / d.hours, 0) AS detail_pct,
        CASE WHEN detail_pct >= least_covered_pct() THEN coalesce(h.handshakes, 0) END AS handshakes,
        CASE WHEN s.covered_pct >= least_covered_pct() THEN coalesce(t.tls_mb, 0) END AS tls_mb,
        CASE
            WHEN space_pct < least_covered_pct()
                THEN 'intervals of SMF 30 cover ' || number_text(space_pct) || ' % of the day'
        END AS space_why,
        CASE
            WHEN detail_pct < least_covered_pct()
                THEN 'zERT details cover ' || number_text(detail_pct) || ' % of the day'
            WHEN coalesce(h.handshakes, 0) = 0 THEN 'no handshake of the job'
        END AS handshake_why,
        CASE
            WHEN s.covered_pct IS NULL THEN 'no TLS traffic is recorded on the day'
            WHEN s.covered_pct < least_covered_pct()
                THEN s.source || ' covers ' || number_text(s.covered_pct) || ' % of the day'
            WHEN coalesce(t.tls_mb, 0) = 0 THEN 'no TLS traffic of the job'
        END AS traffic_why
    FROM counted AS c
    LEFT JOIN crypto_counter_name AS n ON c.counter_number = n.counter_number
    LEFT JOIN covered_day AS p ON p.source = '30' AND c.system = p.system AND c.day = p.day
    LEFT JOIN covered_day AS d ON d.source = '119-11' AND c.system = d.system AND c.day = d.day
    LEFT JOIN traffic_source AS s ON c.system = s.system AND c.day = s.day
    LEFT JOIN handshake AS h ON c.system = h.system AND c.day = h.day AND c.job_name = h.job_name
    LEFT JOIN traffic AS t ON c.system = t.system AND c.day = t.day AND c.job_name = t.job_name
)

SELECT
    system::VARCHAR AS system,
    job_name::VARCHAR AS job_name,
    counter_number::BIGINT AS counter_number,
    day::DATE AS day,
    counter_name::VARCHAR AS counter_name,
    coalesce(name_status, 'unknown')::VARCHAR AS name_status,
    name_source::VARCHAR AS name_source,
    instruction::VARCHAR AS instruction,
    algorithm::VARCHAR AS algorithm,
    key_bits::BIGINT AS key_bits,
    kind::VARCHAR AS kind,
    at_rest::BOOLEAN AS at_rest,
    protected_key::BOOLEAN AS protected_key,
    instructions::DOUBLE AS instructions,
    handshakes::BIGINT AS handshakes,
    tls_mb::DOUBLE AS tls_mb,
    CASE
        WHEN NOT coalesce(at_rest, false) AND space_why IS NULL AND handshake_why IS NULL THEN instructions / handshakes
    END::DOUBLE AS per_handshake,
    CASE
        WHEN NOT coalesce(at_rest, false) AND space_why IS NULL AND traffic_why IS NULL THEN instructions / tls_mb
    END::DOUBLE AS per_mb,
    CASE
        WHEN at_rest THEN 'data at rest, not TLS'
        ELSE coalesce(space_why, nullif(concat_ws('; ', handshake_why, traffic_why), ''))
    END::VARCHAR AS why
FROM compared
ORDER BY system, day, job_name, counter_number
