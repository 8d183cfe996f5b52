-- One row of `zscope check`: a finding, or a recommended setting with its status.
--
-- A setting that is not followed has the severity medium.

SELECT
    practice::VARCHAR AS id,
    'practice'::VARCHAR AS kind,
    if(status = 'fail', 'medium', 'info')::VARCHAR AS severity,
    status::VARCHAR AS result,
    setting::VARCHAR AS what,
    system::VARCHAR AS system,
    NULL::BIGINT AS server_port,
    NULL::VARCHAR AS job_name,
    NULL::VARCHAR AS certificate,
    NULL::BIGINT AS connections,
    NULL::DOUBLE AS share_pct,
    NULL::VARCHAR AS source,
    NULL::DOUBLE AS covered_pct,
    evidence::VARCHAR AS evidence,
    coalesce(capture, effect)::VARCHAR AS remedy,
    evidence_query::VARCHAR AS evidence_query
FROM best_practice_check
UNION ALL
SELECT
    id,
    'finding',
    severity,
    'found',
    what,
    system,
    server_port,
    job_name,
    certificate,
    connections,
    share_pct,
    source,
    covered_pct,
    concat_ws(
        ', ',
        connections || ' connections in ' || source || ' records',
        round(share_pct, 1) || ' %',
        incomplete_text(covered_pct),
        certificate
    ),
    remedy,
    evidence
FROM finding
