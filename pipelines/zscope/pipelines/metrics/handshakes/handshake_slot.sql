-- The handshakes of a job in one CPU interval of its system, by the day on which their connections are settled.
--
-- A handshake belongs to the interval of its moment. The join uses the minute of a moment, which is much faster
-- than a comparison of moments with all intervals.

WITH slot_minute AS (
    SELECT
        system,
        interval_start_utc,
        epoch_us(interval_start_utc) AS begin_us,
        epoch_us(interval_end_utc) AS until_us,
        unnest(minutes_of(begin_us, until_us)) AS minute_no
    FROM cpu_slot
    WHERE passed_over IS NULL AND cpu_s IS NOT NULL
)

SELECT
    h.settled_day,
    s.system::VARCHAR AS system,
    s.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    h.job_name::VARCHAR AS job_name,
    count(*) FILTER (WHERE h.kind = 'full') AS full_handshakes,
    count(*) FILTER (WHERE h.kind = 'resumed') AS resumed_handshakes,
    count(*) FILTER (WHERE h.kind = 'failed') AS failed_handshakes,
    count(*) FILTER (WHERE is_unknown_kind(h.kind)) AS unknown_handshakes,
    count(*) FILTER (WHERE h.kind = 'full' AND h.tls_version = 'TLSv1.2') AS full_tls12,
    count(*) FILTER (WHERE h.kind = 'full' AND h.tls_version = 'TLSv1.3') AS full_tls13,
    count(*) FILTER (WHERE h.kind = 'resumed' AND h.tls_version = 'TLSv1.2') AS resumed_tls12,
    count(*) FILTER (WHERE h.kind = 'resumed' AND h.tls_version = 'TLSv1.3') AS resumed_tls13
FROM handshake AS h
INNER JOIN slot_minute AS s
    ON
        h.system = s.system
        AND minute_of(epoch_us(h.event_utc)) = s.minute_no
        AND epoch_us(h.event_utc) >= s.begin_us
        AND epoch_us(h.event_utc) < s.until_us
GROUP BY ALL
