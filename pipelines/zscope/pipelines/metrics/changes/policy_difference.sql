-- A setting of an AT-TLS policy that differs between the two periods, with its values in both.
--
-- The policy of a period is that of the last report of pasearch before its end. A system without a report from before the end of the
-- earlier period has a row without a setting.

WITH policy_of_period AS (
    SELECT
        s.system,
        s.stack,
        max(s.taken_utc) FILTER (WHERE p.period = 'earlier') AS earlier_utc,
        max(s.taken_utc) FILTER (WHERE p.period = 'later') AS later_utc
    FROM policy_setting AS s
    INNER JOIN compared_period AS p ON s.taken_utc < p.to_utc
    GROUP BY s.system, s.stack
),

in_one_period AS (
    SELECT
        s.system,
        s.object || ': ' || s.parameter AS setting,
        s.value,
        any_value(s.taken_utc) = any_value(p.earlier_utc) AS is_earlier
    FROM policy_setting AS s
    INNER JOIN policy_of_period AS p
        ON
            s.system = p.system
            AND s.stack IS NOT DISTINCT FROM p.stack
            AND (s.taken_utc = p.earlier_utc OR s.taken_utc = p.later_utc)
    WHERE p.earlier_utc < p.later_utc
    GROUP BY s.system, s.stack, s.object, s.parameter, s.value
    HAVING count(DISTINCT s.taken_utc) = 1
)

SELECT
    system::VARCHAR AS system,
    setting::VARCHAR AS setting,
    list_sort(list(DISTINCT value) FILTER (is_earlier))::VARCHAR[] AS earlier_values,
    list_sort(list(DISTINCT value) FILTER (NOT is_earlier))::VARCHAR[] AS later_values
FROM in_one_period
GROUP BY system, setting
UNION ALL
SELECT DISTINCT
    system,
    NULL,
    NULL,
    NULL
FROM policy_of_period
WHERE earlier_utc IS NULL
