-- The filters that statements are narrowed by, with what follows from them for all subjects.

SELECT
    *,
    CASE
        WHEN roles IS NOT NULL OR (jobs IS NOT NULL AND ports IS NOT NULL) THEN 'several parts'
        WHEN jobs IS NOT NULL THEN 'job'
        WHEN ports IS NOT NULL THEN 'port'
        ELSE 'system'
    END AS priced_by,
    if(ports IS NULL, 'system', 'port') AS advised_by,
    coalesce(' of ' || nullif(joined(systems, ', '), ''), '') AS of_systems,
    one_of_text('system', systems) AS system_condition,
    one_of_text('server_port', ports) AS port_condition,
    one_of_text('job_name', jobs) AS job_condition,
    without_nulls([
        if(coalesce(from_utc, to_utc) IS NOT NULL, 'period', NULL),
        if(stacks IS NOT NULL, 'stack', NULL),
        if(ports IS NOT NULL, 'port', NULL),
        if(jobs IS NOT NULL, 'job', NULL),
        if(roles IS NOT NULL, 'role', NULL)
    ]) AS names
FROM (
    SELECT
        getvariable('chosen_systems')::VARCHAR[] AS systems,
        getvariable('chosen_stacks')::VARCHAR[] AS stacks,
        getvariable('chosen_ports')::BIGINT[] AS ports,
        getvariable('chosen_jobs')::VARCHAR[] AS jobs,
        getvariable('chosen_roles')::VARCHAR[] AS roles,
        getvariable('chosen_from')::TIMESTAMPTZ AS from_utc,
        getvariable('chosen_to')::TIMESTAMPTZ AS to_utc
)
