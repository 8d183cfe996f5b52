-- A cause of a change between two periods: a part of the cost of TLS, or of the resumption rate; or what else differs.
--
-- The change of the resumption rate is the sum over jobs and ports, over versions, or over client networks, of two parts:
-- rate, the change of the rate of each at its mean share of the handshakes, and mix, the change of its share times how far
-- its mean rate is from that of all. A part with handshakes in one period alone has no change of its rate. The parts
-- beyond the twenty largest are one row. Client networks are those of the connections that began in the hours.
--
-- The cost of TLS changes with the number of handshakes, with the share of the full ones and with the megabytes for each
-- handshake. If the policy, release, capacity or suites changed in between, cost_change says what a handshake costs since.

WITH counted_hour AS MATERIALIZED (
    SELECT
        system,
        period,
        hour_utc
    FROM period_amount
    WHERE quantity = 'resumed handshakes'
),

handshakes AS (
    SELECT
        h.system,
        'job and port' AS cause,
        concat(
            coalesce('port ' || h.server_port, 'ports that are not recorded'),
            ' of ',
            coalesce('job ' || h.job_name, 'connections whose job is not recorded')
        ) AS part,
        h.job_name,
        h.server_port,
        h.hour_utc,
        h.handshakes,
        if(h.kind = 'resumed', h.handshakes, 0) AS resumed
    FROM handshake_hour AS h
    WHERE h.kind IN ('full', 'resumed')
    UNION ALL BY NAME
    SELECT
        system,
        'version' AS cause,
        coalesce(tls_version, 'versions that are not recorded') AS part,
        hour_utc,
        handshakes,
        if(kind = 'resumed', handshakes, 0) AS resumed
    FROM handshake_hour
    WHERE kind IN ('full', 'resumed')
    UNION ALL BY NAME
    SELECT
        system,
        'client network' AS cause,
        coalesce('clients in ' || client_network, 'connections as client') AS part,
        hour_utc,
        full_handshakes + resumed_handshakes AS handshakes,
        resumed_handshakes AS resumed
    FROM tls_use_day
    WHERE shared_by = 'client network'
),

in_both AS MATERIALIZED (
    SELECT
        h.system,
        h.cause,
        h.part,
        h.job_name,
        h.server_port,
        sum(h.handshakes) FILTER (c.period = 'earlier') AS earlier_handshakes,
        sum(h.handshakes) FILTER (c.period = 'later') AS later_handshakes,
        sum(h.resumed) FILTER (c.period = 'earlier') / nullif(earlier_handshakes, 0) AS earlier_rate,
        sum(h.resumed) FILTER (c.period = 'later') / nullif(later_handshakes, 0) AS later_rate,
        sum(sum(h.resumed) FILTER (c.period = 'earlier')) OVER of_cause / nullif(sum(earlier_handshakes) OVER of_cause, 0)
        AS earlier_of_all,
        sum(sum(h.resumed) FILTER (c.period = 'later')) OVER of_cause / nullif(sum(later_handshakes) OVER of_cause, 0)
        AS later_of_all,
        coalesce(earlier_handshakes / nullif(sum(earlier_handshakes) OVER of_cause, 0), 0) AS earlier_share,
        coalesce(later_handshakes / nullif(sum(later_handshakes) OVER of_cause, 0), 0) AS later_share
    FROM handshakes AS h
    INNER JOIN counted_hour AS c ON h.system = c.system AND h.hour_utc = c.hour_utc
    GROUP BY h.system, h.cause, h.part, h.job_name, h.server_port
    WINDOW of_cause AS (PARTITION BY h.system, h.cause)
),

moved AS (
    SELECT
        *,
        coalesce(earlier_rate, later_rate) AS rate_before,
        coalesce(later_rate, earlier_rate) AS rate_after,
        (earlier_share + later_share) / 2 * (rate_after - rate_before) AS by_rate,
        (later_share - earlier_share)
        * ((rate_before + rate_after) / 2 - (earlier_of_all + later_of_all) / 2) AS by_mix,
        row_number() OVER (PARTITION BY system, cause ORDER BY abs(by_rate + by_mix) DESC, part) AS rank
    FROM in_both
    WHERE earlier_of_all IS NOT NULL AND later_of_all IS NOT NULL AND coalesce(earlier_rate, later_rate) IS NOT NULL
),

resumption AS (
    SELECT
        system,
        cause,
        least(rank, 21) AS rank,
        if(rank <= 20, part, 'all others') AS part,
        if(rank <= 20, job_name, NULL) AS job_name,
        if(rank <= 20, server_port, NULL) AS server_port,
        100 * sum(earlier_rate * earlier_handshakes) / sum(earlier_handshakes) AS earlier,
        100 * sum(later_rate * later_handshakes) / sum(later_handshakes) AS later,
        100 * sum(earlier_share) AS earlier_share_pct,
        100 * sum(later_share) AS later_share_pct,
        100 * sum(by_rate) AS by_rate,
        100 * sum(by_mix) AS by_mix
    FROM moved
    GROUP BY ALL
),

-- Only parts whose costs are known.
cost AS MATERIALIZED (
    SELECT
        system,
        status,
        unnest([
            {
                'rank': 1,
                'part': 'number of handshakes',
                'earlier': earlier_handshakes,
                'later': later_handshakes,
                'change': more_handshakes * handshake_s,
                'low': least_cost(more_handshakes, low_handshake_s, high_handshake_s),
                'high': most_cost(more_handshakes, low_handshake_s, high_handshake_s),
                'is_known': high_handshake_s IS NOT NULL
            },
            {
                'rank': 2,
                'part': 'share of full handshakes',
                'earlier': 100 * earlier_full / nullif(earlier_handshakes, 0),
                'later': 100 * later_full / nullif(later_handshakes, 0),
                'change': more_full * difference_s,
                'low': least_cost(more_full, low_difference_s, high_difference_s),
                'high': most_cost(more_full, low_difference_s, high_difference_s),
                'is_known': high_handshake_s IS NOT NULL AND high_difference_s IS NOT NULL
            },
            {
                'rank': 3,
                'part': 'megabytes per handshake',
                'earlier': earlier_megabytes / nullif(earlier_handshakes, 0),
                'later': later_megabytes / nullif(later_handshakes, 0),
                'change': more_megabytes * megabyte_s,
                'low': least_cost(more_megabytes, low_megabyte_s, high_megabyte_s),
                'high': most_cost(more_megabytes, low_megabyte_s, high_megabyte_s),
                'is_known': high_handshake_s IS NOT NULL AND high_megabyte_s IS NOT NULL
            }
        ], recursive := true)
    FROM period_tls_use
    WHERE earlier_handshakes IS NOT NULL AND later_handshakes IS NOT NULL
),

bounds AS (
    SELECT
        min(from_utc) AS from_utc,
        max(to_utc) AS to_utc
    FROM compared_period
),

changed_cost AS MATERIALIZED (
    SELECT
        c.system,
        c.changed || ', ' || c.change AS part,
        c.status,
        c.value / 24 AS change,
        c.low / 24 AS low,
        c.high / 24 AS high
    FROM cost_change AS c
    INNER JOIN bounds AS b ON c.changed_utc > b.from_utc AND c.changed_utc < b.to_utc
    WHERE c.item = 'costs'
),

look_up AS (
    SELECT
        d.system,
        unnest([
            {'part': d.cache || ': expired', 'amount': d.missed_expired},
            {'part': d.cache || ': not found', 'amount': d.missed_not_found}
        ], recursive := true),
        p.period,
        d.lookups
    FROM gsk_cache_delta AS d
    INNER JOIN compared_period AS p ON d.interval_end_utc > p.from_utc AND d.interval_end_utc <= p.to_utc
    ANTI JOIN left_out_hour AS l
        ON
            d.system = l.system
            AND d.interval_start_utc < l.hour_utc + INTERVAL 1 HOUR
            AND d.interval_end_utc > l.hour_utc
    WHERE d.basis = 'between displays' AND d.interval_start_utc >= p.from_utc
),

cache AS MATERIALIZED (
    SELECT
        system,
        part,
        100 * sum(amount) FILTER (period = 'earlier') / nullif(sum(lookups) FILTER (period = 'earlier'), 0) AS earlier,
        100 * sum(amount) FILTER (period = 'later') / nullif(sum(lookups) FILTER (period = 'later'), 0) AS later
    FROM look_up
    GROUP BY system, part
    HAVING earlier IS NOT NULL AND later IS NOT NULL
),

-- A setting concerns the cost and the resumption.
policy AS MATERIALIZED (
    SELECT
        system,
        setting AS part,
        array_to_string(earlier_values, ', ') AS earlier_value,
        array_to_string(later_values, ', ') AS later_value,
        unnest(['TLS cost', 'resumed handshakes']) AS quantity
    FROM policy_difference
    WHERE setting IS NOT NULL
),

every_cause AS (
    SELECT
        *,
        'resumed handshakes' AS quantity,
        by_rate + by_mix AS change,
        'points' AS unit,
        'counted' AS status,
        format(
            '{}: {} points, {} by its rate and {} by its share of the handshakes',
            part, points_text(by_rate + by_mix), points_text(by_rate), points_text(by_mix)
        ) AS sentence
    FROM resumption
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (is_known),
        'TLS cost' AS quantity,
        'TLS cost' AS cause,
        'CPU s/h' AS unit,
        format('{} by the {}', change_range_text(low, high), part) AS sentence
    FROM cost
    WHERE is_known
    UNION ALL BY NAME
    SELECT
        *,
        'TLS cost' AS quantity,
        'costs of a handshake' AS cause,
        'CPU s/h' AS unit,
        format('{} because of the costs since the change of the {}', change_range_text(low, high), part) AS sentence
    FROM changed_cost
    UNION ALL BY NAME
    SELECT
        *,
        'resumed handshakes' AS quantity,
        'session cache' AS cause,
        later - earlier AS change,
        'points' AS unit,
        'counted' AS status,
        format('{}: {} of the look-ups, against {}', part, percent_text(later), percent_text(earlier)) AS sentence
    FROM cache
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (earlier_value, later_value),
        'AT-TLS policy' AS cause,
        'counted' AS status,
        setting_text(part, earlier_value, later_value) AS sentence
    FROM policy
)

SELECT
    system::VARCHAR AS system,
    quantity::VARCHAR AS quantity,
    cause::VARCHAR AS cause,
    coalesce(rank, row_number() OVER (PARTITION BY system, quantity, cause ORDER BY part))::BIGINT AS rank,
    part::VARCHAR AS part,
    job_name::VARCHAR AS job_name,
    server_port::BIGINT AS server_port,
    earlier::DOUBLE AS earlier,
    later::DOUBLE AS later,
    without_minus(change)::DOUBLE AS change,
    without_minus(low)::DOUBLE AS low,
    without_minus(high)::DOUBLE AS high,
    unit::VARCHAR AS unit,
    without_minus(by_rate)::DOUBLE AS by_rate,
    without_minus(by_mix)::DOUBLE AS by_mix,
    earlier_share_pct::DOUBLE AS earlier_share_pct,
    later_share_pct::DOUBLE AS later_share_pct,
    status::VARCHAR AS status,
    sentence::VARCHAR AS sentence
FROM every_cause
ORDER BY
    system, quantity,
    list_position(
        ['TLS cost', 'costs of a handshake', 'job and port', 'version', 'client network', 'session cache', 'AT-TLS policy'],
        cause
    ),
    rank
