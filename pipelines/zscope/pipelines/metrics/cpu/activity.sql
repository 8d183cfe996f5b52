-- One counted activity: an ended TCP connection, an ended connection in zERT records, or a supplied count.
--
-- Each way of counting has its own rows; they count the same work, so their sums are never added.

WITH every_way AS (
    SELECT
        'connections ended'::VARCHAR AS counted_by,
        system,
        stack,
        job_name,
        local_port,
        remote_port,
        local_ip,
        remote_ip,
        connection_id,
        start_utc,
        end_utc,
        duration_ms,
        1::DOUBLE AS transactions,
        in_bytes,
        out_bytes,
        NULL::BIGINT AS tls_bytes,
        NULL::BOOLEAN AS is_tls,
        day,
        is_settled
    FROM connection_ended

    UNION ALL BY NAME

    -- Connections that end, and those too short for more than one record. Starts and changes of protection
    -- belong to connections that another record counts.
    SELECT
        'zERT connections'::VARCHAR AS counted_by,
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
        duration_ms_of(start_utc, end_utc) AS duration_ms,
        1::DOUBLE AS transactions,
        counted_bytes(in_bytes)::BIGINT AS in_bytes,
        counted_bytes(out_bytes)::BIGINT AS out_bytes,
        if(
            is_tls,
            coalesce(counted_bytes(in_bytes), 0) + coalesce(counted_bytes(out_bytes), 0),
            0
        )::BIGINT AS tls_bytes,
        is_tls,
        day,
        coalesce(start_day = day AND end_day = day, false) AS is_settled
    FROM zert_record
    WHERE event_type IN (3, 4)

    UNION ALL BY NAME

    SELECT
        'supplied count'::VARCHAR AS counted_by,
        system::VARCHAR AS system,
        start_utc::TIMESTAMPTZ AS start_utc,
        end_utc::TIMESTAMPTZ AS end_utc,
        (epoch_us(end_utc) - epoch_us(start_utc))::DOUBLE / 1000 AS duration_ms,
        transactions::DOUBLE AS transactions,
        response_us::DOUBLE AS response_us,
        day,
        false AS is_settled
    FROM transaction_count
)

SELECT
    * EXCLUDE (response_us, day, is_settled),
    response_us,
    -- An end is exclusive: a connection that ends when an interval begins is not in that interval, unless its
    -- duration is 0.
    (epoch_us(end_utc) - coalesce(start_utc < end_utc, false)::BIGINT)::BIGINT AS last_us,
    day::DATE AS day,
    is_settled::BOOLEAN AS is_settled
FROM every_way
