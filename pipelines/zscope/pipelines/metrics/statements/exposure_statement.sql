-- How many connections of a source have no recognized cryptographic protection, or an old version.

WITH posture AS (
    SELECT p.*
    FROM posture_hour AS p
    INNER JOIN statement_filter AS f
        ON
            is_chosen(f.systems, p.system)
            AND is_chosen(f.stacks, p.stack)
            AND is_chosen(f.ports, p.server_port)
            AND is_chosen(f.jobs, p.job_name)
            AND is_chosen(f.roles, split_part(p.handshake_role, ' ', 1))
            AND (f.from_utc IS NULL OR p.hour_utc >= f.from_utc)
            AND (f.to_utc IS NULL OR p.hour_utc < f.to_utc)
),

-- Connections without protection have no version, so those with an old one are of another kind.
kind_of_exposure AS (
    SELECT
        p.source,
        p.system,
        p.job_name,
        p.server_port,
        sum(p.connections) AS connections,
        sum(p.covered_hours) AS covered_hours,
        sum(p.hours) AS hours,
        min(p.hour_utc) AS first_utc,
        max(p.hour_utc) AS last_utc,
        unnest([
            {'subject': 'exposure', 'exposed': sum(p.unprotected_connections)},
            {'subject': 'old versions', 'exposed': sum(p.ssl_connections) + sum(p.tls10_tls11_connections)}
        ], recursive := true)
    FROM posture AS p
    GROUP BY p.source, p.system, p.job_name, p.server_port
),

exposure AS (
    SELECT
        p.subject,
        p.source,
        row_number() OVER (PARTITION BY p.subject ORDER BY sum(p.connections) DESC, p.source) AS rank,
        sum(p.connections) AS connections,
        sum(p.exposed) AS exposed,
        100 * sum(p.exposed) / sum(p.connections) AS exposed_pct,
        100 * sum(p.covered_hours) / nullif(sum(p.hours), 0) AS covered_pct,
        arg_max(
            {'system': p.system, 'job_name': p.job_name, 'server_port': p.server_port, 'exposed': p.exposed},
            (p.exposed, p.system, p.job_name, p.server_port)
        ) AS largest,
        min(local_day(p.first_utc, a.offset_s)) AS first_day,
        max(local_day(p.last_utc, b.offset_s)) AS last_day,
        list_sort(list(DISTINCT p.system)) AS systems
    FROM kind_of_exposure AS p
    ASOF LEFT JOIN clock_offset AS a ON p.system = a.system AND p.first_utc >= a.from_utc
    ASOF LEFT JOIN clock_offset AS b ON p.system = b.system AND p.last_utc >= b.from_utc
    GROUP BY p.subject, p.source
    HAVING bool_or(p.connections > 0)
),

stated AS (
    SELECT
        e.subject,
        e.rank,
        concat(
            format('{:,} of {:,} connections ({})', e.exposed::BIGINT, e.connections::BIGINT, percent_text(e.exposed_pct)),
            coalesce(
                ' of ' || if(len(e.systems) > 4, counted_text(len(e.systems), 'system'), joined(e.systems, ', ')),
                ' of systems that are not recorded'
            ),
            format(' in {}', if(e.source = 'zERT detail', 'zERT details', 'zERT summaries')),
            ' ' || days_text(e.first_day, e.last_day),
            coalesce(format(' ({} of the hours)', percent_text(e.covered_pct)), ' (of an unknown share of the hours)'),
            if(
                e.subject = 'exposure',
                ' had no recognized cryptographic protection',
                ' used SSL, TLSv1.0 or TLSv1.1'
            ),
            CASE
                WHEN e.exposed > 0
                    THEN format(
                        '. The largest part of them, {:,}, was of {}, on {} of {}',
                        e.largest.exposed::BIGINT,
                        coalesce('job ' || e.largest.job_name, 'connections whose job is not recorded'),
                        coalesce('port ' || e.largest.server_port, 'ports that are not recorded'),
                        coalesce(e.largest.system, 'a system that is not recorded')
                    )
            END,
            '.',
            if(len(e.systems) > 1, ' A connection between two of these systems counted on both.', '')
        ) AS sentence,
        e.exposed_pct AS value,
        '%' AS unit,
        e.first_day,
        e.last_day,
        e.source,
        e.covered_pct,
        'counted' AS status,
        'tls_posture' AS evidence_metric,
        'source,system,job_name,server_port' AS evidence_by,
        concat_ws(
            ' AND ',
            one_of_text('source', [e.source]),
            f.system_condition,
            one_of_text('stack', f.stacks),
            f.port_condition,
            f.job_condition,
            one_of_text('split_part(handshake_role, '' '', 1)', f.roles)
        ) AS evidence_condition,
        [if(e.subject = 'exposure', 'unprotected_connections', 'old_version_connections'), 'connections', 'covered_pct']
        AS evidence_columns,
        f.from_utc AS evidence_from_utc,
        f.to_utc AS evidence_to_utc
    FROM exposure AS e
    CROSS JOIN statement_filter AS f
),

unknown AS (
    SELECT
        'exposure' AS subject,
        1 AS rank,
        CASE
            WHEN (SELECT count(*) FROM posture_hour) > 0
                THEN 'What is unprotected is not known of this choice: zERT has no connection of it'
            ELSE 'What is unprotected is not known: load zERT summaries or details (SMF 119-12 or 119-11)'
        END || '.' AS sentence,
        'not enough data' AS status,
        'tls_posture' AS evidence_metric
    WHERE (SELECT count(*) FROM exposure) = 0
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
)
