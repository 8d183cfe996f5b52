-- What a system used of TLS per hour in two periods, and what it had more or less than the mean day for each handshake.

WITH used AS MATERIALIZED (
    SELECT
        system,
        any_value(earlier) FILTER (quantity = 'TLS: handshakes') AS earlier_handshakes,
        any_value(later) FILTER (quantity = 'TLS: handshakes') AS later_handshakes,
        any_value(earlier) FILTER (quantity = 'TLS: full handshakes') AS earlier_full,
        any_value(later) FILTER (quantity = 'TLS: full handshakes') AS later_full,
        any_value(earlier) FILTER (quantity = 'TLS: megabytes') AS earlier_megabytes,
        any_value(later) FILTER (quantity = 'TLS: megabytes') AS later_megabytes
    FROM period_rate
    WHERE counted = 'use of TLS'
    GROUP BY system
)

SELECT
    u.*,
    c.* EXCLUDE (system),
    u.later_handshakes - u.earlier_handshakes AS more_handshakes,
    if(c.high_difference_s IS NULL, 0, u.earlier_full - c.full_share * u.earlier_handshakes) AS earlier_more_full,
    if(c.high_difference_s IS NULL, 0, u.later_full - c.full_share * u.later_handshakes) AS later_more_full,
    if(c.high_megabyte_s IS NULL, 0, u.earlier_megabytes - c.megabytes_per_handshake * u.earlier_handshakes)
    AS earlier_more_megabytes,
    if(c.high_megabyte_s IS NULL, 0, u.later_megabytes - c.megabytes_per_handshake * u.later_handshakes)
    AS later_more_megabytes,
    later_more_full - earlier_more_full AS more_full,
    later_more_megabytes - earlier_more_megabytes AS more_megabytes
FROM used AS u
INNER JOIN tls_unit_cost AS c ON u.system = c.system
