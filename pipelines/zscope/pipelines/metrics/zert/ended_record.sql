-- The zERT record of the end of a connection, and the day on which the connection is settled.
--
-- A connection that began and ended on one day of its system is settled on that day: all its records are among
-- those of the day, so its handshakes can be counted without other days. It is the local day of its handshakes. Connections that last over midnight,
-- are still open, or whose end is not in the data, are not settled on any day.

SELECT
    *,
    CASE
        WHEN
            coalesce(
                day_by_record(start_utc, written_local, utc_of_writing(written_utc, written_local, end_utc)) = day,
                -- Short connections, of less than ten seconds, have one record.
                event_type = 4
            )
            THEN day
    END::DATE AS settled_day
FROM connection_record
WHERE event_type IN (3, 4)
