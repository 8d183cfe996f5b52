-- A handshake of a connection that benchmark runs opened, or that was open at most a quarter of an hour before or
-- after one.

SELECT h.*
FROM handshake AS h
SEMI JOIN run AS r
    ON
        h.system = r.system
        AND h.start_utc < r.to_utc + INTERVAL 15 MINUTE
        AND h.end_utc > r.from_utc - INTERVAL 15 MINUTE
