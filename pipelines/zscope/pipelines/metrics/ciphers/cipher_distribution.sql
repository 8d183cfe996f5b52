-- Number of TLS connections and bytes per cipher suite and source.
--
-- Only TLS: other connections have no suite. MQ channels without a recorded suite are included, because they
-- may use TLS. If a source does not contain the suite it is null; 4X in a record means a number of four
-- digits in a field that is not published.

SELECT
    t.source,
    t.reported_by,
    t.system,
    t.stack,
    t.hour_utc,
    t.job_name,
    t.server_port,
    t.protocol,
    t.cipher,
    code_text(c.name, t.cipher)::VARCHAR AS cipher_name,
    c.key_exchange::VARCHAR AS key_exchange,
    c.authentication::VARCHAR AS authentication,
    c.encryption::VARCHAR AS encryption,
    c.pfs::VARCHAR AS pfs,
    CASE
        WHEN is_suite(c.code, c.protocol) THEN suite_weaknesses(c.key_exchange, c.authentication, c.encryption)
    END::VARCHAR AS weak_because,
    CASE WHEN is_suite(c.code, c.protocol) THEN suite_rating(weak_because, c.pfs) ELSE 'not known' END::VARCHAR
        AS suite_rating,
    coalesce(is_suite(c.code, c.protocol) AND is_without_forward_secrecy(c.pfs), false)::BOOLEAN AS is_without_pfs,
    t.is_counted,
    t.connections,
    t.failed_handshakes,
    t.in_bytes,
    t.out_bytes,
    t.covered_hours,
    t.hours
FROM covered_tls_hour AS t
LEFT JOIN cipher AS c ON t.cipher = c.code
WHERE t.is_tls OR t.source = 'MQ channels'
