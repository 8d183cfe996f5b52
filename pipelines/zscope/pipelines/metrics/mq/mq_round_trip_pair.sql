-- An average round trip with a cipher, or with key resets, and the one it is compared with.
--
-- A round trip with a cipher and SSLRKEYC(0) is compared with one without a cipher; one with SSLRKEYC(N) with
-- one with the same cipher and SSLRKEYC(0). That one comes from the same run, or if it has none, from all
-- other runs of the same system, weighted by their round trips. Published figures for the same message size,
-- cipher and SSLRKEYC are included, with conflicts between documents.

WITH neighbour AS (
    SELECT
        c.*,
        b.run AS baseline_run,
        b.round_trips AS baseline_round_trips,
        b.round_trip_us AS baseline_us,
        b.cpu_us AS baseline_cpu_us,
        b.channel_message_bytes AS baseline_message_bytes,
        b.run IS NOT DISTINCT FROM c.run AS same_run
    FROM mq_round_trip_average AS c
    INNER JOIN mq_round_trip_average AS b
        ON
            c.system IS NOT DISTINCT FROM b.system
            AND c.message_bytes = b.message_bytes
            AND c.channel_pairs = b.channel_pairs
            AND b.sslrkeyc = 0
            AND b.cipher = if(c.sslrkeyc = 0, 'none', c.cipher)
    WHERE c.cipher <> 'none'
    QUALIFY same_run = bool_or(same_run) OVER (
        PARTITION BY c.system, c.run, c.message_bytes, c.cipher, c.sslrkeyc, c.channel_pairs
    )
),

pair AS (
    SELECT
        * EXCLUDE (
            baseline_run, baseline_round_trips, baseline_us, baseline_cpu_us, baseline_message_bytes, same_run
        ),
        string_agg(baseline_run, ', ' ORDER BY baseline_run) AS baseline_run,
        sum(baseline_round_trips) AS baseline_round_trips,
        sum(baseline_us * baseline_round_trips) / sum(baseline_round_trips) AS baseline_us,
        sum(baseline_cpu_us * baseline_round_trips)
        / sum(baseline_round_trips) FILTER (WHERE baseline_cpu_us IS NOT NULL) AS baseline_cpu_us,
        max(coalesce(channel_message_bytes, baseline_message_bytes)) AS bytes_on_the_channel
    FROM neighbour
    GROUP BY ALL
),

printed AS (
    SELECT
        id,
        list_concat(candidate_tags, condition_tags) AS tags,
        replace(metric, '_', ' ') || ' ' || as_printed || ' (' || section || ')' AS words,
        as_printed || ': ' || conflict AS conflict,
        coalesce(method = 'mq-negotiation', false) AS is_of_negotiations
    FROM reference_result
    WHERE method IN ('mq-cipher-overhead', 'mq-negotiation') OR metric = 'cpu_added_per_round_trip'
),

published AS (
    SELECT
        k.message,
        k.cipher,
        k.sslrkeyc,
        string_agg(p.words, '; ' ORDER BY p.id) AS published,
        string_agg(p.conflict, ' ' ORDER BY p.id) AS conflict
    FROM (SELECT DISTINCT message, cipher, sslrkeyc FROM pair) AS k
    INNER JOIN printed AS p
        ON
            p.is_of_negotiations = (k.sslrkeyc > 0)
            AND list_has_all(
                [
                    'cipher=' || k.cipher,
                    'sslrkeyc=' || k.sslrkeyc,
                    'message=' || k.message
                ],
                p.tags
            )
    GROUP BY k.message, k.cipher, k.sslrkeyc
)

SELECT
    p.system::VARCHAR AS system,
    p.run::VARCHAR AS run,
    p.message_bytes::BIGINT AS message_bytes,
    p.message::VARCHAR AS message,
    p.cipher::VARCHAR AS cipher,
    p.cipher_code::VARCHAR AS cipher_code,
    p.sslrkeyc::BIGINT AS sslrkeyc,
    p.channel_pairs::BIGINT AS channel_pairs,
    p.baseline_run::VARCHAR AS baseline_run,
    p.baseline_us::DOUBLE AS baseline_us,
    p.round_trip_us::DOUBLE AS round_trip_us,
    p.baseline_cpu_us::DOUBLE AS baseline_cpu_us,
    p.cpu_us::DOUBLE AS cpu_us,
    p.baseline_round_trips::BIGINT AS baseline_round_trips,
    p.round_trips::BIGINT AS round_trips,
    p.bytes_on_the_channel::DOUBLE AS channel_message_bytes,
    r.published::VARCHAR AS published,
    r.conflict::VARCHAR AS conflict
FROM pair AS p
LEFT JOIN published AS r
    ON p.message = r.message AND p.cipher = r.cipher AND p.sslrkeyc = r.sslrkeyc
