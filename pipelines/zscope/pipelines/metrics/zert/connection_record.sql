-- One zERT record about a connection: its start, a change of its protection, or its end.

WITH record AS (
    SELECT *
    FROM zert_record
    WHERE event_type IN (1, 2, 3, 4)
)

SELECT
    r.day::DATE AS day,
    r.event_type::BIGINT AS event_type,
    r.is_tls,
    r.written_local,
    r.written_utc,
    r.record_no::BIGINT AS record_no,
    r.system::VARCHAR AS system,
    r.stack::VARCHAR AS stack,
    r.start_utc,
    r.end_utc,
    r.local_port::BIGINT AS local_port,
    r.remote_port::BIGINT AS remote_port,
    r.local_ip::VARCHAR AS local_ip,
    r.remote_ip::VARCHAR AS remote_ip,
    r.job_name::VARCHAR AS job_name,
    r.connection_id::BIGINT AS connection_id,
    r.handshake_role::BIGINT AS handshake_role,
    r.handshake_type::BIGINT AS handshake_type,
    r.tls_version::BIGINT AS tls_version,
    r.cipher::VARCHAR AS cipher,
    r.session_id::VARCHAR AS session_id,
    counted_bytes(r.in_bytes)::BIGINT AS in_bytes,
    counted_bytes(r.out_bytes)::BIGINT AS out_bytes,
    r.server_port,
    -- Only the end of a connection shows it. Short connections, of less than ten seconds, have one record.
    CASE
        WHEN r.event_type IN (3, 4) AND coalesce(r.start_day = r.day, r.event_type = 4) THEN r.day
    END::DATE AS settled_day
FROM record AS r
