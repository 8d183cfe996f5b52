-- One record of zERT connection detail, with the columns that many steps read, and what follows from them alone.
--
-- At a load it is computed once for all of them.

WITH record AS (
    SELECT
        *,
        utc_of_writing(written_utc, written_local, end_utc) AS moment_utc
    FROM smf119_zert_detail
)

SELECT
    r.day,
    r.system,
    r.stack,
    r.connection_id,
    r.start_utc,
    r.end_utc,
    r.written_local,
    r.written_utc,
    r.record_no,
    r.event_type,
    r.security_protocols_flags,
    r.handshake_type,
    r.handshake_role,
    r.connection_flags,
    r.tls_version,
    r.cipher,
    r.session_id,
    r.local_port,
    r.remote_port,
    r.local_ip,
    r.remote_ip,
    r.ip_protocol,
    r.job_name,
    r.user_id,
    r.in_bytes,
    r.out_bytes,
    r.server_cert_key_type,
    r.server_cert_key_length_bits,
    is_tls_record(r.security_protocols_flags, r.handshake_type)::BOOLEAN AS is_tls,
    day_by_record(r.start_utc, r.written_local, r.moment_utc)::DATE AS start_day,
    day_by_record(r.end_utc, r.written_local, r.moment_utc)::DATE AS end_day,
    server_port_by_job(
        r.handshake_role, r.connection_flags, r.local_port, r.remote_port, j.ports
    )::BIGINT AS server_port
FROM record AS r
LEFT JOIN job_port AS j
    ON
        r.day = j.day
        AND r.system = j.system
        AND r.stack IS NOT DISTINCT FROM j.stack
        AND r.job_name = j.job_name
