-- The hours that figures of production leave out: those with benchmark runs, of a system with zERT records.
--
-- A run varies the configuration on a system that does nothing else, and says nothing about production.

SELECT
    r.system,
    r.hour_utc,
    1 AS hours
FROM run_hour AS r
SEMI JOIN (
    SELECT system FROM zert_written
    UNION ALL
    SELECT system FROM summary_interval
) AS z ON r.system = z.system
WHERE NOT coalesce(getvariable('with_runs')::BOOLEAN, false)
