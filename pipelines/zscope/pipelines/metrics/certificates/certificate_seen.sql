-- One certificate as it was shown in the TLS connections of one system, port and job, and how long it is valid.
--
-- Detail and summary records can be about the same connections. The larger of the two counts is shown, as
-- neither counts a connection twice. Connections count when they end.
--
-- The data, not the clock of today, says when a certificate was in use: days are counted from the last moment at
-- which any certificate was seen.

WITH judged AS (
    SELECT
        *,
        coalesce(getvariable('as_of')::TIMESTAMPTZ, max(last_seen_utc) OVER (), now()) AS as_of,
        max(last_seen_utc) OVER (PARTITION BY serial, issuer_dn, not_after_utc) AS seen_until_utc
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
    signature,
    not_after_utc,
    -- Whole days, rounded down: less than a day counts as 0, and a certificate that expired an hour ago has
    -- -1.
    floor(seconds_left / 86400)::BIGINT AS days_left,
    CASE
        WHEN seconds_left < 0 AND was_valid_when_last_seen THEN 'ended since'
        WHEN seconds_left < 0 THEN 'expired'
        WHEN seconds_left <= 30 * 86400 THEN '<= 30 days'
        WHEN seconds_left <= 60 * 86400 THEN '<= 60 days'
        WHEN seconds_left <= 90 * 86400 THEN '<= 90 days'
        WHEN seconds_left > 90 * 86400 THEN 'later'
        ELSE 'unknown'
    END::VARCHAR AS expiry,
    (subject_dn = issuer_dn)::BOOLEAN AS self_signed,
    greatest(detail_connections, summary_connections)::BIGINT AS connections,
    detail_connections,
    summary_connections,
    first_seen_utc,
    last_seen_utc
FROM left_over
