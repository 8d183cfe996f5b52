-- Certificates in use per system, port and job, with the earliest expiry.
--
-- A certificate is in use if its place showed it within the last day on which the place showed any, and the
-- place is in use if that was in the last 30 days of the data. So a certificate that was renewed soon vanishes.

WITH newest AS (
    SELECT
        *,
        max(last_seen_utc) OVER () AS as_of_utc,
        max(last_seen_utc) OVER (PARTITION BY system, server_port, job_name, certificate_of, presented_by) AS place_utc
    FROM certificate_shown
),

in_use AS (
    SELECT
        system,
        server_port,
        job_name,
        certificate_of,
        presented_by,
        serial,
        issuer_dn,
        min(not_after_utc) AS not_after_utc,
        max(as_of_utc) AS as_of_utc,
        epoch(min(not_after_utc)) - epoch(max(as_of_utc)) AS seconds_left
    FROM newest
    WHERE last_seen_utc >= place_utc - INTERVAL 1 DAY AND place_utc >= as_of_utc - INTERVAL 30 DAY
    GROUP BY ALL
)

SELECT
    system::VARCHAR AS system,
    server_port::BIGINT AS server_port,
    job_name::VARCHAR AS job_name,
    certificate_of::VARCHAR AS certificate_of,
    presented_by::VARCHAR AS presented_by,
    count(*)::BIGINT AS certificates,
    count_if(has_ended(seconds_left))::BIGINT AS expired,
    count_if(ends_within_days(seconds_left, 30))::BIGINT AS ending_soon,
    min(not_after_utc) AS first_not_after_utc,
    whole_days(min(seconds_left))::BIGINT AS days_left,
    any_value(as_of_utc) AS as_of_utc
FROM in_use
GROUP BY ALL
ORDER BY
    first_not_after_utc NULLS LAST, system NULLS LAST, server_port NULLS LAST, job_name NULLS LAST,
    certificate_of, presented_by
