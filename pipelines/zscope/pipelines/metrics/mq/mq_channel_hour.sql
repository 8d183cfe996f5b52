-- The instances of MQ channels in one hour and system with one cipher suite.
--
-- An instance counts once in each hour in which an interval with one of its blocks began. An instance that
-- was not running and moved no bytes, such as a channel that retries, is not a connection. For instances that
-- cannot be distinguished, the number is the maximum in one interval.

WITH instance AS (
    SELECT
        system,
        queue_manager,
        -- Not date_trunc: that follows the time zone of the session.
        time_bucket(INTERVAL 1 HOUR, interval_start_utc) AS hour_utc,
        channel_name,
        connection_name,
        started_utc,
        is_tls,
        protocol,
        cipher,
        max(alike) AS connections,
        sum(received_bytes) AS in_bytes,
        sum(sent_bytes) AS out_bytes
    FROM mq_channel_block
    WHERE sent_bytes > 0 OR received_bytes > 0 OR coalesce(channel_state, 3) = 3
    GROUP BY ALL
)

SELECT
    system,
    hour_utc,
    is_tls,
    protocol,
    cipher,
    sum(connections)::BIGINT AS connections,
    sum(in_bytes)::BIGINT AS in_bytes,
    sum(out_bytes)::BIGINT AS out_bytes
FROM instance
GROUP BY ALL
