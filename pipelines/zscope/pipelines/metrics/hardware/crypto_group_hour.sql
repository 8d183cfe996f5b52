-- The calls of CPACF and their CPU time in an hour of a system, for each group of algorithms that SMF 113 counts apart.
--
-- Processors of all types are added up in seconds, as their speeds differ; those of general-purpose processors are also
-- apart. An interval belongs to the hour in which it begins, as those of SMF 30 do.

WITH counted AS (
    SELECT
        *,
        (epoch_us(interval_end_utc) - epoch_us(interval_start_utc)) / 1e6 AS length_s,
        time_bucket(INTERVAL 1 HOUR, interval_start_utc) AS hour_utc,
        state = 'counted' AND cpu_speed IS NOT NULL AS is_counted
    FROM processor_interval
    WHERE interval_start_utc < interval_end_utc
),

-- How much of the hour the records show: that of the processor with the longest time, and of this the share that counts.
covered AS (
    SELECT
        system,
        hour_utc,
        least(1, max(length_s) / 3600) * sum(counted_s) / sum(length_s) AS covered_hours
    FROM (
        SELECT
            system,
            hour_utc,
            cpu_id,
            sum(length_s) AS length_s,
            coalesce(sum(length_s) FILTER (WHERE is_counted), 0) AS counted_s
        FROM counted
        GROUP BY ALL
    )
    GROUP BY system, hour_utc
),

by_group AS (
    SELECT
        system,
        hour_utc,
        cpu_type = 'CP' AS is_cp,
        cpu_speed,
        unnest([
            {'crypto_group': 'AES', 'calls': aes_calls, 'cycles': aes_cycles},
            {'crypto_group': 'DES and 3DES', 'calls': dea_calls, 'cycles': dea_cycles},
            {'crypto_group': 'hashing', 'calls': sha_calls, 'cycles': sha_cycles},
            {'crypto_group': 'elliptic curves', 'calls': ecc_calls, 'cycles': ecc_cycles},
            {'crypto_group': 'random numbers', 'calls': prng_calls, 'cycles': prng_cycles}
        ], recursive := true)
    FROM counted
    WHERE is_counted
)

SELECT
    g.system::VARCHAR AS system,
    g.hour_utc::TIMESTAMPTZ AS hour_utc,
    g.crypto_group::VARCHAR AS crypto_group,
    sum_of_all(g.calls)::DOUBLE AS calls,
    (sum_of_all(g.cycles / g.cpu_speed) / 1e6)::DOUBLE AS calls_s,
    coalesce(sum_of_all(if(g.is_cp, g.calls, 0)), 0)::DOUBLE AS cp_calls,
    (coalesce(sum_of_all(if(g.is_cp, g.cycles / g.cpu_speed, 0)), 0) / 1e6)::DOUBLE AS cp_calls_s,
    any_value(c.covered_hours)::DOUBLE AS covered_hours
FROM by_group AS g
INNER JOIN covered AS c ON g.system = c.system AND g.hour_utc = c.hour_utc
GROUP BY g.system, g.hour_utc, g.crypto_group
HAVING count(g.calls) > 0
UNION ALL
-- An hour whose counters of CPACF do not count at all.
SELECT
    c.system::VARCHAR AS system,
    c.hour_utc::TIMESTAMPTZ AS hour_utc,
    NULL AS crypto_group,
    NULL AS calls,
    NULL AS calls_s,
    NULL AS cp_calls,
    NULL AS cp_calls_s,
    c.covered_hours::DOUBLE AS covered_hours
FROM covered AS c
ANTI JOIN (SELECT system, hour_utc FROM by_group WHERE calls IS NOT NULL) AS g ON c.system = g.system AND c.hour_utc = g.hour_utc
ORDER BY system, hour_utc, crypto_group
