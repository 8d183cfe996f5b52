-- The use of the physical processors by the partitions of a machine, in the intervals that a system recorded.

SELECT
    source,
    system,
    interval_start_utc,
    interval_end_utc,
    cpu_type,
    partition_name,
    sharing,
    system_name,
    intervals,
    interval_s,
    used_s,
    share_s,
    online_s,
    weighted_s,
    weight_by_time,
    entitled_s,
    physical_cpus
FROM partition_interval
