-- Why handshakes with servers that use the sysplex session caches were full, by the counts of GSKSRVR.
--
-- A session is stored after each full handshake. A look-up that fails leads to a full handshake, and its reason is
-- counted. The other full handshakes came from clients that offered no session. Intervals that overlap benchmark runs
-- are left out, and so is the first display, whose counts can be older than the other data.

WITH counted AS (
    SELECT
        g.system,
        g.cache,
        sum(g.added) AS full_handshakes,
        sum(g.lookups) AS lookups,
        sum(g.hits) AS hits,
        sum(g.missed_expired) AS expired,
        sum(g.missed_not_found) AS not_found,
        sum(g.added) - sum(g.lookups) + sum(g.hits) AS none_offered
    FROM gsk_cache_delta AS g
    ANTI JOIN run AS r
        ON g.system = r.system AND g.interval_start_utc < r.to_utc AND g.interval_end_utc > r.from_utc
    WHERE g.basis = 'between displays'
    GROUP BY g.system, g.cache
),

newest AS (
    SELECT
        system,
        CASE cache WHEN 'ticket' THEN 'TLS 1.3 tickets' WHEN 'session-id' THEN 'session ids' END AS cache,
        timeout_min,
        maximum_size_mb
    FROM gsk_cache_stats
    QUALIFY row_number() OVER (PARTITION BY system, cache ORDER BY taken_utc DESC NULLS LAST, taken_local DESC) = 1
)

SELECT
    c.system::VARCHAR AS system,
    if(c.cache = 'TLS 1.3 tickets', 'TLSv1.3', 'TLSv1.2 and older')::VARCHAR AS versions,
    c.full_handshakes::BIGINT AS full_handshakes,
    c.lookups::BIGINT AS lookups,
    c.hits::BIGINT AS hits,
    c.none_offered::BIGINT AS none_offered,
    c.expired::BIGINT AS expired,
    c.not_found::BIGINT AS not_found,
    CASE greatest(c.none_offered, c.expired, c.not_found)
        WHEN c.none_offered THEN 'no session offered'
        WHEN c.expired THEN 'expired'
        ELSE 'not in the cache'
    END::VARCHAR AS cause,
    n.timeout_min::DOUBLE AS timeout_min,
    n.maximum_size_mb::DOUBLE AS maximum_size_mb
FROM counted AS c
INNER JOIN newest AS n ON c.system = n.system AND c.cache = n.cache
WHERE c.full_handshakes > 0
