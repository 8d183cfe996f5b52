-- The records of ICSF of one system, hour and subtype, of one day of the store.
--
-- zERT can begin or cease to record connections within an hour: `watched_records` are those of the time in which it did.

WITH watched AS (
    SELECT
        system,
        time_bucket(INTERVAL 1 HOUR, written_utc) AS hour_utc,
        min(written_utc) AS first_utc,
        max(written_utc) AS last_utc
    FROM smf119_zert_detail
    WHERE event_type BETWEEN 1 AND 4
    GROUP BY ALL
)

SELECT
    r.day,
    r.system::VARCHAR AS system,
    time_bucket(INTERVAL 1 HOUR, r.written_utc) AS hour_utc,
    time_bucket(INTERVAL 1 HOUR, r.written_local) AS hour_local,
    r.record_subtype::BIGINT AS subtype,
    count(*) AS records,
    sum(r.record_length)::BIGINT AS total_bytes,
    count(*) FILTER (WHERE r.written_utc BETWEEN w.first_utc AND w.last_utc) AS watched_records,
    min(r.written_utc) AS first_utc,
    max(r.written_utc) AS last_utc
FROM smf82_record AS r
LEFT JOIN watched AS w ON r.system = w.system AND time_bucket(INTERVAL 1 HOUR, r.written_utc) = w.hour_utc
GROUP BY ALL
