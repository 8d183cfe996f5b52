-- What one instance of an MQ channel did in one interval, once, whatever told of it.
--
-- An interval may be loaded as records, as CSV and as JSON of the formatter, and twice where files overlap.
-- Rows that tell the same count once: those of records first, then JSON, then CSV.
--
-- The figures of a block are those of its interval, also while the channel keeps running: blocks of an instance
-- are added up, and no differences taken. Instances are told apart by when they started, to about a second;
-- `alike` says how many of an interval cannot be told apart.

WITH told AS (
    SELECT
        *,
        -- Compared as a whole, what is not told is alike as well.
        row(
            system, queue_manager, written_local, channel_name, connection_name, channel_type, channel_state,
            messages, message_bytes, sent_bytes, received_bytes
        ) AS told
    FROM mq_channel
),

printed AS (
    SELECT
        *,
        -- Within one file, rows that are alike are different instances.
        row_number() OVER (PARTITION BY load_id, file, told ORDER BY line_no) AS place
    FROM told
    WHERE source <> 'smf'
),

printed_once AS (
    SELECT *
    FROM printed
    QUALIFY row_number() OVER (PARTITION BY told, place ORDER BY source DESC, load_id, file) = 1
),

recorded AS (
    SELECT told, count(*) AS times
    FROM told
    WHERE source = 'smf' AND (system, queue_manager, written_local) IN (
        SELECT (p.system, p.queue_manager, p.written_local) FROM printed_once AS p
    )
    GROUP BY told
),

once AS (
    SELECT * EXCLUDE (told)
    FROM told
    WHERE source = 'smf'
    UNION ALL BY NAME
    SELECT p.* EXCLUDE (told, place)
    FROM printed_once AS p
    LEFT JOIN recorded AS r ON p.told = r.told
    WHERE p.place > coalesce(r.times, 0)
),

judged AS (
    SELECT
        *,
        coalesce(interval_end_utc, written_utc) AS end_utc,
        -- Records of one interval end some microseconds apart, but begin together.
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
        -- In other versions these suites do not exist.
        WHEN c.protocol IN ('TLSv1.2', 'TLSv1.3') THEN c.protocol
        WHEN o.is_tls THEN 'TLS, version not told'
        ELSE 'not told'
    END::VARCHAR AS protocol,
    o.suite::VARCHAR AS cipher,
    try_cast(o.messages AS BIGINT) AS messages,
    try_cast(o.sent_bytes AS BIGINT) AS sent_bytes,
    try_cast(o.received_bytes AS BIGINT) AS received_bytes
FROM judged AS o
LEFT JOIN cipher AS c ON o.suite = c.code
