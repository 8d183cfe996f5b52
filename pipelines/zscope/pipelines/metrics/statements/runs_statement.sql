-- The hours with benchmark runs, which no share, rate or price contains.

WITH left_out_of_system AS (
    SELECT
        l.system,
        sum(l.hours) AS hours,
        min(l.hour_utc) AS first_utc,
        max(l.hour_utc) AS last_utc
    FROM left_out_hour AS l
    INNER JOIN statement_filter AS f
        ON
            is_chosen(f.systems, l.system)
            AND (f.from_utc IS NULL OR l.hour_utc >= f.from_utc)
            AND (f.to_utc IS NULL OR l.hour_utc < f.to_utc)
    SEMI JOIN (
        SELECT system FROM coverage_hour WHERE source IN ('119-11', '119-12') AND covered_hours > 0
    ) AS z ON l.system = z.system
    GROUP BY l.system
),

stated AS (
    SELECT
        'runs' AS subject,
        1 AS rank,
        format(
            'Shares, rates and prices leave out hours with benchmark runs: {}.',
            string_agg(counted_text(l.hours, 'hour') || ' of ' || l.system, ', ' ORDER BY l.hours DESC, l.system)
        ) AS sentence,
        sum(l.hours) AS value,
        'hours' AS unit,
        min(local_day(l.first_utc, a.offset_s)) AS first_day,
        max(local_day(l.last_utc, b.offset_s)) AS last_day,
        'counted' AS status,
        'left_out_hour' AS evidence_metric,
        'system' AS evidence_by,
        one_of_text('system', list(l.system ORDER BY l.system)) AS evidence_condition,
        ['hours'] AS evidence_columns,
        any_value(f.from_utc) AS evidence_from_utc,
        any_value(f.to_utc) AS evidence_to_utc
    FROM left_out_of_system AS l
    CROSS JOIN statement_filter AS f
    ASOF LEFT JOIN clock_offset AS a ON l.system = a.system AND l.first_utc >= a.from_utc
    ASOF LEFT JOIN clock_offset AS b ON l.system = b.system AND l.last_utc >= b.from_utc
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
    status::VARCHAR AS status,
    evidence_metric::VARCHAR AS evidence_metric,
    evidence_by::VARCHAR AS evidence_by,
    nullif(evidence_condition, '')::VARCHAR AS evidence_condition,
    evidence_columns::VARCHAR[] AS evidence_columns,
    evidence_from_utc::TIMESTAMPTZ AS evidence_from_utc,
    evidence_to_utc::TIMESTAMPTZ AS evidence_to_utc
FROM stated
