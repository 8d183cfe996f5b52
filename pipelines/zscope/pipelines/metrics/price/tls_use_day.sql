-- Handshakes and bytes of the connections that began in an hour and are settled on one day.

SELECT
    settled_day AS day,
    * EXCLUDE (settled_day)
FROM tls_use_hour
WHERE settled_day IS NOT NULL
