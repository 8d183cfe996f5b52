-- Intervals of which two sources say different things about CPU use, by more than rounding explains.
--
-- Grain: one row for each system, interval, pair of sources and column in which they differ.
--
-- system, interval_start_local  as the source that goes before the other has them
-- source, other_source          which two
-- column_name                   lpar_busy_pct or cpu_s
-- value, other_value            what they say
--
-- Goes on from the steps of cpu_interval, which are not repeated here: view_sql puts both together.

SELECT
    one.system,
    one.interval_start_local,
    one.source,
    other.source AS other_source,
    figure.column_name,
    figure.value,
    figure.other_value
FROM by_source AS one
INNER JOIN by_source AS other
    ON one.system = other.system AND one.interval_no = other.interval_no AND one.preference < other.preference
CROSS JOIN LATERAL (
    VALUES
    ('lpar_busy_pct', one.lpar_busy_pct, other.lpar_busy_pct, 0.02),
    -- A tenth of a percent, or what a hundredth of a point makes of all CPs.
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
