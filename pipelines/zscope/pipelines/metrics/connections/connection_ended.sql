-- A TCP connection that ended, from its termination record (SMF 119-2).
--
-- Rows are not filtered, and no other sources are added: zERT records the same connections. If the start or
-- end is missing or damaged in a record, its row has nulls.

SELECT
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    job_name::VARCHAR AS job_name,
    local_port::INTEGER AS local_port,
    remote_port::INTEGER AS remote_port,
    local_ip::VARCHAR AS local_ip,
    remote_ip::VARCHAR AS remote_ip,
    connection_id::BIGINT AS connection_id,
    start_utc::TIMESTAMPTZ AS start_utc,
    end_utc::TIMESTAMPTZ AS end_utc,
    counted_bytes(in_bytes)::BIGINT AS in_bytes,
    counted_bytes(out_bytes)::BIGINT AS out_bytes,
    duration_ms_of(start_utc, end_utc) AS duration_ms,
    day::DATE AS day,
    (
        is_on_day(start_utc, day, written_local, utc_of_writing(written_utc, written_local, end_utc))
        AND is_on_day(end_utc, day, written_local, utc_of_writing(written_utc, written_local, end_utc))
    )::BOOLEAN AS is_settled
FROM smf119_tcp_term
