-- The records of ICSF of one system, hour and subtype.

SELECT
    r.system,
    r.hour_local::DATE AS day,
    r.hour_utc,
    r.hour_local,
    r.subtype,
    code_text(c.text, r.subtype)::VARCHAR AS subtype_name,
    r.records,
    r.total_bytes,
    r.first_utc,
    r.last_utc
FROM icsf_record_day AS r
LEFT JOIN code_smf82_subtype AS c ON r.subtype = c.code
