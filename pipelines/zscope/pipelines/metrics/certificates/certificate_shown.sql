-- One certificate as records show it, with the connections of one system, port and job.
--
-- A certificate is identified by its serial number and its issuer. If a record does not contain the issuer, it
-- is that of the certificate with the same serial number, expiry and key, if records name exactly one.

WITH with_issuer AS (
    SELECT
        * REPLACE (
            coalesce(
                issuer_dn,
                CASE
                    WHEN min(issuer_dn) OVER same = max(issuer_dn) OVER same THEN min(issuer_dn) OVER same
                END
            ) AS issuer_dn
        )
    FROM certificate_day
    WINDOW same AS (PARTITION BY serial, not_after_utc, key_type_code, key_bits)
),

with_names AS (
    SELECT
        * REPLACE (
            coalesce(
                subject_dn,
                CASE
                    WHEN min(subject_dn) OVER same = max(subject_dn) OVER same THEN min(subject_dn) OVER same
                END
            ) AS subject_dn
        )
    FROM with_issuer
    WINDOW same AS (PARTITION BY serial, issuer_dn, not_after_utc, key_type_code, key_bits)
)

SELECT
    n.system::VARCHAR AS system,
    n.server_port::BIGINT AS server_port,
    n.job_name::VARCHAR AS job_name,
    n.certificate_of::VARCHAR AS certificate_of,
    coalesce(n.presented_by, 'unknown')::VARCHAR AS presented_by,
    n.serial::VARCHAR AS serial,
    n.subject_dn::VARCHAR AS subject_dn,
    n.issuer_dn::VARCHAR AS issuer_dn,
    coalesce(code_text(key.text, n.key_type_code), 'unknown')::VARCHAR AS key_type,
    nullif(n.key_bits, 0)::BIGINT AS key_bits,
    is_short_key(n.key_type_code, n.key_bits)::BOOLEAN AS has_short_key,
    coalesce(code_text(signature.text, n.signature_code), 'unknown')::VARCHAR AS signature,
    n.not_after_utc,
    coalesce(sum(n.connections), 0)::BIGINT AS detail_connections,
    coalesce(sum(n.summary_connections), 0)::BIGINT AS summary_connections,
    min(n.first_seen_utc) AS first_seen_utc,
    max(n.last_seen_utc) AS last_seen_utc
FROM with_names AS n
LEFT JOIN code_key_type AS key ON n.key_type_code = key.code
LEFT JOIN code_sig_method AS signature ON n.signature_code = signature.code
GROUP BY ALL
