-- The part of an ended TCP connection (SMF 119-2) that lies in one interval of its system.
--
-- A connection that spans several intervals has a row for each, with the share of its duration and bytes in
-- it; `ended` is true for the interval in which it ended. Intervals are those of cpu_slot;
-- other time is divided at quarter hours.

SELECT
    system,
    interval_start_utc,
    interval_ms,
    stack,
    job_name,
    local_port,
    remote_port,
    local_ip,
    remote_ip,
    connection_id,
    start_utc,
    end_utc,
    duration_ms,
    spans,
    ended,
    share,
    in_bytes,
    out_bytes
FROM activity_interval
WHERE counted_by = 'connections ended'
