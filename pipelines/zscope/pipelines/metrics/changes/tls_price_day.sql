-- What TLS costs on a system on one day, from the estimated costs and what the day has of connections.
--
-- A day costs as much per handshake as the mean day of the estimate, and more or less by what it has of full handshakes
-- and of megabytes beyond those of its handshakes on the mean day. So a day that is like the mean day has its range, and
-- the range is wider only by what the day does differently. The values of all days add up to the price of the period.
--
-- The days are those of the estimate, with the days between them that have no records. Intervals of benchmark runs are
-- left out, as in the estimate.

WITH counted AS (
    SELECT
        system,
        start_local::DATE AS day,
        min(start_local) AS first_local,
        max(start_local + to_microseconds((seconds * 1e6)::BIGINT)) AS last_local,
        sum(seconds) / 3600 AS covered_hours,
        sum(handshakes) AS handshakes,
        sum(full_handshakes) AS full_handshakes,
        sum(resumed_handshakes) AS resumed_handshakes,
        fsum(tls_mb) AS megabytes,
        fsum(cpu_s) AS lpar_cpu_s
    FROM cost_interval
    WHERE handshakes IS NOT NULL
    GROUP BY system, start_local::DATE
),

every_day AS (
    SELECT
        *,
        unnest(generate_series(first_day, last_day, INTERVAL 1 DAY))::DATE AS day
    FROM tls_unit_cost
),

deviating AS (
    SELECT
        e.*,
        c.* EXCLUDE (system, day),
        -- Without costs of their own, full and resumed handshakes cost the same.
        if(e.high_difference_s IS NULL, 0, c.full_handshakes - e.full_share * c.handshakes) AS more_full,
        if(e.high_megabyte_s IS NULL, 0, c.megabytes - e.megabytes_per_handshake * c.handshakes) AS more_megabytes,
        c.handshakes * e.low_handshake_s
        + least_cost(more_full, e.low_difference_s, e.high_difference_s)
        + least_cost(more_megabytes, e.low_megabyte_s, e.high_megabyte_s) AS lower_end_s
    FROM every_day AS e
    LEFT JOIN counted AS c ON e.system = c.system AND e.day = c.day
)

SELECT
    system::VARCHAR AS system,
    day::DATE AS day,
    24::DOUBLE AS hours,
    least(coalesce(covered_hours, 0), 24)::DOUBLE AS covered_hours,
    handshakes::DOUBLE AS handshakes,
    full_handshakes::DOUBLE AS full_handshakes,
    resumed_handshakes::DOUBLE AS resumed_handshakes,
    megabytes::DOUBLE AS megabytes,
    lpar_cpu_s::DOUBLE AS lpar_cpu_s,
    (
        handshakes * handshake_s
        + if(more_full = 0, 0, more_full * difference_s)
        + if(more_megabytes = 0, 0, more_megabytes * megabyte_s)
    )::DOUBLE AS measured_s,
    if(lower_end_s < 0, 0, lower_end_s)::DOUBLE AS low_measured_s,
    (
        handshakes * high_handshake_s
        + most_cost(more_full, low_difference_s, high_difference_s)
        + most_cost(more_megabytes, low_megabyte_s, high_megabyte_s)
    )::DOUBLE AS high_measured_s,
    status::VARCHAR AS status_of_costs,
    why::VARCHAR AS why_of_costs,
    first_local::TIMESTAMP AS first_local,
    last_local::TIMESTAMP AS last_local
FROM deviating
