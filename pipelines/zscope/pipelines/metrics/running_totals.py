"""The rows of a table as people see them: the use of intervals, also where records count from a start on.

A difference needs the record before, which another load can have. Therefore the files have the values of the
records, and differences are computed when they are read: after a load was removed, or older records were
loaded, they are right. A record that is more than a day older does not count as the one before: the rows of a
day need the records of that day and the day before, and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.schemas.arrow import duckdb_type
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import BASIS, DAY, SUBTYPE, running_of, stored_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.schemas.model import RunningTotals

DIFFERENCE, RESTART, FIRST = "difference", "since restart", "no record before"
_START = "interval_start_utc"
_END = "coalesce(interval_end_utc, written_utc)"
_A_DAY = "INTERVAL 24 HOUR"


def visible_rows_sql(table: str, source: str) -> str:
    """Return the statement for the rows of a table, from a view over its data files.

    >>> visible_rows_sql("smf70_cpu", "files.smf70_cpu")
    'SELECT * FROM files.smf70_cpu'
    """
    totals = running_of(table)
    if totals is None:
        return f"SELECT * FROM {source}"
    columns = [*stored_schema(table).names, DAY.name]
    recorded = ", ".join(_basis(totals) if name == BASIS.name else name for name in columns)
    differences = ",\n    ".join(_difference(table, name, totals) for name in columns)
    subtypes = ", ".join(str(subtype) for subtype in totals.subtypes)
    return f"""SELECT {recorded}
FROM {source}
WHERE {SUBTYPE} IN ({subtypes}) IS NOT TRUE
UNION ALL
SELECT
    {differences}
FROM (
    SELECT *, CASE {" ".join(_reasons(totals))} ELSE {literal(DIFFERENCE)} END AS found_basis
    FROM (
        SELECT
            *,
            lag({_END}) OVER in_time AS end_before,
            lag(load_id) OVER in_time IS NULL OR coalesce(end_before < {_END} - {_A_DAY}, false) AS is_first,
            {_before(totals)}
        FROM {source}
        WHERE {SUBTYPE} IN ({subtypes})
        WINDOW in_time AS (
            PARTITION BY {", ".join(totals.same)}
            ORDER BY {_END}, written_local, load_id, record_no
        )
    )
)"""


def _basis(totals: RunningTotals) -> str:
    cases = " ".join(f"WHEN {subtype} THEN {literal(text)}" for subtype, text in totals.basis.items())
    return f"CASE {SUBTYPE} {cases} END::{duckdb_type(BASIS.type)} AS {BASIS.name}"


def _difference(table: str, name: str, totals: RunningTotals) -> str:
    kind = duckdb_type(BASIS.type)
    if name == BASIS.name:
        return f"found_basis::{kind} AS {name}"
    if name == _START:
        return f"if(is_first, NULL, end_before) AS {name}"
    if name not in totals.columns:
        return name
    return (
        f"CASE found_basis WHEN {literal(RESTART)} THEN {name} WHEN {literal(DIFFERENCE)} THEN "
        f"CASE WHEN {name} >= {name}_before THEN {name} - {name}_before END "
        f"END::{duckdb_type(stored_schema(table).field(name).type)} AS {name}"
    )


def _before(totals: RunningTotals) -> str:
    columns = [f"lag({name}) OVER in_time AS {name}_before" for name in totals.columns]
    fallen = [
        f"{value} < lag({value}) OVER in_time AS fallen_{number}"
        for number, value in enumerate(totals.restart)
    ]
    return ",\n            ".join([*columns, *fallen])


def _reasons(totals: RunningTotals) -> Iterator[str]:
    yield f"WHEN is_first THEN {literal(FIRST)}"
    for number in range(len(totals.restart)):
        yield f"WHEN fallen_{number} THEN {literal(RESTART)}"
