-- The MQ channels of a queue manager to one connection name: bytes, and how often keys are renewed for them.
--
-- No record counts resets of the secret key. A queue manager renews it each time SSLRKEYC bytes have gone over
-- the channel, both ways and control data included, so the bytes of an instance tell the least number of times.
-- A block is charged with the resets that its bytes bring about after those of earlier blocks of the instance;
-- where instances cannot be told apart, each block stands alone.

WITH counted AS (
    SELECT
        *,
        sent_bytes::HUGEINT + received_bytes AS channel_bytes,
        CASE
            WHEN started_utc IS NULL OR max(alike) OVER same_names > 1 THEN row_number() OVER ()
        END AS alone
    FROM mq_channel_block
    WINDOW same_names AS (
        PARTITION BY system, queue_manager, channel_name, connection_name, started_utc, cipher, is_tls
    )
),

running AS (
    SELECT
        *,
        sum(channel_bytes) OVER (
            PARTITION BY
                system, queue_manager, channel_name, connection_name, started_utc, cipher, is_tls, alone
            ORDER BY written_local, interval_end_utc
            ROWS UNBOUNDED PRECEDING
        ) AS bytes_so_far,
        try_cast(getvariable('mq_sslrkeyc') AS BIGINT) AS sslrkeyc
    FROM counted
)

SELECT
    system,
    queue_manager,
    channel_name,
    connection_name,
    CASE
        WHEN channel_type IN (1, 6, 9) THEN 'initiating'
        WHEN channel_type IN (3, 7, 8) THEN 'answering'
        WHEN channel_type IN (2, 4) THEN 'either'
        ELSE coalesce('unknown (' || channel_type || ')', 'unknown')
    END::VARCHAR AS channel_end,
    cipher,
    interval_end_utc,
    messages,
    channel_bytes::BIGINT AS channel_bytes,
    CASE
        WHEN sslrkeyc = 0 THEN 0
        -- Up to 32768 a queue manager takes for 32768.
        WHEN sslrkeyc > 0 AND is_tls
            THEN
                bytes_so_far // greatest(sslrkeyc, 32768)
                - (bytes_so_far - channel_bytes) // greatest(sslrkeyc, 32768)
    END::BIGINT AS estimated_resets
FROM running
