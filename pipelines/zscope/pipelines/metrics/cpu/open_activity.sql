-- A counted activity that did not begin and end on the day of its record, and supplied counts.
--
-- These are few: the connections that last over midnight, and damaged records.

SELECT *
FROM activity
WHERE is_settled IS NOT TRUE
