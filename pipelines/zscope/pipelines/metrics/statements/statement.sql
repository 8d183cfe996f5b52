-- One statement about the data: a sentence, its figures, and the rows of a metric that they are from.
--
-- Filters choose rows of the metrics that a statement is about, not statements: they are parameters here. A filter that
-- the rows of a subject cannot follow is named in `not_filtered_by`. Each figure of a sentence is in the rows of its
-- evidence. What the data do not show has a statement, too: it says what is missing.

WITH filter AS (
    SELECT
        *,
        CASE
            WHEN roles IS NOT NULL OR (jobs IS NOT NULL AND ports IS NOT NULL) THEN 'several parts'
            WHEN jobs IS NOT NULL THEN 'job'
            WHEN ports IS NOT NULL THEN 'port'
            ELSE 'system'
        END AS priced_by,
        if(ports IS NULL, 'rule', 'port') AS advised_by,
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
),

subject AS (
    FROM (VALUES
        (1, 'price', 'What TLS costs', ['period', 'stack']),
        (2, 'saving', 'What to change first', ['period', 'stack', 'job', 'role']),
        (3, 'exposure', 'What is unprotected', []),
        (4, 'old versions', 'What uses old versions', []),
        (5, 'certificates', 'What will expire', ['period', 'stack', 'role']),
        (6, 'change', 'What changed', ['stack', 'role']),
        (7, 'coverage', 'What the data cover', ['stack', 'port', 'job', 'role']),
        (8, 'runs', 'What is left out', ['stack', 'port', 'job', 'role'])
    ) AS of_subject (place, subject, heading, not_followed)
),

-- The price of each system, or the shares of jobs or ports in it --------------------------------------------

price AS (
    SELECT
        p.*,
        c.source,
        f.priced_by,
        row_number() OVER (ORDER BY p.high_cpu_s_per_day DESC NULLS LAST, p.system, p.job_name, p.server_port) AS rank
    FROM tls_price AS p
    INNER JOIN filter AS f ON p.shared_by = f.priced_by AND is_chosen(f.systems, p.system)
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

price_statement AS (
    SELECT
        'price' AS subject,
        p.rank,
        p.system,
        concat(
            p.sentence,
            CASE
                WHEN p.priced_by = 'system' THEN format(
                    '. Split by handshakes and bytes, {} has most of it: {}',
                    coalesce('job ' || o.job_name, 'work whose job is not recorded'),
                    percent_text(o.share_pct)
                )
                ELSE format('; {} of the price of the system', percent_text(p.share_pct))
            END,
            '. The estimate is from ' || strftime(p.first_local, '%Y-%m-%d') || ' to '
            || strftime(p.last_local, '%Y-%m-%d'),
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
        sum(c.in_utc) AS in_utc,
        max(c.in_utc) >= 88 AND any_value(e.system) IS NULL AS waits_for_load
    FROM (
        SELECT system, count(interval_end_utc) AS in_utc FROM smf70_interval GROUP BY system
        UNION ALL
        SELECT system, count(interval_start_utc) FROM rmf_interval GROUP BY system
    ) AS c
    LEFT JOIN (SELECT DISTINCT system FROM cost_estimate) AS e ON c.system = e.system
    GROUP BY c.system
),

no_price AS (
    SELECT
        'price' AS subject,
        1 AS rank,
        CASE
            WHEN f.priced_by = 'several parts' AND (SELECT count(*) FROM tls_price) > 0
                THEN 'A system has a price of its own, and a job or a port has a share of it; a role, or a job and a port '
                    || 'together, have no known share'
            WHEN (SELECT count(*) FROM tls_price AS p WHERE is_chosen(f.systems, p.system)) > 0
                THEN 'No share of the price of TLS is known of this choice: ' || CASE f.priced_by
                    WHEN 'job' THEN 'no such job has TLS handshakes where the price is known'
                    ELSE 'no such port has TLS handshakes where the price is known'
                END
            ELSE 'What TLS costs is not known: ' || coalesce(
                nullif(concat_ws(
                    '; ',
                    if(
                        (SELECT count(*) FROM posture_hour AS h WHERE is_chosen(f.systems, h.system)) = 0,
                        'no handshakes (SMF 119-11 or 119-12) are loaded', NULL
                    ),
                    if(
                        (SELECT count(*) FROM cpu_system AS c WHERE is_chosen(f.systems, c.system)) = 0,
                        'no CPU time (SMF 70-1, or RMF reports) is loaded', NULL
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
    FROM filter AS f
    WHERE (SELECT count(*) FROM price) = 0
),

-- The change that can save most, of rules or, if ports are chosen, of ports ---------------------------------

saving AS (
    SELECT
        a.*,
        f.advised_by,
        concat_ws(' AND ', f.system_condition, f.port_condition) AS chosen_condition
    FROM tls_advice AS a
    INNER JOIN filter AS f ON a.shared_by = f.advised_by AND is_chosen(f.systems, a.system)
    WHERE
        a.upper_s_per_day > 0
        AND a.saving_high_s_per_day = a.upper_s_per_day
        AND (a.shared_by = 'rule' OR is_chosen(f.ports, a.server_port))
    -- As the rows of tls_advice are sorted, so that the list behind the statement begins with it.
    QUALIFY row_number() OVER (
        ORDER BY a.upper_s_per_day DESC, a.system, a.rule_name, a.server_port, a.change, a.basis
    ) = 1
),

saving_statement AS (
    SELECT
        'saving' AS subject,
        1 AS rank,
        system,
        concat(
            'Of the changes ',
            if(advised_by = 'rule', 'under AT-TLS rules', 'on ports'),
            ', this one can save most: ',
            sentence,
            CASE
                WHEN parameter IS NULL
                    THEN format('. No setting here is known to help with that; it takes {}', recommended)
                ELSE concat('. To set: ', statement, ', ', parameter, ' (today ' || value_today || ')', ': ', recommended)
            END,
            '. ' || upper(why_full[1]) || why_full[2:],
            '.'
        ) AS sentence,
        saving_s_per_day AS value,
        saving_low_s_per_day AS low,
        saving_high_s_per_day AS high,
        'CPU s/day' AS unit,
        source,
        covered_pct,
        status,
        'tls_advice' AS evidence_metric,
        concat_ws(
            ' AND ',
            one_of_text('shared_by', [advised_by]),
            'upper_s_per_day > 0 AND saving_high_s_per_day = upper_s_per_day',
            nullif(chosen_condition, '')
        ) AS evidence_condition,
        [
            'saving_s_per_day', 'saving_low_s_per_day', 'saving_high_s_per_day', 'sentence', 'statement', 'parameter',
            'value_today', 'recommended', 'why_full'
        ] AS evidence_columns
    FROM saving
),

no_saving AS (
    SELECT
        'saving' AS subject,
        1 AS rank,
        'The data do not show a change of the AT-TLS policy that saves CPU time'
        || if((SELECT count(*) FROM tls_advice) = 0, ': that needs a price of TLS', '') || '.' AS sentence,
        'not enough data' AS status,
        'tls_advice' AS evidence_metric,
        concat_ws(' AND ', f.system_condition, f.port_condition) AS evidence_condition
    FROM filter AS f
    WHERE (SELECT count(*) FROM saving) = 0
),

-- Connections without protection, and with old versions -----------------------------------------------------

posture AS (
    SELECT p.*
    FROM posture_hour AS p
    INNER JOIN filter AS f
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

exposure_statement AS (
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
                ' have no recognized cryptographic protection',
                ' use SSL, TLSv1.0 or TLSv1.1'
            ),
            CASE
                WHEN e.exposed > 0
                    THEN format(
                        '. The largest part of them, {:,}, is of {}, on {} of {}',
                        e.largest.exposed::BIGINT,
                        coalesce('job ' || e.largest.job_name, 'connections whose job is not recorded'),
                        coalesce('port ' || e.largest.server_port, 'ports that are not recorded'),
                        coalesce(e.largest.system, 'a system that is not recorded')
                    )
            END,
            '.'
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
        f.from_utc AS evidence_from,
        f.to_utc AS evidence_to
    FROM exposure AS e
    CROSS JOIN filter AS f
),

no_exposure AS (
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
),

-- Certificates that end -------------------------------------------------------------------------------------

certificate AS (
    SELECT
        c.*,
        concat_ws(
            ' AND ', any_of_text('systems', f.systems), any_of_text('job_names', f.jobs),
            'list_has_any(server_ports, ' || f.ports::VARCHAR || ')'
        ) AS chosen_condition,
        coalesce(
            nullif(regexp_extract(c.subject_dn, 'CN=([^,]+)', 1), ''),
            nullif(c.subject_dn, ''),
            'the one with serial number ' || c.serial,
            'one that records do not name'
        ) AS name
    FROM certificate_inventory AS c
    INNER JOIN filter AS f
        ON
            is_any_chosen(f.systems, c.systems)
            AND is_any_chosen(f.jobs, c.job_names)
            AND is_any_chosen(f.ports, c.server_ports)
),

kind_of_end AS (
    FROM (VALUES
        (1, 'ends_within_90_days', 'expires', 'expire', 'within 90 days after the last day of the data'),
        (2, 'expiry = ''expired''', 'was', 'were', 'in use after expiry'),
        (3, 'expiry = ''ended since''', 'has', 'have', 'expired since last seen')
    ) AS of_end (rank, condition, singular, plural, what)
),

certificate_statement AS (
    SELECT
        'certificates' AS subject,
        row_number() OVER (ORDER BY k.rank) AS rank,
        format(
            '{} {} {}, the earliest {} on {}.',
            counted_text(count(*), 'certificate'),
            if(count(*) = 1, any_value(k.singular), any_value(k.plural)),
            any_value(k.what),
            arg_min(c.name, (c.not_after_utc, c.name)),
            strftime(make_timestamp(epoch_us(min(c.not_after_utc))), '%Y-%m-%d')
        ) AS sentence,
        count(*) AS value,
        'certificates' AS unit,
        'counted' AS status,
        'certificate_inventory' AS evidence_metric,
        concat_ws(' AND ', any_value(k.condition), nullif(any_value(c.chosen_condition), '')) AS evidence_condition,
        ['not_after_utc', 'subject_dn'] AS evidence_columns
    FROM certificate AS c
    INNER JOIN kind_of_end AS k ON k.rank = CASE
        WHEN c.ends_within_90_days THEN 1
        WHEN c.expiry = 'expired' THEN 2
        WHEN c.expiry = 'ended since' THEN 3
    END
    GROUP BY k.rank
),

no_certificate AS (
    SELECT
        'certificates' AS subject,
        1 AS rank,
        CASE
            WHEN count(*) > 0
                THEN format(
                    'No certificate expires within 90 days after the last day of the data, of {:,} whose end is known.',
                    count(*)
                )
            WHEN (SELECT count(*) FROM certificate) > 0
                THEN 'When certificates expire is not known: the records do not contain it.'
            WHEN (SELECT count(*) FROM certificate_inventory) > 0 THEN 'The records have no certificate of this choice.'
            ELSE 'Which certificates expire is not known: no record names one. TLSv1.3 encrypts certificates, and zERT '
                || 'summaries contain them since z/OS 3.2.'
        END AS sentence,
        if(count(*) > 0, 0, NULL) AS value,
        'certificates' AS unit,
        if(count(*) > 0, 'counted', 'not enough data') AS status,
        'certificate_inventory' AS evidence_metric,
        concat_ws(' AND ', 'expiry <> ''unknown''', nullif(any_value(chosen_condition), '')) AS evidence_condition
    FROM certificate
    WHERE expiry <> 'unknown'
    HAVING (SELECT count(*) FROM certificate_statement) = 0
),

-- Changes against the period before -------------------------------------------------------------------------

compared AS (
    SELECT c.*
    FROM period_change AS c
    INNER JOIN filter AS f
        ON
            is_chosen(f.systems, c.system)
            AND is_chosen(f.ports, c.server_port)
            AND is_chosen(f.jobs, c.job_name)
),

-- The two periods in words.
compared_period AS (
    SELECT
        *,
        format('the {} up to {}', length_text(later_from_utc, later_to_utc), moment_text(later_to_utc)) AS later_words,
        format('the {} up to {}', length_text(earlier_from_utc, earlier_to_utc), moment_text(earlier_to_utc))
        AS earlier_words
    FROM (
        SELECT
            any_value(earlier_from_utc) AS earlier_from_utc,
            any_value(earlier_to_utc) AS earlier_to_utc,
            any_value(later_from_utc) AS later_from_utc,
            any_value(later_to_utc) AS later_to_utc,
            min(first_hour_utc) FILTER (subject = 'connections') AS first_hour_utc,
            coalesce(bool_or(earlier > 0) FILTER (subject = 'connections'), false) AS has_earlier
        FROM compared
    )
),

change AS (
    SELECT
        subject AS counted,
        value AS name,
        sum(earlier_per_hour) AS earlier_per_hour,
        sum(later_per_hour) AS later_per_hour,
        100.0 * sum(earlier) / nullif(sum(sum(earlier)) OVER of_subject, 0) AS earlier_pct,
        100.0 * sum(later) / nullif(sum(sum(later)) OVER of_subject, 0) AS later_pct,
        later_pct - earlier_pct AS points,
        any_value(source) AS source,
        least(min(earlier_covered_pct), min(later_covered_pct)) AS covered_pct
    FROM compared
    WHERE why IS NULL AND subject IN ('connections', 'bytes', 'protocol', 'handshake')
    GROUP BY subject, value
    WINDOW of_subject AS (PARTITION BY subject)
),

-- Rates come first, and then shares that moved by a point or more.
said_change AS (
    SELECT
        *,
        counted IN ('connections', 'bytes') AS is_rate,
        if(counted = 'bytes', 1e6, 1) AS unit,
        row_number() OVER (ORDER BY is_rate DESC, counted = 'connections' DESC, abs(points) DESC, counted, name) AS rank
    FROM change
    WHERE if(is_rate, earlier_per_hour > 0, abs(points) >= 1)
),

change_statement AS (
    SELECT
        'change' AS subject,
        c.rank,
        concat(
            'In ', p.later_words, if(c.is_rate, ' there were ', ', '),
            CASE
                WHEN c.is_rate THEN format(
                    '{} {} an hour, against {} in {}: {}',
                    number_text(c.later_per_hour / c.unit),
                    if(c.counted = 'bytes', 'MB', c.counted),
                    number_text(c.earlier_per_hour / c.unit),
                    p.earlier_words,
                    relative_text(change_pct(c.earlier_per_hour, c.later_per_hour))
                )
                ELSE format(
                    '{} of the {} {}, against {} in {}: {:+.1f} points',
                    percent_text(c.later_pct),
                    if(c.counted = 'handshake', 'handshakes', 'connections'),
                    CASE
                        WHEN c.counted = 'handshake' THEN format('were {}', c.name)
                        WHEN c.name = 'none' THEN 'had no recognized cryptographic protection'
                        ELSE format('had {}', c.name)
                    END,
                    percent_text(c.earlier_pct),
                    p.earlier_words,
                    c.points
                )
            END,
            ' (not tested against noise).'
        ) AS sentence,
        if(c.is_rate, change_pct(c.earlier_per_hour, c.later_per_hour), c.points) AS value,
        if(c.is_rate, '%', 'points') AS unit,
        local_day(p.later_from_utc, 0) AS first_day,
        local_day(p.later_to_utc - INTERVAL 1 MICROSECOND, 0) AS last_day,
        c.source,
        c.covered_pct,
        'counted' AS status,
        'period_comparison' AS evidence_metric,
        concat_ws(
            ' AND ',
            one_of_text('subject', [c.counted]),
            'why IS NULL',
            f.system_condition, f.port_condition, f.job_condition
        ) AS evidence_condition,
        if(c.is_rate, ['change_pct', 'earlier_per_hour', 'later_per_hour'], ['earlier_pct', 'later_pct'])
        AS evidence_columns,
        f.from_utc AS evidence_from,
        f.to_utc AS evidence_to
    FROM said_change AS c
    CROSS JOIN compared_period AS p
    CROSS JOIN filter AS f
),

no_change AS (
    SELECT
        'change' AS subject,
        1 AS rank,
        CASE
            WHEN p.later_to_utc IS NULL
                THEN 'What changed is not known: no records of single connections (SMF 119-11 or 119-2) are of the period '
                    || 'or the one before it'
            WHEN NOT p.has_earlier
                THEN format(
                    'A comparison needs connections of {}; of those up to {}, the data have the last {}',
                    length_text(p.earlier_from_utc, p.later_to_utc),
                    moment_text(p.later_to_utc),
                    length_text(p.first_hour_utc, p.later_to_utc)
                )
            ELSE format(
                'What changed in {} against {} is not known: {}',
                p.later_words,
                p.earlier_words,
                coalesce(
                    (SELECT string_agg(DISTINCT why, '; ' ORDER BY why) FROM compared),
                    'no connections in complete hours of the earlier period'
                )
            )
        END || '.' AS sentence,
        'not enough data' AS status,
        'period_comparison' AS evidence_metric,
        concat_ws(' AND ', f.system_condition, f.port_condition, f.job_condition) AS evidence_condition,
        f.from_utc AS evidence_from,
        f.to_utc AS evidence_to
    FROM filter AS f
    CROSS JOIN compared_period AS p
    WHERE (SELECT count(*) FROM said_change) = 0
),

-- A setting that differs has a row with its earlier value, one with its later value, or both.
policy_setting_change AS (
    SELECT
        system,
        setting,
        string_agg(substr(value, len(setting) + 2), ', ' ORDER BY value) FILTER (earlier > 0) AS earlier_value,
        string_agg(substr(value, len(setting) + 2), ', ' ORDER BY value) FILTER (later > 0) AS later_value
    FROM (
        SELECT
            c.*,
            coalesce(nullif(regexp_extract(c.value, '^(.*?: [^ ]+) ', 1), ''), c.value) AS setting
        FROM period_change AS c
        INNER JOIN filter AS f ON is_chosen(f.systems, c.system)
        WHERE c.subject = 'AT-TLS policy'
    )
    GROUP BY system, setting
),

policy_change AS (
    SELECT
        'change' AS subject,
        1 + greatest((SELECT count(*) FROM said_change), 1) AS rank,
        format(
            '{} of the AT-TLS policy changed{}',
            counted_text(count(*), 'setting'),
            if(count(*) = 1, ': ', ', the first by name: ')
        ) || arg_min(
            concat(
                p.system || ', ',
                p.setting,
                CASE
                    WHEN p.later_value IS NULL THEN format(' {} is no longer set', p.earlier_value)
                    WHEN p.earlier_value IS NULL THEN format(' is new, {}', p.later_value)
                    ELSE format(' from {} to {}', p.earlier_value, p.later_value)
                END
            ),
            (p.system, p.setting)
        ) || '.' AS sentence,
        count(*) AS value,
        'settings' AS unit,
        'counted' AS status,
        'period_comparison' AS evidence_metric,
        'subject,value,system' AS evidence_by,
        concat_ws(' AND ', 'subject = ''AT-TLS policy''', any_value(f.system_condition)) AS evidence_condition,
        any_value(f.from_utc) AS evidence_from,
        any_value(f.to_utc) AS evidence_to
    FROM policy_setting_change AS p
    CROSS JOIN filter AS f
    HAVING count(*) > 0
),

-- How far the data cover the time ---------------------------------------------------------------------------

covered AS (
    SELECT
        c.system,
        k.kind,
        c.source,
        sum(c.hours) AS hours,
        sum(c.covered_hours) AS covered_hours,
        min(c.day) AS first_day,
        max(c.day) AS last_day
    FROM coverage_hour AS c
    INNER JOIN filter AS f
        ON
            is_chosen(f.systems, c.system)
            AND (f.from_utc IS NULL OR c.hour_utc >= f.from_utc)
            AND (f.to_utc IS NULL OR c.hour_utc < f.to_utc)
    INNER JOIN (VALUES
        ('119-11', 'zERT records'), ('119-12', 'zERT records'), ('70', 'CPU time'), ('RMF', 'CPU time')
    ) AS k (source, kind) ON c.source = k.source
    GROUP BY c.system, k.kind, c.source
    HAVING bool_or(c.covered_hours > 0)
    QUALIFY row_number() OVER (
        PARTITION BY c.system, k.kind ORDER BY sum(c.covered_hours) / sum(c.hours) DESC, c.source
    ) = 1
),

coverage_statement AS (
    SELECT
        'coverage' AS subject,
        row_number() OVER (ORDER BY c.hours - c.covered_hours DESC, c.system, c.kind) AS rank,
        c.system,
        format(
            '{}: {} cover {} of {} ({}) from {} to {}.',
            c.system,
            CASE c.source
                WHEN '119-11' THEN 'zERT details (SMF 119-11)'
                WHEN '119-12' THEN 'zERT summaries (SMF 119-12)'
                WHEN '70' THEN 'records of CPU time (SMF 70)'
                ELSE 'RMF reports'
            END,
            number_text(c.covered_hours),
            counted_text(c.hours, 'hour'),
            percent_text(100 * c.covered_hours / c.hours),
            c.first_day,
            c.last_day
        ) AS sentence,
        100 * c.covered_hours / c.hours AS value,
        '%' AS unit,
        c.first_day,
        c.last_day,
        c.source,
        100 * c.covered_hours / c.hours AS covered_pct,
        'counted' AS status,
        'coverage' AS evidence_metric,
        'system,source' AS evidence_by,
        concat_ws(' AND ', one_of_text('system', [c.system]), one_of_text('source', [c.source])) AS evidence_condition,
        ['covered_pct', 'covered_hours', 'hours'] AS evidence_columns,
        f.from_utc AS evidence_from,
        f.to_utc AS evidence_to
    FROM covered AS c
    CROSS JOIN filter AS f
    WHERE 100 * c.covered_hours < least_covered_pct() * c.hours
),

no_coverage AS (
    SELECT
        'coverage' AS subject,
        1 AS rank,
        CASE
            WHEN count(*) = 0 THEN 'How much of the time the data cover is not known: no zERT records and no CPU time with '
                || 'a known time are loaded.'
            ELSE format(
                'The data cover at least {} % of the hours from {} to {} of {}.',
                least_covered_pct(), min(first_day), max(last_day), string_agg(DISTINCT system, ', ' ORDER BY system)
            )
        END AS sentence,
        min(100 * covered_hours / hours) AS value,
        '%' AS unit,
        min(first_day) AS first_day,
        max(last_day) AS last_day,
        min(100 * covered_hours / hours) AS covered_pct,
        if(count(*) = 0, 'not enough data', 'counted') AS status,
        'coverage' AS evidence_metric,
        'system,source' AS evidence_by
    FROM covered
    HAVING (SELECT count(*) FROM coverage_statement) = 0
),

-- Hours with benchmark runs, which no share and no rate above contains -----------------------------------

left_out_of_system AS (
    SELECT
        l.system,
        sum(l.hours) AS hours,
        min(l.hour_utc) AS first_utc,
        max(l.hour_utc) AS last_utc
    FROM left_out_hour AS l
    INNER JOIN filter AS f
        ON
            is_chosen(f.systems, l.system)
            AND (f.from_utc IS NULL OR l.hour_utc >= f.from_utc)
            AND (f.to_utc IS NULL OR l.hour_utc < f.to_utc)
    SEMI JOIN (
        SELECT system FROM coverage_hour WHERE source IN ('119-11', '119-12') AND covered_hours > 0
    ) AS z ON l.system = z.system
    GROUP BY l.system
),

runs_statement AS (
    SELECT
        'runs' AS subject,
        1 AS rank,
        format(
            'Shares, rates and prices leave out hours with benchmark runs: {}.',
            string_agg(counted_text(l.hours, 'hour') || ' of ' || l.system, ', ' ORDER BY l.hours DESC, l.system)
        ) AS sentence,
        sum(l.hours) AS value,
        'hours' AS unit,
        min(local_day(l.first_utc, a.offset_s)) AS first_day,
        max(local_day(l.last_utc, b.offset_s)) AS last_day,
        'counted' AS status,
        'left_out_hour' AS evidence_metric,
        'system' AS evidence_by,
        one_of_text('system', list(l.system ORDER BY l.system)) AS evidence_condition,
        ['hours'] AS evidence_columns,
        any_value(f.from_utc) AS evidence_from,
        any_value(f.to_utc) AS evidence_to
    FROM left_out_of_system AS l
    CROSS JOIN filter AS f
    ASOF LEFT JOIN clock_offset AS a ON l.system = a.system AND l.first_utc >= a.from_utc
    ASOF LEFT JOIN clock_offset AS b ON l.system = b.system AND l.last_utc >= b.from_utc
    HAVING count(*) > 0
),

every_statement AS (
    SELECT * FROM price_statement
    UNION ALL BY NAME
    SELECT * FROM no_price
    UNION ALL BY NAME
    SELECT * FROM saving_statement
    UNION ALL BY NAME
    SELECT * FROM no_saving
    UNION ALL BY NAME
    SELECT * FROM exposure_statement
    UNION ALL BY NAME
    SELECT * FROM no_exposure
    UNION ALL BY NAME
    SELECT * FROM certificate_statement
    UNION ALL BY NAME
    SELECT * FROM no_certificate
    UNION ALL BY NAME
    SELECT * FROM change_statement
    UNION ALL BY NAME
    SELECT * FROM no_change
    UNION ALL BY NAME
    SELECT * FROM policy_change
    UNION ALL BY NAME
    SELECT * FROM coverage_statement
    UNION ALL BY NAME
    SELECT * FROM no_coverage
    UNION ALL BY NAME
    SELECT * FROM runs_statement
)

SELECT
    row_number() OVER (ORDER BY s.place, e.rank)::BIGINT AS place,
    e.subject::VARCHAR AS subject,
    e.rank::BIGINT AS rank,
    s.heading::VARCHAR AS heading,
    e.system::VARCHAR AS system,
    e.sentence::VARCHAR AS sentence,
    e.value::DOUBLE AS value,
    e.low::DOUBLE AS low,
    e.high::DOUBLE AS high,
    e.unit::VARCHAR AS unit,
    e.first_day::DATE AS first_day,
    e.last_day::DATE AS last_day,
    e.source::VARCHAR AS source,
    e.covered_pct::DOUBLE AS covered_pct,
    e.status::VARCHAR AS status,
    nullif(array_to_string(list_filter(s.not_followed, lambda name : list_contains(f.names, name)), ', '), '')::VARCHAR
    AS not_filtered_by,
    e.evidence_metric::VARCHAR AS evidence_metric,
    e.evidence_by::VARCHAR AS evidence_by,
    nullif(e.evidence_condition, '')::VARCHAR AS evidence_condition,
    e.evidence_columns::VARCHAR[] AS evidence_columns,
    e.evidence_from::TIMESTAMPTZ AS evidence_from_utc,
    e.evidence_to::TIMESTAMPTZ AS evidence_to_utc
FROM every_statement AS e
INNER JOIN subject AS s ON e.subject = s.subject
CROSS JOIN filter AS f
ORDER BY place
