-- What a cipher alone adds to a round trip between two queue managers, for one size of message.
--
-- Published method mq-cipher-overhead. Neither round trip renews keys: SSLRKEYC(0). How measurements are
-- averaged, and which are held against each other, is told at the steps `mq_round_trip_average` and
-- `mq_round_trip_pair`.

SELECT
    system,
    run,
    message_bytes,
    message,
    cipher,
    cipher_code,
    channel_pairs,
    baseline_run AS plain_run,
    baseline_us AS plain_us,
    round_trip_us AS cipher_us,
    round_trip_us - baseline_us AS added_us,
    100 * (round_trip_us - baseline_us) / nullif(baseline_us, 0) AS added_pct,
    baseline_cpu_us AS plain_cpu_us,
    cpu_us AS cipher_cpu_us,
    cpu_us - baseline_cpu_us AS added_cpu_us,
    baseline_round_trips AS plain_round_trips,
    round_trips AS cipher_round_trips,
    published,
    conflict
FROM mq_round_trip_pair
WHERE sslrkeyc = 0
ORDER BY system, run, message_bytes, cipher, channel_pairs
