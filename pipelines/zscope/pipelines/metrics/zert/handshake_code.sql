-- One TLS handshake that zERT reported, with the codes of its record.
--
-- zERT reports a short connection (under ten seconds) in one record, and a longer one in a record at its
-- start, one at every change of its protection, and one at its end. Nearly all connections are settled on one
-- day and have one handshake, which their last record shows. Those that changed, and those over several days,
-- are compared record by record (changed_handshake). Records about zERT being enabled or disabled, and about
-- enforcement, report no handshake.

SELECT
    e.settled_day,
    e.system,
    e.stack,
    e.start_utc AS event_utc,
    e.start_utc,
    e.end_utc,
    e.local_port,
    e.remote_port,
    e.local_ip,
    e.remote_ip,
    e.job_name,
    e.connection_id,
    e.handshake_role,
    e.tls_version,
    e.cipher,
    e.handshake_type,
    e.in_bytes,
    e.out_bytes,
    e.server_port
FROM ended_record AS e
ANTI JOIN (
    SELECT DISTINCT
        settled_day,
        system,
        stack,
        connection_id,
        start_utc,
        -- A short connection has no other records.
        3 AS event_type
    FROM changed_handshake_record
) AS c
    ON
        e.connection_id = c.connection_id
        AND e.event_type = c.event_type
        AND e.settled_day = c.settled_day
        AND e.system = c.system
        AND e.stack IS NOT DISTINCT FROM c.stack
        AND e.start_utc = c.start_utc
WHERE e.is_tls AND e.settled_day IS NOT NULL
UNION ALL BY NAME
SELECT *
FROM changed_handshake
UNION ALL BY NAME
SELECT *
FROM open_handshake_code
