-- The activity of one instance of an MQ channel in one interval, once, from the best source.
--
-- An interval can be loaded as records, as CSV and as JSON of the formatter, and twice if files overlap.
-- Equal rows count once: rows of records have priority, then JSON, then CSV (macro mq_rows_once).
--
-- The figures of a block are those of its interval, also while the channel runs on, so blocks of an instance
-- are added up, without differences. Instances are identified by their start, to about a second; `alike` is
-- the number of instances of an interval that cannot be distinguished.

WITH identified AS (
    SELECT
        *,
        -- Structs are compared as a whole, so that nulls are equal.
        row(
            system, queue_manager, written_local, channel_name, connection_name, channel_type, channel_state,
            messages, message_bytes, sent_bytes, received_bytes
        ) AS identity
    FROM mq_channel
),

once AS (
    SELECT * FROM mq_rows_once('identified')
),

judged AS (
    SELECT
        *,
        coalesce(interval_end_utc, written_utc) AS end_utc,
        -- Records of one interval end within some microseconds of each other, but begin together.
        coalesce(interval_start_local, written_local) AS interval_local,
        CASE
            WHEN cipher_code & 65535 > 0 THEN printf('%04X', (cipher_code & 65535)::BIGINT)
            WHEN cipher_code > 0 THEN printf('%08X', cipher_code::BIGINT)
        END AS suite,
        coalesce(cipher_code > 0, false)
        OR coalesce(trim(peer_serial, '0 ') <> '', false)
        OR coalesce(trim(peer_name) <> '', false) AS is_tls
    FROM once
)

SELECT
    o.load_id::BIGINT AS load_id,
    o.record_no::BIGINT AS record_no,
    o.section_no::BIGINT AS section_no,
    o.file::VARCHAR AS file,
    o.line_no::BIGINT AS line_no,
    o.system::VARCHAR AS system,
    o.queue_manager::VARCHAR AS queue_manager,
    o.channel_name::VARCHAR AS channel_name,
    o.connection_name::VARCHAR AS connection_name,
    o.channel_type::BIGINT AS channel_type,
    o.channel_state::BIGINT AS channel_state,
    o.started_utc::TIMESTAMPTZ AS started_utc,
    o.written_local::TIMESTAMP AS written_local,
    (o.end_utc - to_microseconds(coalesce(try_cast(o.interval_us AS BIGINT), 0)))::TIMESTAMPTZ
        AS interval_start_utc,
    o.end_utc::TIMESTAMPTZ AS interval_end_utc,
    (count(*) OVER (
        PARTITION BY
            o.system, o.queue_manager, o.interval_local, o.channel_name, o.connection_name, o.started_utc,
            o.suite, o.is_tls
    ))::BIGINT AS alike,
    o.is_tls::BOOLEAN AS is_tls,
    CASE
        -- These suites exist only in this version.
        WHEN c.protocol IN ('TLSv1.2', 'TLSv1.3') THEN c.protocol
        WHEN o.is_tls THEN 'TLS, version not recorded'
        ELSE 'not recorded'
    END::VARCHAR AS protocol,
    o.suite::VARCHAR AS cipher,
    try_cast(o.messages AS BIGINT) AS messages,
    try_cast(o.sent_bytes AS BIGINT) AS sent_bytes,
    try_cast(o.received_bytes AS BIGINT) AS received_bytes
FROM judged AS o
LEFT JOIN cipher AS c ON o.suite = c.code
