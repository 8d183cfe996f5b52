-- CPU use of each system and interval, whatever told of it: SMF 70 records, RMF XML, RMF listings.
--
-- Where several sources tell of the same interval, SMF 70 goes before XML and XML before listings; what
-- they say is compared in cpu_interval_disagreement. How CPU time comes about stands in cpu_by_source.

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
    ziip_s
FROM cpu_by_source
QUALIFY preference = min(preference) OVER (PARTITION BY system, interval_no)
ORDER BY system, interval_start_local, interval_start_utc
