-- The counts of a sysplex session cache of GSKSRVR between two displays, or up to the first one.
--
-- The counters of a display start at the last reset. For two displays of one system and cache without a reset
-- in between, the result is their difference. If the start time, the reset time or the number of resets
-- differs, or a counter has decreased, there was a reset: only the later display counts, from its reset time
-- on, and the counts between the earlier display and the reset are lost; `uncounted_s` is the length of that
-- time. Both are counts of the time between two displays (basis `between displays`). The first display is
-- exact for the time since its reset, which can be long before the other data begins (basis `since reset`).
--
-- Start and reset times are printed in local time. They are converted to the clock of their display.

WITH display AS (
    -- DISTINCT: the same display in two captures counts once.
    SELECT DISTINCT
        system::VARCHAR AS system,
        cache::VARCHAR AS cache,
        taken_utc,
        taken_local,
        started_local,
        reset_local,
        reset_count,
        struct_pack(
            add_requested := add_requested::BIGINT,
            add_failed_full := add_failed_full::BIGINT,
            add_replaced := add_replaced::BIGINT,
            update_requested := update_requested::BIGINT,
            update_successful := update_successful::BIGINT,
            lookups := retrieval_requested::BIGINT,
            hits := retrieval_successful::BIGINT,
            expired := retrieval_expired::BIGINT,
            not_found := retrieval_not_found::BIGINT,
            not_authorized := retrieval_not_authorized::BIGINT
        ) AS counted
    FROM gsk_cache_stats
    WHERE taken_utc IS NOT NULL OR taken_local IS NOT NULL
),

in_order AS (
    SELECT
        *,
        greatest(started_local, reset_local) AS counting_since_local,
        lag(counted) OVER displays AS before,
        lag(taken_utc) OVER displays AS before_utc,
        lag(taken_local) OVER displays AS before_local,
        lag(started_local) OVER displays AS started_before,
        lag(reset_local) OVER displays AS reset_before,
        lag(reset_count) OVER displays AS resets_before,
        row_number() OVER displays = 1 AS is_first
    FROM display
    WINDOW displays AS (
        -- Local times and UTC times cannot be sorted together.
        PARTITION BY system, cache, taken_utc IS NULL
        ORDER BY
            taken_utc, taken_local, started_local, reset_local, reset_count,
            counted.lookups, counted.add_requested
    )
),

compared AS (
    SELECT
        *,
        coalesce(started_local <> started_before, false) AS is_restarted,
        coalesce(reset_local <> reset_before, false)
        OR coalesce(reset_count <> resets_before, false) AS is_reset,
        coalesce(counted.add_requested < before.add_requested, false)
        OR coalesce(counted.add_failed_full < before.add_failed_full, false)
        OR coalesce(counted.add_replaced < before.add_replaced, false)
        OR coalesce(counted.update_requested < before.update_requested, false)
        OR coalesce(counted.update_successful < before.update_successful, false)
        OR coalesce(counted.lookups < before.lookups, false)
        OR coalesce(counted.hits < before.hits, false)
        OR coalesce(counted.expired < before.expired, false)
        OR coalesce(counted.not_found < before.not_found, false)
        OR coalesce(counted.not_authorized < before.not_authorized, false) AS has_fallen
    FROM in_order
),

judged AS (
    SELECT
        *,
        CASE
            WHEN is_first THEN 'first display'
            WHEN is_restarted THEN 'restarted'
            WHEN is_reset THEN 'reset'
            WHEN has_fallen THEN 'counters fell'
        END AS alone_because,
        -- A reset without a printed time took place after the previous display.
        CASE
            WHEN is_first THEN counting_since_local
            WHEN is_restarted OR is_reset OR has_fallen THEN greatest(counting_since_local, before_local)
            ELSE before_local
        END AS since_local
    FROM compared
),

based AS (
    SELECT
        *,
        CASE
            WHEN alone_because IS NULL
                THEN before
            -- Zero where the display has the counter at all.
            ELSE struct_pack(
                add_requested := 0, add_failed_full := 0, add_replaced := 0,
                update_requested := 0, update_successful := 0,
                lookups := 0, hits := 0, expired := 0, not_found := 0, not_authorized := 0
            )
        END AS base,
        CASE
            WHEN alone_because IS NULL THEN before_utc
            ELSE taken_utc - (taken_local - since_local)
        END AS since_utc
    FROM judged
)

SELECT
    system,
    CASE cache
        WHEN 'ticket' THEN 'TLS 1.3 tickets'
        WHEN 'session-id' THEN 'session ids'
        ELSE cache
    END::VARCHAR AS cache,
    if(is_first, 'since reset', 'between displays')::VARCHAR AS basis,
    since_utc::TIMESTAMPTZ AS interval_start_utc,
    taken_utc::TIMESTAMPTZ AS interval_end_utc,
    since_local::TIMESTAMP AS interval_start_local,
    taken_local::TIMESTAMP AS interval_end_local,
    coalesce(
        epoch_ms(taken_utc) - epoch_ms(since_utc), epoch_ms(taken_local) - epoch_ms(since_local)
    )::DOUBLE / 1000 AS interval_s,
    (NOT is_first AND alone_because IS NOT NULL)::BOOLEAN AS is_reset,
    alone_because::VARCHAR AS alone_because,
    CASE
        WHEN NOT is_first AND alone_because IS NOT NULL
            THEN (epoch_ms(since_local) - epoch_ms(before_local))::DOUBLE / 1000
    END AS uncounted_s,
    (counted.add_requested - base.add_requested)::BIGINT AS added,
    (counted.add_failed_full - base.add_failed_full)::BIGINT AS refused_full,
    (counted.add_replaced - base.add_replaced)::BIGINT AS replaced,
    (counted.update_requested - base.update_requested)::BIGINT AS updates,
    (counted.update_successful - base.update_successful)::BIGINT AS updated,
    (counted.lookups - base.lookups)::BIGINT AS lookups,
    (counted.hits - base.hits)::BIGINT AS hits,
    (counted.expired - base.expired)::BIGINT AS missed_expired,
    (counted.not_found - base.not_found)::BIGINT AS missed_not_found,
    (counted.not_authorized - base.not_authorized)::BIGINT AS missed_not_authorized
FROM based
