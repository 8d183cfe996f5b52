"""The history of the loads: what came from which file, what it covers, what is missing between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

MOST = 2000
_PARTS = 500
_ROWS_OF_PICTURE = 30
_APART = "INTERVAL 2 HOUR"
"""Records of one kind that are further apart are drawn as two stretches."""


@dataclass(frozen=True, slots=True)
class Loads:
    """All loads together."""

    loads: int
    rows: int
    mb: float
    issues: int
    gaps: int


def totals(data: Data) -> Loads:
    """Of what is in the store now; loads that were taken out or replaced do not count."""
    [found] = data.rows("""
        SELECT count(*) AS loads, coalesce(sum(rows), 0)::BIGINT AS rows,
            coalesce(sum(content_bytes) / 1e6, 0)::DOUBLE AS mb,
            coalesce(sum(issues), 0)::BIGINT AS issues, coalesce(sum(gaps), 0)::BIGINT AS gaps
        FROM load WHERE status IN ('loaded', 'incomplete')
    """).to_pylist()
    return Loads(**found)


def history(data: Data) -> pa.Table:
    """The newest loads, removed ones included."""
    return data.rows(f"""
        SELECT load_id, status, regexp_extract(file, '[^/\\\\]*$') AS name, kind, started_utc, seconds,
            content_bytes / 1e6 AS content_mb, mb_per_second, records, rows, duplicates, issues, gaps,
            first_local, last_local, selection, packing, form, file, zscope_version
        FROM load ORDER BY load_id DESC LIMIT {MOST}
    """)


def kinds(data: Data, load_id: int) -> pa.Table:
    """What the file of a load holds, decoded or not."""
    return data.rows(
        f"SELECT * EXCLUDE (load_id) FROM load_kind WHERE load_id = ? ORDER BY ALL LIMIT {_PARTS}", [load_id]
    )


def tables(data: Data, load_id: int) -> pa.Table:
    """The tables that a load brought rows for."""
    return data.rows(
        f"SELECT * EXCLUDE (load_id) FROM load_table WHERE load_id = ? ORDER BY table_name LIMIT {_PARTS}",
        [load_id],
    )


def gaps(data: Data) -> pa.Table:
    """Stretches of missing intervals, the longest first; `begin` and `end` as those of `coverage`."""
    return data.rows(f"""
        SELECT system, source, from_local, to_local, missing_intervals, interval_ms, load_id,
            concat_ws(' · ', {_SYSTEM}, source) AS what,
            from_local AT TIME ZONE 'UTC' AS begin, to_local AT TIME ZONE 'UTC' AS "end"
        FROM load_gap ORDER BY to_local - from_local DESC, system, from_local LIMIT {MOST}
    """)


def systems(data: Data) -> list[str]:
    """The systems that wrote records or reports, by name."""
    found = data.rows(f"SELECT DISTINCT {_SYSTEM} AS system FROM load_kind ORDER BY 1 LIMIT {MOST}")
    return [str(system) for system in found["system"].to_pylist()]


def coverage(data: Data, system: str | None) -> pa.Table:
    """The stretches of time that the files cover, for each system and kind of record or report.

    `begin` and `end` are local times. They carry the zone UTC only so that no browser moves them.
    """
    return data.rows(
        f"""
        WITH span AS (
            SELECT {_WHAT} AS what, first_local, last_local, records,
                first_local > {_APART} + max(last_local) OVER (
                    PARTITION BY {_WHAT} ORDER BY first_local, last_local
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS apart
            FROM load_kind WHERE first_local IS NOT NULL AND ({_SYSTEM} = $1 OR $1 IS NULL)
        ),
        numbered AS (
            SELECT *, count(*) FILTER (WHERE apart) OVER (PARTITION BY what ORDER BY first_local, last_local)
                AS stretch
            FROM span
        ),
        kept AS (
            SELECT what FROM span GROUP BY what ORDER BY sum(records) DESC LIMIT {_ROWS_OF_PICTURE}
        )
        SELECT what, min(first_local) AT TIME ZONE 'UTC' AS begin,
            max(last_local) AT TIME ZONE 'UTC' AS "end", sum(records)::BIGINT AS records, count(*) AS loads
        FROM numbered SEMI JOIN kept USING (what) GROUP BY what, stretch ORDER BY what, begin LIMIT {MOST}
        """,
        [system],
    )


_SYSTEM = "coalesce(system, 'no system')"
_WHAT = f"""concat_ws(
    ' · ', {_SYSTEM},
    coalesce(report, concat('SMF ', record_type, coalesce('-' || record_subtype, '')))
)"""
"""A system and a kind of records or reports, in words."""
