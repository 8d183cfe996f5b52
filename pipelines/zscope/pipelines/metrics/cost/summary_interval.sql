-- Connections with TLS and without, and their megabytes, in one interval of zERT summaries.
--
-- Summaries are written when their interval ends, so the minute of writing is the end of the interval. Connections
-- count where they began. One that failed has no handshake that protects anything, and does not count.

WITH summary AS (
    SELECT
        day,
        system,
        time_bucket(INTERVAL 1 MINUTE, written_utc + INTERVAL 2 SECOND) AS interval_end_utc,
        round(interval_us / 60e6)::BIGINT AS minutes,
        security_protocols_flags & 128 > 0 AS is_tls,
        counter_growth(init_conn_count, end_conn_count)
        - coalesce(counter_growth(init_failed_handshake_count, end_failed_handshake_count), 0) AS began,
        -- The store has no numbers of 2^63 or more, so a 64-bit counter is null long before it wraps.
        counted_bytes(end_in_bytes - init_in_bytes) + counted_bytes(end_out_bytes - init_out_bytes) AS growth
    FROM smf119_zert_summary
    WHERE summary_event_type = 1 AND written_utc IS NOT NULL
)

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    (interval_end_utc - minutes * INTERVAL 1 MINUTE)::TIMESTAMPTZ AS interval_start_utc,
    interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
    coalesce(sum(greatest(began, 0)) FILTER (WHERE is_tls), 0)::BIGINT AS handshakes,
    coalesce(sum(greatest(began, 0)) FILTER (WHERE NOT is_tls), 0)::BIGINT AS plain_connections,
    coalesce(sum(growth) FILTER (WHERE is_tls) / 1e6, 0)::DOUBLE AS tls_mb,
    coalesce(sum(growth) FILTER (WHERE NOT is_tls) / 1e6, 0)::DOUBLE AS plain_mb
FROM summary
WHERE minutes > 0
GROUP BY ALL
