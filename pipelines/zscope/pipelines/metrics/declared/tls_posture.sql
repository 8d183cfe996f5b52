-- Connections and bytes of a system, port and job (hour, role, protocol, suite), by what is wrong with them.
--
-- Rows of the step `posture_hour`, put together by whatever is asked.

SELECT * FROM posture_hour
