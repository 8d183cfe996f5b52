-- How long one negotiation of the secret key takes, for one size of message, one cipher and one SSLRKEYC.
--
-- Published method mq-negotiation. What renewing keys adds to the average round trip, times the messages
-- between two renewals, is what all channel pairs of the round trip need for one renewal each.
--
-- Reads mq_round_trip: message_bytes, cipher, sslrkeyc, round_trip_us, channel_bytes_per_message (data and
-- control bytes that the channel counts for a message), channel_pairs (2 for request and reply).

WITH average AS (
    SELECT
        message_bytes,
        cipher,
        sslrkeyc,
        avg(round_trip_us) AS round_trip_us,
        avg(channel_bytes_per_message) AS channel_bytes_per_message,
        max(channel_pairs) AS channel_pairs
    FROM mq_round_trip
    WHERE cipher <> 'none'
    GROUP BY message_bytes, cipher, sslrkeyc
),

added AS (
    SELECT
        renewing.message_bytes,
        renewing.cipher,
        renewing.sslrkeyc,
        renewing.channel_pairs,
        renewing.round_trip_us - steady.round_trip_us AS added_us,
        renewing.sslrkeyc / nullif(renewing.channel_bytes_per_message, 0) AS messages_per_negotiation
    FROM average AS renewing
    INNER JOIN average AS steady
        ON
            renewing.message_bytes = steady.message_bytes
            AND renewing.cipher = steady.cipher
            AND steady.sslrkeyc = 0
    WHERE renewing.sslrkeyc > 0
)

SELECT
    message_bytes::BIGINT AS message_bytes,
    cipher::VARCHAR AS cipher,
    sslrkeyc::BIGINT AS sslrkeyc,
    added_us::DOUBLE AS added_us,
    messages_per_negotiation::DOUBLE AS messages_per_negotiation,
    (added_us * messages_per_negotiation)::DOUBLE AS total_us,
    (added_us * messages_per_negotiation / nullif(channel_pairs, 0))::DOUBLE AS per_negotiation_us
FROM added
ORDER BY message_bytes, cipher, sslrkeyc
