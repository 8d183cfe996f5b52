-- The connections of one hour, system, port and job under one protocol and cipher suite, from one source.
--
-- All queries of protocols and suites by the hour read these rows, which are few even for millions of
-- connections. MQ channels have no stack, job and port; the connections under them are among those of other
-- sources.

SELECT
    source,
    reported_by,
    system,
    stack,
    hour_utc,
    job_name,
    server_port,
    is_tls,
    protocol,
    further_protocols,
    cipher,
    sum(connections)::BIGINT AS connections,
    sum(partial_connections)::BIGINT AS partial_connections,
    sum(failed_handshakes)::BIGINT AS failed_handshakes,
    sum(in_bytes)::BIGINT AS in_bytes,
    sum(out_bytes)::BIGINT AS out_bytes
FROM connection_protection
GROUP BY ALL
UNION ALL
SELECT
    'MQ channels',
    'MQ channels',
    system,
    NULL,
    hour_utc,
    NULL,
    NULL,
    is_tls,
    protocol,
    NULL,
    cipher,
    connections,
    0,
    0,
    in_bytes,
    out_bytes
FROM mq_channel_hour
