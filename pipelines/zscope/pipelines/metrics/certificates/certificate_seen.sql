-- One certificate as it was shown in the TLS connections of one system, port and job, and how long it is valid.
--
-- Detail and summary records can be about the same connections. The larger of the two counts is shown, as
-- neither counts a connection twice. Connections count when they end.
--
-- Both sides of a connection can show the same certificate, which then has two rows. Only what the row of the
-- client's certificate has more than that of the server's adds to the connections of the certificate. The two
-- rows are of the same role of the system: a connection inside a system is two, one for each of its ends.
--
-- The data, not the clock of today, says when a certificate was in use: days are counted from the last moment at
-- which any certificate was seen.

WITH judged AS (
    SELECT
        *,
        coalesce(getvariable('as_of')::TIMESTAMPTZ, max(last_seen_utc) OVER (), now()) AS as_of,
        max(last_seen_utc) OVER (PARTITION BY serial, issuer_dn, not_after_utc) AS seen_until_utc,
        greatest(detail_connections, summary_connections) AS connections,
        CASE presented_by
            WHEN 'this system' THEN certificate_of
            WHEN 'partner' THEN if(certificate_of = 'server', 'client', 'server')
            ELSE 'unknown'
        END AS role_of_system
    FROM certificate_shown
),

left_over AS (
    SELECT
        *,
        epoch(not_after_utc) - epoch(as_of) AS seconds_left,
        seen_until_utc <= not_after_utc AS was_valid_when_last_seen
    FROM judged
)

SELECT
    system,
    server_port,
    job_name,
    certificate_of,
    presented_by,
    serial,
    subject_dn,
    issuer_dn,
    key_type,
    key_bits,
    has_short_key,
    signature,
    not_after_utc,
    -- Whole days, rounded down: less than a day counts as 0, and a certificate that expired an hour ago has
    -- -1.
    whole_days(seconds_left)::BIGINT AS days_left,
    expiry_class(seconds_left, was_valid_when_last_seen)::VARCHAR AS expiry,
    coalesce(ends_within_days(seconds_left, 90), false)::BOOLEAN AS ends_within_90_days,
    (subject_dn = issuer_dn)::BOOLEAN AS self_signed,
    if(summary_connections > detail_connections, 'zERT summary', 'zERT detail')::VARCHAR AS source,
    connections::BIGINT AS connections,
    detail_connections,
    summary_connections,
    greatest(connections - lag(connections, 1, 0) OVER server_first, 0)::BIGINT AS added_connections,
    first_seen_utc,
    last_seen_utc
FROM left_over
WINDOW server_first AS (
    PARTITION BY
        system, server_port, job_name, role_of_system,
        serial, issuer_dn, subject_dn, not_after_utc, key_type, key_bits, signature
    ORDER BY certificate_of DESC
)
