-- The change that can save most, of systems and their rules or, if ports are chosen, of ports: the first row of tls_advice.
-- If even that is less than least_worth_pct of what TLS costs on the chosen systems, no change worth making is known.

WITH saving AS (
    SELECT
        a.*,
        f.advised_by,
        concat_ws(' AND ', f.system_condition, f.port_condition) AS chosen_condition
    FROM tls_advice AS a
    INNER JOIN statement_filter AS f
        ON
            if(f.advised_by = 'port', a.shared_by = 'port', a.shared_by = 'system' OR a.rule_name IS NOT NULL)
            AND is_chosen(f.systems, a.system)
    WHERE
        a.upper_s_per_day > 0
        AND a.saving_high_s_per_day = a.upper_s_per_day
        AND (a.shared_by <> 'port' OR is_chosen(f.ports, a.server_port))
    -- As the rows of tls_advice are sorted, so that the list behind the statement begins with it.
    QUALIFY row_number() OVER (
        ORDER BY
            advice_group(a.status, a.upper_s_per_day, a.all_cost_pct, a.cost_pct, a.names_setting, a.is_seen),
            a.upper_s_per_day DESC, a.system, a.shared_by, a.rule_name, a.server_port, a.change, a.basis
    ) = 1
),

-- The systems whose advice is withheld, by the hours that zERT details cover.
few_hours AS (
    SELECT
        format(
            'of the last seven days, zERT details cover {}, and at least {} hours are needed',
            nullif(string_agg(
                format('{} of the {} hours of {}', number_text(c.covered_hours), c.hours, c.system), ', ' ORDER BY c.system
            ), ''),
            least_advice_hours()
        ) AS hours,
        format(
            'of the last seven days, zERT details of {} cover fewer hours than the {} that advice needs',
            string_agg(c.system, ', ' ORDER BY c.system),
            least_advice_hours()
        ) AS systems
    FROM tls_use_covered AS c
    INNER JOIN statement_filter AS f ON is_chosen(f.systems, c.system)
    SEMI JOIN tls_advice AS a ON c.system = a.system
    WHERE c.covered_hours < least_advice_hours()
),

cost AS (
    SELECT sum(coalesce(e.day_s, e.high_day_s) ORDER BY e.system) AS day_s
    FROM estimated_price AS e
    INNER JOIN statement_filter AS f ON is_chosen(f.systems, e.system)
    WHERE e.job_name IS NULL AND e.part = 'TLS' AND e.contradiction IS NULL
),

stated AS (
    SELECT
        'saving' AS subject,
        1 AS rank,
        system,
        CASE
            WHEN is_worth_making(100 * upper_s_per_day / nullif((SELECT day_s FROM cost), 0)) THEN
                concat(
                    'This change',
                    if(advised_by = 'port', ' on a chosen port', ''),
                    ' can save most',
                    ', of those '
                    || nullif(concat_ws(
                        ' and ',
                        if(names_setting, 'that name a setting', NULL),
                        if(is_seen, 'whose setting or cause is in the data', NULL),
                        if(status = 'estimate', 'whose saving has a narrow range', NULL)
                    ), ''),
                    ': ',
                    sentence,
                    CASE
                        WHEN parameter IS NULL
                            THEN format('. No setting here is known to help with that; it takes {}', recommended)
                        ELSE concat('. To set: ', statement, ', ', parameter, ' (today ' || value_today || ')', ': ', recommended)
                    END,
                    '. ' || upper(why_full[1]) || why_full[2:],
                    '.'
                )
            ELSE concat(
                'No change worth making',
                if(advised_by = 'port', ' on a chosen port', ''),
                ' is known from these data: ',
                (SELECT systems FROM few_hours) || '; ',
                format('the largest known saving is less than {} % of the TLS CPU cost. ', least_worth_pct()),
                sentence,
                '.'
            )
        END AS sentence,
        saving_s_per_day AS value,
        saving_low_s_per_day AS low,
        saving_high_s_per_day AS high,
        'CPU s/day' AS unit,
        source,
        covered_pct,
        status,
        'tls_advice' AS evidence_metric,
        concat_ws(
            ' AND ',
            if(advised_by = 'port', 'shared_by = ''port''', '(shared_by = ''system'' OR rule_name IS NOT NULL)'),
            'upper_s_per_day > 0 AND saving_high_s_per_day = upper_s_per_day',
            nullif(chosen_condition, '')
        ) AS evidence_condition,
        [
            'saving_s_per_day', 'saving_low_s_per_day', 'saving_high_s_per_day', 'sentence', 'statement', 'parameter',
            'value_today', 'recommended', 'why_full'
        ] AS evidence_columns
    FROM saving
),

unknown AS (
    SELECT
        'saving' AS subject,
        1 AS rank,
        'The data do not show a change of the AT-TLS policy that saves CPU time'
        || CASE
            WHEN (SELECT count(*) FROM tls_advice) = 0 THEN ': that needs the TLS CPU cost'
            ELSE coalesce(': ' || (SELECT hours FROM few_hours), '')
        END || '.' AS sentence,
        'not enough data' AS status,
        'tls_advice' AS evidence_metric,
        concat_ws(' AND ', f.system_condition, f.port_condition) AS evidence_condition,
        ['sentence'] AS evidence_columns
    FROM statement_filter AS f
    WHERE (SELECT count(*) FROM saving) = 0
)

SELECT
    subject::VARCHAR AS subject,
    rank::BIGINT AS rank,
    system::VARCHAR AS system,
    sentence::VARCHAR AS sentence,
    value::DOUBLE AS value,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    unit::VARCHAR AS unit,
    source::VARCHAR AS source,
    covered_pct::DOUBLE AS covered_pct,
    status::VARCHAR AS status,
    evidence_metric::VARCHAR AS evidence_metric,
    nullif(evidence_condition, '')::VARCHAR AS evidence_condition,
    evidence_columns::VARCHAR[] AS evidence_columns
FROM (
    SELECT * FROM stated
    UNION ALL BY NAME
    SELECT * FROM unknown
)
