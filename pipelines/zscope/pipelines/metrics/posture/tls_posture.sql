-- Connections and bytes with weak or missing protection, per system, port and job.
--
-- Rows of the step `posture_hour`, combined as the query requests.

SELECT * FROM posture_hour
