"""Name the systems whose rows a metric leaves out because their time zone is not known.

The load history shows this without reading rows: a load has the systems of its records and reports, and the
time zones with which it converted their times. A table concerns a metric if the SQL of the metric, or of a
step below it, reads the time in UTC that the store adds to the table.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from zscope.parsers.zones import offset_text
from zscope.pipelines.metrics.declarations import declared
from zscope.schemas import catalog
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import local_clock, stored_schema, utc_clock
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

_OFFSET = "local_offset_us"
"""Column of the records that state the offset of their clock: their times are known without a time zone."""
_OWN_TIMES = frozenset({"start_utc", "end_utc", "interval_end_utc"})
_SETTLING = re.compile(r"\butc_of_writing\([^)]*\)")
"""Without a time zone this macro tells the time in UTC of a record from the end of its connection."""
_ONLY_COVERAGE = frozenset({"covered_day", "tls_use_covered"})
"""Steps that only add how much of the time is covered, which is null if it is not known."""
_MOST_LOADS = 10


@cache
def tables_that_need_zones(metric: str) -> frozenset[str]:
    """Return the tables whose rows a metric uses in another way, or not at all, without a time zone.

    >>> sorted(tables_that_need_zones("gsk_cache_delta"))
    ['gsk_cache_stats']
    >>> tables_that_need_zones("handshake_mix")
    frozenset()
    """
    step = declared()[metric]
    below = [
        tables_that_need_zones(name)
        for name in step.inputs
        if name in declared() and name not in _ONLY_COVERAGE
    ]
    own = {name for name in step.inputs if name in table_names() and _reads_added_time(step.sql, name)}
    return frozenset(own.union(*below))


def _reads_added_time(sql: str, table: str) -> bool:
    """Whether a statement that reads a table uses a time in UTC that a time zone adds to it."""
    clock = local_clock(table)
    if clock is None or _states_offset(table):
        return False
    added = re.compile(rf"\b{utc_clock(clock)}\b")
    sql = _SETTLING.sub("", sql)
    if _OWN_TIMES.isdisjoint(stored_schema(table).names):
        return bool(added.search(sql))
    # The rows have another time in UTC; only a part of the SQL that names the table and the time needs both.
    return any(added.search(part) and re.search(rf"\b{table}\b", part) for part in sql.split("\n\n"))


@cache
def _states_offset(table: str) -> bool:
    """Whether a table is of records that state the offset, in this table or another one."""
    tables = list(catalog().tables())
    kinds = {(record.type, record.subtype) for record, each in tables if each.name == table}
    return any(
        _OFFSET in stored_schema(each.name).names
        for record, each in tables
        if (record.type, record.subtype) in kinds
    )


def unzoned_query(metrics: Iterable[str], systems: Iterable[str] = ()) -> str:
    """Return the query for the loads without a time zone that concern metrics; empty if none can.

    With `systems` only these are considered. The rows are for `unzoned_note`.
    """
    needing = frozenset[str]().union(*map(tables_that_need_zones, metrics))
    if not needing:
        return ""
    by_record = [
        f"({literal(table.name)}, {record.type}, {'NULL' if record.subtype is None else record.subtype})"
        for record, table in catalog().tables()
        if table.name in needing
    ]
    reported = ", ".join(literal(name) for name in sorted(needing))
    chosen = ", ".join(literal(name) for name in systems)
    only = f"AND k.system IN ({chosen})" if chosen else ""
    pairs = ", ".join(by_record) or "(NULL, NULL, NULL)"
    return f"""
        WITH need(table_name, record_type, record_subtype) AS (VALUES {pairs}),

        filled AS (
            SELECT load_id, table_name FROM load_table WHERE rows > 0 AND table_name IN ({reported})
        ),

        unzoned AS (
            SELECT DISTINCT k.system, k.load_id
            FROM load_kind AS k
            INNER JOIN filled AS f ON k.load_id = f.load_id
            LEFT JOIN need AS n
                ON f.table_name = n.table_name AND k.record_type = n.record_type
                AND k.record_subtype IS NOT DISTINCT FROM n.record_subtype
            ANTI JOIN system_clock AS c ON k.load_id = c.load_id AND k.system = c.system
            WHERE k.system IS NOT NULL AND k.first_local IS NOT NULL
                AND (k.record_type IS NULL OR n.table_name IS NOT NULL) {only}
        ),

        known AS (
            SELECT system, list_sort(list(DISTINCT offset_s)) AS offsets FROM load_offset GROUP BY system
        ),

        configured AS (
            SELECT system, list_sort(list(DISTINCT zone)) AS zones FROM system_clock GROUP BY system
        )

        SELECT u.system, list_sort(list(u.load_id)) AS loads, any_value(k.offsets) AS offsets,
            any_value(c.zones) AS zones
        FROM unzoned AS u
        LEFT JOIN known AS k ON u.system = k.system
        LEFT JOIN configured AS c ON u.system = c.system
        GROUP BY u.system
        ORDER BY u.system
    """


def unzoned_note(rows: pa.Table) -> str:
    """Return the note about the rows of `unzoned_query`; empty without rows."""
    systems = rows.to_pylist()
    if not systems:
        return ""
    names = ", ".join(row["system"] for row in systems)
    loads = sorted({load for row in systems for load in row["loads"]})
    listed = " ".join(map(str, loads[:_MOST_LOADS]))
    more = f" and {len(loads) - _MOST_LOADS} more" if loads[_MOST_LOADS:] else ""
    zones = {row["system"]: _zone(row["zones"] or [], row["offsets"] or []) for row in systems}
    options = " ".join(f"--timezone {system}={zone or 'ZONE'}" for system, zone in zones.items())
    unknown = (
        "" if all(zones.values()) else " (ZONE is a name such as Europe/Berlin, or an offset such as +01:00)"
    )
    whose, files = "its" if len(systems) == 1 else "their", "file" if len(loads) == 1 else "files"
    return (
        f"rows of {names} have no time in UTC, because {whose} time zone is not configured: they are in no "
        f"period and are not combined with other sources; to repair: zscope loads remove {listed}{more}, and "
        f"then ingest the {files} again with {options}{unknown}"
    )


def _zone(zones: list[str], offsets: list[int]) -> str:
    """Return the zone of other loads or the offset in records, if there is only one; otherwise empty.

    A fixed offset of other loads counts only if the records show no other one.
    """
    shown = [offset_text(offset) for offset in offsets]
    named = [zone for zone in zones if zone[0] not in "+-"]
    known = named or list(dict.fromkeys([*zones, *shown]))
    return known[0] if len(known) == 1 else ""
