-- The zERT record of the end of a connection, and the day on which the connection is settled.
--
-- A connection that began and ended on one day of its system is settled on that day: all its records are among
-- those of the day, so its handshakes can be counted without other days. Connections that last over midnight,
-- are still open, or whose end is not in the data, are not settled on any day.

SELECT
    *,
    -- Short connections, of less than ten seconds, have one record.
    CASE
        WHEN
            event_type = 4
            OR is_on_day(start_utc, day, written_local, utc_of_writing(written_utc, written_local, end_utc))
            THEN day
    END::DATE AS settled_day
FROM connection_record
WHERE event_type IN (3, 4)
