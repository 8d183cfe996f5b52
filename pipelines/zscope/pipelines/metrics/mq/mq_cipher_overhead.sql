-- Time that a cipher adds to a round trip between two queue managers, per message size.
--
-- Published method mq-cipher-overhead. Neither round trip has key resets: SSLRKEYC(0). The steps
-- `mq_round_trip_average` and `mq_round_trip_pair` describe how measurements are averaged, and which are
-- compared with each other.

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
