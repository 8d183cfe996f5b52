-- The handshakes of a job in one CPU interval, of the connections that are settled on one day.

SELECT
    settled_day AS day,
    * EXCLUDE (settled_day)
FROM handshake_slot
WHERE settled_day IS NOT NULL
