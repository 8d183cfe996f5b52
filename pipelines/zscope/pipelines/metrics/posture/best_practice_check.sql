-- Recommended settings per system: in force, not in force or not known, with the evidence.
--
-- How each is checked is declared in best_practice_check.checks.toml, one block for each id of best_practice;
-- the lines in double braces are generated from it. If there is evidence about a setting, every system with
-- loaded records or reports has a row. If there is no evidence, or if there can be none, there is one row
-- without a system. Tags of benchmark runs are used where there is no evidence, and are marked as stated.

WITH rule (position, practice, capture, tag, good) AS (
    VALUES
        {{rules}}
),

observed AS (
    {{observed}}
),

stated_value AS (
    SELECT
        r.practice,
        run.system,
        run.name,
        run.synthetic,
        split_part(t.tag, '=', 2) AS stated,
        list_contains(r.good, lower(split_part(t.tag, '=', 2))) AS is_good,
        len(r.good) > 0 AS is_judged,
        r.tag
    FROM run
    CROSS JOIN unnest(run.tags) AS t (tag)
    INNER JOIN rule AS r ON tag_key(t.tag) = r.tag
    -- The latest statement applies.
    QUALIFY row_number() OVER (
        PARTITION BY r.practice, run.system ORDER BY run.to_utc DESC, run.name DESC
    ) = 1
),

stated AS (
    SELECT
        practice,
        system,
        CASE WHEN NOT is_judged THEN 'unknown' WHEN is_good THEN 'pass' ELSE 'fail' END AS status,
        'stated, not observed: tag ' || tag || '=' || stated || ' of run ' || name
        || CASE WHEN synthetic THEN ' (synthetic)' ELSE '' END AS evidence,
        'SELECT * FROM run WHERE system = ''' || replace(system, '''', '''''') || ''' AND name = '''
        || replace(name, '''', '''''') || '''' AS evidence_query
    FROM stated_value
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
        -- Evidence has priority; a statement is used only without evidence.
        coalesce(nullif(o.status, 'unknown'), s.status, o.status, 'unknown') AS status,
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
