-- A figure of CPU use in which two sources differ about one interval, by more than rounding explains.
--
-- LPAR busy may differ by 0.02 points, CPU time by a tenth of a percent or by a hundredth of a point of all
-- CPs, as reports have two decimals.

SELECT
    one.system,
    one.interval_start_local,
    one.interval_start_utc,
    one.source,
    other.source AS other_source,
    figure.column_name::VARCHAR AS column_name,
    figure.value::DOUBLE AS value,
    figure.other_value::DOUBLE AS other_value
FROM cpu_by_source AS one
INNER JOIN cpu_by_source AS other
    ON one.system = other.system AND one.interval_no = other.interval_no AND one.preference < other.preference
CROSS JOIN LATERAL (
    VALUES
    ('lpar_busy_pct', one.lpar_busy_pct, other.lpar_busy_pct, 0.02),
    (
        'cpu_s',
        one.cpu_s,
        other.cpu_s,
        greatest(
            0.001 * greatest(one.cpu_s, other.cpu_s),
            0.0001 * greatest(one.cps_online, other.cps_online) * one.interval_ms / 1000
        )
    )
) AS figure (column_name, value, other_value, allowed)
WHERE abs(figure.value - figure.other_value) > figure.allowed
ORDER BY one.system, one.interval_start_local, one.preference, other.preference, figure.column_name
