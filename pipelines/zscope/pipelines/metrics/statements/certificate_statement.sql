-- How many certificates end soon, or ended, and the first of them.

WITH certificate AS (
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
    INNER JOIN statement_filter AS f
        ON
            is_any_chosen(f.systems, c.systems)
            AND is_any_chosen(f.jobs, c.job_names)
            AND is_any_chosen(f.ports, c.server_ports)
),

kind_of_end AS (
    FROM (VALUES
        (1, 'ends_within_90_days', 'expires', 'expire', 'within 90 days after the newest record with a certificate'),
        (2, 'expiry = ''expired''', 'was', 'were', 'in use after expiry'),
        (3, 'expiry = ''ended since''', 'has', 'have', 'expired since last seen')
    ) AS of_end (rank, condition, singular, plural, what)
),

stated AS (
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

unknown AS (
    SELECT
        'certificates' AS subject,
        1 AS rank,
        CASE
            WHEN count(*) > 0
                THEN format(
                    'No certificate expires within 90 days after the newest record with a certificate, of {:,} whose '
                    || 'end is known.',
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
    HAVING (SELECT count(*) FROM stated) = 0
)

SELECT
    subject::VARCHAR AS subject,
    rank::BIGINT AS rank,
    sentence::VARCHAR AS sentence,
    value::DOUBLE AS value,
    unit::VARCHAR AS unit,
    status::VARCHAR AS status,
    evidence_metric::VARCHAR AS evidence_metric,
    nullif(evidence_condition, '')::VARCHAR AS evidence_condition,
    evidence_columns::VARCHAR[] AS evidence_columns
FROM (
    SELECT * FROM stated
    UNION ALL BY NAME
    SELECT * FROM unknown
)
