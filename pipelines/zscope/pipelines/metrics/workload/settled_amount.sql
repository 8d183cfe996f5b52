-- A counted activity that began and ended on the day of its record, with its amounts and without its connection.
--
-- DuckDB keeps all columns of rows that a statement reads twice, needed or not; without a value they take little.

SELECT
    counted_by,
    system,
    NULL::VARCHAR AS stack,
    job_name,
    NULL::INTEGER AS local_port,
    NULL::INTEGER AS remote_port,
    NULL::VARCHAR AS local_ip,
    NULL::VARCHAR AS remote_ip,
    NULL::BIGINT AS connection_id,
    start_utc,
    NULL::TIMESTAMPTZ AS end_utc,
    NULL::DOUBLE AS duration_ms,
    transactions,
    in_bytes,
    out_bytes,
    tls_bytes,
    is_tls,
    response_us,
    last_us,
    day
FROM settled_activity
