-- Handshakes, bytes and CPU time of one system in one CPU interval, where zERT data covers all of it.
--
-- An interval without a handshake is as useful as one with many, if it is known that there was none. zERT
-- covers the time between the first and the last record that it wrote on the system, except the time from a
-- record that it was disabled to the next one that it was enabled. Other intervals are left out, and also
-- those without CPU data, so that no values are invented for a gap.
--
-- A handshake belongs to the interval of its moment. Bytes are those of all ended connections in zERT
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
        min(epoch_us(written_utc)) AS first_us,
        max(epoch_us(written_utc)) AS last_us
    FROM smf119_zert_detail
    GROUP BY system
),

switched AS (
    SELECT
        system::VARCHAR AS system,
        event_type,
        epoch_us(written_utc) AS from_us,
        -- Disabled until the end of the data, if no later record enables it.
        coalesce(lead(epoch_us(written_utc)) OVER in_time, 9223372036854775807) AS to_us
    FROM smf119_zert_detail
    WHERE event_type IN (5, 6)
    WINDOW in_time AS (PARTITION BY system, stack ORDER BY written_utc, event_type)
),

covered AS (
    SELECT s.*
    FROM slot AS s
    INNER JOIN watch AS w
        ON s.system = w.system::VARCHAR AND s.begin_us >= w.first_us AND s.until_us <= w.last_us
    ANTI JOIN (SELECT * FROM switched WHERE event_type = 6) AS o
        ON s.system = o.system AND s.begin_us < o.to_us AND s.until_us > o.from_us
),

-- The join uses the minute of a moment, which is much faster than a comparison of moments with all intervals.
covered_minute AS (
    SELECT
        *,
        unnest(minutes_of(begin_us, until_us)) AS minute_no
    FROM covered
),

handshakes AS (
    SELECT
        c.system,
        c.begin_us,
        count(*) FILTER (WHERE h.kind = 'full') AS full_handshakes,
        count(*) FILTER (WHERE h.kind = 'resumed') AS resumed_handshakes,
        count(*) FILTER (WHERE h.kind = 'failed') AS failed_handshakes,
        count(*) FILTER (WHERE is_unknown_kind(h.kind)) AS unknown_handshakes,
        count(*) FILTER (WHERE h.kind = 'full' AND h.tls_version = 'TLSv1.2') AS full_tls12,
        count(*) FILTER (WHERE h.kind = 'full' AND h.tls_version = 'TLSv1.3') AS full_tls13,
        count(*) FILTER (WHERE h.kind = 'resumed' AND h.tls_version = 'TLSv1.2') AS resumed_tls12,
        count(*) FILTER (WHERE h.kind = 'resumed' AND h.tls_version = 'TLSv1.3') AS resumed_tls13
    FROM handshake AS h
    INNER JOIN covered_minute AS c
        ON
            h.system = c.system
            AND minute_of(epoch_us(h.event_utc)) = c.minute_no
            AND epoch_us(h.event_utc) >= c.begin_us
            AND epoch_us(h.event_utc) < c.until_us
    GROUP BY c.system, c.begin_us
),

bytes AS (
    SELECT
        system,
        epoch_us(interval_start_utc) AS begin_us,
        sum(in_bytes) AS in_bytes,
        sum(out_bytes) AS out_bytes
    FROM transaction_interval
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
    coalesce(b.in_bytes, 0)::DOUBLE AS in_bytes,
    coalesce(b.out_bytes, 0)::DOUBLE AS out_bytes
FROM covered AS c
LEFT JOIN handshakes AS h ON c.system = h.system AND c.begin_us = h.begin_us
LEFT JOIN bytes AS b ON c.system = b.system AND c.begin_us = b.begin_us
