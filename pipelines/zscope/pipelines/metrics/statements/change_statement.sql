-- What changed on a system in the later period against the earlier one: beyond noise, within it, in the policy, or not known.

WITH difference AS MATERIALIZED (
    SELECT * FROM period_difference
),

compared AS MATERIALIZED (
    SELECT
        d.*,
        list_position(
            [
                'TLS cost', 'CPU time', 'handshakes', 'resumed handshakes', 'TLSv1.3', 'old versions', 'connections',
                'bytes'
            ],
            d.quantity
        ) AS place,
        if(d.unit = '%', 'points', d.unit) AS unit_of_change,
        f.system_condition,
        f.from_utc,
        f.to_utc
    FROM difference AS d
    INNER JOIN statement_filter AS f ON is_chosen(f.systems, d.system)
),

beyond_noise AS (
    SELECT
        1 AS kind,
        row_number() OVER (ORDER BY place, abs(change_pct) DESC NULLS LAST, abs(change) DESC NULLS LAST, system) AS within,
        system,
        sentence || '.' AS sentence,
        change AS value,
        low,
        high,
        unit_of_change AS unit,
        first_day,
        last_day,
        source,
        covered_pct,
        status,
        'period_difference' AS evidence_metric,
        concat_ws(' AND ', one_of_text('system', [system]), one_of_text('quantity', [quantity])) AS evidence_condition,
        ['change', 'low', 'high', 'earlier', 'later', 'sentence'] AS evidence_columns,
        from_utc AS evidence_from_utc,
        to_utc AS evidence_to_utc
    FROM compared
    WHERE verdict IN ('less', 'more')
),

within_noise AS (
    SELECT
        3 AS kind,
        row_number() OVER (ORDER BY system) AS within,
        system,
        concat(
            format('{}: in {} against {}, no change beyond noise can be seen: ', system, later_period, earlier_period),
            string_agg(
                format(
                    '{} {} {}, before {} ({})',
                    quantity,
                    coalesce(number_text(later), range_text(later_low, later_high)),
                    unit,
                    coalesce(number_text(earlier), range_text(earlier_low, earlier_high)),
                    CASE
                        WHEN low = 0 AND high = 0 THEN 'no difference'
                        WHEN quantity = 'TLS cost'
                            THEN change_range_text(low, high)
                                || ', if a handshake and a megabyte cost as much in both periods'
                        ELSE format(
                            'change {}{}, {}; one below {}{} would not have been seen',
                            number_text(without_minus(change)),
                            if(unit = '%', ' points', ''),
                            change_range_text(low, high),
                            number_text(smallest_visible),
                            if(unit = '%', ' points', '')
                        )
                    END
                ),
                '; ' ORDER BY place
            ),
            if(bool_or(status = 'conditional'), ', if days differ by no more than their hours', ''),
            '; ' || incomplete_text(min(covered_pct)) || ' of a period',
            '.'
        ) AS sentence,
        any_value(first_day) AS first_day,
        any_value(last_day) AS last_day,
        min(covered_pct) AS covered_pct,
        if(count(DISTINCT status) = 1, any_value(status), 'conditional') AS status,
        'period_difference' AS evidence_metric,
        concat_ws(' AND ', one_of_text('system', [system]), 'verdict = ''within noise''') AS evidence_condition,
        ['earlier', 'later', 'change', 'smallest_visible', 'low', 'high'] AS evidence_columns,
        any_value(from_utc) AS evidence_from_utc,
        any_value(to_utc) AS evidence_to_utc
    FROM compared
    WHERE verdict = 'within noise'
    GROUP BY system, later_period, earlier_period
),

-- Quantities that no interval is known of, with the systems of each, and the reason of the one with most data.
not_known AS (
    SELECT
        4 AS kind,
        1 AS within,
        concat(
            if(
                (SELECT bool_and(verdict = 'not known') FROM compared),
                format('What changed in {} against {} is not known', any_value(later_period), any_value(earlier_period)),
                format(
                    'The change of {} in {} against {} is not known',
                    string_agg(format('{} ({})', quantity, systems), ', ' ORDER BY place),
                    any_value(later_period),
                    any_value(earlier_period)
                )
            ),
            if(sum(reasons) = 1, ': ', '. One of the reasons: '),
            arg_max(why, (coalesce(most_covered_pct, -1), -place)),
            '.'
        ) AS sentence,
        any_value(first_day) AS first_day,
        any_value(last_day) AS last_day,
        'not enough data' AS status,
        'period_difference' AS evidence_metric,
        concat_ws(' AND ', 'verdict = ''not known''', any_value(system_condition)) AS evidence_condition,
        ['why'] AS evidence_columns,
        any_value(from_utc) AS evidence_from_utc,
        any_value(to_utc) AS evidence_to_utc
    FROM (
        SELECT
            quantity,
            place,
            if(count(*) > 4, counted_text(count(*), 'system'), string_agg(system, ', ' ORDER BY system)) AS systems,
            count(DISTINCT why) AS reasons,
            max(covered_pct) AS most_covered_pct,
            arg_max(why, (coalesce(covered_pct, -1), system)) AS why,
            any_value(later_period) AS later_period,
            any_value(earlier_period) AS earlier_period,
            any_value(first_day) AS first_day,
            any_value(last_day) AS last_day,
            any_value(system_condition) AS system_condition,
            any_value(from_utc) AS from_utc,
            any_value(to_utc) AS to_utc
        FROM compared
        WHERE verdict = 'not known'
        GROUP BY quantity, place
    )
    HAVING count(*) > 0
),

without_data AS (
    SELECT
        4 AS kind,
        1 AS within,
        concat(
            'What changed is not known: ',
            if(
                (SELECT count(*) FROM difference) > 0,
                'no connections, handshakes or CPU time of this choice are loaded',
                'no records of connections (SMF 119-11, 119-12 or 119-2) with a known time are loaded'
            ),
            '.'
        ) AS sentence,
        'not enough data' AS status,
        'period_difference' AS evidence_metric,
        system_condition AS evidence_condition,
        from_utc AS evidence_from_utc,
        to_utc AS evidence_to_utc
    FROM statement_filter
    WHERE (SELECT count(*) FROM compared) = 0
),

policy AS (
    SELECT
        2 AS kind,
        1 AS within,
        format(
            '{} of the AT-TLS policy changed{}{}.',
            counted_text(count(*), 'setting'),
            if(count(*) = 1, ': ', ', the first by name: '),
            arg_min(
                setting_text(
                    p.system || ', ' || p.setting,
                    array_to_string(p.earlier_values, ', '),
                    array_to_string(p.later_values, ', ')
                ),
                (p.system, p.setting)
            )
        ) AS sentence,
        count(*) AS value,
        'settings' AS unit,
        'counted' AS status,
        'period_comparison' AS evidence_metric,
        'subject,value,system' AS evidence_by,
        concat_ws(' AND ', 'subject = ''AT-TLS policy''', any_value(f.system_condition)) AS evidence_condition,
        ['earlier', 'later'] AS evidence_columns,
        any_value(f.from_utc) AS evidence_from_utc,
        any_value(f.to_utc) AS evidence_to_utc
    FROM policy_difference AS p
    -- Settings are of a system, not of a port or job.
    INNER JOIN statement_filter AS f ON is_chosen(f.systems, p.system) AND f.ports IS NULL AND f.jobs IS NULL
    WHERE p.setting IS NOT NULL
    HAVING count(*) > 0
)

SELECT
    'change' AS subject,
    row_number() OVER (ORDER BY kind, within)::BIGINT AS rank,
    system::VARCHAR AS system,
    sentence::VARCHAR AS sentence,
    value::DOUBLE AS value,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    unit::VARCHAR AS unit,
    first_day::DATE AS first_day,
    last_day::DATE AS last_day,
    source::VARCHAR AS source,
    covered_pct::DOUBLE AS covered_pct,
    status::VARCHAR AS status,
    evidence_metric::VARCHAR AS evidence_metric,
    evidence_by::VARCHAR AS evidence_by,
    nullif(evidence_condition, '')::VARCHAR AS evidence_condition,
    evidence_columns::VARCHAR[] AS evidence_columns,
    evidence_from_utc::TIMESTAMPTZ AS evidence_from_utc,
    evidence_to_utc::TIMESTAMPTZ AS evidence_to_utc
FROM (
    SELECT * FROM beyond_noise
    UNION ALL BY NAME
    SELECT * FROM policy
    UNION ALL BY NAME
    SELECT * FROM within_noise
    UNION ALL BY NAME
    SELECT * FROM not_known
    UNION ALL BY NAME
    SELECT * FROM without_data
)
