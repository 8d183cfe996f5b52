"""The load history as tables of the catalogue: loads, their contents, gaps and clocks, and all files."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.local_time.timelines import CLOCK_SCHEMA, clock_spans, microseconds
from zscope.schemas.described_columns import described

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    import duckdb

    from zscope.pipelines.store.commits import DataFile, Load, State, SummaryFile

LOCAL = pa.timestamp("us")
UTC_TIME = pa.timestamp("us", "UTC")


_LOAD = described("load_id", pa.int64(), "Number of the load.")
LOAD_SCHEMA = pa.schema(
    [
        _LOAD,
        described(
            "status",
            pa.string(),
            "loaded, removed, replaced (by a longer one), or incomplete (lost records with another).",
        ),
        described("file", pa.string(), "Path of the file, followed by the name of the member of an archive."),
        described("kind", pa.string(), "smf, text or xml."),
        described("packing", pa.string(), "Formats in which it was packed, outermost first."),
        described("form", pa.string(), "Framing of a dump, encoding of a text."),
        described("started_utc", UTC_TIME, "When loading began."),
        described("seconds", pa.float64(), "Time from the first byte read to the commit.", "s"),
        described("mb_per_second", pa.float64(), "Unpacked megabytes read per second."),
        described("content_bytes", pa.int64(), "Size after unpacking.", "bytes"),
        described(
            "stored_bytes",
            pa.int64(),
            "Size of its stored rows; files with rows of several loads count in proportion.",
            "bytes",
        ),
        described("records", pa.int64(), "Records of a dump, reports of a text."),
        described("spanned", pa.int64(), "Records that came in several segments."),
        described("lines", pa.int64(), "Lines of a text."),
        described("rows", pa.int64(), "Rows stored in all tables."),
        described(
            "duplicates",
            pa.int64(),
            "Records, or rows of reports, omitted because the file or the store has them already.",
        ),
        described("outside", pa.int64(), "Rows omitted by the selection of systems and days."),
        described("issues", pa.int64(), "Issues; see table issue."),
        described("gaps", pa.int64(), "Gaps between intervals; see table load_gap."),
        described("first_local", LOCAL, "Earliest local time."),
        described("last_local", LOCAL, "Latest local time."),
        described("selection", pa.string(), "Selection of tables, systems and days, and the read options."),
        described(
            "begun_at_byte",
            pa.int64(),
            "Offset of the first byte read: what is before it belongs to another load.",
        ),
        described("content_digest", pa.string(), "XXH3-128 of the unpacked bytes, as xxh128sum prints it."),
        described("zscope_version", pa.string(), "Version of zscope that loaded it."),
    ],
    {"meaning": "One row per load: a file, or a member of an archive, that was loaded."},
)
_FROM_STATE = ("status", "stored_bytes")
"""Columns that depend on other loads."""
LOAD_KIND_SCHEMA = pa.schema(
    [
        _LOAD,
        described("system", pa.string(), "System that wrote the records."),
        described("record_type", pa.int32(), "SMF type."),
        described("record_subtype", pa.int32(), "SMF subtype; null where the record has none."),
        described("report", pa.string(), "Name of the report; null for SMF records."),
        described("records", pa.int64(), "Number of records or reports in the file, decoded or not."),
        described("total_bytes", pa.int64(), "Total length.", "bytes"),
        described("first_local", LOCAL, "Earliest local time; null if only times in UTC are known."),
        described("last_local", LOCAL, "Latest local time; null if only times in UTC are known."),
        described("first_utc", UTC_TIME, "Earliest time in UTC; null if the file has local times."),
        described("last_utc", UTC_TIME, "Latest time in UTC; null if the file has local times."),
    ],
    {"meaning": "One row per load, system and kind of record or report in the file."},
)
LOAD_TABLE_SCHEMA = pa.schema(
    [
        _LOAD,
        described("table_name", pa.string(), "Table of the store."),
        described("rows", pa.int64(), "Rows stored."),
        described("duplicates", pa.int64(), "Rows omitted because the file or the store has them already."),
    ],
    {"meaning": "One row per load and table with rows."},
)
LOAD_GAP_SCHEMA = pa.schema(
    [
        _LOAD,
        described("system", pa.string(), "System that wrote the intervals."),
        described("source", pa.string(), "Table the intervals are in."),
        described("from_local", LOCAL, "End of the last interval before the gap."),
        described("to_local", LOCAL, "Start of the first interval after the gap."),
        described("missing_intervals", pa.int64(), "Number of missing intervals."),
        described("interval_ms", pa.int64(), "Usual length of an interval.", "ms"),
    ],
    {"meaning": "One row per gap between two intervals of the same load."},
)

LOAD_OFFSET_SCHEMA = pa.schema(
    [
        _LOAD,
        described("system", pa.string(), "System that wrote the records."),
        described("source", pa.string(), "Table with the records."),
        described("from_local", LOCAL, "Start of the span, in whole hours."),
        described("to_local", LOCAL, "End of the span, exclusive."),
        described("offset_s", pa.int32(), "Seconds the clock is ahead of UTC.", "s"),
    ],
    {
        "meaning": "One row per load, system, table and span of time with a constant offset of the clock "
        "from UTC, as the records themselves show it, whatever time zone is configured."
    },
)

_LOAD_CLOCK_SCHEMA = pa.schema(
    [_LOAD, *CLOCK_SCHEMA],
    {"meaning": "One row per load, system and span of time with a constant offset of its clock from UTC."},
)
STORED_FILE_SCHEMA = pa.schema(
    [
        described("path", pa.string(), "Path in the folder of the store."),
        described("table_name", pa.string(), "Table, or stored step, whose rows it has."),
        described("first_day", pa.date32(), "First day of its rows; null for rows without a day."),
        described("last_day", pa.date32(), "Last day of its rows; null for rows without a day."),
        described("rows", pa.int64(), "Rows in it."),
        described("bytes", pa.int64(), "Its size.", "bytes"),
        described(
            "checked_utc",
            UTC_TIME,
            "When it was last compared with its checksum, and was unchanged; null if it never was.",
        ),
        described(
            "problem", pa.string(), "What is wrong with it, if it is damaged: its table cannot be read."
        ),
    ],
    {"meaning": "One row per file of the store with rows of a table or of a stored step."},
)
_STORED_FILE = "stored_file"

HISTORY_SCHEMAS = {
    "load": LOAD_SCHEMA,
    "load_kind": LOAD_KIND_SCHEMA,
    "load_table": LOAD_TABLE_SCHEMA,
    "load_gap": LOAD_GAP_SCHEMA,
    "load_offset": LOAD_OFFSET_SCHEMA,
    "system_clock": _LOAD_CLOCK_SCHEMA,
    _STORED_FILE: STORED_FILE_SCHEMA,
}
"""All tables about loads, and the table of files."""
_BY_LOAD = tuple(name for name in HISTORY_SCHEMAS if name != _STORED_FILE)


def update_history(connection: duckdb.DuckDBPyConnection, state: State) -> None:
    """Bring the tables about loads up to date; the rows of loads that they have already stay as they are."""
    select = "SELECT load_id, content_digest, epoch_us(started_utc) FROM load"
    known = {number: (digest, started) for number, digest, started in connection.execute(select).fetchall()}
    same = {number for number, load in state.loads.items() if known.get(number) == _identity(load)}
    for numbers, tables in (
        (known.keys() - same, _BY_LOAD),
        (state.removed & same, [name for name in _BY_LOAD if name != "load"]),
    ):
        if numbers:
            listed = ", ".join(map(str, sorted(numbers)))
            for name in tables:
                connection.execute(f"DELETE FROM {name} WHERE load_id IN ({listed})")
    connection.execute(f"DELETE FROM {_STORED_FILE}")
    for name, rows in history_tables(state, state.loads.keys() - same).items():
        if rows.num_rows:
            connection.register("rows_to_copy", rows)
            connection.execute(f"INSERT INTO {name} SELECT * FROM rows_to_copy")
            connection.unregister("rows_to_copy")
    connection.register("current", _from_state(state, state.loads.keys()))
    connection.execute(
        "UPDATE load SET status = current.status, stored_bytes = current.stored_bytes FROM current "
        "WHERE load.load_id = current.load_id AND (load.status, load.stored_bytes) IS DISTINCT FROM "
        "(current.status, current.stored_bytes)"
    )
    connection.unregister("current")


def _identity(load: Load) -> tuple[str, int]:
    """Return what differs between two loads of one number, as in a store that was restored from a backup."""
    return load.content_digest, microseconds(datetime.fromisoformat(load.started_utc))


def history_tables(state: State, numbers: Collection[int]) -> dict[str, pa.Table]:
    """Return the rows about some loads, and about all files; removed loads are only in the first table."""
    return {name: history_table(name, state, numbers) for name in HISTORY_SCHEMAS}


def history_table(name: str, state: State, numbers: Collection[int]) -> pa.Table:
    """Return the rows about some loads in one of the tables."""
    if name == "load":
        return load_rows(state, numbers)
    if name == _STORED_FILE:
        return _table(_file_rows(state), STORED_FILE_SCHEMA)
    live = [load for load in state.live_loads if load.load_id in numbers]
    if name == "system_clock":
        return _clocks(live)
    return _table((row for load in live for row in _ROWS_OF_LOAD[name](load)), HISTORY_SCHEMAS[name])


def _table(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Build a table from complete rows: a missing column raises KeyError, where Arrow would insert nulls."""
    values = list(rows)
    columns = {name: [row[name] for row in values] for name in schema.names}
    return pa.Table.from_pydict(columns, schema)


def _clocks(loads: list[Load]) -> pa.Table:
    """Return the offsets of clocks from UTC, for the systems and the time of each load."""
    tables = [_LOAD_CLOCK_SCHEMA.empty_table()]
    for load in loads:
        for system, zone in load.zones.items():
            kinds = [kind for kind in load.kinds if kind.system == system]
            times = [time for kind in kinds for time in (kind.first_local, kind.last_local) if time]
            if times:
                first, last = (microseconds(datetime.fromisoformat(t)) for t in (min(times), max(times)))
                spans = clock_spans(system, zone, first, last)
                numbers = pa.array([load.load_id] * spans.num_rows, pa.int64())
                tables.append(spans.add_column(0, _LOAD, numbers).cast(_LOAD_CLOCK_SCHEMA))
    return pa.concat_tables(tables)


def load_rows(state: State, numbers: Collection[int]) -> pa.Table:
    """Return one row for each of some loads, including removed ones."""
    changing = {row["load_id"]: row for row in _from_state(state, numbers).to_pylist()}
    rows = (load_row(state.loads[number]) | changing[number] for number in sorted(numbers))
    return _table(rows, LOAD_SCHEMA)


def _from_state(state: State, numbers: Collection[int]) -> pa.Table:
    """Return the values of loads that later changes of the store can change."""
    sizes = _stored_bytes(state)
    replaced = {number for load in state.loads.values() for number in load.replaces}
    fields = [LOAD_SCHEMA.field(name) for name in ("load_id", *_FROM_STATE)]
    rows = (
        {
            "load_id": number,
            "status": _status(state.loads[number], state, replaced),
            "stored_bytes": sizes.get(number, 0),
        }
        for number in sorted(numbers)
    )
    return _table(rows, pa.schema(fields))


def _status(load: Load, state: State, replaced: set[int]) -> str:
    if load.load_id in state.removed:
        return "replaced" if load.load_id in replaced else "removed"
    return "incomplete" if load.load_id in state.reopened else "loaded"


def load_row(load: Load) -> dict[str, Any]:
    """Return the row of a load, without the columns that depend on other loads."""
    derived: dict[str, Any] = {
        "packing": ", ".join(load.packing) or None,
        "started_utc": datetime.fromisoformat(load.started_utc),
        "mb_per_second": round(load.mb_per_second, 1),
        "issues": sum(load.issues.values()),
        "gaps": len(load.gaps),
        "begun_at_byte": load.begun_at,
        **_times(load.first_local, load.last_local),
    }
    stored = [name for name in LOAD_SCHEMA.names if name not in derived and name not in _FROM_STATE]
    return {name: getattr(load, name) for name in stored} | derived


def _stored_bytes(state: State) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for file in state.files.values():
        for load, rows in file.loads.items():
            sizes[load] = sizes.get(load, 0) + file.bytes * rows // max(1, file.rows)
    return sizes


def _file_rows(state: State) -> Iterable[dict[str, Any]]:
    """Yield the rows of `stored_file`."""
    places: list[tuple[str, str, Iterable[str | None], DataFile | SummaryFile]] = [
        *((f"data/{file.path}", file.table, file.each_day, file) for file in state.files.values()),
        *((file.path, file.step, file.days, file) for file in state.summaries.values()),
    ]
    for path, name, each_day, file in sorted(places, key=lambda each: each[0]):
        days = [date.fromisoformat(day) for day in each_day if day]
        checked = state.checked.get(file.path)
        yield {
            "path": path,
            "table_name": name,
            "first_day": min(days, default=None),
            "last_day": max(days, default=None),
            "rows": file.rows,
            "bytes": file.bytes,
            "checked_utc": datetime.fromisoformat(checked) if checked else None,
            "problem": state.damaged.get(file.path),
        }


def kind_rows(load: Load) -> Iterable[dict[str, Any]]:
    """Yield the rows of `load_kind`."""
    for kind in load.kinds:
        yield {
            "load_id": load.load_id,
            "system": kind.system,
            "record_type": kind.record_type,
            "record_subtype": kind.record_subtype,
            "report": kind.report,
            "records": kind.records,
            "total_bytes": kind.bytes,
            **_times(kind.first_local, kind.last_local),
            "first_utc": datetime.fromisoformat(kind.first_utc) if kind.first_utc else None,
            "last_utc": datetime.fromisoformat(kind.last_utc) if kind.last_utc else None,
        }


def table_rows(load: Load) -> Iterable[dict[str, Any]]:
    """Yield the rows of `load_table`."""
    for name, counts in load.tables.items():
        yield {
            "load_id": load.load_id,
            "table_name": name,
            "rows": counts.stored,
            "duplicates": counts.duplicates,
        }


def gap_rows(load: Load) -> Iterable[dict[str, Any]]:
    """Yield the rows of `load_gap`."""
    for gap in load.gaps:
        yield {
            "load_id": load.load_id,
            "system": gap.system,
            "source": gap.source,
            "from_local": datetime.fromisoformat(gap.from_local),
            "to_local": datetime.fromisoformat(gap.to_local),
            "missing_intervals": gap.missing_intervals,
            "interval_ms": gap.interval_ms,
        }


def offset_rows(load: Load) -> Iterable[dict[str, Any]]:
    """Yield the rows of `load_offset`."""
    for offset in load.offsets:
        yield {
            "load_id": load.load_id,
            "system": offset.system,
            "source": offset.source,
            "from_local": datetime.fromisoformat(offset.from_local),
            "to_local": datetime.fromisoformat(offset.to_local),
            "offset_s": offset.offset_s,
        }


def _times(first: str | None, last: str | None) -> dict[str, datetime | None]:
    return {
        "first_local": datetime.fromisoformat(first) if first else None,
        "last_local": datetime.fromisoformat(last) if last else None,
    }


_ROWS_OF_LOAD: Mapping[str, Callable[[Load], Iterable[dict[str, Any]]]] = {
    "load_kind": kind_rows,
    "load_table": table_rows,
    "load_gap": gap_rows,
    "load_offset": offset_rows,
}
