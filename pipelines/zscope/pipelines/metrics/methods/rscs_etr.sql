-- CPU per transaction of one server on z/VM in one run, or of all servers together.
--
-- Published method rscs-etr. The external throughput is what the channel of the link moves, over a scaling
-- constant that is not published, so values compare only where it is the same. CPU is percent of one engine:
-- the published values make sense in no other unit, which nothing confirms.
--
-- Reads zvm_user: run, server (SSL, TCPIP, RSCS), period_s, tcpu_s; zvm_channel: run, chpid,
-- write_bytes_per_s, read_bytes_per_s. Variables: zvm_chpid ('54'), zvm_scaling (100000).

WITH throughput AS (
    SELECT
        run,
        sum(write_bytes_per_s + read_bytes_per_s)
        / nullif(coalesce(getvariable('zvm_scaling')::DOUBLE, 100000), 0) AS etr
    FROM zvm_channel
    WHERE chpid = coalesce(getvariable('zvm_chpid')::VARCHAR, '54')
    GROUP BY run
),

used AS (
    SELECT
        run,
        server,
        100 * sum(tcpu_s) / nullif(max(period_s), 0) AS busy_pct
    FROM zvm_user
    GROUP BY run, server
)

SELECT
    u.run::VARCHAR AS run,
    coalesce(u.server, 'combined')::VARCHAR AS server,
    any_value(t.etr)::DOUBLE AS etr,
    sum(u.busy_pct)::DOUBLE AS busy_pct,
    (sum(u.busy_pct) / nullif(any_value(t.etr), 0))::DOUBLE AS cpu_per_tx
FROM used AS u
INNER JOIN throughput AS t ON u.run = t.run
GROUP BY GROUPING SETS ((u.run, u.server), (u.run))
ORDER BY run, server
