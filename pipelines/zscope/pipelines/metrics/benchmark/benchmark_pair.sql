-- One pair of benchmark runs for a published result, and how they differ otherwise.
--
-- A run is the baseline of a result if it has the tags of its baseline, and the candidate if it has those of
-- its candidate. Other requirements are not conditions: if they are not met, `problems` lists them, so that a
-- pair that nearly fits is shown with what is missing. These are the workload, the tags required of both
-- runs, and equal values of all other tags that both have.
--
-- Tags that the data show (run_tag) are added to those of runs.toml. If the data contradict a tag that the
-- result depends on, the pair does not fit.
--
-- A pair has the workload and the conditions of a result, or it does not measure the result at all.
--
-- The pair for a result is chosen by these criteria, in this order: the workload and the conditions, the
-- fewest problems, a value to compare, measured and not generated, the same tags on both runs, the same
-- systems, closest to the published environment, newest. The measured values do not matter. Of the pairs that
-- do not fit, only those among the first five have a row.

-- Materialized: DuckDB plans the statements of a view that it inlines again for each grouping or window above.
WITH comparison AS MATERIALIZED (
    SELECT * FROM run_comparison
),

known_tag AS MATERIALIZED (
    SELECT * FROM run_tag
),

shown_by_data AS (
    SELECT
        name,
        list_sort(list_distinct(list(key || '=' || observed) FILTER (WHERE status = 'observed')))
            AS observed_tags,
        list({ 'key': key, 'text': why } ORDER BY system, role, key) FILTER (WHERE status = 'contradicted')
            AS contradicted
    FROM known_tag
    GROUP BY name
),

run_one AS (
    SELECT
        r.name,
        -- All sides of a run have the same workload; the list of runs reports it if they differ.
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
        list_sort(list_distinct(list(r.system))) AS systems,
        coalesce(any_value(d.observed_tags), []) AS observed_tags,
        list_sort(list_distinct(list_concat(flatten(list(r.tags)), any_value(d.observed_tags)))) AS own_tags,
        coalesce(any_value(d.contradicted), []) AS contradicted,
        bool_or(synthetic) AS synthetic,
        min(from_utc) AS from_utc
    FROM run AS r
    LEFT JOIN shown_by_data AS d ON r.name = d.name
    GROUP BY r.name
),

-- A cipher suite implies its key exchange, or TLSv1.3; a signature algorithm implies its scheme.
implied_tag AS (
    SELECT 'cipher=' || code AS tag, 'key_exchange=' || key_exchange AS implied
    FROM cipher
    WHERE key_exchange NOT IN ('TLS13', 'none')
    UNION ALL
    SELECT 'cipher=' || code AS tag, 'version=TLSv1.3' AS implied
    FROM cipher
    WHERE key_exchange = 'TLS13'
    UNION ALL
    SELECT 'signature=' || code AS tag, 'signature=RSASSA-PSS' AS implied
    FROM (VALUES ('0804'), ('0805'), ('0806')) AS pss (code)
),

run_implied AS (
    SELECT r.name, list(t.implied) AS implied
    FROM (SELECT name, unnest(own_tags) AS tag FROM run_one) AS r
    INNER JOIN implied_tag AS t ON r.tag = t.tag
    GROUP BY r.name
),

run_tagged AS (
    SELECT r.*, list_distinct(list_concat(r.own_tags, coalesce(t.implied, []))) AS tags
    FROM run_one AS r
    LEFT JOIN run_implied AS t ON r.name = t.name
),

wanted AS (
    SELECT
        p.id,
        p.workload,
        p.baseline_tags,
        p.candidate_tags,
        p.environment,
        f.measure,
        f.also_measures,
        f.run_kinds,
        f.least_payload_bytes,
        f.most_payload_bytes,
        list_transform(
            f.workloads, lambda w : upper(regexp_replace(w, '\(([^/()]+)\)$', '(\1/\1)'))
        ) AS workload_keys,
        list_concat(p.condition_tags, f.both_tags) AS same_tags,
        f.assumed_tags,
        f.free_tags,
        tag_keys(f.assumed_tags) AS assumed_keys,
        list_concat(
            tag_keys(list_concat(p.baseline_tags, p.candidate_tags)),
            f.free_tags
        ) AS varied_keys,
        tag_keys(list_concat(p.condition_tags, f.both_tags)) AS same_keys
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
        greatest(b.client_bytes, b.server_bytes) AS payload_bytes,
        list_sort(list_distinct(list_concat(b.observed_tags, c.observed_tags))) AS observed_tags,
        list_concat(b.contradicted, c.contradicted) AS contradicted,
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

-- Keys with different values on the two sides, although the result does not vary them.
differing AS (
    SELECT
        *,
        differing_tag_keys(b_tags, c_tags, varied_keys) AS differing_keys
    FROM candidate_pair
),

judged AS MATERIALIZED (
    SELECT
        *,
        -- A key that only one side has can have another value on the other side.
        keys_on_one_side(tag_keys(list_concat(b_own_tags, c_own_tags)), b_tags, c_tags, varied_keys) AS said_by_one,
        without_nulls(list_concat(
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
                        OR NOT coalesce(
                            payload_bytes BETWEEN least_payload_bytes AND most_payload_bytes,
                            least_payload_bytes IS NULL
                        )
                        THEN
                            'other workload: ' || coalesce(baseline_workload, 'none named') || ' here, '
                            || coalesce(workload, array_to_string(run_kinds, ', ')) || ' published'
                END
            ],
            -- Tags that are required of both runs.
            required_tag_problems(same_tags, b_tags, c_tags, differing_keys, 'the runs do not both state ')
        )) AS unmet,
        len(unmet) = 0 AND NOT list_has_any(differing_keys, same_keys) AS meets_conditions,
        without_nulls(list_concat(
            unmet,
            [CASE WHEN one_synthetic THEN 'one of the runs is synthetic, the other is not' END],
            list_distinct(list_transform(
                list_filter(
                    contradicted,
                    lambda x :
                        list_contains(list_concat(varied_keys, same_keys, assumed_keys), x.key)
                        AND NOT list_contains(free_tags, x.key)
                ),
                lambda x : x.text
            )),
            -- What a document assumes, unless the result is about it.
            list_transform(
                list_filter(
                    list_distinct(list_concat(b_own_tags, c_own_tags)),
                    lambda x :
                        NOT list_contains(list_concat(varied_keys, same_keys), tag_key(x))
                        AND NOT list_contains(differing_keys, tag_key(x))
                        AND NOT list_contains(assumed_tags, x)
                        AND list_contains(assumed_keys, tag_key(x))
                ),
                lambda x : x || ' here, which the document does not assume'
            ),
            differing_tag_problems(differing_keys, b_tags, c_tags)
        )) AS problems,
        list_sort(list_intersect(b_own_tags, c_own_tags)) AS shared_tags,
        len(environment_of_run(environment_of_run(environment, b_tags), c_tags)) AS environment_in_common
    FROM differing
)

SELECT
    pair.id::VARCHAR AS id,
    (row_number() OVER (
        PARTITION BY pair.id
        ORDER BY
            NOT pair.meets_conditions,
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
    pair.meets_conditions::BOOLEAN AS meets_conditions,
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
    pair.observed_tags::VARCHAR[] AS observed_tags,
    list_distinct(list_transform(pair.contradicted, lambda x : x.text))::VARCHAR[] AS contradictions,
    pair.synthetic::BOOLEAN AS synthetic,
    sides AS sides,
    also AS also
FROM (
    SELECT
        any_value(j) AS pair,
        coalesce(list({
            'role': m.role::VARCHAR,
            'baseline_value': m.baseline_value::DOUBLE,
            'candidate_value': m.candidate_value::DOUBLE,
            'change_pct': m.change_pct::DOUBLE,
            'low_pct': m.low_pct::DOUBLE,
            'high_pct': m.high_pct::DOUBLE,
            'remarks': m.remarks::VARCHAR
        } ORDER BY m.role) FILTER (WHERE m.measure = j.measure), []) AS sides,
        coalesce(list({
            'measure': m.measure::VARCHAR,
            'role': m.role::VARCHAR,
            'baseline_value': m.baseline_value::DOUBLE,
            'candidate_value': m.candidate_value::DOUBLE,
            'unit': m.unit::VARCHAR,
            'change_pct': m.change_pct::DOUBLE,
            'low_pct': m.low_pct::DOUBLE,
            'high_pct': m.high_pct::DOUBLE,
            'remarks': m.remarks::VARCHAR
        } ORDER BY m.measure, m.role) FILTER (WHERE m.measure <> j.measure), []) AS also,
        coalesce(bool_or(m.change_pct IS NOT NULL) FILTER (WHERE m.measure = j.measure), false) AS measured
    FROM judged AS j
    LEFT JOIN comparison AS m
        ON
            j.baseline_run = m.baseline
            AND j.candidate_run = m.candidate
            AND (j.measure = m.measure OR list_contains(j.also_measures, m.measure))
    GROUP BY j.id, j.baseline_run, j.candidate_run
)
QUALIFY fits OR place <= 5
