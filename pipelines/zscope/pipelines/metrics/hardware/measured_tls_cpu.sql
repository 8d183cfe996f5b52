-- What CPACF certainly took of general-purpose processors for TLS in the address spaces with TLS, per day of the estimate.
--
-- These are the calls of modes and curves that TLS uses, in jobs with TLS and in stacks. A stack whose connections use
-- IPsec makes the same calls for them, so it does not count. Time without counters counts as 0: the result is too low rather
-- than too high.

WITH user AS (
    SELECT
        system,
        job_name
    FROM tls_hour
    WHERE is_tls AND job_name IS NOT NULL
    UNION
    SELECT
        system,
        stack AS job_name
    FROM tls_hour
    WHERE stack IS NOT NULL
    GROUP BY system, stack
    HAVING bool_or(is_tls) AND NOT bool_or(contains(concat_ws(' ', protocol, further_protocols), 'IPsec'))
),

estimated AS (
    SELECT
        system,
        min(first_local)::DATE AS first_day,
        max(last_local)::DATE AS last_day
    FROM cost_estimate
    GROUP BY system
)

SELECT
    c.system::VARCHAR AS system,
    c.job_name::VARCHAR AS job_name,
    (sum(c.low_cp_s) / any_value(e.last_day - e.first_day + 1))::DOUBLE AS measured_low_cpu_s,
    max(c.name_status)::VARCHAR AS name_status
FROM address_space_crypto_cpu AS c
INNER JOIN estimated AS e ON c.system = e.system AND c.day BETWEEN e.first_day AND e.last_day
SEMI JOIN user AS u ON c.system = u.system AND c.job_name = u.job_name
WHERE c.purpose = 'TLS' AND c.low_cp_s IS NOT NULL
GROUP BY GROUPING SETS ((c.system), (c.system, c.job_name))
ORDER BY system, job_name
