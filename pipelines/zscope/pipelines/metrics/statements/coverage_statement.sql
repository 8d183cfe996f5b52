-- How much of the time the records of a kind cover on a system.

WITH covered AS (
    SELECT
        c.system,
        k.kind,
        c.source,
        sum(c.hours) AS hours,
        sum(c.covered_hours) AS covered_hours,
        min(c.day) AS first_day,
        max(c.day) AS last_day
    FROM coverage_hour AS c
    INNER JOIN statement_filter AS f
        ON
            is_chosen(f.systems, c.system)
            AND (f.from_utc IS NULL OR c.hour_utc >= f.from_utc)
            AND (f.to_utc IS NULL OR c.hour_utc < f.to_utc)
    INNER JOIN (VALUES
        ('119-11', 'zERT records'), ('119-12', 'zERT records'), ('70', 'CPU time'), ('RMF', 'CPU time')
    ) AS k (source, kind) ON c.source = k.source
    GROUP BY c.system, k.kind, c.source
    HAVING bool_or(c.covered_hours > 0)
    QUALIFY row_number() OVER (
        PARTITION BY c.system, k.kind ORDER BY sum(c.covered_hours) / sum(c.hours) DESC, c.source
    ) = 1
),

stated AS (
    SELECT
        'coverage' AS subject,
        row_number() OVER (ORDER BY c.hours - c.covered_hours DESC, c.system, c.kind) AS rank,
        c.system,
        format(
            '{}: {} cover {} of {} ({}) from {} to {}.',
            c.system,
            records_text(c.source),
            number_text(c.covered_hours),
            counted_text(c.hours, 'hour'),
            percent_text(100 * c.covered_hours / c.hours),
            c.first_day,
            c.last_day
        ) AS sentence,
        100 * c.covered_hours / c.hours AS value,
        '%' AS unit,
        c.first_day,
        c.last_day,
        c.source,
        100 * c.covered_hours / c.hours AS covered_pct,
        'counted' AS status,
        'coverage' AS evidence_metric,
        'system,source' AS evidence_by,
        concat_ws(' AND ', one_of_text('system', [c.system]), one_of_text('source', [c.source])) AS evidence_condition,
        ['covered_pct', 'covered_hours', 'hours'] AS evidence_columns,
        f.from_utc AS evidence_from_utc,
        f.to_utc AS evidence_to_utc
    FROM covered AS c
    CROSS JOIN statement_filter AS f
    WHERE 100 * c.covered_hours < least_covered_pct() * c.hours
),

unknown AS (
    SELECT
        'coverage' AS subject,
        1 AS rank,
        CASE
            WHEN count(*) = 0 THEN 'How much of the time the data cover is not known: no zERT records and no CPU time with '
                || 'a known time are loaded.'
            ELSE format(
                'The data cover at least {} % of the hours from {} to {} of {}.',
                least_covered_pct(), min(first_day), max(last_day), string_agg(DISTINCT system, ', ' ORDER BY system)
            )
        END AS sentence,
        min(100 * covered_hours / hours) AS value,
        '%' AS unit,
        min(first_day) AS first_day,
        max(last_day) AS last_day,
        min(100 * covered_hours / hours) AS covered_pct,
        if(count(*) = 0, 'not enough data', 'counted') AS status,
        'coverage' AS evidence_metric,
        'system,source' AS evidence_by
    FROM covered
    HAVING (SELECT count(*) FROM stated) = 0
)

SELECT
    subject::VARCHAR AS subject,
    rank::BIGINT AS rank,
    system::VARCHAR AS system,
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
)
