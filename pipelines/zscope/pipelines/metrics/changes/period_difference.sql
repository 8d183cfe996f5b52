-- A quantity of a system in two periods, and whether it changed by more than noise.
--
-- The intervals of all rows of a system hold together: in 95 of 100 comparisons without a change, none of them shows
-- one. The cost of TLS moves with the handshakes, their kinds and the bytes at the costs of the estimate, which are the same
-- in both periods. So its change is at least that at the lower ends of the costs and at most that at the upper ends, with
-- the noise of each.

WITH source AS MATERIALIZED (
    SELECT * FROM period_source
),

bounds AS MATERIALIZED (
    SELECT
        s.system,
        s.period,
        period_text(
            (s.from_utc AT TIME ZONE 'UTC') + to_seconds(coalesce(b.offset_s, 0)),
            (s.to_utc AT TIME ZONE 'UTC') + to_seconds(coalesce(e.offset_s, 0))
        ) AS words,
        local_day(s.from_utc, coalesce(b.offset_s, 0)) AS first_day,
        local_day(s.to_utc - INTERVAL 1 MICROSECOND, coalesce(e.offset_s, 0)) AS last_day
    FROM (
        SELECT
            r.system,
            p.*
        FROM (SELECT DISTINCT system FROM source) AS r
        CROSS JOIN compared_period AS p
    ) AS s
    ASOF LEFT JOIN clock_offset AS b ON s.system = b.system AND s.from_utc >= b.from_utc
    ASOF LEFT JOIN clock_offset AS e ON s.system = e.system AND s.to_utc >= e.from_utc
),

shown AS (
    FROM (VALUES
        (1, 'use of TLS', 'TLS cost', 'CPU s/h', 1, 'CPU seconds an hour for TLS'),
        (2, 'CPU time', 'CPU time', 'CPU s/h', 1, 'CPU seconds an hour on the LPAR'),
        (3, 'handshakes', 'handshakes', '/h', 1, 'full and resumed handshakes an hour'),
        (4, 'handshakes', 'resumed handshakes', '%', 100, '% of the handshakes resumed'),
        (5, 'connections', 'TLSv1.3', '%', 100, '% of the connections with TLS on TLSv1.3'),
        (6, 'connections', 'old versions', '%', 100, '% of the connections with TLS on SSL, TLSv1.0 or TLSv1.1'),
        (7, 'connections', 'connections', '/h', 1, 'connections an hour'),
        (8, 'connections', 'bytes', 'MB/h', 1e-6, 'MB an hour')
    ) AS quantity (place, counted, quantity, unit, factor, words)
),

-- The parts of the cost, the job and port with most of the change of resumption, and the policy.
cause AS MATERIALIZED (
    SELECT
        system,
        quantity,
        concat_ws(
            '; ',
            'of which ' || string_agg(sentence, ', ' ORDER BY rank) FILTER (cause = 'TLS cost' AND high > low),
            any_value('most of it on ' || sentence) FILTER (cause = 'job and port' AND rank = 1),
            'the AT-TLS policies of the periods differ in '
            || counted_text(nullif(count(*) FILTER (cause = 'AT-TLS policy'), 0), 'setting')
        ) AS cause
    FROM period_cause
    GROUP BY system, quantity
),

cost AS MATERIALIZED (
    SELECT
        system,
        status,
        why,
        high_handshake_s IS NOT NULL AS is_known,
        earlier_handshakes * handshake_s
        + if(earlier_more_full = 0, 0, earlier_more_full * difference_s)
        + if(earlier_more_megabytes = 0, 0, earlier_more_megabytes * megabyte_s) AS earlier,
        later_handshakes * handshake_s
        + if(later_more_full = 0, 0, later_more_full * difference_s)
        + if(later_more_megabytes = 0, 0, later_more_megabytes * megabyte_s) AS later,
        earlier_handshakes * low_handshake_s
        + least_cost(earlier_more_full, low_difference_s, high_difference_s)
        + least_cost(earlier_more_megabytes, low_megabyte_s, high_megabyte_s) AS earlier_low,
        later_handshakes * low_handshake_s
        + least_cost(later_more_full, low_difference_s, high_difference_s)
        + least_cost(later_more_megabytes, low_megabyte_s, high_megabyte_s) AS later_low,
        earlier_handshakes * high_handshake_s
        + most_cost(earlier_more_full, low_difference_s, high_difference_s)
        + most_cost(earlier_more_megabytes, low_megabyte_s, high_megabyte_s) AS earlier_high,
        later_handshakes * high_handshake_s
        + most_cost(later_more_full, low_difference_s, high_difference_s)
        + most_cost(later_more_megabytes, low_megabyte_s, high_megabyte_s) AS later_high,
        least_cost(more_handshakes, low_handshake_s, high_handshake_s)
        + least_cost(more_full, low_difference_s, high_difference_s)
        + least_cost(more_megabytes, low_megabyte_s, high_megabyte_s) AS change_low,
        most_cost(more_handshakes, low_handshake_s, high_handshake_s)
        + most_cost(more_full, low_difference_s, high_difference_s)
        + most_cost(more_megabytes, low_megabyte_s, high_megabyte_s) AS change_high
    FROM period_tls_use
),

compared AS MATERIALIZED (
    SELECT
        p.*,
        s.* EXCLUDE (counted),
        r.* EXCLUDE (system, counted, quantity),
        coalesce(
            p.why,
            CASE
                WHEN s.quantity = 'TLS cost' AND NOT coalesce(c.is_known, false)
                    THEN coalesce(c.why, 'there is no TLS CPU cost: see zscope metrics tls_price')
                WHEN r.earlier IS NULL OR r.later IS NULL
                    THEN 'no hour with ' || s.quantity || ' counts in ' || concat_ws(
                        ' and ',
                        if(r.earlier IS NULL, 'the earlier period', NULL),
                        if(r.later IS NULL, 'the later period', NULL)
                    )
                WHEN r.blocks < 5 THEN 'fewer than five days, or parts of four hours, count in both periods'
            END
        ) AS why_not,
        c.status AS status_of_cost,
        c.why AS why_of_cost,
        c.earlier AS earlier_cost,
        c.later AS later_cost,
        if(c.earlier_low < 0, 0, c.earlier_low) AS earlier_low,
        if(c.later_low < 0, 0, c.later_low) AS later_low,
        c.earlier_high,
        c.later_high,
        c.change_low,
        c.change_high
    FROM source AS p
    INNER JOIN shown AS s ON p.counted = s.counted
    LEFT JOIN period_rate AS r ON p.system = r.system AND s.quantity = r.quantity
    LEFT JOIN (SELECT *, 'TLS cost' AS quantity FROM cost) AS c ON p.system = c.system AND s.quantity = c.quantity
),

-- Standard errors are 1.25 times as large, as in cost_change: weekends are smaller blocks than other days, so that the few
-- days say less about the noise than their number.
with_noise AS (
    SELECT
        *,
        1.25
        * student_beyond(blocks - 1, 0.025 / nullif(count(*) FILTER (WHERE why_not IS NULL) OVER (PARTITION BY system), 0))
        * standard_error AS half
    FROM compared
),

-- At the lower ends of the costs, the noise is as much smaller as they are.
with_ends AS (
    SELECT
        * EXCLUDE (earlier, later, change),
        if(why_not IS NULL, factor * if(quantity = 'TLS cost', earlier_cost, earlier), NULL) AS earlier,
        if(why_not IS NULL, factor * if(quantity = 'TLS cost', later_cost, later), NULL) AS later,
        if(why_not IS NULL, factor * if(quantity = 'TLS cost', later_cost - earlier_cost, change), NULL) AS change,
        half * coalesce((earlier_low + later_low) / nullif(earlier_high + later_high, 0), 1) AS half_at_low_costs,
        CASE
            WHEN why_not IS NOT NULL THEN NULL
            WHEN quantity = 'TLS cost'
                THEN least(
                    change_low - if(change_low < 0, half, half_at_low_costs),
                    change_high - if(change_high < 0, half_at_low_costs, half)
                )
            ELSE factor * (change - half)
        END AS low,
        CASE
            WHEN why_not IS NOT NULL THEN NULL
            WHEN quantity = 'TLS cost'
                THEN greatest(
                    change_high + if(change_high > 0, half, half_at_low_costs),
                    change_low + if(change_low > 0, half_at_low_costs, half)
                )
            ELSE factor * (change + half)
        END AS high
    FROM with_noise
),

judged AS (
    SELECT
        w.*,
        a.words AS earlier_period,
        b.words AS later_period,
        b.first_day,
        b.last_day,
        d.cause,
        CASE
            WHEN w.why_not IS NOT NULL THEN 'not known'
            WHEN w.high <= 0 AND w.low < 0 THEN 'less'
            WHEN w.low >= 0 AND w.high > 0 THEN 'more'
            ELSE 'within noise'
        END AS verdict,
        CASE
            WHEN w.why_not IS NOT NULL THEN 'not enough data'
            WHEN w.quantity = 'TLS cost' AND w.in_days THEN w.status_of_cost
            WHEN w.quantity = 'TLS cost' AND w.status_of_cost = 'range' THEN 'range'
            WHEN w.in_days THEN 'estimate'
            ELSE 'conditional'
        END AS status
    FROM with_ends AS w
    LEFT JOIN bounds AS a ON w.system = a.system AND a.period = 'earlier'
    LEFT JOIN bounds AS b ON w.system = b.system AND b.period = 'later'
    LEFT JOIN cause AS d ON w.system = d.system AND w.quantity = d.quantity
)

SELECT
    system::VARCHAR AS system,
    quantity::VARCHAR AS quantity,
    unit::VARCHAR AS unit,
    verdict::VARCHAR AS verdict,
    status::VARCHAR AS status,
    earlier::DOUBLE AS earlier,
    later::DOUBLE AS later,
    change::DOUBLE AS change,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    CASE WHEN unit <> '%' THEN change_pct(earlier, later) END::DOUBLE AS change_pct,
    if(why_not IS NULL AND quantity <> 'TLS cost', factor * half, NULL)::DOUBLE AS smallest_visible,
    if(why_not IS NULL, earlier_low, NULL)::DOUBLE AS earlier_low,
    if(why_not IS NULL, earlier_high, NULL)::DOUBLE AS earlier_high,
    if(why_not IS NULL, later_low, NULL)::DOUBLE AS later_low,
    if(why_not IS NULL, later_high, NULL)::DOUBLE AS later_high,
    earlier_period::VARCHAR AS earlier_period,
    later_period::VARCHAR AS later_period,
    first_day::DATE AS first_day,
    last_day::DATE AS last_day,
    source::VARCHAR AS source,
    earlier_covered_pct::DOUBLE AS earlier_covered_pct,
    later_covered_pct::DOUBLE AS later_covered_pct,
    least(earlier_covered_pct, later_covered_pct)::DOUBLE AS covered_pct,
    blocks::BIGINT AS blocks,
    concat(
        system,
        ': ',
        CASE
            WHEN why_not IS NOT NULL
                THEN format('the change of {} in {} against {} is not known', quantity, later_period, earlier_period)
            WHEN quantity = 'TLS cost' THEN format(
                '{} {} in {}, against {} in {}: {}{}',
                range_text(later_low, later_high),
                words,
                later_period,
                range_text(earlier_low, earlier_high),
                earlier_period,
                change_range_text(low, high),
                if(verdict = 'within noise', ', so no change can be seen', '')
            )
            ELSE format(
                '{} {} in {}, against {} in {}: {}',
                number_text(later),
                words,
                later_period,
                number_text(earlier),
                earlier_period,
                CASE
                    WHEN low = high AND change = 0 THEN 'no difference'
                    WHEN verdict = 'within noise' THEN format(
                        'no change can be seen, and one below {}{} would not have been ({})',
                        number_text(factor * half),
                        if(unit = '%', ' points', ''),
                        change_range_text(low, high)
                    )
                    ELSE format(
                        '{} ({})',
                        CASE
                            WHEN unit = '%' THEN points_text(change) || ' points'
                            WHEN earlier = 0 THEN number_text(change) || ' more'
                            ELSE relative_text(change_pct(earlier, later))
                        END,
                        change_range_text(low, high)
                    )
                END
            )
        END,
        CASE WHEN verdict IN ('less', 'more') THEN ', ' || cause END,
        CASE
            WHEN why_not IS NULL AND quantity = 'TLS cost'
                THEN ', if a handshake and a megabyte cost as much in both periods'
        END,
        CASE WHEN why_not IS NULL AND NOT in_days THEN ', if days differ by no more than their hours' END,
        CASE
            WHEN why_not IS NULL
                THEN '; ' || incomplete_text(least(earlier_covered_pct, later_covered_pct)) || ' of a period'
        END
    )::VARCHAR AS sentence,
    coalesce(
        why_not,
        joined(
            without_nulls([
                if(
                    in_days, NULL,
                    'the noise is that of parts of four hours: what makes a whole day differ is not in it'
                ),
                if(quantity = 'TLS cost', why_of_cost, NULL)
            ]),
            '; '
        )
    )::VARCHAR AS why
FROM judged
ORDER BY system, place
