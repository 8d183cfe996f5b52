-- Connections with TLS from zERT connection detail records: the part of connection_protection that the use of rules needs.

SELECT *
FROM connection_protection
WHERE source = 'zERT detail' AND is_tls
