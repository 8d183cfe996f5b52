-- A zERT record of a connection that is not settled on one day.
--
-- These are few: the connections that last over midnight, and those whose end is not in the data.

SELECT *
FROM handshake_record
WHERE settled_day IS NULL
