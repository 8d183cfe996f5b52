-- When zERT wrote records on a system: the first and the last of a day, and each that enables or disables it.

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    CASE WHEN event_type IN (5, 6) THEN stack END::VARCHAR AS stack,
    CASE WHEN event_type IN (5, 6) THEN event_type END::BIGINT AS event_type,
    min(written_utc) AS first_utc,
    max(written_utc) AS last_utc
FROM smf119_zert_detail
GROUP BY
    day, system, CASE WHEN event_type IN (5, 6) THEN stack END, CASE WHEN event_type IN (5, 6) THEN event_type END,
    CASE WHEN event_type IN (5, 6) THEN written_utc END
