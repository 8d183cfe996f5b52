-- Connections and bytes of a system, port and job (hour, role, protocol, suite), by what is wrong with them.
--
-- Rows of the step `posture_hour`, combined as the query requests.

SELECT * FROM posture_hour
