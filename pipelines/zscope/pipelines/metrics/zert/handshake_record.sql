-- A zERT record of the start, a change or the end of a connection, and the day on which its connection is settled.
--
-- The end of a connection shows on which day it is settled (ended_record).

SELECT *
FROM ended_record
UNION ALL BY NAME
SELECT r.* REPLACE (s.settled_day AS settled_day)
FROM connection_record AS r
LEFT JOIN (
    SELECT DISTINCT
        settled_day,
        system,
        stack,
        connection_id,
        start_utc
    FROM ended_record
    WHERE event_type = 3
) AS s
    ON
        r.connection_id = s.connection_id
        AND r.day = s.settled_day
        AND r.system = s.system
        AND r.stack IS NOT DISTINCT FROM s.stack
        AND r.start_utc = s.start_utc
WHERE r.event_type IN (1, 2)
