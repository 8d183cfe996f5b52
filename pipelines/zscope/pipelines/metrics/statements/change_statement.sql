-- What changed against the period before.

WITH compared AS (
    SELECT c.*
    FROM period_change AS c
    INNER JOIN statement_filter AS f
        ON
            is_chosen(f.systems, c.system)
            AND is_chosen(f.ports, c.server_port)
            AND is_chosen(f.jobs, c.job_name)
),

-- The two periods in words.
compared_period AS (
    SELECT
        *,
        format('the {} up to {}', length_text(later_from_utc, later_to_utc), moment_text(later_to_utc)) AS later_words,
        format('the {} up to {}', length_text(earlier_from_utc, earlier_to_utc), moment_text(earlier_to_utc))
        AS earlier_words
    FROM (
        SELECT
            any_value(earlier_from_utc) AS earlier_from_utc,
            any_value(earlier_to_utc) AS earlier_to_utc,
            any_value(later_from_utc) AS later_from_utc,
            any_value(later_to_utc) AS later_to_utc,
            min(first_hour_utc) FILTER (subject = 'connections') AS first_hour_utc,
            coalesce(bool_or(earlier > 0) FILTER (subject = 'connections'), false) AS has_earlier
        FROM compared
    )
),

change AS (
    SELECT
        subject AS counted,
        value AS name,
        sum(earlier_per_hour) AS earlier_per_hour,
        sum(later_per_hour) AS later_per_hour,
        100.0 * sum(earlier) / nullif(sum(sum(earlier)) OVER of_subject, 0) AS earlier_pct,
        100.0 * sum(later) / nullif(sum(sum(later)) OVER of_subject, 0) AS later_pct,
        later_pct - earlier_pct AS points,
        any_value(source) AS source,
        least(min(earlier_covered_pct), min(later_covered_pct)) AS covered_pct
    FROM compared
    WHERE why IS NULL AND subject IN ('connections', 'bytes', 'protocol', 'handshake')
    GROUP BY subject, value
    WINDOW of_subject AS (PARTITION BY subject)
),

-- Rates come first, and then shares that moved by a point or more.
said_change AS (
    SELECT
        *,
        counted IN ('connections', 'bytes') AS is_rate,
        if(counted = 'bytes', 1e6, 1) AS unit,
        row_number() OVER (ORDER BY is_rate DESC, counted = 'connections' DESC, abs(points) DESC, counted, name) AS rank
    FROM change
    WHERE if(is_rate, earlier_per_hour > 0, abs(points) >= 1)
),

stated AS (
    SELECT
        'change' AS subject,
        c.rank,
        concat(
            'In ', p.later_words, if(c.is_rate, ' there were ', ', '),
            CASE
                WHEN c.is_rate THEN format(
                    '{} {} an hour, against {} in {}: {}',
                    number_text(c.later_per_hour / c.unit),
                    if(c.counted = 'bytes', 'MB', c.counted),
                    number_text(c.earlier_per_hour / c.unit),
                    p.earlier_words,
                    relative_text(change_pct(c.earlier_per_hour, c.later_per_hour))
                )
                ELSE format(
                    '{} of the {} {}, against {} in {}: {:+.1f} points',
                    percent_text(c.later_pct),
                    if(c.counted = 'handshake', 'handshakes', 'connections'),
                    CASE
                        WHEN c.counted = 'handshake' THEN format('were {}', c.name)
                        WHEN c.name = 'none' THEN 'had no recognized cryptographic protection'
                        ELSE format('had {}', c.name)
                    END,
                    percent_text(c.earlier_pct),
                    p.earlier_words,
                    c.points
                )
            END,
            ' (not tested against noise).'
        ) AS sentence,
        if(c.is_rate, change_pct(c.earlier_per_hour, c.later_per_hour), c.points) AS value,
        if(c.is_rate, '%', 'points') AS unit,
        local_day(p.later_from_utc, 0) AS first_day,
        local_day(p.later_to_utc - INTERVAL 1 MICROSECOND, 0) AS last_day,
        c.source,
        c.covered_pct,
        'counted' AS status,
        'period_comparison' AS evidence_metric,
        concat_ws(
            ' AND ',
            one_of_text('subject', [c.counted]),
            'why IS NULL',
            f.system_condition, f.port_condition, f.job_condition
        ) AS evidence_condition,
        if(c.is_rate, ['change_pct', 'earlier_per_hour', 'later_per_hour'], ['earlier_pct', 'later_pct'])
        AS evidence_columns,
        f.from_utc AS evidence_from_utc,
        f.to_utc AS evidence_to_utc
    FROM said_change AS c
    CROSS JOIN compared_period AS p
    CROSS JOIN statement_filter AS f
),

unknown AS (
    SELECT
        'change' AS subject,
        1 AS rank,
        CASE
            WHEN p.later_to_utc IS NULL
                THEN 'What changed is not known: no records of single connections (SMF 119-11 or 119-2) are of the period '
                    || 'or the one before it'
            WHEN NOT p.has_earlier
                THEN format(
                    'A comparison needs connections of {}; of those up to {}, the data have the last {}',
                    length_text(p.earlier_from_utc, p.later_to_utc),
                    moment_text(p.later_to_utc),
                    length_text(p.first_hour_utc, p.later_to_utc)
                )
            ELSE format(
                'What changed in {} against {} is not known: {}',
                p.later_words,
                p.earlier_words,
                coalesce(
                    (SELECT string_agg(DISTINCT why, '; ' ORDER BY why) FROM compared),
                    'no connections in complete hours of the earlier period'
                )
            )
        END || '.' AS sentence,
        'not enough data' AS status,
        'period_comparison' AS evidence_metric,
        concat_ws(' AND ', f.system_condition, f.port_condition, f.job_condition) AS evidence_condition,
        f.from_utc AS evidence_from_utc,
        f.to_utc AS evidence_to_utc
    FROM statement_filter AS f
    CROSS JOIN compared_period AS p
    WHERE (SELECT count(*) FROM said_change) = 0
),

-- A setting that differs has a row with its earlier value, one with its later value, or both.
policy_setting_change AS (
    SELECT
        system,
        setting,
        string_agg(substr(value, len(setting) + 2), ', ' ORDER BY value) FILTER (earlier > 0) AS earlier_value,
        string_agg(substr(value, len(setting) + 2), ', ' ORDER BY value) FILTER (later > 0) AS later_value
    FROM (
        SELECT
            c.*,
            coalesce(nullif(regexp_extract(c.value, '^(.*?: [^ ]+) ', 1), ''), c.value) AS setting
        FROM period_change AS c
        INNER JOIN statement_filter AS f ON is_chosen(f.systems, c.system)
        WHERE c.subject = 'AT-TLS policy'
    )
    GROUP BY system, setting
),

policy_change AS (
    SELECT
        'change' AS subject,
        1 + greatest((SELECT count(*) FROM said_change), 1) AS rank,
        format(
            '{} of the AT-TLS policy changed{}',
            counted_text(count(*), 'setting'),
            if(count(*) = 1, ': ', ', the first by name: ')
        ) || arg_min(
            concat(
                p.system || ', ',
                p.setting,
                CASE
                    WHEN p.later_value IS NULL THEN format(' {} is no longer set', p.earlier_value)
                    WHEN p.earlier_value IS NULL THEN format(' is new, {}', p.later_value)
                    ELSE format(' from {} to {}', p.earlier_value, p.later_value)
                END
            ),
            (p.system, p.setting)
        ) || '.' AS sentence,
        count(*) AS value,
        'settings' AS unit,
        'counted' AS status,
        'period_comparison' AS evidence_metric,
        'subject,value,system' AS evidence_by,
        concat_ws(' AND ', 'subject = ''AT-TLS policy''', any_value(f.system_condition)) AS evidence_condition,
        any_value(f.from_utc) AS evidence_from_utc,
        any_value(f.to_utc) AS evidence_to_utc
    FROM policy_setting_change AS p
    CROSS JOIN statement_filter AS f
    HAVING count(*) > 0
)

SELECT
    subject::VARCHAR AS subject,
    rank::BIGINT AS rank,
    sentence::VARCHAR AS sentence,
    value::DOUBLE AS value,
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
    SELECT * FROM stated
    UNION ALL BY NAME
    SELECT * FROM unknown
    UNION ALL BY NAME
    SELECT * FROM policy_change
)
