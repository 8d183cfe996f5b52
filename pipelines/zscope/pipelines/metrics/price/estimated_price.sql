-- The price of a system or job as it is estimated, and what contradicts it.
--
-- The rows of cost_estimate about a day, the LPAR and its busiest hours, one row for each part of a price. TLS does not cost
-- less than what the hardware measured for it. That needs the names of the counters: assumed ones change nothing. No part
-- costs more than the whole.

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

-- A job does not cost more than its system: its own estimate has a wider range, and can contain work of its own.
of_system AS (
    SELECT
        {'system': e.system, 'job_name': e.job_name} AS price_of,
        e.* REPLACE (
            if(e.day_s > s.high_day_s, s.high_day_s, e.day_s) AS day_s,
            if(e.low_day_s > s.high_day_s, s.high_day_s, e.low_day_s) AS low_day_s,
            if(e.high_day_s > s.high_day_s, s.high_day_s, e.high_day_s) AS high_day_s,
            if(e.high_lpar_pct > s.high_lpar_pct, s.high_lpar_pct, e.high_lpar_pct) AS high_lpar_pct,
            if(e.high_peak_pct > s.high_peak_pct, s.high_peak_pct, e.high_peak_pct) AS high_peak_pct,
            CASE
                WHEN e.high_day_s > s.high_day_s
                    THEN concat_ws('; ', e.why, 'no more than the whole system costs at most')
                ELSE e.why
            END AS why
        )
    FROM by_unit AS e
    LEFT JOIN (FROM by_unit WHERE job_name IS NULL) AS s ON e.system = s.system AND e.part = s.part
),

bounded AS (
    SELECT * FROM parts_in_whole('of_system')
),

measured AS (
    SELECT
        e.*,
        m.measured_low_cpu_s,
        m.name_status = 'macro' AS names_are_known,
        m.measured_low_cpu_s > e.low_day_s AND names_are_known AS is_raised
    FROM bounded AS e
    LEFT JOIN (SELECT *, 'TLS' AS part FROM measured_tls_cpu) AS m
        ON e.system = m.system AND e.job_name IS NOT DISTINCT FROM m.job_name AND e.part = m.part
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
    LEFT JOIN bounded AS b ON c.system = b.system AND b.part = 'TLS' AND b.job_name IS NULL
)

SELECT
    e.system::VARCHAR AS system,
    e.job_name::VARCHAR AS job_name,
    e.part::VARCHAR AS part,
    e.status::VARCHAR AS status,
    concat_ws(
        '; ',
        e.why,
        'the hardware counted at least ' || number_text(e.measured_low_cpu_s) || ' s of TLS a day (SMF 113 and SMF 30): '
        || CASE
            WHEN NOT e.names_are_known THEN 'it does not count, as the names of the counters are assumed; load the text of IFASMFCN'
            WHEN e.is_raised THEN 'this is the lower end'
            ELSE 'no more than the lower end'
        END
    )::VARCHAR AS why,
    if(e.is_raised AND e.day_s < e.measured_low_cpu_s, e.measured_low_cpu_s, e.day_s)::DOUBLE AS day_s,
    if(e.is_raised, e.measured_low_cpu_s, e.low_day_s)::DOUBLE AS low_day_s,
    e.high_day_s::DOUBLE AS high_day_s,
    e.lpar_pct::DOUBLE AS lpar_pct,
    if(
        e.is_raised,
        greatest(e.low_lpar_pct, e.measured_low_cpu_s * e.high_lpar_pct / nullif(e.high_day_s, 0)),
        e.low_lpar_pct
    )::DOUBLE AS low_lpar_pct,
    e.high_lpar_pct::DOUBLE AS high_lpar_pct,
    e.peak_pct::DOUBLE AS peak_pct,
    e.low_peak_pct::DOUBLE AS low_peak_pct,
    e.high_peak_pct::DOUBLE AS high_peak_pct,
    if(e.is_raised, 100 * (1 - e.measured_low_cpu_s / e.high_day_s), e.other_work_most_pct)::DOUBLE
    AS other_work_most_pct,
    e.charged_to::VARCHAR AS charged_to,
    e.covered_pct::DOUBLE AS covered_pct,
    e.first_local::TIMESTAMP AS first_local,
    e.last_local::TIMESTAMP AS last_local,
    coalesce(
        c.reason,
        max(
            CASE
                WHEN e.is_raised AND e.measured_low_cpu_s > e.high_day_s
                    THEN format(
                        'the hardware counted at least {} s of TLS a day (SMF 113 and SMF 30), but at most {} s move with TLS; '
                        || 'check whether records are missing or of another system',
                        number_text(e.measured_low_cpu_s),
                        number_text(e.high_day_s)
                    )
            END
        ) OVER (PARTITION BY e.system, e.job_name)
    )::VARCHAR AS contradiction,
    c.classes_s::DOUBLE AS classes_s,
    c.ziip_s::DOUBLE AS ziip_s,
    e.measured_low_cpu_s::DOUBLE AS measured_low_cpu_s
FROM measured AS e
LEFT JOIN contradiction AS c ON e.system = c.system
