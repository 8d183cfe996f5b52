-- Bytes of the MQ channels per connection name, and the key resets that they cause.
--
-- No record counts resets of the secret key. A queue manager renews it whenever SSLRKEYC bytes were
-- transferred over the channel, in both directions and with control data, so the bytes of an instance give a
-- lower bound. A block has the resets that its bytes cause, continuing from earlier blocks of the instance;
-- if instances cannot be distinguished, each block is counted alone.

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
        ELSE coalesce(code_text(NULL, channel_type), 'unknown')
    END::VARCHAR AS channel_end,
    cipher,
    interval_end_utc,
    messages,
    channel_bytes::BIGINT AS channel_bytes,
    CASE
        WHEN sslrkeyc = 0 THEN 0
        -- A queue manager treats values up to 32768 as 32768.
        WHEN sslrkeyc > 0 AND is_tls
            THEN
                bytes_so_far // greatest(sslrkeyc, 32768)
                - (bytes_so_far - channel_bytes) // greatest(sslrkeyc, 32768)
    END::BIGINT AS estimated_resets
FROM running
