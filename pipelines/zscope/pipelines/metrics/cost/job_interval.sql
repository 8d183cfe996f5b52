-- Connections, bytes and CPU time of a job with TLS in one CPU interval of its system.
--
-- Handshakes belong to the interval of their moment, connections without TLS to that in which they began, and bytes are
-- distributed evenly over the life of a connection, as in handshake_interval. The CPU time is that of the address spaces
-- of the job; it is null where SMF 30 does not have it. A TCP/IP stack is no job here, as it works for all of them.

WITH shaken AS (
    SELECT
        system,
        interval_start_utc,
        job_name,
        full_handshakes,
        resumed_handshakes
    FROM handshake_slot_day
    UNION ALL BY NAME
    SELECT
        system,
        interval_start_utc,
        job_name,
        full_handshakes,
        resumed_handshakes
    FROM open_handshake_slot
),

part AS (
    SELECT * FROM shaken
    UNION ALL BY NAME
    SELECT
        system,
        interval_start_utc,
        job_name,
        plain_connections,
        in_bytes,
        out_bytes,
        tls_bytes
    FROM transaction_day
    WHERE counted_by = 'zERT connections'
    UNION ALL BY NAME
    SELECT
        system,
        interval_start_utc,
        job_name,
        (began AND NOT is_tls)::BIGINT AS plain_connections,
        in_bytes,
        out_bytes,
        tls_bytes
    FROM open_activity_interval
    WHERE counted_by = 'zERT connections'
    UNION ALL BY NAME
    SELECT
        system,
        interval_start_utc,
        job_name,
        cp_s,
        status = 'time not valid' AS is_unknown
    FROM address_space_part
    WHERE status <> 'no CPU interval' AND address_space_role(job_name, program, false, true) = 'TLS port'
)

SELECT
    p.system::VARCHAR AS system,
    p.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    p.job_name::VARCHAR AS job_name,
    coalesce(sum(p.full_handshakes), 0)::DOUBLE AS full_handshakes,
    coalesce(sum(p.resumed_handshakes), 0)::DOUBLE AS resumed_handshakes,
    (coalesce(sum(p.tls_bytes), 0) / 1e6)::DOUBLE AS tls_mb,
    coalesce(sum(p.plain_connections), 0)::DOUBLE AS plain_connections,
    (
        (coalesce(sum(p.in_bytes), 0) + coalesce(sum(p.out_bytes), 0) - coalesce(sum(p.tls_bytes), 0)) / 1e6
    )::DOUBLE AS plain_mb,
    if(bool_or(p.is_unknown), NULL, sum(p.cp_s))::DOUBLE AS cpu_s
FROM part AS p
SEMI JOIN (
    SELECT
        system,
        job_name
    FROM shaken
    WHERE full_handshakes + resumed_handshakes > 0
) AS j ON p.system = j.system AND p.job_name = j.job_name
GROUP BY p.system, p.interval_start_utc, p.job_name
