-- Share of handshakes that resumed a session: per hour from zERT records, or between two GSKSRVR displays.
--
-- zERT: handshakes by type, from the step `handshake_hour`. GSKSRVR: a session is stored after each full
-- handshake and looked up for each resumption, so `added` counts full handshakes and `hits` resumed ones;
-- deltas and resets are those of the step `gsk_cache_delta`. The hit rate is the share of look-ups that found
-- their session, the resumed share is that of all handshakes that were resumed: a client that offers no
-- session counts only in the second. The two sources have separate rows and are never added up. If both
-- record the same system, versions and time, `why_sources_differ` explains why they can differ.
--
-- The hours of a local day are divided among its rows, so that a sum over rows has each day once. Rows of zERT have equal
-- parts. An interval between displays has the part of the day that it contains. Counts since a reset can be of many days
-- before, and their coverage is not known.
--
-- Hours with benchmark runs are left out, and intervals between displays with such hours.

WITH zert AS (
    SELECT
        system,
        day,
        hour_utc,
        resumption_versions(tls_version) AS versions,
        CASE WHEN handshake_role LIKE 'server%' THEN 'server' ELSE handshake_role END AS side,
        coalesce(sum(handshakes) FILTER (WHERE kind = 'full'), 0) AS full_handshakes,
        coalesce(sum(handshakes) FILTER (WHERE kind = 'resumed'), 0) AS resumed_handshakes,
        coalesce(sum(handshakes) FILTER (WHERE kind = 'failed'), 0) AS failed_handshakes,
        coalesce(sum(handshakes) FILTER (WHERE is_unknown_kind(kind)), 0) AS unknown_handshakes
    FROM handshake_hour
    GROUP BY ALL
),

-- Intervals with hours of benchmark runs are included here. They are left out of the result.
interval_day AS (
    SELECT
        system,
        cache,
        interval_start_local,
        interval_end_local,
        unnest(generate_series(interval_start_local::DATE::TIMESTAMP, interval_end_local, INTERVAL 1 DAY)) AS midnight
    FROM gsk_cache_delta
    WHERE basis <> 'since reset'
),

part_of_day AS (
    SELECT
        *,
        overlap_us(
            epoch_us(interval_start_local), epoch_us(interval_end_local),
            epoch_us(midnight), epoch_us(midnight + INTERVAL 1 DAY)
        ) AS length_us,
        nullif(sum(length_us) OVER (PARTITION BY system, midnight), 0) AS lengths_us
    FROM interval_day
),

interval_hours AS (
    SELECT
        p.system,
        p.cache,
        p.interval_start_local,
        p.interval_end_local,
        sum(part_of_hours(c.covered_hours * p.length_us / p.lengths_us, 1)) AS covered_hours,
        sum(part_of_hours(c.hours * p.length_us / p.lengths_us, 1)) AS hours
    FROM part_of_day AS p
    INNER JOIN covered_day AS c ON c.source = 'GSKSRVR' AND p.system = c.system AND p.midnight::DATE = c.day
    GROUP BY ALL
),

gsk AS (
    SELECT
        g.*,
        CASE WHEN g.basis <> 'since reset' THEN h.covered_hours END AS covered_hours,
        CASE WHEN g.basis <> 'since reset' THEN h.hours END AS hours,
        CASE g.cache
            WHEN 'TLS 1.3 tickets' THEN 'TLSv1.3'
            WHEN 'session ids' THEN 'TLSv1.2 and older'
            ELSE 'unknown'
        END AS versions
    FROM gsk_cache_delta AS g
    ANTI JOIN left_out_hour AS l
        ON
            g.system = l.system
            AND g.interval_start_utc < l.hour_utc + INTERVAL 1 HOUR
            AND g.interval_end_utc > l.hour_utc
    LEFT JOIN interval_hours AS h
        ON
            g.system = h.system
            AND g.cache IS NOT DISTINCT FROM h.cache
            AND g.interval_start_local = h.interval_start_local
            AND g.interval_end_local = h.interval_end_local
),

both_tell AS (
    SELECT DISTINCT
        z.system,
        z.versions,
        z.hour_utc,
        g.interval_end_utc
    FROM zert AS z
    INNER JOIN gsk AS g
        ON
            z.system = g.system
            AND z.versions = g.versions
            AND z.hour_utc < g.interval_end_utc
            AND z.hour_utc + INTERVAL 1 HOUR > coalesce(g.interval_start_utc, g.interval_end_utc)
),

-- The published share is that of TLSv1.3 with sysplex-wide caching of tickets.
published AS (
    SELECT
        'TLSv1.3' AS versions,
        max(value) AS share_pct
    FROM reference_result
    WHERE id = 'tls31-sysplex-tickets-hit'
),

every_source AS (
    SELECT
        'zERT' AS source,
        z.system,
        z.day,
        z.versions,
        NULL AS cache,
        z.side,
        'each hour' AS basis,
        z.hour_utc AS interval_start_utc,
        z.hour_utc + INTERVAL 1 HOUR AS interval_end_utc,
        z.full_handshakes,
        z.resumed_handshakes,
        z.failed_handshakes,
        z.unknown_handshakes,
        NULL AS lookups,
        NULL AS hits,
        NULL AS missed_expired,
        NULL AS missed_not_found,
        NULL AS missed_not_authorized,
        NULL AS refused_full,
        NULL AS replaced,
        NULL AS resets,
        NULL AS uncounted_s,
        NULL AS covered_hours,
        NULL AS hours,
        CASE
            WHEN (z.system, z.versions, z.hour_utc) IN (
                SELECT (b.system, b.versions, b.hour_utc) FROM both_tell AS b
            )
                THEN 'zERT counts every handshake it sees, also those of clients and of servers that keep'
                    || ' their sessions elsewhere; GSKSRVR only servers that use its caches.'
        END AS why_sources_differ
    FROM zert AS z
    UNION ALL
    SELECT
        'GSKSRVR',
        g.system,
        NULL,
        g.versions,
        g.cache,
        'server',
        g.basis,
        g.interval_start_utc,
        g.interval_end_utc,
        g.added,
        g.hits,
        NULL,
        NULL,
        g.lookups,
        g.hits,
        g.missed_expired,
        g.missed_not_found,
        g.missed_not_authorized,
        g.refused_full,
        g.replaced,
        g.is_reset::BIGINT,
        g.uncounted_s,
        g.covered_hours,
        g.hours,
        CASE
            WHEN (g.system, g.versions, g.interval_end_utc) IN (
                SELECT (b.system, b.versions, b.interval_end_utc) FROM both_tell AS b
            )
                THEN 'GSKSRVR counts only servers that use its caches, and look-ups for other systems may'
                    || ' be among them; zERT counts every handshake it sees.'
        END
    FROM gsk AS g
)

SELECT
    e.source::VARCHAR AS source,
    e.system::VARCHAR AS system,
    e.versions::VARCHAR AS versions,
    e.cache::VARCHAR AS cache,
    e.side::VARCHAR AS side,
    e.basis::VARCHAR AS basis,
    e.interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    e.interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
    e.full_handshakes::BIGINT AS full_handshakes,
    e.resumed_handshakes::BIGINT AS resumed_handshakes,
    e.failed_handshakes::BIGINT AS failed_handshakes,
    e.unknown_handshakes::BIGINT AS unknown_handshakes,
    e.lookups::BIGINT AS lookups,
    e.hits::BIGINT AS hits,
    e.missed_expired::BIGINT AS missed_expired,
    e.missed_not_found::BIGINT AS missed_not_found,
    e.missed_not_authorized::BIGINT AS missed_not_authorized,
    e.refused_full::BIGINT AS refused_full,
    e.replaced::BIGINT AS replaced,
    e.resets::BIGINT AS resets,
    e.uncounted_s::DOUBLE AS uncounted_s,
    coalesce(e.covered_hours, part_of_hours(c.covered_hours, count(*) OVER rows_of_day))::DOUBLE AS covered_hours,
    coalesce(e.hours, part_of_hours(c.hours, count(*) OVER rows_of_day))::DOUBLE AS hours,
    p.share_pct::DOUBLE AS published_pct,
    e.why_sources_differ::VARCHAR AS why_sources_differ
FROM every_source AS e
LEFT JOIN published AS p ON e.versions = p.versions
LEFT JOIN covered_day AS c ON if(e.source = 'zERT', '119-11', NULL) = c.source AND e.system = c.system AND e.day = c.day
WINDOW rows_of_day AS (PARTITION BY e.source, e.system, e.day)
