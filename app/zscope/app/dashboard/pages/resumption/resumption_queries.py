"""Queries of the page Resumption: resumed shares, session caches, savings."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.time_axis import drawn_at
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.time_axis import Span

VERSIONS = ("TLSv1.3", "TLSv1.2 and older")
IN_PERIOD = "basis <> 'since reset'"
"""Excludes displays of GSKSRVR that count alone: their counts can start before all other data."""
_SIDES = ("server", "client")
_ENDS = ["interval_start_utc", "interval_end_utc"]
_MOST_MARKS = 3000
"""Limit of the intervals between displays in one chart; above it, days are shown."""
_SHARES = pa.schema(
    [
        ("source", pa.string()),
        ("system", pa.string()),
        ("versions", pa.string()),
        ("start", pa.timestamp("us", "UTC")),
        ("end", pa.timestamp("us", "UTC")),
        ("counted", pa.string()),
        ("full_handshakes", pa.int64()),
        ("resumed_handshakes", pa.int64()),
        ("resumed_pct", pa.float64()),
        ("published_pct", pa.float64()),
    ]
)
REASONS = {
    "missed_expired": "expired",
    "missed_not_found": "not found",
    "missed_not_authorized": "not authorized",
}
"""Reasons of missed lookups by the columns of the metric."""
_BY = ["system", "cache"]
_RESETS = 500
LOWEST, HIGHEST, USUAL = 50, 100, 95
_ALWAYS = (50, 60, 70, 80, 90, 95, 100)
"""Rates that the metric calculates by default."""
BOUNDS = ("tls31-resumption-tls12-cpu", "tls31-resumption-tls13-cpu")
"""The published results that the bound is based on."""


def resumed(data: PageData, side: str = "") -> float | None:
    """Return the share of resumed handshakes in zERT records in percent, of one side or of both.

    That of both is the figure of the pages Overview and Handshakes.
    """
    where = f"starts_with(handshake_role, {literal(side)})" if side else ""
    [row] = data.metric("handshake_mix", [], where=where).to_pylist() or [{"resumed_pct": None}]
    share: float | None = row["resumed_pct"]
    return share


def is_narrowed(data: PageData) -> bool:
    """Return whether a filter is set that only zERT can follow: GSKSRVR knows no stack, port or job."""
    chosen = data.filters
    return bool(chosen.stacks or chosen.ports or chosen.jobs)


def _of_zert(data: PageData, side: str, *by: str) -> list[dict[str, Any]]:
    """Full and resumed handshakes in zERT records by versions and further columns, with all filters."""
    where = f"starts_with(handshake_role, {literal(side)})"
    published = {
        row["versions"]: row["published_pct"]
        for row in data.metric("resumption_rate", ["versions"]).to_pylist()
    }
    return [
        {**row, "source": "zERT", "published_pct": published.get(row["versions"])}
        for row in data.metric("handshake_mix", ["versions", *by], where=where).to_pylist()
        if row["versions"] in VERSIONS
    ]


def sides(data: PageData) -> list[str]:
    """Return the sides with handshakes, servers first."""
    if is_narrowed(data):
        return [side for side in _SIDES if _of_zert(data, side)]
    table = data.metric("resumption_rate", ["side"], where="full_handshakes + resumed_handshakes > 0")
    return [side for side in _SIDES if side in table["side"].to_pylist()]


def totals(data: PageData) -> dict[str, dict[str, Any]]:
    """Return the counts of each source for the server side."""
    rows = data.metric("resumption_rate", ["source"], where=f"side = 'server' AND {IN_PERIOD}").to_pylist()
    return {row["source"]: row for row in rows}


def side_by_side(data: PageData, side: str) -> pa.Table:
    """Return the resumed share of each system by source, over the times that both sources cover if any.

    With a stack, port or job chosen, only zERT has rows.
    """
    if is_narrowed(data):
        rows = [{**row, "counted": "all times"} for row in _of_zert(data, side, "system")]
        return _shares(rows).drop_columns(["start", "end"])
    by = ["source", "system", "versions"]
    counted = f"side = {literal(side)} AND {IN_PERIOD}"
    both = data.metric("resumption_rate", by, where=f"{counted} AND why_sources_differ IS NOT NULL")
    compared = {(row["system"], row["versions"]) for row in both.to_pylist()}
    every = data.metric("resumption_rate", by, where=counted)
    others = [row for row in every.to_pylist() if (row["system"], row["versions"]) not in compared]
    common = [{**row, "counted": "times that both cover"} for row in both.to_pylist()]
    table = _shares([*common, *({**row, "counted": "all times"} for row in others)])
    return table.drop_columns(["start", "end"])


def why_sources_differ(data: PageData) -> list[str]:
    """Return why zERT and GSKSRVR can differ, as the metric explains it; empty unless both have data."""
    explained = f"{IN_PERIOD} AND why_sources_differ IS NOT NULL"
    rows = data.metric("resumption_rate", ["source"], where=explained).to_pylist()
    return [str(row["why_sources_differ"]) for row in rows]


def over_time(data: PageData, side: str, by: Span) -> pa.Table:
    """Return the resumed share over time: zERT for all systems together, GSKSRVR for each system."""
    if is_narrowed(data):
        return _timed(_of_zert(data, side, by))
    at = f"side = {literal(side)} AND {IN_PERIOD} AND interval_start_utc IS NOT NULL"
    zert, gsk = f"source = 'zERT' AND {at}", f"source = 'GSKSRVR' AND {at}"
    if by == "hour_utc":
        displays = data.metric("resumption_rate", ["system", "versions", *_ENDS], where=gsk)
        if displays.num_rows <= _MOST_MARKS:
            hours = data.metric("resumption_rate", ["versions", *_ENDS], where=zert)
            return _timed([*hours.to_pylist(), *displays.to_pylist()])
    days = data.metric("resumption_rate", ["versions", "day"], where=zert)
    displays = data.metric("resumption_rate", ["system", "versions", "day"], where=gsk)
    return _timed([*days.to_pylist(), *displays.to_pylist()])


def without_time(data: PageData) -> int:
    """Return the number of handshakes that GSKSRVR counted at times not known in UTC."""
    rows = data.metric("resumption_rate", ["source"], where=f"{IN_PERIOD} AND interval_start_utc IS NULL")
    return sum(row["full_handshakes"] + row["resumed_handshakes"] for row in rows.to_pylist())


def _timed(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    def times(row: Mapping[str, Any]) -> tuple[datetime, datetime]:
        if "day" in row:
            return drawn_at(row["day"]), drawn_at(row["day"] + timedelta(days=1))
        if "hour_utc" in row:
            return row["hour_utc"], row["hour_utc"] + timedelta(hours=1)
        return row["interval_start_utc"], row["interval_end_utc"]

    return _shares(
        {
            **row,
            "system": row.get("system", "all chosen"),
            "start": times(row)[0],
            "end": times(row)[1],
            "counted": "each day" if "day" in row else "each interval",
        }
        for row in rows
    )


def _shares(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """The rows of the metric that have a share."""
    shares = [
        {name: row.get(name) for name in _SHARES.names} for row in rows if row["resumed_pct"] is not None
    ]
    table = pa.Table.from_pylist(shares, _SHARES)
    return table.sort_by([("versions", "descending"), ("system", "ascending"), ("source", "descending")])


def cache_use(data: PageData) -> pa.Table:
    """Return the lookups of each cache; of a cache with one display only, since its last reset."""
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
    """Return a row for each cache and reason: missed lookups and their share of all lookups."""
    used = use.filter(pc.field("lookups") > 0)
    shares = [
        pa.table(
            {
                "system": used["system"],
                "cache": used["cache"],
                "reason": pa.array([reason] * used.num_rows, pa.string()),
                "missed": used[column],
                "lookups": used["lookups"],
                "hit_rate_pct": used["hit_rate_pct"],
                "share_pct": pc.multiply(
                    pc.divide(used[column].cast(pa.float64()), used["lookups"].cast(pa.float64())), 100.0
                ),
            }
        )
        for column, reason in REASONS.items()
    ]
    return pa.concat_tables(shares)


def fill(data: PageData) -> pa.Table:
    """Return the fill level of each cache in its newest display, and the highest of the period."""
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


def resets(data: PageData) -> pa.Table:
    """Return the newest counter resets, and the time before each that was not counted."""
    return data.rows(f"""
        SELECT system, cache, interval_start_utc, interval_end_utc, alone_because, uncounted_s
        FROM gsk_cache_delta
        {data.where(("system",), "interval_end_utc", "is_reset")}
        ORDER BY interval_end_utc DESC NULLS LAST, system, cache LIMIT {_RESETS}
    """)


def saving(data: PageData, target_pct: int) -> pa.Table:
    """Return the savings of each system at a resumption rate: a row for the estimate, a row for the bound."""
    name, rate = "resumption_saving", int(target_pct)
    if rate in _ALWAYS:
        return data.metric(name).filter(pc.field("target_pct") == rate)
    setting = f"SET VARIABLE target_pct = {rate}"
    return data.metric(name, where=f"target_pct = {rate}", settings=[setting])


def by_estimate(savings: pa.Table) -> pa.Table:
    """Return the systems for which the estimate has a value or a range."""
    return savings.filter((pc.field("basis") == "estimate") & pc.is_valid(pc.field("saving_high_s_per_day")))


def without_estimate(savings: pa.Table) -> pa.Table:
    """Return the systems for which the estimate has no figure, with the reasons."""
    return savings.filter((pc.field("basis") == "estimate") & ~pc.is_valid(pc.field("saving_high_s_per_day")))


def by_bound(savings: pa.Table) -> pa.Table:
    """Return the systems for which a published bound gives a figure."""
    return savings.filter(
        (pc.field("basis") == "published bound") & pc.is_valid(pc.field("saving_high_s_per_day"))
    )
