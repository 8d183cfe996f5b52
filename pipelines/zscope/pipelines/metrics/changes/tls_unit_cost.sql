-- What TLS costs on a system for each handshake of the mean day, and each further full handshake and megabyte.
--
-- A time with as many full handshakes and megabytes for each handshake as the mean day costs handshake_s for each of its
-- handshakes; the other costs are those of what it has more or less.

WITH price AS (
    SELECT
        system,
        if(contradiction IS NULL, status, 'not enough data') AS status,
        coalesce(contradiction, why) AS why,
        if(contradiction IS NULL, day_s, NULL) AS day_s,
        if(contradiction IS NULL, low_day_s, NULL) AS low_day_s,
        if(contradiction IS NULL, high_day_s, NULL) AS high_day_s
    FROM estimated_price
    WHERE job_name IS NULL AND part = 'TLS'
)

SELECT
    p.system::VARCHAR AS system,
    p.status::VARCHAR AS status,
    p.why::VARCHAR AS why,
    (p.day_s / c.handshakes_per_day)::DOUBLE AS handshake_s,
    (p.low_day_s / c.handshakes_per_day)::DOUBLE AS low_handshake_s,
    (p.high_day_s / c.handshakes_per_day)::DOUBLE AS high_handshake_s,
    (c.difference_us / 1e6)::DOUBLE AS difference_s,
    (c.difference_low_us / 1e6)::DOUBLE AS low_difference_s,
    (c.difference_high_us / 1e6)::DOUBLE AS high_difference_s,
    (c.mb_us / 1e6)::DOUBLE AS megabyte_s,
    (c.mb_low_us / 1e6)::DOUBLE AS low_megabyte_s,
    (c.mb_high_us / 1e6)::DOUBLE AS high_megabyte_s,
    (c.full_handshakes_per_day / c.handshakes_per_day)::DOUBLE AS full_share,
    (c.megabytes_per_day / c.handshakes_per_day)::DOUBLE AS megabytes_per_handshake,
    c.handshake_source::VARCHAR AS handshake_source,
    c.first_local::DATE AS first_day,
    c.last_local::DATE AS last_day
FROM price AS p
INNER JOIN handshake_cost AS c ON p.system = c.system
