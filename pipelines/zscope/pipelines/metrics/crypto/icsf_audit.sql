-- The handshakes of one system and hour, and what ICSF recorded about the objects of sessions.
--
-- With SESSIONOBJ(YES) ICSF audits keys that live as long as a TLS session, so that handshakes leave records of subtype 42.

WITH recorded AS (
    SELECT
        system,
        hour_utc,
        sum(records) AS icsf_records,
        coalesce(sum(records) FILTER (WHERE subtype = 42), 0) AS object_records,
        coalesce(sum(records) FILTER (WHERE subtype IN (46, 47)), 0) AS use_records,
        sum(watched_records) FILTER (WHERE subtype = 42) AS watched_records
    FROM icsf_record_day
    GROUP BY system, hour_utc
),

span AS (
    SELECT
        system,
        min(first_utc) AS first_utc,
        max(last_utc) AS last_utc
    FROM icsf_record_day
    GROUP BY system
),

handshake AS (
    SELECT
        h.system,
        h.hour_utc,
        sum(h.handshakes) AS handshakes,
        any_value(h.hour_utc BETWEEN time_bucket(INTERVAL 1 HOUR, s.first_utc) AND s.last_utc) AS is_covered
    FROM handshake_hour AS h
    LEFT JOIN span AS s ON h.system = s.system
    WHERE h.kind IN ('full', 'resumed')
    GROUP BY h.system, h.hour_utc
)

SELECT
    coalesce(h.system, r.system)::VARCHAR AS system,
    coalesce(h.hour_utc, r.hour_utc)::TIMESTAMPTZ AS hour_utc,
    h.handshakes::BIGINT AS handshakes,
    r.icsf_records::BIGINT AS icsf_records,
    r.object_records::BIGINT AS object_records,
    r.use_records::BIGINT AS use_records,
    if(h.is_covered, h.handshakes, 0)::BIGINT AS compared_handshakes,
    if(h.is_covered, coalesce(r.watched_records, 0), 0)::BIGINT AS compared_records
FROM handshake AS h
FULL JOIN recorded AS r ON h.system = r.system AND h.hour_utc = r.hour_utc
