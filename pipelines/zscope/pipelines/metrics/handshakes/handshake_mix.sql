-- The handshakes of a system, hour, port, job and role: full, resumed, failed and unknown.
--
-- The rules by which a handshake counts once are those of the step `handshake`.

SELECT
    system,
    stack,
    day,
    hour_utc,
    server_port,
    job_name,
    handshake_role,
    tls_version,
    resumption_versions(tls_version)::VARCHAR AS versions,
    cipher,
    cipher_name,
    key_exchange,
    handshakes,
    if(kind = 'full', handshakes, 0) AS full_handshakes,
    if(kind = 'resumed', handshakes, 0) AS resumed_handshakes,
    resumed_handshakes AS abbreviated_handshakes,
    if(kind = 'failed', handshakes, 0) AS failed_handshakes,
    if(is_unknown_kind(kind), handshakes, 0) AS unknown_handshakes
FROM handshake_hour
