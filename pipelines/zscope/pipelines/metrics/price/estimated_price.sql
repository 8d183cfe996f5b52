-- The price of a system or job as it is estimated, and what contradicts it.
--
-- The rows of cost_estimate about a day, the LPAR and its busiest hours, one row for each part of a price.

WITH by_unit AS (
    SELECT
        system,
        job_name,
        item AS part,
        any_value(first_local) AS first_local,
        any_value(last_local) AS last_local,
        any_value(covered_pct) AS covered_pct,
        any_value(charged_to) AS charged_to,
        any_value(other_work_most_pct) FILTER (WHERE unit = 's/day') AS other_work_most_pct,
        any_value(status) FILTER (WHERE unit = 's/day') AS status,
        any_value(why) FILTER (WHERE unit = 's/day') AS why,
        any_value(value) FILTER (WHERE unit = 's/day') AS day_s,
        any_value(low) FILTER (WHERE unit = 's/day') AS low_day_s,
        any_value(high) FILTER (WHERE unit = 's/day') AS high_day_s,
        any_value(value) FILTER (WHERE unit = '% of LPAR') AS lpar_pct,
        any_value(low) FILTER (WHERE unit = '% of LPAR') AS low_lpar_pct,
        any_value(high) FILTER (WHERE unit = '% of LPAR') AS high_lpar_pct,
        any_value(value) FILTER (WHERE unit = '% of peak') AS peak_pct,
        any_value(low) FILTER (WHERE unit = '% of peak') AS low_peak_pct,
        any_value(high) FILTER (WHERE unit = '% of peak') AS high_peak_pct
    FROM cost_estimate
    WHERE unit <> 'us'
    GROUP BY system, job_name, item
),

-- TLS cannot cost more than the service classes of its address spaces used.
contradiction AS (
    SELECT
        c.system,
        c.tls_classes_cpu_s_per_day AS classes_s,
        c.tls_spaces_ziip_s_per_day AS ziip_s,
        CASE
            WHEN b.low_day_s > 1.05 * c.tls_classes_cpu_s_per_day
                THEN format(
                    'TLS would cost at least {:,.0f} s a day, but the service classes of its address spaces used '
                    || '{:,.0f} s (SMF 72); check whether records are missing or of another system',
                    b.low_day_s,
                    c.tls_classes_cpu_s_per_day
                )
        END AS reason
    FROM (
        SELECT DISTINCT
            system,
            tls_classes_cpu_s_per_day,
            tls_spaces_ziip_s_per_day
        FROM cost_estimate
        WHERE job_name IS NULL
    ) AS c
    LEFT JOIN by_unit AS b ON c.system = b.system AND b.part = 'TLS' AND b.job_name IS NULL
)

SELECT
    e.system::VARCHAR AS system,
    e.job_name::VARCHAR AS job_name,
    e.part::VARCHAR AS part,
    e.status::VARCHAR AS status,
    e.why::VARCHAR AS why,
    e.day_s::DOUBLE AS day_s,
    e.low_day_s::DOUBLE AS low_day_s,
    e.high_day_s::DOUBLE AS high_day_s,
    e.lpar_pct::DOUBLE AS lpar_pct,
    e.low_lpar_pct::DOUBLE AS low_lpar_pct,
    e.high_lpar_pct::DOUBLE AS high_lpar_pct,
    e.peak_pct::DOUBLE AS peak_pct,
    e.low_peak_pct::DOUBLE AS low_peak_pct,
    e.high_peak_pct::DOUBLE AS high_peak_pct,
    e.other_work_most_pct::DOUBLE AS other_work_most_pct,
    e.charged_to::VARCHAR AS charged_to,
    e.covered_pct::DOUBLE AS covered_pct,
    e.first_local::TIMESTAMP AS first_local,
    e.last_local::TIMESTAMP AS last_local,
    c.reason::VARCHAR AS contradiction,
    c.classes_s::DOUBLE AS classes_s,
    c.ziip_s::DOUBLE AS ziip_s
FROM by_unit AS e
LEFT JOIN contradiction AS c ON e.system = c.system
