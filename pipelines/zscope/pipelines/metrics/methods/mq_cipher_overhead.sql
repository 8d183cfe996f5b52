-- What a cipher alone adds to a round trip between two queue managers, for one size of message.
--
-- Published method mq-cipher-overhead. Both round trips are without renewing keys: SSLRKEYC(0). Several
-- measurements of the same are averaged.
--
-- Reads mq_round_trip: message_bytes, cipher ('none' without one), sslrkeyc, round_trip_us.

WITH average AS (
    SELECT
        message_bytes,
        cipher,
        avg(round_trip_us) AS round_trip_us
    FROM mq_round_trip
    WHERE cipher = 'none' OR sslrkeyc = 0
    GROUP BY message_bytes, cipher
)

SELECT
    protected.message_bytes::BIGINT AS message_bytes,
    protected.cipher::VARCHAR AS cipher,
    plain.round_trip_us::DOUBLE AS plain_us,
    protected.round_trip_us::DOUBLE AS cipher_us,
    (protected.round_trip_us - plain.round_trip_us)::DOUBLE AS added_us,
    (100 * (protected.round_trip_us - plain.round_trip_us) / nullif(plain.round_trip_us, 0))::DOUBLE
        AS added_pct
FROM average AS protected
INNER JOIN average AS plain ON protected.message_bytes = plain.message_bytes AND plain.cipher = 'none'
WHERE protected.cipher <> 'none'
ORDER BY message_bytes, cipher
