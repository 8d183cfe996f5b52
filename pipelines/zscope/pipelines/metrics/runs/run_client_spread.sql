-- How far the clients of a side of an RR or STR run differ from each other.
--
-- Connections of these workloads stay open, and their records have one total of bytes for each of them. Evenly
-- distributed over the intervals, a total shows no variation. What varies is the rate of each connection. The
-- clients are the sample, and the half width of the 95 % interval of their mean, relative to it, is that of the
-- rate of all. Connections count if they were open for at least four fifths of the run.

WITH side AS (
    SELECT
        name,
        system,
        role,
        epoch_us(from_utc) AS begin_us,
        epoch_us(to_utc) AS end_us
    FROM run
    WHERE workload_kind IN ('RR', 'STR')
),

-- Most connections are shorter than any run.
long_connection AS (
    SELECT
        counted_by,
        system,
        epoch_us(start_utc) AS start_us,
        epoch_us(end_utc) AS end_us,
        (in_bytes + out_bytes) / duration_ms AS rate
    FROM (SELECT * FROM settled_activity UNION ALL SELECT * FROM open_activity)
    WHERE
        counted_by <> 'supplied count'
        AND duration_ms >= 0.0008 * (SELECT min(end_us - begin_us) FROM side)
        AND in_bytes + out_bytes > 0
),

connection AS (
    SELECT
        s.name,
        s.role,
        c.rate
    FROM side AS s
    INNER JOIN long_connection AS c
        ON
            s.system = c.system
            AND c.start_us < s.end_us
            AND c.end_us > s.begin_us
            AND overlap_us(c.start_us, c.end_us, s.begin_us, s.end_us) >= 0.8 * (s.end_us - s.begin_us)
    -- The same connections can be in two record types.
    QUALIFY c.counted_by = min(c.counted_by) OVER (PARTITION BY s.name, s.role, s.system)
)

SELECT
    name::VARCHAR AS name,
    role::VARCHAR AS role,
    count(*)::BIGINT AS connections,
    avg(rate)::DOUBLE AS bytes_per_ms,
    CASE
        WHEN count(*) >= 3 THEN student_t(count(*)::DOUBLE - 1) * stddev_samp(rate) / avg(rate) / sqrt(count(*))
    END::DOUBLE AS half_width
FROM connection
GROUP BY name, role
