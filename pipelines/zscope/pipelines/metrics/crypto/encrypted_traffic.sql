-- The bytes of the connections of a job and hour by what protects them, by the zERT records that count for the day.

SELECT
    source,
    system,
    stack,
    hour_utc,
    job_name,
    server_port,
    if(protection = 'TLS', bytes, 0)::BIGINT AS tls_bytes,
    if(protection = 'SSH', bytes, 0)::BIGINT AS ssh_bytes,
    if(protection = 'IPsec', bytes, 0)::BIGINT AS ipsec_bytes,
    if(protection = 'none', bytes, 0)::BIGINT AS none_bytes,
    if(protection = 'unknown', bytes, 0)::BIGINT AS unknown_bytes,
    if(further_protocols IS NOT NULL, bytes, 0)::BIGINT AS twice_bytes,
    covered_hours,
    hours
FROM (
    SELECT
        *,
        coalesce(in_bytes, 0) + coalesce(out_bytes, 0) AS bytes,
        CASE
            WHEN is_tls THEN 'TLS'
            WHEN protocol IN ('SSH', 'IPsec', 'none') THEN protocol
            ELSE 'unknown'
        END AS protection
    FROM covered_tls_hour
    WHERE is_counted
)
