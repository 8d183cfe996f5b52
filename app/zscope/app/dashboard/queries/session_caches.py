"""The session caches of GSKSRVR: look-ups and why they missed, how full the caches are, resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.queries.resumption import IN_PERIOD

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

REASONS = {
    "missed_expired": "expired",
    "missed_not_found": "not found",
    "missed_not_authorized": "not authorized",
}
"""Why a look-up missed: as the metric counts it, and as people call it."""
_BY = ["system", "cache"]
_RESETS = 500


def cache_use(data: Data) -> pa.Table:
    """What each cache was asked for; from its first display alone where there is no other."""
    counted = data.metric("resumption_rate", _BY, where=f"source = 'GSKSRVR' AND {IN_PERIOD}")
    alone = data.metric("resumption_rate", _BY, where=f"source = 'GSKSRVR' AND NOT {IN_PERIOD}")
    known = {(row["system"], row["cache"]) for row in counted.to_pylist()}
    unknown = [(row["system"], row["cache"]) not in known for row in alone.to_pylist()]
    only = alone.filter(pa.array(unknown, pa.bool_()))
    parts = [
        part.select([*_BY, "lookups", "hits", "hit_rate_pct", *REASONS, "refused_full", "replaced", "resets"])
        .append_column("counted", pa.array([over] * part.num_rows, pa.string()))
        for part, over in ((counted, "in the period"), (only, "since the reset before the first display"))
    ]  # fmt: skip
    return pa.concat_tables(parts).sort_by([(name, "ascending") for name in _BY])


def misses(use: pa.Table) -> pa.Table:
    """One row for each cache and reason: look-ups that missed, and their share of all look-ups."""
    asked = use.filter(pc.field("lookups") > 0)
    shares = [
        pa.table(
            {
                "system": asked["system"],
                "cache": asked["cache"],
                "reason": pa.array([reason] * asked.num_rows, pa.string()),
                "missed": asked[column],
                "lookups": asked["lookups"],
                "hit_rate_pct": asked["hit_rate_pct"],
                "share_pct": pc.multiply(
                    pc.divide(asked[column].cast(pa.float64()), asked["lookups"].cast(pa.float64())), 100.0
                ),
            }
        )
        for column, reason in REASONS.items()
    ]
    return pa.concat_tables(shares)


def fill(data: Data) -> pa.Table:
    """How full each cache is by its newest display, and the most that any display of the period shows."""
    where = data.where(("system",), "taken_utc")
    return data.rows(f"""
        WITH line AS (
            -- DISTINCT: the same display in two captures counts once.
            SELECT DISTINCT
                system, cache, taken_utc, taken_local, row_kind, user_id, entry_count, used_mb, maximum_mb
            FROM gsk_cache_status {where}
        ),
        shown AS (
            SELECT
                system, cache, taken_utc, taken_local,
                coalesce(sum(entry_count) FILTER (row_kind = 'user'), 0)::BIGINT AS entries,
                max(used_mb) AS used_mb, max(maximum_mb) AS maximum_mb
            FROM line GROUP BY ALL
            UNION ALL BY NAME
            SELECT DISTINCT
                system, cache, taken_utc, taken_local,
                cache_size_mb AS used_mb, maximum_size_mb AS maximum_mb, timeout_min, tickets_per_session
            FROM gsk_cache_stats {where}
        ),
        newest AS (
            SELECT
                system, cache,
                max(taken_utc) AS taken_utc,
                max(taken_local) AS taken_local,
                arg_max(entries, taken_local) AS entries,
                max(entries) AS most_entries,
                arg_max(used_mb, taken_local) AS used_mb,
                max(used_mb) AS most_used_mb,
                arg_max(maximum_mb, taken_local) AS maximum_mb,
                arg_max(timeout_min, taken_local) AS timeout_min,
                arg_max(tickets_per_session, taken_local) AS tickets_per_session
            FROM shown GROUP BY ALL
        )
        SELECT
            system,
            CASE cache
                WHEN 'ticket' THEN 'TLS 1.3 tickets' WHEN 'session-id' THEN 'session ids' ELSE cache
            END AS cache,
            taken_utc, taken_local, entries, most_entries, used_mb, most_used_mb, maximum_mb,
            100.0 * used_mb / nullif(maximum_mb, 0) AS used_pct,
            timeout_min, tickets_per_session
        FROM newest ORDER BY system, cache LIMIT 1000
    """)


def resets(data: Data) -> pa.Table:
    """The newest resets of the counters, and how long before each nothing is known."""
    return data.rows(f"""
        SELECT system, cache, interval_start_utc, interval_end_utc, alone_because, uncounted_s
        FROM gsk_cache_delta
        {data.where(("system",), "interval_end_utc", "is_reset")}
        ORDER BY interval_end_utc DESC NULLS LAST, system, cache LIMIT {_RESETS}
    """)
