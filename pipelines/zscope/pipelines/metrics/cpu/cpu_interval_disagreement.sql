-- CPU values that differ between two sources, or between two records of one source, by more than rounding explains.
--
-- LPAR busy may differ by 0.02 points, CPU time by a tenth of a percent or by a hundredth of a point of all
-- CPs, as reports have two decimals (macros busy_rounding_pct and cpu_rounding_s).

WITH pair AS (
    SELECT
        one.*,
        other.source AS compared_source,
        other.preference AS compared_preference,
        other.cps_online AS compared_cps_online,
        other.lpar_busy_pct AS compared_lpar_busy_pct,
        other.cpu_s AS compared_cpu_s
    FROM cpu_by_source AS one
    INNER JOIN cpu_by_source AS other
        ON
            one.system = other.system
            AND one.interval_key = other.interval_key
            AND one.preference < other.preference
    UNION ALL
    SELECT *, source, preference, cps_online, other_lpar_busy_pct, other_cpu_s
    FROM cpu_by_source
)

SELECT
    system,
    interval_start_local,
    interval_start_utc,
    source,
    compared_source AS other_source,
    figure.column_name::VARCHAR AS column_name,
    figure.value::DOUBLE AS value,
    figure.other_value::DOUBLE AS other_value
FROM pair
CROSS JOIN LATERAL (
    VALUES
    ('lpar_busy_pct', lpar_busy_pct, compared_lpar_busy_pct, busy_rounding_pct()),
    (
        'cpu_s',
        cpu_s,
        compared_cpu_s,
        cpu_rounding_s(cpu_s, compared_cpu_s, greatest(cps_online, compared_cps_online), interval_ms)
    )
) AS figure (column_name, value, other_value, allowed)
WHERE abs(figure.value - figure.other_value) > figure.allowed
ORDER BY system, interval_start_local, preference, compared_preference, figure.column_name
