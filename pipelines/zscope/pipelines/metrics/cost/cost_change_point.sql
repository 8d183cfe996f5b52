-- A moment at which the AT-TLS policy, the release, the capacity or the cipher suites of a system changed.
--
-- pasearch shows an instance of the policy, which behaves like the time at which it was installed. The level of
-- z/OS and the rating of the machine are those of SMF 70. Cipher suites have changed if at least a fifth of the
-- connections with TLS have another one in the seven days from a day on than in the seven days before, and nothing
-- else changed within a week. Both weeks need all of their days, as the suites of a Sunday can be others than those of
-- a Monday.
--
-- A benchmark run varies the configuration, which is no change of the system: intervals and days of runs are left out.

WITH setting AS (
    SELECT
        system,
        interval_end_utc,
        interval_end_utc - to_milliseconds(interval_ms) AS start_utc,
        -- ZV020500 is V2R5.
        coalesce(
            'V' || try_cast(substr(zos_level, 3, 2) AS INTEGER) || 'R' || try_cast(substr(zos_level, 5, 2) AS INTEGER),
            zos_level
        ) AS release,
        nullif(capacity_rating_msu_per_hour, 0) AS msu
    FROM smf70_interval AS i
    ANTI JOIN run AS r
        ON
            i.system = r.system
            AND i.interval_end_utc - to_milliseconds(i.interval_ms) < r.to_utc + INTERVAL 15 MINUTE
            AND i.interval_end_utc > r.from_utc - INTERVAL 15 MINUTE
    WHERE interval_end_utc IS NOT NULL
),

known AS (
    SELECT DISTINCT
        system,
        to_timestamp(instance_id) AS changed_utc,
        'AT-TLS policy' AS changed,
        concat('instance ', instance_id, ' of the policy') AS change
    FROM tls_rule
    WHERE policy_form = 'pasearch' AND system IS NOT NULL AND instance_id > 0
    UNION ALL
    SELECT
        system,
        start_utc,
        'release',
        concat(lag(release) OVER (PARTITION BY system ORDER BY interval_end_utc), ' to ', release)
    FROM setting
    WHERE release IS NOT NULL
    QUALIFY release <> lag(release) OVER (PARTITION BY system ORDER BY interval_end_utc)
    UNION ALL
    SELECT
        system,
        start_utc,
        'capacity',
        concat(lag(msu) OVER (PARTITION BY system ORDER BY interval_end_utc), ' to ', msu, ' MSU an hour')
    FROM setting
    WHERE msu IS NOT NULL
    QUALIFY msu <> lag(msu) OVER (PARTITION BY system ORDER BY interval_end_utc)
),

-- Cipher suites by day, from the source with most connections of a system.
suite AS (
    SELECT
        c.system,
        c.day,
        c.cipher,
        c.connections
    FROM cipher_day AS c
    INNER JOIN (
        SELECT
            system,
            arg_max(source, connections) AS source
        FROM (
            SELECT
                system,
                source,
                sum(connections) AS connections
            FROM cipher_day
            GROUP BY system, source
        )
        GROUP BY system
    ) AS s ON c.system = s.system AND c.source = s.source
    ANTI JOIN (
        SELECT
            system,
            unnest(generate_series(from_utc::DATE, to_utc::DATE, INTERVAL 1 DAY))::DATE AS day
        FROM run
    ) AS r ON c.system = r.system AND c.day = r.day
    WHERE c.cipher IS NOT NULL
),

day_with_weeks AS (
    SELECT
        system,
        day
    FROM (SELECT DISTINCT system, day FROM suite)
    QUALIFY
        count(*) OVER (
            PARTITION BY system ORDER BY day RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND INTERVAL 6 DAY FOLLOWING
        ) = 14
),

around AS (
    SELECT
        d.system,
        d.day,
        s.cipher,
        coalesce(sum(s.connections) FILTER (WHERE s.day < d.day), 0) AS before,
        coalesce(sum(s.connections) FILTER (WHERE s.day >= d.day), 0) AS after,
        sum(before) OVER of_day AS all_before,
        sum(after) OVER of_day AS all_after,
        100 * (after / nullif(all_after, 0) - before / nullif(all_before, 0)) AS more_pct
    FROM day_with_weeks AS d
    INNER JOIN suite AS s ON d.system = s.system AND s.day BETWEEN d.day - 7 AND d.day + 6
    GROUP BY d.system, d.day, s.cipher
    WINDOW of_day AS (PARTITION BY d.system, d.day)
),

mix AS (
    SELECT
        system,
        timezone('UTC', day::TIMESTAMP) AS changed_utc,
        sum(abs(more_pct)) / 2 AS changed_pct,
        format(
            'cipher suites of {:.0f} % of the connections: {:.0f} % more {}, {:.0f} % less {}',
            sum(abs(more_pct)) / 2,
            max(more_pct),
            arg_max(cipher, more_pct),
            -min(more_pct),
            arg_min(cipher, more_pct)
        ) AS change
    FROM around
    -- With fewer connections, shares differ by chance.
    WHERE least(all_before, all_after) >= 500
    GROUP BY system, day
    HAVING changed_pct >= 20
)

SELECT
    system::VARCHAR AS system,
    changed_utc::TIMESTAMPTZ AS changed_utc,
    changed::VARCHAR AS changed,
    change::VARCHAR AS change
FROM known
UNION ALL
SELECT
    m.system,
    m.changed_utc,
    'cipher suites',
    m.change
FROM (
    FROM mix
    QUALIFY row_number() OVER (PARTITION BY system ORDER BY changed_pct DESC, changed_utc) = 1
) AS m
WHERE NOT EXISTS (
    SELECT 1
    FROM known AS k
    WHERE
        k.system = m.system
        AND k.changed_utc BETWEEN m.changed_utc - INTERVAL 7 DAY AND m.changed_utc + INTERVAL 7 DAY
)
