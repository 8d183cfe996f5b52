-- Time of one negotiation of the secret key, per message size, cipher and SSLRKEYC.
--
-- Published method mq-negotiation. The time that key resets add to the average round trip, multiplied by the
-- messages between two resets, is the time that all channel pairs of the round trip need for one reset each.

WITH renewing AS (
    SELECT
        *,
        round_trip_us - baseline_us AS added_us,
        coalesce(channel_message_bytes, message_bytes) AS bytes_per_message
    FROM mq_round_trip_pair
    WHERE sslrkeyc > 0
),

counted AS (
    SELECT
        *,
        -- A queue manager treats values up to 32768 as 32768.
        greatest(sslrkeyc, 32768) / nullif(bytes_per_message, 0) AS messages_per_negotiation
    FROM renewing
)

SELECT
    system,
    run,
    message_bytes,
    message,
    cipher,
    cipher_code,
    sslrkeyc,
    channel_pairs,
    baseline_run AS steady_run,
    baseline_us AS steady_us,
    round_trip_us AS renewing_us,
    added_us,
    bytes_per_message::DOUBLE AS bytes_per_message,
    channel_message_bytes IS NOT NULL AS bytes_told,
    messages_per_negotiation::DOUBLE AS messages_per_negotiation,
    (added_us * messages_per_negotiation)::DOUBLE AS total_us,
    (added_us * messages_per_negotiation / nullif(channel_pairs, 0))::DOUBLE AS per_negotiation_us,
    baseline_round_trips AS steady_round_trips,
    round_trips AS renewing_round_trips,
    published,
    conflict
FROM counted
ORDER BY system, run, message_bytes, cipher, sslrkeyc, channel_pairs
