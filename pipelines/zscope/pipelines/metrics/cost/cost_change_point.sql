-- A moment at which the AT-TLS policy or the capacity of a system changed.
--
-- pasearch shows an instance of the policy, which behaves like the time at which it was installed. The capacity
-- is the rating of the machine in SMF 70.

WITH capacity AS (
    SELECT
        system,
        interval_end_utc - to_milliseconds(interval_ms) AS start_utc,
        capacity_rating_msu_per_hour AS msu,
        lag(capacity_rating_msu_per_hour) OVER (PARTITION BY system ORDER BY interval_end_utc) AS msu_before
    FROM smf70_interval
    WHERE capacity_rating_msu_per_hour > 0 AND interval_end_utc IS NOT NULL
)

SELECT DISTINCT
    system::VARCHAR AS system,
    to_timestamp(instance_id)::TIMESTAMPTZ AS changed_utc,
    'AT-TLS policy' AS changed,
    concat('instance ', instance_id, ' of the policy')::VARCHAR AS change
FROM tls_rule
WHERE policy_form = 'pasearch' AND system IS NOT NULL AND instance_id > 0
UNION ALL
SELECT
    system::VARCHAR,
    start_utc::TIMESTAMPTZ,
    'capacity',
    concat(msu_before, ' to ', msu, ' MSU an hour')::VARCHAR
FROM capacity
WHERE msu <> msu_before
