-- One statement about the data: a sentence, its figures, and the rows of a metric that they are from.
--
-- The statements of each subject are a step of their own. Filters choose rows of the metrics that a statement is about, not
-- statements: they are parameters (statement_filter). A filter that the rows of a subject cannot follow is named in
-- `not_filtered_by`. Each figure of a sentence is in the rows of its evidence. What the data do not show has a statement,
-- too: it says what is missing.

WITH subject AS (
    FROM (VALUES
        (1, 'price', 'What TLS costs', ['period', 'stack']),
        (2, 'saving', 'What to change first', ['period', 'stack', 'job', 'role']),
        (3, 'exposure', 'What is unprotected', []),
        (4, 'old versions', 'What uses old versions', []),
        (5, 'certificates', 'What will expire', ['period', 'stack', 'role']),
        (6, 'change', 'What changed', ['stack', 'port', 'job', 'role']),
        (7, 'coverage', 'What the data cover', ['stack', 'port', 'job', 'role']),
        (8, 'runs', 'What is left out', ['stack', 'port', 'job', 'role'])
    ) AS of_subject (place, subject, heading, not_followed)
),

every_statement AS (
    SELECT * FROM price_statement
    UNION ALL BY NAME
    SELECT * FROM saving_statement
    UNION ALL BY NAME
    SELECT * FROM exposure_statement
    UNION ALL BY NAME
    SELECT * FROM certificate_statement
    UNION ALL BY NAME
    SELECT * FROM change_statement
    UNION ALL BY NAME
    SELECT * FROM coverage_statement
    UNION ALL BY NAME
    SELECT * FROM runs_statement
)

SELECT
    row_number() OVER (ORDER BY s.place, e.rank)::BIGINT AS place,
    e.subject,
    e.rank,
    s.heading::VARCHAR AS heading,
    e.system,
    e.sentence,
    e.value,
    e.low,
    e.high,
    e.unit,
    e.first_day,
    e.last_day,
    e.source,
    e.covered_pct,
    e.status,
    nullif(array_to_string(list_filter(s.not_followed, lambda name : list_contains(f.names, name)), ', '), '')::VARCHAR
    AS not_filtered_by,
    e.evidence_metric,
    e.evidence_by,
    e.evidence_condition,
    e.evidence_columns,
    e.evidence_from_utc,
    e.evidence_to_utc
FROM every_statement AS e
INNER JOIN subject AS s ON e.subject = s.subject
CROSS JOIN statement_filter AS f
ORDER BY place
