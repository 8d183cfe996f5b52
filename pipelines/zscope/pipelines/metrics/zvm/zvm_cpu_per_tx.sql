-- CPU per transaction of one server of a z/VM system in one run, or of all servers of the link together.
--
-- Published method rscs-etr: CPU use of the server divided by the external throughput (ETR) of the link.

WITH known_run AS (
    SELECT
        name,
        bool_or(synthetic) AS synthetic
    FROM run
    GROUP BY name
),

-- A listing of users without one of channels has a row that states what is missing.
together AS (
    SELECT
        u.*,
        l.chpids,
        l.etr,
        l.shared,
        k.synthetic,
        without_nulls([
            u.lacking,
            CASE WHEN l.run IS NULL THEN 'no row of a channel belongs to this run' ELSE l.lacking END,
            CASE WHEN l.shared THEN 'other partitions can use the path: its bytes are those of all' END
        ]) AS remarks
    FROM zvm_server_use AS u
    LEFT JOIN zvm_link_rate AS l ON u.run = l.run AND u.system IS NOT DISTINCT FROM l.system
    LEFT JOIN known_run AS k ON u.run = k.name
)

SELECT
    run,
    system,
    server,
    begin_utc,
    begin_utc + to_microseconds((1e6 * period_s)::BIGINT) AS end_utc,
    userids,
    chpids::VARCHAR AS chpids,
    periods,
    period_s,
    tcpu_s,
    etr::DOUBLE AS etr,
    busy_pct,
    (busy_pct / nullif(etr, 0))::DOUBLE AS cpu_per_tx,
    (10 * busy_pct / nullif(etr, 0))::DOUBLE AS cpu_ms_per_tx,
    shared::BOOLEAN AS shared,
    synthetic::BOOLEAN AS synthetic,
    joined(remarks, '; ')::VARCHAR AS remarks
FROM together
ORDER BY run, system, list_position(['SSL', 'TCPIP', 'RSCS', 'combined'], server)
