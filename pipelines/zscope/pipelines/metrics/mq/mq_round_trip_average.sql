-- The average round trip of a run with one size of message, cipher, SSLRKEYC and number of channel pairs.
--
-- Measurements of the same configuration are averaged, each weighted by its round trips (1 if the number is
-- missing); those without a round trip do not count. A suite can have its MQ name, its registered name or its
-- number; it is shown with its MQ name, or unchanged if it is unknown.

WITH suite AS (
    SELECT
        code,
        -- MQ names lack some words of the registered names, and not the same ones for all suites.
        CASE
            WHEN starts_with(name, 'TLS_ECDHE_') THEN replace(substr(name, 5), '_WITH_', '_')
            ELSE name
        END AS cipher_spec,
        regexp_replace(replace(name, '_WITH_', '_'), '^TLS_', '') AS bare_name
    FROM cipher
),

measured AS (
    SELECT
        *,
        regexp_replace(replace(upper(trim(cipher)), '_WITH_', '_'), '^TLS_', '') AS bare_name,
        coalesce(round_trips, 1)::DOUBLE AS weight
    FROM mq_round_trip
    WHERE coalesce(round_trips, 1) > 0
),

named AS (
    SELECT
        m.* EXCLUDE (cipher, sslrkeyc, channel_pairs),
        coalesce(s.cipher_spec, if(m.bare_name = 'NONE', 'none', trim(m.cipher))) AS cipher,
        s.code AS cipher_code,
        -- Without a cipher there are no keys to renew, regardless of the setting of the queue managers.
        if(m.bare_name = 'NONE', 0, coalesce(try_cast(m.sslrkeyc AS BIGINT), 0)) AS sslrkeyc,
        coalesce(try_cast(m.channel_pairs AS BIGINT), 2) AS channel_pairs
    FROM measured AS m
    LEFT JOIN suite AS s ON m.bare_name IN (s.code, s.bare_name)
)

SELECT
    system::VARCHAR AS system,
    run::VARCHAR AS run,
    try_cast(message_bytes AS BIGINT) AS message_bytes,
    CASE
        WHEN message_bytes % 1024 = 0 AND message_bytes > 0 THEN message_bytes // 1024 || 'KB'
        ELSE message_bytes || 'B'
    END::VARCHAR AS message,
    cipher::VARCHAR AS cipher,
    cipher_code::VARCHAR AS cipher_code,
    sslrkeyc::BIGINT AS sslrkeyc,
    channel_pairs::BIGINT AS channel_pairs,
    count(*)::BIGINT AS measurements,
    try_cast(sum(weight) AS BIGINT) AS round_trips,
    (sum(round_trip_us * weight) / sum(weight))::DOUBLE AS round_trip_us,
    (sum(cpu_us * weight) / sum(weight) FILTER (WHERE cpu_us IS NOT NULL))::DOUBLE AS cpu_us,
    (
        sum(channel_message_bytes * weight)
        / sum(weight) FILTER (WHERE channel_message_bytes IS NOT NULL)
    )::DOUBLE AS channel_message_bytes,
    (
        sum(tcp_sends_per_message * weight)
        / sum(weight) FILTER (WHERE tcp_sends_per_message IS NOT NULL)
    )::DOUBLE AS tcp_sends_per_message,
    count(cpu_us)::BIGINT AS cpu_measurements,
    count(tcp_sends_per_message)::BIGINT AS tcp_sends_measurements,
    -- 0 has no logarithm.
    CASE WHEN min(round_trip_us) > 0 THEN stddev_samp(ln(nullif(round_trip_us, 0))) END::DOUBLE
        AS round_trip_deviation,
    CASE WHEN min(cpu_us) > 0 THEN stddev_samp(ln(nullif(cpu_us, 0))) END::DOUBLE AS cpu_deviation,
    max(measured_utc)::TIMESTAMPTZ AS measured_utc
FROM named
GROUP BY ALL
