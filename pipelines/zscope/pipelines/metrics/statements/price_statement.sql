-- What TLS costs on a system, or the share of a chosen job or port in it.

WITH price AS (
    SELECT
        p.*,
        c.source,
        f.priced_by,
        row_number() OVER (ORDER BY p.high_cpu_s_per_day DESC NULLS LAST, p.system, p.job_name, p.server_port) AS rank
    FROM tls_price AS p
    INNER JOIN statement_filter AS f ON p.shared_by = f.priced_by AND is_chosen(f.systems, p.system)
    LEFT JOIN (
        SELECT system, any_value(handshake_source) AS source FROM cost_estimate GROUP BY system
    ) AS c ON p.system = c.system
    WHERE
        p.part = 'TLS'
        AND (p.shared_by <> 'job' OR is_chosen(f.jobs, p.job_name))
        AND (p.shared_by <> 'port' OR is_chosen(f.ports, p.server_port))
),

owner AS (
    SELECT *
    FROM tls_price
    WHERE shared_by = 'job' AND part = 'TLS' AND share_pct IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY system ORDER BY share_pct DESC, job_name) = 1
),

stated AS (
    SELECT
        'price' AS subject,
        p.rank,
        p.system,
        concat(
            p.sentence,
            CASE
                WHEN p.priced_by = 'system' THEN format(
                    '. Split by handshakes and bytes, {} has the largest share: {}',
                    coalesce('job ' || o.job_name, 'work whose job is not recorded'),
                    percent_text(o.share_pct)
                )
                ELSE format('; {} of the TLS CPU cost of the system', percent_text(p.share_pct))
            END,
            if(
                p.status = 'not enough data',
                NULL,
                '. The mean of a day ' || days_text(p.first_local::DATE, p.last_local::DATE) || '; a day can have more'
            ),
            '.'
        ) AS sentence,
        p.cpu_s_per_day AS value,
        p.low_cpu_s_per_day AS low,
        p.high_cpu_s_per_day AS high,
        'CPU s/day' AS unit,
        p.first_local::DATE AS first_day,
        p.last_local::DATE AS last_day,
        p.source,
        p.covered_pct,
        p.status,
        'tls_price' AS evidence_metric,
        NULL AS evidence_by,
        concat_ws(
            ' AND ',
            one_of_text('system', [p.system]),
            'part = ''TLS''',
            CASE p.priced_by
                WHEN 'job' THEN one_of_text('job_name', [p.job_name]) || ' AND shared_by = ''job'''
                WHEN 'port' THEN one_of_text('server_port', [p.server_port]) || ' AND shared_by = ''port'''
                ELSE 'shared_by IN (''system'', ''job'')'
            END
        ) AS evidence_condition,
        ['cpu_s_per_day', 'low_cpu_s_per_day', 'high_cpu_s_per_day', 'lpar_pct', 'high_lpar_pct', 'share_pct']
        AS evidence_columns
    FROM price AS p
    LEFT JOIN owner AS o ON if(p.priced_by = 'system', p.system, NULL) = o.system
),

-- What an estimate needs, where there is none: CPU time and handshakes of the same system, with its time zone. A load
-- computes it as soon as one source has 88 intervals (cost_estimate); a store of an earlier version has none before.
cpu_system AS (
    SELECT
        c.system,
        -- Without a time in UTC on one side, no interval can be compared.
        if(max(h.in_utc) = 0, 0, sum(c.in_utc)) AS in_utc,
        max(c.in_utc) >= 88 AND coalesce(max(h.in_utc) > 0, false) AND any_value(e.system) IS NULL AS waits_for_load
    FROM (
        SELECT system, count(interval_end_utc) AS in_utc FROM smf70_interval GROUP BY system
        UNION ALL
        SELECT system, count(interval_start_utc) FROM rmf_interval GROUP BY system
    ) AS c
    LEFT JOIN (SELECT system, count(hour_utc) AS in_utc FROM posture_hour GROUP BY system) AS h ON c.system = h.system
    LEFT JOIN (SELECT DISTINCT system FROM cost_estimate) AS e ON c.system = e.system
    GROUP BY c.system
),

unknown AS (
    SELECT
        'price' AS subject,
        1 AS rank,
        CASE
            WHEN f.priced_by = 'several parts' AND (SELECT count(*) FROM tls_price) > 0
                THEN 'A system has a price of its own, and a job or a port has a share of it; a role, or a job and a port '
                    || 'together, have no known share'
            WHEN (SELECT count(*) FROM tls_price AS p WHERE is_chosen(f.systems, p.system)) > 0
                THEN 'No share of the TLS CPU cost is known of this choice: ' || CASE f.priced_by
                    WHEN 'job' THEN 'no such job has TLS handshakes where the TLS CPU cost is known'
                    ELSE 'no such port has TLS handshakes where the TLS CPU cost is known'
                END
            ELSE 'What TLS costs is not known: ' || coalesce(
                nullif(concat_ws(
                    '; ',
                    if(
                        (SELECT count(*) FROM posture_hour AS h WHERE is_chosen(f.systems, h.system)) = 0,
                        'no handshakes (SMF 119-11 or 119-12)' || f.of_systems || ' are loaded', NULL
                    ),
                    if(
                        (SELECT count(*) FROM cpu_system AS c WHERE is_chosen(f.systems, c.system)) = 0,
                        'no CPU time (SMF 70-1, or RMF reports)' || f.of_systems || ' is loaded', NULL
                    ),
                    (
                        SELECT
                            format(
                                'the time zone of {} is not known (zscope ingest --timezone), so CPU time and handshakes '
                                || 'cannot be compared hour by hour',
                                string_agg(c.system, ', ' ORDER BY c.system)
                            )
                        FROM cpu_system AS c
                        WHERE is_chosen(f.systems, c.system) AND c.in_utc = 0
                    )
                ), ''),
                (
                    SELECT
                        format(
                            'the store has no estimate for {} yet: the next zscope ingest computes it, or zscope store '
                            || 'rebuild',
                            string_agg(c.system, ', ' ORDER BY c.system)
                        )
                    FROM cpu_system AS c
                    WHERE is_chosen(f.systems, c.system) AND c.waits_for_load
                ),
                (
                    SELECT
                        'too few intervals with CPU time and handshakes: '
                        || string_agg(format('{:,} of {}', c.in_utc, c.system), ', ' ORDER BY c.system)
                        || ' have CPU time'
                    FROM cpu_system AS c
                    WHERE is_chosen(f.systems, c.system)
                )
            )
        END || '.' AS sentence,
        'not enough data' AS status,
        'tls_price' AS evidence_metric,
        concat_ws(' AND ', f.system_condition, f.port_condition, f.job_condition) AS evidence_condition
    FROM statement_filter AS f
    WHERE (SELECT count(*) FROM price) = 0
)

SELECT
    subject::VARCHAR AS subject,
    rank::BIGINT AS rank,
    system::VARCHAR AS system,
    sentence::VARCHAR AS sentence,
    value::DOUBLE AS value,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    unit::VARCHAR AS unit,
    first_day::DATE AS first_day,
    last_day::DATE AS last_day,
    source::VARCHAR AS source,
    covered_pct::DOUBLE AS covered_pct,
    status::VARCHAR AS status,
    evidence_metric::VARCHAR AS evidence_metric,
    nullif(evidence_condition, '')::VARCHAR AS evidence_condition,
    evidence_columns::VARCHAR[] AS evidence_columns
FROM (
    SELECT * FROM stated
    UNION ALL BY NAME
    SELECT * FROM unknown
)
