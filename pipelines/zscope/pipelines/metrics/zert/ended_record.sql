-- The zERT record of the end of a connection, and the day on which the connection is settled.
--
-- A connection that began and ended on one day of its system is settled on that day: all its records are among
-- those of the day, so its handshakes can be counted without other days. It is the local day of its handshakes. Connections that last over midnight,
-- are still open, or whose end is not in the data, are not settled on any day.

SELECT *
FROM connection_record
WHERE event_type IN (3, 4)
