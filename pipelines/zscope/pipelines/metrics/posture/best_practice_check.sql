-- Recommended settings per system: in force, not in force or not known, with the evidence.
--
-- How each is checked is declared in best_practice_check.checks.toml, one block for each id of best_practice;
-- the lines in double braces are generated from it. If there is evidence about a setting, every system with
-- loaded records or reports has a row. If there is no evidence, or if there can be none, there is one row
-- without a system. A tag of a benchmark run states a setting of that run, which is none of production: it is shown and
-- never judged.

WITH rule (position, practice, capture, tag) AS (
    VALUES
        {{rules}}
),

observed AS (
    {{observed}}
),

stated AS (
    SELECT
        r.practice,
        run.system,
        format('run {}{} has tag {}', run.name, if(run.synthetic, ' (synthetic)', ''), t.tag) AS evidence,
        format(
            'SELECT * FROM run WHERE system = ''{}'' AND name = ''{}''',
            replace(run.system, '''', ''''''),
            replace(run.name, '''', '''''')
        ) AS evidence_query
    FROM run
    CROSS JOIN unnest(run.tags) AS t (tag)
    INNER JOIN rule AS r ON tag_key(t.tag) = r.tag
    -- The latest statement applies.
    QUALIFY row_number() OVER (
        PARTITION BY r.practice, run.system ORDER BY run.to_utc DESC, run.name DESC
    ) = 1
),

known_system AS (
    SELECT DISTINCT system FROM load_kind WHERE system IS NOT NULL
),

shown AS (
    SELECT practice, system FROM observed
    UNION
    SELECT practice, system FROM stated
),

wanted AS (
    SELECT practice, system FROM shown
    UNION
    SELECT s.practice, k.system FROM (SELECT DISTINCT practice FROM shown) AS s CROSS JOIN known_system AS k
    UNION
    SELECT practice, NULL FROM rule WHERE practice NOT IN (SELECT practice FROM shown)
),

checked AS (
    SELECT
        w.practice,
        w.system,
        coalesce(o.status, 'unknown') AS status,
        nullif(concat_ws('; ', o.evidence, s.evidence), '') AS evidence,
        coalesce(o.evidence_query, s.evidence_query) AS evidence_query
    FROM wanted AS w
    LEFT JOIN observed AS o ON w.practice = o.practice AND w.system IS NOT DISTINCT FROM o.system
    LEFT JOIN stated AS s ON w.practice = s.practice AND w.system IS NOT DISTINCT FROM s.system
)

SELECT
    c.practice::VARCHAR AS practice,
    b.area::VARCHAR AS area,
    b.setting::VARCHAR AS setting,
    c.system::VARCHAR AS system,
    c.status::VARCHAR AS status,
    coalesce(c.evidence, 'nothing seen')::VARCHAR AS evidence,
    c.evidence_query::VARCHAR AS evidence_query,
    (CASE WHEN c.status = 'unknown' THEN r.capture END)::VARCHAR AS capture,
    b.effect::VARCHAR AS effect
FROM checked AS c
INNER JOIN rule AS r ON c.practice = r.practice
LEFT JOIN best_practice AS b ON c.practice = b.id
ORDER BY r.position, c.system NULLS LAST
