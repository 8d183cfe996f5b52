-- What one record says about the protection of a connection: each source for itself.
--
-- zERT detail     connections at their end (event types 3 and 4)
-- zERT summary    connections that began in an interval: what the counters of a security session grew by,
--                 modulo 2^32; bytes are null if their counter was reset. A connection that was under two
--                 protections counts in both; `partial_connections` is the number that a session protected only
--                 some of the time.
-- AT-TLS          termination records (119-2); TLS done elsewhere shows as no TLS by AT-TLS
-- NETSTAT TTLS    connections under AT-TLS that were open at a display, each at the first of a day that shows it
-- FTP             transfers (data connections) and control connections of records 119-3 and 119-70
-- TN3270          sessions of records 119-21, which contain no version
--
-- A failed handshake is not counted as a connection, as it protected nothing.

WITH terminated AS (
    SELECT
        t.*,
        is_in_day(t.start_utc, t.day, t.written_local, utc_of_writing(t.written_utc, t.written_local, t.end_utc)) AS is_settled,
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
        t.ttls_status = 2 AS handshake_failed,
        CASE
            WHEN t.ttls_security_type > 1 THEN t.local_port
            WHEN t.ttls_security_type = 1 THEN t.remote_port
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
        n.day,
        min(n.taken_utc) AS moment_utc,
        arg_min(n.job_name, coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local))) AS job_name,
        arg_min(n.local_ip, coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local))) AS local_ip,
        n.remote_ip,
        CASE
            WHEN lower(arg_min(n.ttls_handshake_role, coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local)))) LIKE 'server%' THEN 'Inbound'
            WHEN lower(arg_min(n.ttls_handshake_role, coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local)))) LIKE 'client%' THEN 'Outbound'
        END AS direction,
        CASE
            WHEN lower(arg_min(n.ttls_handshake_role, coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local)))) LIKE 'server%' THEN n.local_port
            WHEN lower(arg_min(n.ttls_handshake_role, coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local)))) LIKE 'client%' THEN n.remote_port
            ELSE least(n.local_port, n.remote_port)
        END AS server_port,
        true AS is_tls,
        coalesce(
            arg_min(
                code_text(v.text, n.tls_version),
                coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local))
            ),
            arg_min(code_text(NULL, n.security_level), coalesce(epoch_us(n.taken_utc), epoch_us(n.taken_local))),
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
    GROUP BY n.day, n.system, n.stack, n.connection_id, n.remote_ip, n.remote_port, n.local_port
),

transfer AS NOT MATERIALIZED (
    SELECT
        day, system, stack, writer_job, written_utc, protection_mechanism, control_protection_level,
        data_protection_level, tls_version_text, cipher_2, control_connection_id, control_remote_ip,
        control_remote_port, control_local_port, data_connection_id, data_remote_port, data_local_port,
        control_remote_port AS control_server_port,
        data_remote_port AS data_server_port,
        transfer_bytes,
        ftp_command NOT IN ('STOR', 'STOU', 'APPE') AS is_received
    FROM smf119_ftp_client
    UNION ALL
    SELECT
        day, system, stack, writer_job, written_utc, protection_mechanism, control_protection_level,
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
        day, system, stack, writer_job, written_utc, protection_mechanism, tls_version_text, cipher_2,
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
    SELECT DISTINCT ON (day, system, stack, control_connection_id, control_remote_ip, control_remote_port)
        day, system, stack, writer_job, written_utc, protection_mechanism, tls_version_text, cipher_2,
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

every_source AS (
    SELECT
        day,
        'zERT detail' AS source,
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
        NULL AS policy_status,
        is_settled
    FROM connection_detail
    UNION ALL BY NAME
    SELECT
        day,
        'zERT summary' AS source,
        system,
        stack,
        moment_utc,
        job_name,
        server_port,
        is_tls,
        protocol,
        cipher,
        connections,
        partial_connections,
        failed_handshakes,
        in_bytes,
        out_bytes
    FROM summary_group
    UNION ALL BY NAME
    SELECT
        day,
        'AT-TLS' AS source,
        system,
        stack,
        end_utc AS moment_utc,
        job_name,
        server_port,
        is_tls,
        protocol,
        cipher,
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
        direction,
        ttls_policy_status AS policy_status,
        is_settled
    FROM terminated
    UNION ALL BY NAME
    SELECT
        day,
        source,
        system,
        stack,
        moment_utc,
        job_name,
        server_port,
        is_tls,
        protocol,
        cipher,
        1 AS connections,
        0 AS partial_connections,
        0 AS failed_handshakes,
        in_bytes,
        out_bytes,
        connection_id,
        moment_utc AS start_utc,
        moment_utc AS end_utc,
        local_ip,
        local_port,
        remote_ip,
        remote_port,
        direction
    FROM displayed
    UNION ALL BY NAME
    SELECT
        day,
        'FTP' AS source,
        system,
        stack,
        written_utc AS moment_utc,
        writer_job AS job_name,
        server_port,
        is_tls,
        CASE
            WHEN protection_mechanism = 'N' OR protection_level IN ('N', 'C') THEN 'none'
            -- FTP writes SSLV3 and TLSV1; all other records have SSLv3 and TLSv1.0.
            WHEN is_tls THEN coalesce(
                regexp_replace(
                    regexp_replace(upper(nullif(tls_version_text, '')), '^(SSL|TLS)V', '\1v'), '^TLSv1$', 'TLSv1.0'
                ),
                'unknown'
            )
            WHEN protection_mechanism = 'G' THEN 'GSSAPI'
            ELSE coalesce(code_text(NULL, nullif(protection_mechanism, '')), 'unknown')
        END AS protocol,
        CASE
            WHEN is_tls THEN if(cipher_2 = '4X', cipher_2, '00' || nullif(cipher_2, ''))
        END AS cipher,
        1 AS connections,
        0 AS partial_connections,
        0 AS failed_handshakes,
        in_bytes,
        out_bytes,
        connection_id,
        written_utc AS start_utc,
        written_utc AS end_utc,
        local_port,
        remote_ip,
        remote_port
    FROM ftp
    UNION ALL BY NAME
    SELECT
        day,
        'TN3270' AS source,
        system,
        stack,
        written_utc AS moment_utc,
        writer_job AS job_name,
        local_port AS server_port,
        coalesce(ssl_status > 0, false) AS is_tls,
        CASE
            WHEN ssl_status = 0 THEN 'none'
            WHEN ssl_status IN (1, 2) THEN 'TLS, version not recorded'
            ELSE coalesce(code_text(NULL, ssl_status), 'unknown')
        END AS protocol,
        1 AS connections,
        0 AS partial_connections,
        0 AS failed_handshakes,
        in_bytes,
        out_bytes,
        written_utc AS start_utc,
        written_utc AS end_utc,
        local_ip,
        local_port,
        remote_ip,
        remote_port,
        'Inbound' AS direction
    FROM smf119_tn3270_term
)

SELECT
    day::DATE AS day,
    source::VARCHAR AS source,
    source::VARCHAR AS reported_by,
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
    counted_bytes(in_bytes)::BIGINT AS in_bytes,
    counted_bytes(out_bytes)::BIGINT AS out_bytes,
    connection_id::BIGINT AS connection_id,
    start_utc::TIMESTAMPTZ AS start_utc,
    end_utc::TIMESTAMPTZ AS end_utc,
    local_ip::VARCHAR AS local_ip,
    local_port::BIGINT AS local_port,
    remote_ip::VARCHAR AS remote_ip,
    remote_port::BIGINT AS remote_port,
    user_id::VARCHAR AS user_id,
    direction::VARCHAR AS direction,
    policy_status::BIGINT AS policy_status,
    moment_utc::TIMESTAMPTZ AS moment_utc,
    is_settled::BOOLEAN AS is_settled,
    false AS is_matched
FROM every_source
