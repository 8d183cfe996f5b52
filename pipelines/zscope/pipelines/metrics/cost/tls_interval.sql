-- The CPU time, handshakes and TLS bytes of a system in one CPU interval, as the price of TLS is estimated from.
--
-- The intervals are those of handshake_interval: zERT covers them, and they have CPU time. A benchmark run has
-- other costs than the usual work, so intervals in which one ran, or shortly before and after it, are left out.
-- The local start is that of the source of the CPU time, because other work follows the clock of the system.
--
-- The address spaces with TLS are the TCP/IP stacks and the jobs with TLS connections. Their CPU time is known
-- if the stack has a record for the interval and no record of these address spaces lacks its CPU time.

WITH parameters AS (
    SELECT coalesce(getvariable('tls_run_margin_minutes')::INTEGER, 15) AS run_margin_minutes
),

spaces AS (
    SELECT
        system,
        interval_start_utc,
        CASE
            WHEN bool_or(role = 'TCP/IP stack') AND count(cp_s) = count(*) THEN sum(cp_s)
        END AS cp_s
    FROM address_space_cpu
    WHERE role IN ('TCP/IP stack', 'TLS port') AND status <> 'no CPU interval'
    GROUP BY system, interval_start_utc
)

SELECT
    h.system::VARCHAR AS system,
    h.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    h.interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
    c.interval_start_local::TIMESTAMP AS start_local,
    (h.interval_ms / 1000)::DOUBLE AS seconds,
    h.cpu_s::DOUBLE AS cpu_s,
    h.full_handshakes::BIGINT AS full_handshakes,
    h.resumed_handshakes::BIGINT AS resumed_handshakes,
    (h.tls_bytes / 1e6)::DOUBLE AS tls_mb,
    s.cp_s::DOUBLE AS tls_spaces_cpu_s,
    (c.lpar_busy_pct / 100)::DOUBLE AS busy_share
FROM handshake_interval AS h
-- Intervals that overlap can begin at the same time; only one of them is in handshake_interval.
INNER JOIN cpu_interval AS c
    ON
        h.system = c.system
        AND h.interval_start_utc = c.interval_start_utc
        AND h.interval_ms = c.interval_ms
LEFT JOIN spaces AS s ON h.system = s.system AND h.interval_start_utc = s.interval_start_utc
CROSS JOIN parameters AS p
ANTI JOIN run AS r
    ON
        h.system = r.system
        AND h.interval_start_utc < r.to_utc + to_minutes(p.run_margin_minutes)
        AND h.interval_end_utc > r.from_utc - to_minutes(p.run_margin_minutes)
WHERE h.interval_ms > 0 AND c.interval_start_local IS NOT NULL
