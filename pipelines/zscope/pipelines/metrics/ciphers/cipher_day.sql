-- Connections with TLS of a system on a day by cipher suite, as a source records them.

SELECT
    day::DATE AS day,
    source::VARCHAR AS source,
    system::VARCHAR AS system,
    cipher::VARCHAR AS cipher,
    sum(connections)::BIGINT AS connections
FROM protection_day
WHERE is_tls AND source IN ('zERT detail', 'zERT summary') AND day IS NOT NULL AND connections > 0
GROUP BY ALL
