-- What ended connections of a day agreed in their TLS handshakes, with their number.

SELECT
    day::DATE AS day,
    'zERT'::VARCHAR AS reported_by,
    system::VARCHAR AS system,
    (security_protocols_flags & 128 > 0)::BOOLEAN AS is_tls,
    handshake_role::INTEGER AS handshake_role_code,
    cipher::VARCHAR AS cipher,
    server_cert_key_type::INTEGER AS key_type_code,
    server_cert_key_length_bits::INTEGER AS key_bits,
    count(*)::BIGINT AS connections
FROM zert_record
WHERE event_type IN (3, 4)
GROUP BY ALL

UNION ALL

-- Before SSLv3, two characters are no number of a suite.
SELECT
    day,
    'SMF 119-2' AS reported_by,
    system,
    true AS is_tls,
    NULL AS handshake_role_code,
    cipher_suite(cipher_4, cipher_2, tls_version) AS cipher,
    NULL AS key_type_code,
    NULL AS key_bits,
    count(*) AS connections
FROM smf119_tcp_term
WHERE ttls_status = 3 AND (cipher_4 <> '' OR cipher_2 NOT IN ('', '4X')) AND is_sslv3_or_later(tls_version)
GROUP BY ALL
