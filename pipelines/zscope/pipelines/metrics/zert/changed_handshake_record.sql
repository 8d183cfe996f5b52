-- A zERT record of a connection that is settled on one day, and whose records have to be compared with each other.
--
-- These are few: the connections with a change record, and those that began with TLS and ended without it.

WITH settled AS (
    SELECT *
    FROM handshake_record
    WHERE settled_day IS NOT NULL AND event_type IN (1, 2, 3)
),

compared AS (
    SELECT
        settled_day,
        system,
        stack,
        connection_id,
        start_utc
    FROM settled
    WHERE event_type = 2
    UNION
    SELECT
        b.settled_day,
        b.system,
        b.stack,
        b.connection_id,
        b.start_utc
    FROM settled AS b
    SEMI JOIN (SELECT * FROM settled WHERE event_type = 3 AND NOT is_tls) AS e
        ON
            b.connection_id = e.connection_id
            AND b.settled_day = e.settled_day
            AND b.system = e.system
            AND b.stack IS NOT DISTINCT FROM e.stack
            AND b.start_utc = e.start_utc
    WHERE b.event_type = 1 AND b.is_tls
)

SELECT s.*
FROM settled AS s
SEMI JOIN compared AS c
    ON
        s.connection_id = c.connection_id
        AND s.settled_day = c.settled_day
        AND s.system = c.system
        AND s.stack IS NOT DISTINCT FROM c.stack
        AND s.start_utc = c.start_utc
