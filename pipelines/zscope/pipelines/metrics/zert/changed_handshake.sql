-- One TLS handshake of a connection that changed, with the codes of its record.
--
-- Its records show the TLS session in force at their moments, so several of them can show the same handshake. It
-- counts once: the end record replaces the start record, because it has all the bytes; if the connection is still
-- open, or its end is not in the data, the start record counts. If there are change records, a handshake counts at
-- the first record that shows it: the previous record of the same connection shows no TLS or another session.
--
-- A connection is identified by system, stack, number and start time, since numbers are used again. Only the
-- connections with a change record are sorted record by record.

WITH short_connection AS (
    SELECT *
    FROM changed_handshake_record
    WHERE event_type = 4
),

long_connection AS (
    SELECT *
    FROM changed_handshake_record
    WHERE event_type IN (1, 2, 3)
),

changing AS (
    SELECT DISTINCT
        settled_day,
        system,
        stack,
        connection_id,
        start_utc
    FROM long_connection
    WHERE event_type = 2
),

-- Nulls match each other: a record without a start time belongs to a connection as well.
ended AS (
    SELECT e.*
    FROM long_connection AS e
    ANTI JOIN changing AS c
        ON
            e.connection_id = c.connection_id
            AND e.system = c.system
            AND e.stack IS NOT DISTINCT FROM c.stack
            AND e.start_utc IS NOT DISTINCT FROM c.start_utc
            AND e.settled_day IS NOT DISTINCT FROM c.settled_day
    WHERE e.event_type = 3 AND e.is_tls
),

open_at_last AS (
    SELECT o.*
    FROM long_connection AS o
    ANTI JOIN (SELECT * FROM long_connection WHERE event_type = 3 AND is_tls) AS e
        ON
            o.connection_id = e.connection_id
            AND o.system = e.system
            AND o.stack IS NOT DISTINCT FROM e.stack
            AND o.start_utc IS NOT DISTINCT FROM e.start_utc
            AND o.settled_day IS NOT DISTINCT FROM e.settled_day
    ANTI JOIN changing AS c
        ON
            o.connection_id = c.connection_id
            AND o.system = c.system
            AND o.stack IS NOT DISTINCT FROM c.stack
            AND o.start_utc IS NOT DISTINCT FROM c.start_utc
            AND o.settled_day IS NOT DISTINCT FROM c.settled_day
    WHERE o.event_type = 1 AND o.is_tls
),

in_order AS (
    SELECT
        s.*,
        (s.is_tls, s.handshake_type, s.session_id, s.tls_version, s.cipher) AS session,
        lag((s.is_tls, s.handshake_type, s.session_id, s.tls_version, s.cipher)) OVER moments
            AS session_before,
        max(s.end_utc) OVER connection AS closed_utc,
        max(s.in_bytes) OVER connection AS all_in_bytes,
        max(s.out_bytes) OVER connection AS all_out_bytes
    FROM long_connection AS s
    SEMI JOIN changing AS c
        ON
            s.connection_id = c.connection_id
            AND s.system = c.system
            AND s.stack IS NOT DISTINCT FROM c.stack
            AND s.start_utc IS NOT DISTINCT FROM c.start_utc
            AND s.settled_day IS NOT DISTINCT FROM c.settled_day
    WINDOW
        connection AS (PARTITION BY s.settled_day, s.system, s.stack, s.connection_id, s.start_utc),
        moments AS (
            PARTITION BY s.settled_day, s.system, s.stack, s.connection_id, s.start_utc
            -- Event 1 is the first and event 3 the last, whatever their times.
            ORDER BY s.event_type, s.written_local, s.record_no
        )
),

changed AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY settled_day, system, stack, connection_id, start_utc
            ORDER BY event_type DESC, written_local DESC, record_no DESC
        ) = 1 AS is_last
    FROM in_order
    WHERE is_tls AND session IS DISTINCT FROM session_before
),

unchanged AS (
    SELECT * FROM short_connection WHERE is_tls
    UNION ALL
    SELECT * FROM ended
    UNION ALL
    SELECT * FROM open_at_last
),

reported AS (
    SELECT
        settled_day, system, stack, start_utc AS event_utc, start_utc, end_utc,
        local_port, remote_port, local_ip, remote_ip, job_name, connection_id, handshake_role,
        tls_version, cipher, handshake_type, in_bytes, out_bytes, server_port
    FROM unchanged
    UNION ALL
    SELECT
        settled_day,
        system,
        stack,
        CASE event_type WHEN 1 THEN start_utc WHEN 2 THEN coalesce(written_utc, start_utc) ELSE end_utc END,
        start_utc,
        closed_utc,
        local_port, remote_port, local_ip, remote_ip, job_name, connection_id, handshake_role,
        tls_version, cipher, handshake_type,
        -- The bytes are those of the connection, so only its last handshake has them, and sums are correct.
        CASE WHEN is_last THEN all_in_bytes END,
        CASE WHEN is_last THEN all_out_bytes END,
        server_port
    FROM changed
)

SELECT
    settled_day::DATE AS settled_day,
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    event_utc,
    start_utc,
    end_utc,
    local_port::BIGINT AS local_port,
    remote_port::BIGINT AS remote_port,
    local_ip::VARCHAR AS local_ip,
    remote_ip::VARCHAR AS remote_ip,
    job_name::VARCHAR AS job_name,
    connection_id::BIGINT AS connection_id,
    handshake_role::BIGINT AS handshake_role,
    tls_version::BIGINT AS tls_version,
    cipher::VARCHAR AS cipher,
    handshake_type::BIGINT AS handshake_type,
    in_bytes::BIGINT AS in_bytes,
    out_bytes::BIGINT AS out_bytes,
    server_port::BIGINT AS server_port
FROM reported
