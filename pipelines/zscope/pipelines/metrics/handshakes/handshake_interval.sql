-- Handshakes, connections without TLS, bytes and CPU time of one system in one CPU interval, where zERT data covers all of it.
--
-- An interval without a handshake is as useful as one with many, if it is known that there was none. zERT
-- covers the time between the first and the last record that it wrote on the system, except the time from a
-- record that it was disabled to the next one that it was enabled, and the hours of which less than 95 % are
-- covered by its records (coverage_hour). Other intervals are left out, and also those without CPU data, so that
-- no values are invented for a gap.
--
-- A handshake belongs to the interval of its moment, a connection to that in which it began. Bytes are those of all ended connections in zERT
-- records, TLS or not, each distributed evenly over its life. So they cover the same time as the handshakes,
-- and SMF 119-2 is not needed.

WITH slot AS (
    SELECT
        *,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us
    FROM cpu_slot
    WHERE passed_over IS NULL AND cpu_s IS NOT NULL
),

-- Records are sorted by the time they were written, the only time that all of them have.
watch AS (
    SELECT
        system,
        min(epoch_us(first_utc)) AS first_us,
        max(epoch_us(last_utc)) AS last_us
    FROM zert_written
    GROUP BY system
),

switched AS (
    SELECT
        system,
        event_type,
        epoch_us(first_utc) AS from_us,
        -- Disabled until the end of the data, if no later record enables it.
        coalesce(lead(epoch_us(first_utc)) OVER in_time, 9223372036854775807) AS to_us
    FROM zert_written
    WHERE event_type IN (5, 6)
    WINDOW in_time AS (PARTITION BY system, stack ORDER BY first_utc, event_type)
),

-- Up to 5 % fewer records than expected are normal. The hour of the first record and that of the last one are
-- partial because the files begin and end in them.
incomplete_hour AS (
    SELECT
        c.system,
        epoch_us(c.hour_utc) AS begin_us,
        epoch_us(c.hour_utc) + 3600000000 AS until_us
    FROM coverage_hour AS c
    INNER JOIN watch AS w ON c.system = w.system
    WHERE
        c.source = '119-11'
        AND c.covered_hours < 0.95
        AND begin_us > w.first_us
        AND until_us <= w.last_us
),

covered AS (
    SELECT s.*
    FROM slot AS s
    INNER JOIN watch AS w
        ON s.system = w.system AND s.begin_us >= w.first_us AND s.until_us <= w.last_us
    ANTI JOIN (SELECT * FROM switched WHERE event_type = 6) AS o
        ON s.system = o.system AND s.begin_us < o.to_us AND s.until_us > o.from_us
    ANTI JOIN incomplete_hour AS i
        ON s.system = i.system AND s.begin_us < i.until_us AND s.until_us > i.begin_us
),

handshakes AS (
    SELECT
        system,
        interval_start_utc,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        sum(failed_handshakes) AS failed_handshakes,
        sum(unknown_handshakes) AS unknown_handshakes,
        sum(full_tls12) AS full_tls12,
        sum(full_tls13) AS full_tls13,
        sum(resumed_tls12) AS resumed_tls12,
        sum(resumed_tls13) AS resumed_tls13
    FROM (
        SELECT * EXCLUDE (day) FROM handshake_slot_day
        UNION ALL BY NAME
        SELECT * EXCLUDE (settled_day) FROM open_handshake_slot
    )
    GROUP BY system, interval_start_utc
),

connections AS (
    SELECT
        system,
        epoch_us(interval_start_utc) AS begin_us,
        sum(in_bytes) AS in_bytes,
        sum(out_bytes) AS out_bytes,
        sum(tls_bytes) AS tls_bytes,
        sum(plain_connections) AS plain_connections
    FROM (
        SELECT counted_by, system, interval_start_utc, in_bytes, out_bytes, tls_bytes, plain_connections
        FROM transaction_day
        UNION ALL
        SELECT
            counted_by,
            system,
            interval_start_utc,
            in_bytes,
            out_bytes,
            tls_bytes,
            (began AND NOT is_tls)::BIGINT AS plain_connections
        FROM open_activity_interval
    )
    WHERE counted_by = 'zERT connections'
    GROUP BY system, interval_start_utc
)

SELECT
    c.system::VARCHAR AS system,
    c.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    c.interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
    c.interval_ms::BIGINT AS interval_ms,
    c.cpu_s::DOUBLE AS cpu_s,
    coalesce(h.full_handshakes, 0)::BIGINT AS full_handshakes,
    coalesce(h.resumed_handshakes, 0)::BIGINT AS resumed_handshakes,
    coalesce(h.failed_handshakes, 0)::BIGINT AS failed_handshakes,
    coalesce(h.unknown_handshakes, 0)::BIGINT AS unknown_handshakes,
    coalesce(h.full_tls12, 0)::BIGINT AS full_tls12,
    coalesce(h.full_tls13, 0)::BIGINT AS full_tls13,
    coalesce(h.resumed_tls12, 0)::BIGINT AS resumed_tls12,
    coalesce(h.resumed_tls13, 0)::BIGINT AS resumed_tls13,
    coalesce(b.plain_connections, 0)::BIGINT AS plain_connections,
    coalesce(b.in_bytes, 0)::DOUBLE AS in_bytes,
    coalesce(b.out_bytes, 0)::DOUBLE AS out_bytes,
    coalesce(b.tls_bytes, 0)::DOUBLE AS tls_bytes
FROM covered AS c
LEFT JOIN handshakes AS h ON c.system = h.system AND c.interval_start_utc = h.interval_start_utc
LEFT JOIN connections AS b ON c.system = b.system AND c.begin_us = b.begin_us
