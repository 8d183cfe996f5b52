-- A TCP connection that ended, from its termination record (SMF 119-2).
--
-- Nothing is filtered and nothing of other sources is added: zERT tells of the same connections. Where the
-- record has no start or end, or damaged ones, the row is there all the same, with nulls.

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
    in_bytes::BIGINT AS in_bytes,
    out_bytes::BIGINT AS out_bytes,
    -- An end before the start is a damaged record, not a short connection.
    CASE
        WHEN end_utc >= start_utc THEN (epoch_us(end_utc) - epoch_us(start_utc))::DOUBLE / 1000
    END AS duration_ms
FROM smf119_tcp_term
