-- The part of a connection or supplied count that lies in one interval of its system.
--
-- Activity within a day and over several days is assigned to intervals in the same way; the first is stored as
-- sums by interval (transaction_day), so the two are separate steps.

SELECT * EXCLUDE (day)
FROM settled_activity_interval
UNION ALL BY NAME
SELECT * EXCLUDE (day)
FROM open_activity_interval
