-- The hours of a system in which a benchmark run took place.

SELECT DISTINCT
    system::VARCHAR AS system,
    unnest(
        generate_series(time_bucket(INTERVAL 1 HOUR, from_utc), to_utc - INTERVAL 1 MICROSECOND, INTERVAL 1 HOUR)
    )::TIMESTAMPTZ AS hour_utc
FROM run
