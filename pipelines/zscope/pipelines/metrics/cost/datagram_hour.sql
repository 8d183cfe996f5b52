-- The UDP datagrams of a TCP/IP stack in the part of one of its intervals of statistics that lies in one hour.
--
-- Statistics are written when their interval ends. They are cut at full hours, so that intervals are joined by the hour,
-- which is faster than a comparison of moments. The datagrams of an interval are assumed to be distributed evenly over
-- it; one of more than a day says nothing about the intervals in it.

WITH statistics AS (
    SELECT
        day,
        system,
        stack,
        epoch_us(written_utc) AS end_us,
        coalesce(udp_interval_us, interval_us) AS length_us,
        udp_received + udp_sent AS datagrams
    FROM smf119_stack_statistics
),

hour_of AS (
    SELECT
        *,
        end_us - length_us AS begin_us,
        unnest(hours_of(end_us - length_us, end_us)) AS hour_no
    FROM statistics
    WHERE end_us IS NOT NULL AND datagrams IS NOT NULL AND length_us BETWEEN 1 AND 86400000000
),

part AS (
    SELECT
        *,
        greatest(begin_us, hour_no * 3600000000) AS from_us,
        least(end_us, (hour_no + 1) * 3600000000) AS to_us
    FROM hour_of
)

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    hour_no::BIGINT AS hour_no,
    from_us::BIGINT AS from_us,
    to_us::BIGINT AS to_us,
    (datagrams * (to_us - from_us) / length_us)::DOUBLE AS datagrams
FROM part
