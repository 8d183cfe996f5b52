-- The end of the last hour of the data that has a connection.
--
-- Many steps of comparisons need this one moment. Where it is stored, they are planned without what tls_hour reads.

SELECT
    (
        coalesce(max(hour_utc) FILTER (source = 'each connection once'), max(hour_utc)) + INTERVAL 1 HOUR
    )::TIMESTAMPTZ AS end_utc
FROM tls_hour
