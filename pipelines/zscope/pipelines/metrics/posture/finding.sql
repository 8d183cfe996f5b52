-- Findings about the protection of connections, with place, number of connections, evidence and remedy.
--
-- The findings are declared in finding.checks.toml. The line in double braces is generated from it: a SELECT
-- for each finding. `evidence` shows its rows. Each reads the same rows, so these are computed once.

WITH certificate AS MATERIALIZED (
    SELECT * FROM certificate_seen
),

counted AS MATERIALIZED (
    SELECT * FROM finding_count
),

every_finding AS (
    {{findings}}
)

SELECT
    f.id::VARCHAR AS id,
    f.severity::VARCHAR AS severity,
    f.what::VARCHAR AS what,
    f.source::VARCHAR AS source,
    f.system::VARCHAR AS system,
    f.server_port::BIGINT AS server_port,
    f.job_name::VARCHAR AS job_name,
    f.certificate::VARCHAR AS certificate,
    f.connections::BIGINT AS connections,
    (100 * f.connections / nullif(place.connections, 0))::DOUBLE AS share_pct,
    (100 * place.covered_hours / nullif(place.hours, 0))::DOUBLE AS covered_pct,
    (
        'SELECT * FROM ' || f.rows_of || ' WHERE ' || f.condition
        || ' AND system ' || coalesce('= ''' || replace(f.system, '''', '''''') || '''', 'IS NULL')
        || ' AND server_port ' || coalesce('= ' || f.server_port, 'IS NULL')
        || ' AND job_name ' || coalesce('= ''' || replace(f.job_name, '''', '''''') || '''', 'IS NULL')
        || if(f.rows_of = 'posture_group', ' AND source = ''zERT summary''', '')
        -- Where other records count on some days, or benchmark runs took place, these hours are left out.
        || CASE
            WHEN
                f.rows_of = 'certificate_seen'
                OR (other.system IS NULL AND coalesce(f.system NOT IN (SELECT l.system FROM left_out_hour AS l), true))
                THEN ''
            ELSE
                ' AND ' || if(f.rows_of = 'posture_group', 'hour_utc', 'time_bucket(INTERVAL 1 HOUR, end_utc)')
                || ' IN (SELECT s.hour_utc FROM protection_source AS s WHERE s.is_counted AND s.source = ''' || f.source
                || ''' AND s.system = ''' || replace(f.system, '''', '''''') || ''')'
        END
        || coalesce(' AND serial = ''' || replace(f.serial, '''', '''''') || '''', '')
        || CASE
            WHEN f.serial IS NULL THEN ''
            ELSE
                ' AND issuer_dn '
                || coalesce('= ''' || replace(f.issuer_dn, '''', '''''') || '''', 'IS NULL')
        END
    )::VARCHAR AS evidence,
    f.remedy::VARCHAR AS remedy
FROM every_finding AS f
LEFT JOIN counted AS place
    ON
        f.system IS NOT DISTINCT FROM place.system
        AND f.server_port IS NOT DISTINCT FROM place.server_port
        AND f.job_name IS NOT DISTINCT FROM place.job_name
        AND f.source = place.source
LEFT JOIN (
    SELECT system
    FROM counted
    GROUP BY system
    HAVING count(DISTINCT source) = 2
) AS other ON f.system = other.system
ORDER BY
    array_position(['high', 'medium', 'low', 'info'], f.severity),
    f.connections DESC,
    f.id,
    f.system NULLS LAST,
    f.server_port NULLS LAST,
    f.job_name NULLS LAST,
    f.source,
    f.certificate NULLS LAST
