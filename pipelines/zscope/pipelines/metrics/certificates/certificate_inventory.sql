-- One certificate of TLS connections: its names, key and expiry, and who uses it.

SELECT
    serial,
    issuer_dn,
    min(subject_dn)::VARCHAR AS subject_dn,
    min(key_type)::VARCHAR AS key_type,
    min(key_bits)::BIGINT AS key_bits,
    bool_or(has_short_key)::BOOLEAN AS has_short_key,
    min(signature)::VARCHAR AS signature,
    min(not_after_utc) AS not_after_utc,
    min(days_left)::BIGINT AS days_left,
    min(expiry)::VARCHAR AS expiry,
    bool_or(ends_within_90_days)::BOOLEAN AS ends_within_90_days,
    bool_or(self_signed)::BOOLEAN AS self_signed,
    list_sort(list(DISTINCT certificate_of))::VARCHAR[] AS certificate_of,
    list_sort(list(DISTINCT presented_by))::VARCHAR[] AS presented_by,
    list_sort(list(DISTINCT system))::VARCHAR[] AS systems,
    list_sort(list(DISTINCT job_name))::VARCHAR[] AS job_names,
    list_sort(list(DISTINCT server_port))::BIGINT[] AS server_ports,
    sum(added_connections)::BIGINT AS connections,
    min(first_seen_utc) AS first_seen_utc,
    max(last_seen_utc) AS last_seen_utc
FROM certificate_seen
GROUP BY serial, issuer_dn, coalesce(subject_dn, ''), not_after_utc, key_type, key_bits
ORDER BY not_after_utc NULLS LAST, issuer_dn NULLS LAST, serial, subject_dn NULLS LAST
