-- The last seven days of a system that have zERT records.
--
-- The days of the store in which their records can be include the day before and the day after, as days are
-- those of local time.

SELECT
    system::VARCHAR AS system,
    (max(last_utc) - INTERVAL 7 DAY)::TIMESTAMPTZ AS from_utc,
    max(last_utc)::TIMESTAMPTZ AS to_utc,
    ((from_utc AT TIME ZONE 'UTC')::DATE - 1)::DATE AS first_day,
    ((to_utc AT TIME ZONE 'UTC')::DATE + 1)::DATE AS last_day
FROM zert_written
WHERE last_utc IS NOT NULL
GROUP BY system
