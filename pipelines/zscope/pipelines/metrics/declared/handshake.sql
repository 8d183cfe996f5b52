-- One TLS handshake that zERT reported: full, abbreviated (a session resumed), failed, or of another kind.
--
-- zERT tells of a short connection (under ten seconds) in one record, and of a longer one in a record at its
-- start, one at every change of its protection, and one at its end. Each of these shows the TLS session in
-- force at that moment, so one handshake is shown several times. It counts once: the end record stands for
-- the start record, as it has all the bytes; where the connection is still open, or its end is not in the
-- data, the start record counts. Where there are change records, a handshake counts at the first record that
-- shows it: the record before it, of the same connection, shows no TLS or another session. Records of zERT
-- being switched on or off and of enforcement report no handshake.
--
-- A connection is known by system, stack, number and start time, since numbers are used again. Only
-- connections with a change record, which are few, are put in order record by record. Short connections,
-- which are nearly all, go through by themselves; only the others are kept and compared.

WITH short_connection AS (
    SELECT
        *,
        -- A failed handshake leaves no session, so it may come without the bit of the protocol.
        coalesce(security_protocols_flags & 128 > 0, false) OR coalesce(handshake_type > 0, false) AS is_tls
    FROM smf119_zert_detail
    WHERE event_type = 4
),

long_connection AS (
    SELECT
        *,
        coalesce(security_protocols_flags & 128 > 0, false) OR coalesce(handshake_type > 0, false) AS is_tls
    FROM smf119_zert_detail
    WHERE event_type IN (1, 2, 3)
),

changing AS (
    SELECT DISTINCT
        system,
        stack,
        connection_id,
        start_utc
    FROM smf119_zert_detail
    WHERE event_type = 2
),

-- Joined on whether both are null as well: a record without a start time is still of one connection.
ended AS (
    SELECT e.*
    FROM long_connection AS e
    ANTI JOIN changing AS c
        ON
            e.connection_id = c.connection_id
            AND e.system = c.system
            AND e.stack IS NOT DISTINCT FROM c.stack
            AND e.start_utc IS NOT DISTINCT FROM c.start_utc
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
    ANTI JOIN changing AS c
        ON
            o.connection_id = c.connection_id
            AND o.system = c.system
            AND o.stack IS NOT DISTINCT FROM c.stack
            AND o.start_utc IS NOT DISTINCT FROM c.start_utc
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
    WINDOW
        connection AS (PARTITION BY s.system, s.stack, s.connection_id, s.start_utc),
        moments AS (
            PARTITION BY s.system, s.stack, s.connection_id, s.start_utc
            -- The first is event 1 and the last event 3, whatever the clocks say.
            ORDER BY s.event_type, s.written_local, s.record_no
        )
),

changed AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY system, stack, connection_id, start_utc
            ORDER BY event_type DESC, written_local DESC, record_no DESC
        ) = 1 AS is_last
    FROM in_order
    WHERE is_tls AND session IS DISTINCT FROM session_before
),

reported AS (
    SELECT
        system, stack, start_utc AS event_utc, start_utc, end_utc,
        local_port, remote_port, local_ip, remote_ip, job_name, connection_id, connection_flags,
        handshake_role, tls_version, cipher, handshake_type, in_bytes, out_bytes
    FROM short_connection
    WHERE is_tls
    UNION ALL
    SELECT
        system, stack, start_utc AS event_utc, start_utc, end_utc,
        local_port, remote_port, local_ip, remote_ip, job_name, connection_id, connection_flags,
        handshake_role, tls_version, cipher, handshake_type, in_bytes, out_bytes
    FROM ended
    UNION ALL
    SELECT
        system, stack, start_utc AS event_utc, start_utc, end_utc,
        local_port, remote_port, local_ip, remote_ip, job_name, connection_id, connection_flags,
        handshake_role, tls_version, cipher, handshake_type, in_bytes, out_bytes
    FROM open_at_last
    UNION ALL
    SELECT
        system,
        stack,
        CASE event_type WHEN 1 THEN start_utc WHEN 2 THEN coalesce(written_utc, start_utc) ELSE end_utc END,
        start_utc,
        closed_utc,
        local_port, remote_port, local_ip, remote_ip, job_name, connection_id, connection_flags,
        handshake_role, tls_version, cipher, handshake_type,
        -- The bytes are of the connection, so only its last handshake has them: sums stay right.
        CASE WHEN is_last THEN all_in_bytes END,
        CASE WHEN is_last THEN all_out_bytes END
    FROM changed
)

SELECT
    r.system::VARCHAR AS system,
    r.stack::VARCHAR AS stack,
    r.event_utc,
    r.start_utc,
    r.end_utc,
    r.local_port::BIGINT AS local_port,
    r.remote_port::BIGINT AS remote_port,
    r.local_ip::VARCHAR AS local_ip,
    r.remote_ip::VARCHAR AS remote_ip,
    r.job_name::VARCHAR AS job_name,
    r.connection_id::BIGINT AS connection_id,
    coalesce(role.text, 'unknown (' || r.handshake_role || ')')::VARCHAR AS handshake_role,
    coalesce(version.text, 'unknown (' || r.tls_version || ')')::VARCHAR AS tls_version,
    nullif(r.cipher, '')::VARCHAR AS cipher,
    coalesce(suite.name, 'unknown (' || nullif(r.cipher, '') || ')')::VARCHAR AS cipher_name,
    suite.key_exchange::VARCHAR AS key_exchange,
    coalesce(kind.text, 'unknown (' || r.handshake_type || ')', 'unknown')::VARCHAR AS kind,
    r.in_bytes::BIGINT AS in_bytes,
    r.out_bytes::BIGINT AS out_bytes,
    -- As in connection_detail: the port that names the service, not the one a client happens to get.
    CASE
        WHEN r.handshake_role IN (2, 3) THEN r.local_port
        WHEN r.handshake_role = 1 THEN r.remote_port
        WHEN r.connection_flags & 16 > 0 THEN r.local_port
        WHEN r.connection_flags & 8 > 0 THEN r.remote_port
        ELSE least(r.local_port, r.remote_port)
    END::BIGINT AS server_port
FROM reported AS r
LEFT JOIN code_handshake_role AS role ON r.handshake_role = role.code
LEFT JOIN code_tls_version AS version ON r.tls_version = version.code
LEFT JOIN code_handshake_type AS kind ON r.handshake_type = kind.code
LEFT JOIN cipher AS suite ON r.cipher = suite.code
