-- One pair of benchmark runs that differ as a published result varies, and what else keeps them apart.
--
-- A run is the baseline of a result if it has the tags of its baseline, and the candidate if it has those of
-- its candidate. What else has to hold is not a condition but listed in `problems`, so that a pair that
-- nearly fits is seen together with what it lacks: the workload, the tags that hold for both runs, and that
-- the two agree in every other tag that both have.
--
-- The pair that stands for a result has the least problems; then it has what is to be compared, was measured
-- and not generated, says the same things of both runs, is on the same systems, is closest to the published
-- environment, and is the newest. What came out plays no part.

-- Planning takes DuckDB twice as long for each grouping or window above a view. A step that only reads it
-- stops that.
WITH comparison AS (
    SELECT * FROM run_comparison
),

run_one AS (
    SELECT
        name,
        -- Sides of a run have one workload; where they do not, that is reported where runs are listed.
        min(workload) AS workload,
        min(workload_kind) AS workload_kind,
        -- RR(10)(4kB) is RR10(4kB/4kB).
        upper(regexp_replace(
            regexp_replace(
                regexp_replace(min(workload), '\s', '', 'g'), '^([A-Za-z]+)\((\d+)\)\(', '\1\2('
            ),
            '\(([^/()]+)\)$', '(\1/\1)'
        )) AS workload_key,
        min(client_bytes) AS client_bytes,
        min(server_bytes) AS server_bytes,
        list_sort(list_distinct(list(system))) AS systems,
        list_sort(list_distinct(flatten(list(tags)))) AS own_tags,
        bool_or(synthetic) AS synthetic,
        min(from_utc) AS from_utc
    FROM run
    GROUP BY name
),

-- A cipher suite tells its key exchange, or that it is one of TLSv1.3; a signature algorithm its scheme.
told_by_tag AS (
    SELECT 'cipher=' || code AS tag, 'key_exchange=' || key_exchange AS told
    FROM cipher
    WHERE key_exchange NOT IN ('TLS13', 'none')
    UNION ALL
    SELECT 'cipher=' || code AS tag, 'version=TLSv1.3' AS told
    FROM cipher
    WHERE key_exchange = 'TLS13'
    UNION ALL
    SELECT 'signature=' || code AS tag, 'signature=RSASSA-PSS' AS told
    FROM (VALUES ('0804'), ('0805'), ('0806')) AS pss (code)
),

run_told AS (
    SELECT r.name, list(t.told) AS told
    FROM (SELECT name, unnest(own_tags) AS tag FROM run_one) AS r
    INNER JOIN told_by_tag AS t ON r.tag = t.tag
    GROUP BY r.name
),

run_tagged AS (
    SELECT r.*, list_distinct(list_concat(r.own_tags, coalesce(t.told, []))) AS tags
    FROM run_one AS r
    LEFT JOIN run_told AS t ON r.name = t.name
),

wanted AS (
    SELECT
        p.id,
        p.workload,
        p.baseline_tags,
        p.candidate_tags,
        p.environment,
        f.measure,
        f.run_kinds,
        list_transform(
            f.workloads, lambda w : upper(regexp_replace(w, '\(([^/()]+)\)$', '(\1/\1)'))
        ) AS workload_keys,
        list_concat(p.condition_tags, f.both_tags) AS same_tags,
        f.assumed_tags,
        list_transform(f.assumed_tags, lambda t : split_part(t, '=', 1)) AS assumed_keys,
        list_concat(
            list_transform(
                list_concat(p.baseline_tags, p.candidate_tags), lambda t : split_part(t, '=', 1)
            ),
            f.free_tags
        ) AS varied_keys,
        list_transform(
            list_concat(p.condition_tags, f.both_tags), lambda t : split_part(t, '=', 1)
        ) AS same_keys
    FROM reference_result AS p
    INNER JOIN reference_filling AS f ON p.id = f.id
    WHERE f.filled_from = 'runs'
),

candidate_pair AS (
    SELECT
        w.*,
        b.name AS baseline_run,
        c.name AS candidate_run,
        b.workload AS baseline_workload,
        c.workload AS candidate_workload,
        b.workload_key,
        c.workload_key AS candidate_workload_key,
        b.workload_kind,
        b.tags AS b_tags,
        c.tags AS c_tags,
        b.own_tags AS b_own_tags,
        c.own_tags AS c_own_tags,
        CASE
            WHEN b.client_bytes > b.server_bytes THEN 'client'
            WHEN b.client_bytes < b.server_bytes THEN 'server'
        END AS sending_role,
        list_sort(list_distinct(list_concat(b.systems, c.systems))) AS systems,
        b.systems = c.systems AS same_systems,
        b.synthetic OR c.synthetic AS synthetic,
        b.synthetic <> c.synthetic AS one_synthetic,
        b.from_utc AS baseline_from_utc,
        c.from_utc AS candidate_from_utc
    FROM wanted AS w
    INNER JOIN run_tagged AS b ON list_has_all(b.tags, w.baseline_tags)
    INNER JOIN run_tagged AS c ON list_has_all(c.tags, w.candidate_tags) AND b.name <> c.name
),

-- What both say, each in its own way, though the result does not vary it.
differing AS (
    SELECT
        *,
        list_filter(
            list_sort(list_distinct(list_transform(b_tags, lambda x : split_part(x, '=', 1)))),
            lambda k :
                NOT list_contains(varied_keys, k)
                AND len(list_filter(c_tags, lambda x : split_part(x, '=', 1) = k)) > 0
                AND NOT list_has_any(list_filter(b_tags, lambda x : split_part(x, '=', 1) = k), c_tags)
        ) AS differing_keys
    FROM candidate_pair
),

judged AS (
    SELECT
        *,
        -- What only one of the two says might be different in the other.
        len(list_filter(
            list_distinct(
                list_transform(list_concat(b_own_tags, c_own_tags), lambda x : split_part(x, '=', 1))
            ),
            lambda k :
                NOT list_contains(varied_keys, k)
                AND (
                    len(list_filter(b_tags, lambda x : split_part(x, '=', 1) = k)) = 0
                    OR len(list_filter(c_tags, lambda x : split_part(x, '=', 1) = k)) = 0
                )
        )) AS said_by_one,
        list_filter(list_concat(
            [
                CASE
                    WHEN workload_key IS DISTINCT FROM candidate_workload_key
                        THEN
                            'the runs have different workloads: ' || coalesce(baseline_workload, 'none named')
                            || ' and ' || coalesce(candidate_workload, 'none named')
                END,
                CASE
                    WHEN (len(run_kinds) > 0 AND NOT coalesce(list_contains(run_kinds, workload_kind), false))
                        OR (len(workload_keys) > 0
                            AND NOT coalesce(list_contains(workload_keys, workload_key), false))
                        THEN
                            'other workload: ' || coalesce(baseline_workload, 'none named') || ' here, '
                            || coalesce(workload, array_to_string(run_kinds, ', ')) || ' published'
                END,
                CASE WHEN one_synthetic THEN 'one of the runs is synthetic, the other is not' END
            ],
            -- What has to hold for both runs.
            list_transform(
                list_filter(
                    same_tags,
                    lambda t :
                        NOT (list_contains(b_tags, t) AND list_contains(c_tags, t))
                        AND NOT list_contains(differing_keys, split_part(t, '=', 1))
                ),
                lambda t : coalesce(
                    nullif(array_to_string(list_sort(list_distinct(list_filter(
                        list_concat(b_tags, c_tags),
                        lambda x : split_part(x, '=', 1) = split_part(t, '=', 1) AND x <> t
                    ))), ' and '), '') || ' here, ' || t || ' published',
                    'the runs do not both say ' || t
                )
            ),
            -- What a document takes for granted, unless the result is about it.
            list_transform(
                list_filter(
                    list_distinct(list_concat(b_own_tags, c_own_tags)),
                    lambda x :
                        NOT list_contains(list_concat(varied_keys, same_keys), split_part(x, '=', 1))
                        AND NOT list_contains(differing_keys, split_part(x, '=', 1))
                        AND NOT list_contains(assumed_tags, x)
                        AND list_contains(assumed_keys, split_part(x, '=', 1))
                ),
                lambda x : x || ' here, which the document does not have in mind'
            ),
            list_transform(
                differing_keys,
                lambda k :
                    'also differs in ' || k || ': '
                    || array_to_string(list_transform(
                        list_filter(b_tags, lambda x : split_part(x, '=', 1) = k),
                        lambda x : substr(x, len(k) + 2)
                    ), ', ') || ' and '
                    || array_to_string(list_transform(
                        list_filter(c_tags, lambda x : split_part(x, '=', 1) = k),
                        lambda x : substr(x, len(k) + 2)
                    ), ', ')
            )
        ), lambda t : t IS NOT NULL) AS problems,
        list_sort(list_intersect(b_own_tags, c_own_tags)) AS shared_tags,
        len(list_intersect(environment, list_intersect(b_tags, c_tags))) AS environment_in_common
    FROM differing
)

SELECT
    pair.id::VARCHAR AS id,
    (row_number() OVER (
        PARTITION BY pair.id
        ORDER BY
            len(pair.problems),
            len(pair.differing_keys),
            NOT measured,
            pair.synthetic,
            pair.said_by_one,
            NOT pair.same_systems,
            pair.environment_in_common DESC,
            pair.candidate_from_utc DESC NULLS LAST,
            pair.baseline_from_utc DESC NULLS LAST,
            pair.baseline_run,
            pair.candidate_run
    ))::BIGINT AS place,
    pair.baseline_run::VARCHAR AS baseline_run,
    pair.candidate_run::VARCHAR AS candidate_run,
    len(pair.problems) = 0 AS fits,
    pair.problems::VARCHAR[] AS problems,
    pair.measure::VARCHAR AS measure,
    pair.baseline_workload::VARCHAR AS workload,
    pair.sending_role::VARCHAR AS sending_role,
    pair.systems::VARCHAR[] AS systems,
    pair.same_systems::BOOLEAN AS same_systems,
    pair.environment_in_common::BIGINT AS environment_in_common,
    pair.said_by_one::BIGINT AS said_by_one,
    pair.shared_tags::VARCHAR[] AS shared_tags,
    pair.synthetic::BOOLEAN AS synthetic,
    sides AS sides
FROM (
    SELECT
        any_value(j) AS pair,
        coalesce(
            list({
                'role': m.role::VARCHAR,
                'baseline_value': m.baseline_value::DOUBLE,
                'candidate_value': m.candidate_value::DOUBLE,
                'change_pct': m.change_pct::DOUBLE,
                'low_pct': m.low_pct::DOUBLE,
                'high_pct': m.high_pct::DOUBLE,
                'remarks': m.remarks::VARCHAR
            } ORDER BY m.role) FILTER (WHERE m.role IS NOT NULL),
            []
        ) AS sides,
        coalesce(bool_or(m.change_pct IS NOT NULL), false) AS measured
    FROM judged AS j
    LEFT JOIN comparison AS m
        ON j.baseline_run = m.baseline AND j.candidate_run = m.candidate AND j.measure = m.measure
    GROUP BY j.id, j.baseline_run, j.candidate_run
)
