-- CPU time of the TCP/IP stacks as a share of the CPU time of the system.
--
-- SMF 30 has the CPU time of the stacks, SMF 72 that of all service classes. Only CPU intervals with both count,
-- and none that a benchmark run overlaps, in which there is no application. Sockets and AT-TLS work in the
-- address spaces of the applications and are not recorded apart from them: the network needs at least this
-- share.

WITH class_use AS (
    SELECT
        system,
        epoch_us(interval_start_utc) AS start_us,
        epoch_us(interval_end_utc) AS end_us,
        sum(cp_s) AS workload_s,
        sum(ended_transactions) AS ended_transactions
    FROM service_class_cpu
    WHERE class_kind = 'service class' AND interval_start_utc IS NOT NULL
    GROUP BY ALL
    HAVING count(cp_s) = count(*)
),

stack_use AS (
    SELECT
        system,
        epoch_us(interval_start_utc) AS start_us,
        epoch_us(interval_end_utc) AS end_us,
        sum(cp_s) AS stack_s
    FROM address_space_part
    WHERE
        address_space_role(job_name, program, false, false) = 'TCP/IP stack'
        AND status IN ('aligned', 'inside', 'apportioned')
    GROUP BY ALL
    HAVING count(cp_s) = count(*)
)

SELECT
    s.system::VARCHAR AS system,
    count(*)::BIGINT AS intervals,
    (sum(s.end_us - s.start_us) / 1e6)::DOUBLE AS seconds,
    sum(s.stack_s)::DOUBLE AS stack_s,
    sum(c.workload_s)::DOUBLE AS workload_s,
    sum(c.ended_transactions)::BIGINT AS ended_transactions,
    (100 * sum(s.stack_s) / nullif(sum(c.workload_s), 0))::DOUBLE AS least_share_pct,
    (1e6 * sum(s.stack_s) / nullif(sum(c.ended_transactions), 0))::DOUBLE AS stack_us_per_transaction,
    (1e6 * sum(c.workload_s) / nullif(sum(c.ended_transactions), 0))::DOUBLE AS cpu_us_per_transaction
FROM stack_use AS s
INNER JOIN class_use AS c
    ON
        s.system = c.system
        -- RMF and SMF 30 end their intervals within two seconds of each other.
        AND s.start_us BETWEEN c.start_us - 2000000 AND c.start_us + 2000000
        AND s.end_us BETWEEN c.end_us - 2000000 AND c.end_us + 2000000
ANTI JOIN run AS r
    ON s.system = r.system AND s.start_us < epoch_us(r.to_utc) AND s.end_us > epoch_us(r.from_utc)
GROUP BY s.system
ORDER BY s.system
