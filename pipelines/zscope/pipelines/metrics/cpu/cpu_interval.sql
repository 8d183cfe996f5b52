-- CPU use of each system and interval, from the best source: SMF 70 records, RMF XML, RMF listings.
--
-- If several sources record the same interval, SMF 70 has priority over XML and XML over listings; their
-- figures are compared in cpu_interval_disagreement. How CPU time is calculated is described in
-- cpu_by_source.

SELECT
    source,
    system,
    interval_start_local,
    interval_start_utc,
    interval_end_utc,
    interval_ms,
    cp_kind,
    cps_online,
    lpar_busy_pct,
    cpu_s,
    ziips_online,
    ziip_busy_pct,
    ziip_s,
    interval_start_local::DATE AS day
FROM cpu_by_source
QUALIFY preference = min(preference) OVER (PARTITION BY system, interval_key)
ORDER BY system, interval_start_local, interval_start_utc
