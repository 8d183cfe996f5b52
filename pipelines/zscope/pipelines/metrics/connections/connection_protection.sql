-- Connections and their protection from one source, or each connection once from the best source.
--
-- Each source has its own rows and records connections that others record too, so rows of two sources must
-- never be added up. The source `each connection once` has each connection from the first source that has it:
-- zERT detail, termination records, NETSTAT, FTP, TN3270; `reported_by` contains that source. It does not contain
-- summaries, because they do not identify connections.
--
-- zERT detail     connections at their end (event types 3 and 4)
-- zERT summary    connections that began in an interval: what the counters of a security session grew by,
--                 modulo 2^32. A connection that was under two protections counts in both;
--                 `partial_connections` is the number that a session protected only some of the time.
-- AT-TLS          termination records (119-2); TLS done elsewhere shows as no TLS by AT-TLS
-- NETSTAT TTLS    connections under AT-TLS that were open at a display, each at the first that shows it
-- FTP             transfers (data connections) and control connections of records 119-3 and 119-70
-- TN3270          sessions of records 119-21, which contain no version
--
-- A failed handshake is not counted as a connection, as it protected nothing.

WITH summary AS (
    SELECT
        *,
        counter_growth(init_conn_count, end_conn_count) AS began,
        counter_growth(init_partial_conn_count, end_partial_conn_count) AS partial,
        counter_growth(init_failed_handshake_count, end_failed_handshake_count) AS failed,
        -- 64-bit counters, which wrap to zero.
        (18446744073709551616 + end_in_bytes - init_in_bytes) % 18446744073709551616 AS received,
        (18446744073709551616 + end_out_bytes - init_out_bytes) % 18446744073709551616 AS sent
    FROM smf119_zert_summary
    WHERE summary_event_type = 1
),

-- Only the columns of `connection_detail` that are needed for matching.
zert_ended AS (
    SELECT system, stack, connection_id, local_port, remote_port, start_utc, end_utc
    FROM smf119_zert_detail
    WHERE event_type IN (3, 4)
),

terminated AS (
    SELECT
        t.*,
        coalesce(t.ttls_status = 3, false) AS is_tls,
        CASE t.open_type WHEN 0 THEN 'Inbound' WHEN 1 THEN 'Outbound' END AS direction,
        CASE
            WHEN t.ttls_status = 3 THEN coalesce(code_text(v.text, t.tls_version), 'unknown')
            WHEN t.ttls_status = 2 THEN 'unknown'
            WHEN t.ttls_status = 1 THEN 'none by AT-TLS'
            ELSE coalesce(code_text(NULL, t.ttls_status), 'unknown')
        END AS protocol,
        cipher_suite(t.cipher_4, nullif(t.cipher_2, ''), t.tls_version) AS cipher,
        -- It ended before its handshake did.
        coalesce(t.ttls_status = 2, false) AS handshake_failed,
        CASE
            WHEN t.ttls_security_type = 1 THEN t.remote_port
            WHEN t.ttls_security_type > 1 THEN t.local_port
            WHEN t.open_type = 1 THEN t.remote_port
            WHEN t.open_type = 0 THEN t.local_port
            ELSE least(t.local_port, t.remote_port)
        END AS server_port
    FROM smf119_tcp_term AS t
    LEFT JOIN code_tls_version AS v ON t.tls_version = v.code
),

displayed AS (
    SELECT
        'NETSTAT TTLS' AS source,
        n.system,
        n.stack,
        n.connection_id,
        n.local_port,
        n.remote_port,
        min(n.taken_utc) AS moment_utc,
        any_value(n.job_name) AS job_name,
        any_value(n.local_ip) AS local_ip,
        n.remote_ip,
        CASE
            WHEN lower(any_value(n.ttls_handshake_role)) LIKE 'server%' THEN 'Inbound'
            WHEN lower(any_value(n.ttls_handshake_role)) LIKE 'client%' THEN 'Outbound'
        END AS direction,
        CASE
            WHEN lower(any_value(n.ttls_handshake_role)) LIKE 'server%' THEN n.local_port
            WHEN lower(any_value(n.ttls_handshake_role)) LIKE 'client%' THEN n.remote_port
            ELSE least(n.local_port, n.remote_port)
        END AS server_port,
        true AS is_tls,
        coalesce(
            arg_min(
                code_text(v.text, n.tls_version),
                coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local))
            ),
            any_value(code_text(NULL, n.security_level)),
            'unknown'
        ) AS protocol,
        arg_min(
            cipher_suite(n.cipher, n.cipher_2, n.tls_version),
            coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local))
        ) AS cipher,
        NULL::BIGINT AS in_bytes,
        NULL::BIGINT AS out_bytes
    FROM netstat_ttls AS n
    LEFT JOIN code_tls_version AS v ON n.tls_version = v.code
    WHERE n.connection_id IS NOT NULL
    GROUP BY n.system, n.stack, n.connection_id, n.remote_ip, n.remote_port, n.local_port
),

transfer AS (
    SELECT
        system, stack, writer_job, written_utc, protection_mechanism, control_protection_level,
        data_protection_level, tls_version_text, cipher_2, control_connection_id, control_remote_ip,
        control_remote_port, control_local_port, data_connection_id, data_remote_port, data_local_port,
        control_remote_port AS control_server_port,
        data_remote_port AS data_server_port,
        transfer_bytes,
        ftp_command NOT IN ('STOR', 'STOU', 'APPE') AS is_received
    FROM smf119_ftp_client
    UNION ALL
    SELECT
        system, stack, writer_job, written_utc, protection_mechanism, control_protection_level,
        data_protection_level, tls_version_text, cipher_2, control_connection_id, control_remote_ip,
        control_remote_port, control_local_port, data_connection_id, data_remote_port, data_local_port,
        control_local_port,
        data_local_port,
        transfer_bytes,
        ftp_command IN ('STOR', 'STOU', 'APPE')
    FROM smf119_ftp_server
),

ftp_connection AS (
    SELECT
        system, stack, writer_job, written_utc, protection_mechanism, tls_version_text, cipher_2,
        data_protection_level AS protection_level,
        data_connection_id AS connection_id,
        control_remote_ip AS remote_ip,
        data_local_port AS local_port,
        data_remote_port AS remote_port,
        data_server_port AS server_port,
        if(is_received, transfer_bytes, 0)::BIGINT AS in_bytes,
        if(is_received, 0, transfer_bytes)::BIGINT AS out_bytes
    FROM transfer
    WHERE data_connection_id > 0
    UNION ALL
    -- One control connection has many transfers.
    SELECT DISTINCT ON (system, stack, control_connection_id, control_remote_ip, control_remote_port)
        system, stack, writer_job, written_utc, protection_mechanism, tls_version_text, cipher_2,
        control_protection_level,
        control_connection_id,
        control_remote_ip,
        control_local_port,
        control_remote_port,
        control_server_port,
        0,
        0
    FROM transfer
    WHERE control_connection_id > 0
    ORDER BY written_utc
),

ftp AS (
    SELECT
        *,
        coalesce(protection_mechanism IN ('T', 'A') AND protection_level IN ('S', 'P'), false) AS is_tls
    FROM ftp_connection
),

-- The connections of the other sources: neither zERT detail nor termination records.
told_elsewhere AS (
    SELECT
        source, system, stack, connection_id, local_port, remote_port, moment_utc, job_name, server_port,
        is_tls, protocol, cipher, in_bytes, out_bytes, local_ip, remote_ip, direction
    FROM displayed
    UNION ALL
    SELECT
        'FTP',
        system,
        stack,
        connection_id,
        local_port,
        remote_port,
        written_utc,
        writer_job,
        server_port,
        is_tls,
        CASE
            WHEN protection_mechanism = 'N' OR protection_level IN ('N', 'C') THEN 'none'
            WHEN is_tls THEN coalesce(nullif(tls_version_text, ''), 'unknown')
            WHEN protection_mechanism = 'G' THEN 'GSSAPI'
            ELSE coalesce(code_text(NULL, nullif(protection_mechanism, '')), 'unknown')
        END,
        CASE
            WHEN is_tls THEN if(cipher_2 = '4X', cipher_2, '00' || nullif(cipher_2, ''))
        END,
        in_bytes,
        out_bytes,
        NULL,
        remote_ip,
        NULL
    FROM ftp
    UNION ALL
    SELECT
        'TN3270',
        system,
        stack,
        NULL,
        local_port,
        remote_port,
        written_utc,
        writer_job,
        local_port,
        coalesce(ssl_status > 0, false),
        CASE
            WHEN ssl_status = 0 THEN 'none'
            WHEN ssl_status IN (1, 2) THEN 'TLS, version not recorded'
            ELSE coalesce(code_text(NULL, ssl_status), 'unknown')
        END,
        NULL,
        in_bytes::BIGINT,
        out_bytes::BIGINT,
        local_ip,
        remote_ip,
        'Inbound'
    FROM smf119_tn3270_term
),

told_between AS (
    SELECT
        *,
        -- TN3270 records have no number, so any number matches. As a range, since joins with comparisons
        -- alone are fast.
        coalesce(connection_id, 0) AS first_id,
        coalesce(connection_id, 4294967295) AS last_id
    FROM told_elsewhere
),

-- Matched by ports, time and, if it is recorded, number, as these sources have no start time. Half a minute
-- is added at the end, since a record about a session can be written after its connection ended.
told_only_elsewhere AS (
    SELECT e.*
    FROM told_between AS e
    ANTI JOIN zert_ended AS z
        ON
            e.system = z.system
            AND e.local_port = z.local_port
            AND e.remote_port = z.remote_port
            AND e.first_id <= z.connection_id
            AND e.last_id >= z.connection_id
            AND e.moment_utc >= z.start_utc - INTERVAL 1 SECOND
            AND e.moment_utc <= z.end_utc + INTERVAL 30 SECOND
    ANTI JOIN smf119_tcp_term AS t
        ON
            e.system = t.system
            AND e.local_port = t.local_port
            AND e.remote_port = t.remote_port
            AND e.first_id <= t.connection_id
            AND e.last_id >= t.connection_id
            AND e.moment_utc >= t.start_utc - INTERVAL 1 SECOND
            AND e.moment_utc <= t.end_utc + INTERVAL 30 SECOND
    -- Connections that NETSTAT and FTP or TN3270 both record, within a day: ports are used again.
    ANTI JOIN displayed AS d
        ON
            e.source <> d.source
            AND e.system = d.system
            AND e.local_port = d.local_port
            AND e.remote_port = d.remote_port
            AND e.first_id <= d.connection_id
            AND e.last_id >= d.connection_id
            AND e.moment_utc >= d.moment_utc - INTERVAL 1 DAY
            AND e.moment_utc <= d.moment_utc + INTERVAL 1 DAY
),

every_source AS (
    SELECT
        unnest(['zERT detail', 'each connection once']) AS source,
        'zERT detail' AS reported_by,
        system,
        stack,
        end_utc AS moment_utc,
        job_name,
        server_port,
        is_tls,
        protocol,
        further_protocols,
        if(is_tls, cipher, NULL) AS cipher,
        if(handshake_failed, 0, 1) AS connections,
        0 AS partial_connections,
        if(handshake_failed, 1, 0) AS failed_handshakes,
        in_bytes,
        out_bytes,
        connection_id,
        start_utc,
        end_utc,
        local_ip,
        local_port,
        remote_ip,
        remote_port,
        user_id,
        direction,
        NULL AS policy_status
    FROM connection_detail
    UNION ALL
    SELECT
        'zERT summary',
        'zERT summary',
        s.system,
        s.stack,
        s.written_utc - to_microseconds(s.interval_us::BIGINT),
        s.job_name,
        s.server_port_first,
        coalesce(s.security_protocols_flags & 128 > 0, false),
        zert_protocol(
            s.security_protocols_flags & 128 > 0, s.security_protocols_flags, v.text, s.tls_version
        ),
        NULL,
        CASE WHEN s.security_protocols_flags & 128 > 0 THEN nullif(s.cipher, '') END,
        -- The connections include failed handshakes.
        s.began - coalesce(s.failed, 0),
        s.partial,
        coalesce(s.failed, 0),
        s.received,
        s.sent,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL
    FROM summary AS s
    LEFT JOIN code_tls_version AS v ON s.tls_version = v.code
    UNION ALL
    SELECT
        'AT-TLS', 'AT-TLS', system, stack, end_utc, job_name, server_port, is_tls, protocol, NULL, cipher,
        if(handshake_failed, 0, 1), 0, if(handshake_failed, 1, 0), in_bytes, out_bytes,
        connection_id, start_utc, end_utc, local_ip, local_port, remote_ip, remote_port, NULL, direction,
        ttls_policy_status
    FROM terminated
    UNION ALL
    SELECT
        'each connection once', 'AT-TLS', t.system, t.stack, t.end_utc, t.job_name, t.server_port, t.is_tls,
        t.protocol, NULL, t.cipher,
        if(t.handshake_failed, 0, 1), 0, if(t.handshake_failed, 1, 0), t.in_bytes, t.out_bytes,
        t.connection_id, t.start_utc, t.end_utc, t.local_ip, t.local_port, t.remote_ip, t.remote_port, NULL,
        t.direction, t.ttls_policy_status
    FROM terminated AS t
    -- The two clocks are read one after the other and recorded with different precision.
    ANTI JOIN zert_ended AS z
        ON
            t.connection_id = z.connection_id
            AND t.system = z.system
            AND t.stack IS NOT DISTINCT FROM z.stack
            AND t.start_utc BETWEEN z.start_utc - INTERVAL 1 SECOND AND z.start_utc + INTERVAL 1 SECOND
    UNION ALL
    SELECT
        source, source, system, stack, moment_utc, job_name, server_port, is_tls, protocol, NULL, cipher,
        1, 0, 0, in_bytes, out_bytes,
        connection_id, moment_utc, moment_utc, local_ip, local_port, remote_ip, remote_port, NULL, direction, NULL
    FROM told_elsewhere
    UNION ALL
    SELECT
        'each connection once', source, system, stack, moment_utc, job_name, server_port, is_tls, protocol,
        NULL, cipher, 1, 0, 0, in_bytes, out_bytes,
        connection_id, moment_utc, moment_utc, local_ip, local_port, remote_ip, remote_port, NULL, direction, NULL
    FROM told_only_elsewhere
)

SELECT
    source::VARCHAR AS source,
    reported_by::VARCHAR AS reported_by,
    system::VARCHAR AS system,
    stack::VARCHAR AS stack,
    time_bucket(INTERVAL 1 HOUR, moment_utc)::TIMESTAMPTZ AS hour_utc,
    job_name::VARCHAR AS job_name,
    server_port::BIGINT AS server_port,
    is_tls::BOOLEAN AS is_tls,
    protocol::VARCHAR AS protocol,
    further_protocols::VARCHAR AS further_protocols,
    cipher::VARCHAR AS cipher,
    connections::BIGINT AS connections,
    partial_connections::BIGINT AS partial_connections,
    failed_handshakes::BIGINT AS failed_handshakes,
    in_bytes::BIGINT AS in_bytes,
    out_bytes::BIGINT AS out_bytes,
    connection_id::BIGINT AS connection_id,
    start_utc::TIMESTAMPTZ AS start_utc,
    end_utc::TIMESTAMPTZ AS end_utc,
    local_ip::VARCHAR AS local_ip,
    local_port::BIGINT AS local_port,
    remote_ip::VARCHAR AS remote_ip,
    remote_port::BIGINT AS remote_port,
    user_id::VARCHAR AS user_id,
    direction::VARCHAR AS direction,
    policy_status::BIGINT AS policy_status
FROM every_source
