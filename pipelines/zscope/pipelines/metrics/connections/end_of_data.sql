-- The first hour of the data that has a connection, and the end of the last one. For the periods that are compared, hours
-- with benchmark runs do not count: often they are a night of their own, after the data of production.
--
-- Many steps of comparisons need these moments. Where they are stored, they are planned without what tls_hour reads.

WITH hour AS (
    SELECT
        h.hour_utc,
        h.source IN ('each connection once', 'zERT summary') AS has_all,
        r.system IS NOT NULL AS has_run
    FROM tls_hour AS h
    LEFT JOIN run_hour AS r ON h.system = r.system AND h.hour_utc = r.hour_utc
)

SELECT
    coalesce(min(hour_utc) FILTER (has_all AND NOT has_run), min(hour_utc) FILTER (NOT has_run))::TIMESTAMPTZ
        AS begin_utc,
    (
        coalesce(max(hour_utc) FILTER (has_all AND NOT has_run), max(hour_utc) FILTER (NOT has_run)) + INTERVAL 1 HOUR
    )::TIMESTAMPTZ AS end_utc,
    (coalesce(max(hour_utc) FILTER (has_all), max(hour_utc)) + INTERVAL 1 HOUR)::TIMESTAMPTZ AS last_utc
FROM hour
