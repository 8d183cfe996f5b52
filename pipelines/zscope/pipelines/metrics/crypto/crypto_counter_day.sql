-- The instructions that one crypto counter counted in the intervals of a job that began in an hour.
--
-- Records about a step or a job repeat its intervals. Counts are added as floating point: those of many records can be
-- more than 64 bits hold.

SELECT
    day,
    system::VARCHAR AS system,
    job_name::VARCHAR AS job_name,
    time_bucket(INTERVAL 1 HOUR, coalesce(interval_start_utc, interval_end_utc, written_utc)) AS hour_utc,
    coalesce(
        make_timestamp(
            epoch_us(coalesce(interval_start_utc, interval_end_utc)) + epoch_us(written_local) - epoch_us(written_utc)
        )::DATE,
        day
    ) AS use_day,
    counter_number::BIGINT AS counter_number,
    sum(instruction_count::DOUBLE) AS instructions
FROM smf30_crypto_counter
WHERE basis IN ('interval', 'difference', 'since restart') AND instruction_count IS NOT NULL
GROUP BY ALL
