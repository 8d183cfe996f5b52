-- Number of connections and handshakes of each kind in two periods.
--
-- Rows of the step `period_change`, combined as the query requests.

SELECT * FROM period_change
