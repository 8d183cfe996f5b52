-- A counted activity that began and ended on the day of its record.

SELECT *
FROM activity
WHERE is_settled
