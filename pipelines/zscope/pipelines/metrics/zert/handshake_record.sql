-- A zERT record of the start, a change or the end of a connection, and the day on which its connection is settled.
--
-- A connection that began and ended on one day of its system is settled on that day: all its records are among
-- those of the day, so its handshakes can be counted without other days. Connections that last over midnight,
-- are still open, or whose end is not in the data, are not settled on any day.

-- Each part reads the table itself, with a condition on the event: a statement that needs only some events,
-- such as the short connections, then reads only their rows and the columns that it uses.

WITH settled AS (
    SELECT DISTINCT
        day,
        system,
        stack,
        connection_id,
        start_utc
    FROM zert_record
    WHERE
        event_type = 3
        AND is_on_day(start_utc, day, written_local, utc_of_writing(written_utc, written_local, end_utc))
),

with_day AS (
    SELECT
        *,
        -- Short connections, of less than ten seconds, have one record.
        CASE
            WHEN
                event_type = 4
                OR is_on_day(start_utc, day, written_local, utc_of_writing(written_utc, written_local, end_utc))
                THEN day
        END AS settled_day
    FROM zert_record
    WHERE event_type IN (3, 4)
    UNION ALL BY NAME
    SELECT
        r.*,
        s.day AS settled_day
    FROM zert_record AS r
    LEFT JOIN settled AS s
        ON
            r.connection_id = s.connection_id
            AND r.day = s.day
            AND r.system = s.system
            AND r.stack IS NOT DISTINCT FROM s.stack
            AND r.start_utc = s.start_utc
    WHERE r.event_type IN (1, 2)
)

SELECT
    day::DATE AS day,
    settled_day::DATE AS settled_day,
    event_type::BIGINT AS event_type,
    is_tls_record(security_protocols_flags, handshake_type)::BOOLEAN AS is_tls,
    written_local,
    written_utc,
    record_no::BIGINT AS record_no,
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    start_utc,
    end_utc,
    local_port::BIGINT AS local_port,
    remote_port::BIGINT AS remote_port,
    local_ip::VARCHAR AS local_ip,
    remote_ip::VARCHAR AS remote_ip,
    job_name::VARCHAR AS job_name,
    connection_id::BIGINT AS connection_id,
    connection_flags::BIGINT AS connection_flags,
    handshake_role::BIGINT AS handshake_role,
    handshake_type::BIGINT AS handshake_type,
    tls_version::BIGINT AS tls_version,
    cipher::VARCHAR AS cipher,
    session_id::VARCHAR AS session_id,
    counted_bytes(in_bytes)::BIGINT AS in_bytes,
    counted_bytes(out_bytes)::BIGINT AS out_bytes
FROM with_day
