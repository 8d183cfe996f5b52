-- One certificate as the records of one day show it, with the connections of one system, port and job.
--
-- zERT detail records have the serial number, key and expiry of certificates; their names are rows with the
-- same record number in the table of names. zERT summary records have them since z/OS 3.2.

WITH detail AS NOT MATERIALIZED (
    SELECT
        day,
        load_id,
        record_no,
        system,
        job_name,
        handshake_role,
        CASE WHEN handshake_role = 1 THEN remote_port ELSE local_port END AS server_port,
        event_type IN (3, 4) AS has_ended,
        start_utc AS first_utc,
        coalesce(end_utc, start_utc) AS last_utc,
        server_cert_serial,
        server_cert_not_after_utc,
        server_cert_key_type,
        server_cert_key_length_bits,
        server_cert_sig_method,
        client_cert_serial,
        client_cert_not_after_utc,
        client_cert_key_type,
        client_cert_key_length_bits,
        client_cert_sig_method
    FROM smf119_zert_detail
    WHERE event_type IN (1, 2, 3, 4)
),

server_shown AS (
    SELECT
        d.day,
        d.system,
        d.server_port,
        d.job_name,
        CASE WHEN d.handshake_role IN (2, 3) THEN 'this system' WHEN d.handshake_role = 1 THEN 'partner' END
            AS presented_by,
        d.server_cert_serial AS serial,
        subject.distinguished_name AS subject_dn,
        issuer.distinguished_name AS issuer_dn,
        d.server_cert_key_type AS key_type_code,
        d.server_cert_key_length_bits AS key_bits,
        d.server_cert_sig_method AS signature_code,
        d.server_cert_not_after_utc AS not_after_utc,
        count(*) FILTER (d.has_ended) AS connections,
        min(d.first_utc) AS first_seen_utc,
        max(d.last_utc) AS last_seen_utc
    FROM detail AS d
    LEFT JOIN smf119_zert_dn AS subject
        ON d.day IS NOT DISTINCT FROM subject.day AND d.load_id = subject.load_id AND d.record_no = subject.record_no AND subject.dn_type = 5
    LEFT JOIN smf119_zert_dn AS issuer
        ON d.day IS NOT DISTINCT FROM issuer.day AND d.load_id = issuer.load_id AND d.record_no = issuer.record_no AND issuer.dn_type = 6
    WHERE d.server_cert_serial <> ''
    GROUP BY ALL
),

client_shown AS (
    SELECT
        d.day,
        d.system,
        d.server_port,
        d.job_name,
        CASE WHEN d.handshake_role IN (2, 3) THEN 'partner' WHEN d.handshake_role = 1 THEN 'this system' END
            AS presented_by,
        d.client_cert_serial AS serial,
        subject.distinguished_name AS subject_dn,
        issuer.distinguished_name AS issuer_dn,
        d.client_cert_key_type AS key_type_code,
        d.client_cert_key_length_bits AS key_bits,
        d.client_cert_sig_method AS signature_code,
        d.client_cert_not_after_utc AS not_after_utc,
        count(*) FILTER (d.has_ended) AS connections,
        min(d.first_utc) AS first_seen_utc,
        max(d.last_utc) AS last_seen_utc
    FROM detail AS d
    LEFT JOIN smf119_zert_dn AS subject
        ON d.day IS NOT DISTINCT FROM subject.day AND d.load_id = subject.load_id AND d.record_no = subject.record_no AND subject.dn_type = 7
    LEFT JOIN smf119_zert_dn AS issuer
        ON d.day IS NOT DISTINCT FROM issuer.day AND d.load_id = issuer.load_id AND d.record_no = issuer.record_no AND issuer.dn_type = 8
    WHERE d.client_cert_serial <> ''
    GROUP BY ALL
),

interval_record AS (
    SELECT
        *,
        -- A range of ports does not identify a port.
        CASE WHEN server_port_first = server_port_last THEN server_port_first END AS server_port,
        written_utc - to_microseconds(interval_us::BIGINT) AS first_utc,
        session_flags & 64 > 0 AS is_server,
        session_flags & 32 > 0 AS is_client,
        -- 32-bit counters, which wrap to zero. The connections include those whose handshake failed.
        counter_growth(init_conn_count::BIGINT, end_conn_count::BIGINT)
        - counter_growth(
            coalesce(init_failed_handshake_count, 0)::BIGINT, coalesce(end_failed_handshake_count, 0)::BIGINT
        ) AS connections
    FROM smf119_zert_summary
    WHERE summary_event_type = 1
),

summary_shown AS (
    SELECT
        r.*,
        subject.distinguished_name AS subject_dn,
        issuer.distinguished_name AS issuer_dn
    FROM (
        SELECT
            day, load_id, record_no, system, server_port, job_name, first_utc, written_utc, connections,
            'server' AS certificate_of, 5 AS subject_type,
            CASE WHEN is_server THEN 'this system' WHEN is_client THEN 'partner' END AS presented_by,
            server_cert_serial AS serial, server_cert_key_type AS key_type_code,
            server_cert_key_length_bits AS key_bits, server_cert_sig_method AS signature_code,
            server_cert_not_after_utc AS not_after_utc
        FROM interval_record
        WHERE server_cert_serial <> ''
        UNION ALL
        SELECT
            day, load_id, record_no, system, server_port, job_name, first_utc, written_utc, connections,
            'client', 7,
            CASE WHEN is_server THEN 'partner' WHEN is_client THEN 'this system' END,
            client_cert_serial, client_cert_key_type, client_cert_key_length_bits,
            client_cert_sig_method, client_cert_not_after_utc
        FROM interval_record
        WHERE client_cert_serial <> ''
    ) AS r
    LEFT JOIN smf119_zert_summary_dn AS subject
        ON
            r.day IS NOT DISTINCT FROM subject.day
            AND r.load_id = subject.load_id
            AND r.record_no = subject.record_no
            AND r.subject_type = subject.dn_type
    LEFT JOIN smf119_zert_summary_dn AS issuer
        ON
            r.day IS NOT DISTINCT FROM issuer.day
            AND r.load_id = issuer.load_id
            AND r.record_no = issuer.record_no
            AND r.subject_type + 1 = issuer.dn_type
),

shown AS (
    SELECT 'server' AS certificate_of, *, NULL AS summary_connections FROM server_shown
    UNION ALL BY NAME
    SELECT 'client' AS certificate_of, * FROM client_shown
    UNION ALL BY NAME
    SELECT
        day, certificate_of, system, server_port, job_name, presented_by, serial, subject_dn, issuer_dn,
        key_type_code, key_bits, signature_code, not_after_utc,
        sum(connections) AS summary_connections,
        min(first_utc) AS first_seen_utc,
        max(written_utc) AS last_seen_utc
    FROM summary_shown
    GROUP BY ALL
)

SELECT
    day::DATE AS day,
    system::VARCHAR AS system,
    server_port::BIGINT AS server_port,
    job_name::VARCHAR AS job_name,
    certificate_of::VARCHAR AS certificate_of,
    presented_by::VARCHAR AS presented_by,
    serial::VARCHAR AS serial,
    subject_dn::VARCHAR AS subject_dn,
    issuer_dn::VARCHAR AS issuer_dn,
    key_type_code::BIGINT AS key_type_code,
    key_bits::BIGINT AS key_bits,
    signature_code::BIGINT AS signature_code,
    not_after_utc,
    sum(connections)::BIGINT AS connections,
    sum(summary_connections)::BIGINT AS summary_connections,
    min(first_seen_utc) AS first_seen_utc,
    max(last_seen_utc) AS last_seen_utc
FROM shown
GROUP BY ALL
