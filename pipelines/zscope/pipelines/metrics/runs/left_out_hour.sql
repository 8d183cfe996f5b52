-- The hours that figures of production leave out: those with benchmark runs, unless these shall count.
--
-- A run varies the configuration on a system that does nothing else, and says nothing about production.

SELECT
    system,
    hour_utc,
    1 AS hours
FROM run_hour
WHERE NOT coalesce(getvariable('with_runs')::BOOLEAN, false)
