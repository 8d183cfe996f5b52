"""The rows of the parts of a report, from the data of a page or of a command."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from zscope.app.report.section_declarations import TIME, TIME_COLUMN, TITLE_COLUMN
from zscope.app.shared.far_times import far_texts, is_far
from zscope.pipelines.benchmark.wording import plain_title
from zscope.pipelines.metrics import metric
from zscope.schemas.published import published_tables
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from zscope.app.report.section_declarations import PartDeclaration
    from zscope.app.shared.filters import Filters

Row = dict[str, Any]
_COUNT = "rows_in_all"
_HOURLY = timedelta(days=2)
"""Up to this length the course of time has hours in UTC, otherwise local days."""


class ReportData(Protocol):
    """One version of a store, narrowed by filters."""

    @property
    def filters(self) -> Filters:
        """What was chosen."""

    def found(self, name: str, sql: str, by: Sequence[str] | None = None, where: str = "") -> pa.Table:
        """Return the rows of a statement on `found`: the rows of a metric that match the filters."""

    def rows(self, sql: str) -> pa.Table:
        """Return the rows of a statement on the store, which the filters do not narrow."""

    def without_effect(self, name: str) -> tuple[str, ...]:
        """Return the filters that are set but cannot narrow a metric."""

    def missing_zones(self) -> str:
        """Return the note about systems without a time zone that concern the metrics read; often empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRows:
    """The rows of a part that are shown."""

    part: PartDeclaration
    rows: tuple[Row, ...]
    count: int
    """The number of all rows."""
    has_data: bool
    """Whether the metric or the tables have any rows for the filters, whatever the part selects."""
    by: tuple[str, ...] | None = None
    where: str = ""
    hourly: bool = False
    """Whether the rows of a course of time are hours."""
    ignored: tuple[str, ...] = ()
    """The filters that are set but cannot narrow these rows."""


def part_rows(data: ReportData, part: PartDeclaration, filled: dict[str, bool]) -> PartRows:
    """Return the rows of a part; `filled` keeps which metrics have any rows, for the next parts."""
    if part.query:
        return _of_query(data, part)
    by, moment, hourly = _grouping(data, part)
    where = _condition(data, part)
    selected = ", ".join(f"{moment} AS {name}" if name == TIME_COLUMN else name for name in part.selected)
    inner = f"SELECT {part.select or selected} FROM found"
    if part.having:
        inner += f" WHERE {part.having}"
    if part.group_by:
        inner += f" GROUP BY {part.group_by}"
    table = data.found(part.metric, _limited(inner, part), by, where)
    if table.num_rows:
        filled[part.metric] = True
    elif not (part.where or part.having or part.source or part.group_by):
        filled[part.metric] = False
    elif part.metric not in filled:
        filled[part.metric] = _has_rows(data, part)
    rows = _titled(_plain_rows(table), part)
    return PartRows(
        part=part,
        rows=tuple({name: row[name] for name in row if name != _COUNT} for row in rows),
        count=rows[0][_COUNT] if rows else 0,
        has_data=filled[part.metric],
        by=by,
        where=where,
        hourly=hourly,
        ignored=data.without_effect(part.metric),
    )


def _of_query(data: ReportData, part: PartDeclaration) -> PartRows:
    """The rows of a query, for the chosen systems if it tells them apart."""
    conditions = data.filters.conditions(("system",) if "system" in part.columns else ())
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    table = data.rows(_limited(f"SELECT {', '.join(part.selected)} FROM ({part.query}){where}", part))
    rows = _plain_rows(table)
    return PartRows(
        part=part,
        rows=tuple({name: row[name] for name in part.selected} for row in rows),
        count=rows[0][_COUNT] if rows else 0,
        has_data=bool(rows) or bool(data.rows("SELECT 1 FROM load LIMIT 1").num_rows),
    )


def _limited(inner: str, part: PartDeclaration) -> str:
    return f"SELECT *, count(*) OVER () AS {_COUNT} FROM ({inner}) ORDER BY {part.order} LIMIT {part.most}"


def _grouping(data: ReportData, part: PartDeclaration) -> tuple[tuple[str, ...] | None, str, bool]:
    """What the rows are grouped by, the column with the moment, and whether that is an hour."""
    if part.by is None or TIME not in part.by:
        return part.by, "", False
    clock = metric(part.metric).clock
    [ends] = data.found(
        part.metric, f"SELECT min({clock}) AS first, max({clock}) AS last FROM found", [clock]
    ).to_pylist()
    hourly = ends["first"] is None or ends["last"] - ends["first"] < _HOURLY
    by = tuple((clock if hourly else "day") if key == TIME else key for key in part.by)
    return by, clock if hourly else "day", hourly


def _condition(data: ReportData, part: PartDeclaration) -> str:
    """The condition of the part; of several sources of the same connections the one with the most."""
    if not part.source:
        return part.where
    listed = ", ".join(map(literal, part.source))
    best = data.found(
        part.metric,
        f"SELECT source FROM found WHERE source IN ({listed}) GROUP BY source "
        f"ORDER BY sum(connections) DESC NULLS LAST, list_position([{listed}], source) LIMIT 1",
    ).to_pylist()
    of_source = f"source = {literal(best[0]['source'] if best else part.source[0])}"
    return f"{of_source} AND ({part.where})" if part.where else of_source


def _has_rows(data: ReportData, part: PartDeclaration) -> bool:
    return bool(data.found(part.metric, "SELECT 1 AS one FROM found LIMIT 1").num_rows)


def _plain_rows(table: pa.Table) -> list[Row]:
    """Return rows of Python values; moments that Python does not have are texts."""
    columns = {
        name: [value for chunk in table[name].chunks for value in _values(chunk)]
        for name in table.column_names
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _values(chunk: pa.Array) -> list[object]:
    values: list[object] = far_texts(chunk).to_pylist() if is_far(chunk) else chunk.to_pylist()
    return values


def _titled(rows: list[Row], part: PartDeclaration) -> list[Row]:
    if not part.titled:
        return rows
    titles = {
        result["id"]: plain_title(
            {**result, "published_value": result["value"], "published_direction": result["direction"]}
        )
        for result in published_tables()["reference_result"].to_pylist()
    }
    return [{**row, TITLE_COLUMN: titles.get(row[part.titled])} for row in rows]


def store_facts(data: ReportData) -> Row:
    """Return how much is loaded, its first and last time for the chosen systems, whether it is synthetic."""
    systems = data.filters.conditions(("system",)) if data.filters.systems else []
    only = f"AND {' AND '.join(systems)}" if systems else ""
    table = data.rows(f"""
        WITH stored AS (FROM load WHERE status IN ('loaded', 'incomplete')),
        timed AS (
            SELECT k.first_local, k.last_local,
                (min(k.first_local - to_seconds(a.offset_s)) AT TIME ZONE 'UTC') AS first_utc,
                (max(k.last_local - to_seconds(b.offset_s)) AT TIME ZONE 'UTC') AS last_utc
            FROM (
                FROM load_kind SEMI JOIN stored USING (load_id)
                WHERE coalesce(record_type, 0) NOT IN (2, 3) AND first_local IS NOT NULL {only}
            ) AS k
            LEFT JOIN system_clock AS a ON a.load_id = k.load_id AND a.system = k.system
                AND k.first_local >= a.from_local AND k.first_local < a.to_local
            LEFT JOIN system_clock AS b ON b.load_id = k.load_id AND b.system = k.system
                AND k.last_local >= b.from_local AND k.last_local < b.to_local
            GROUP BY ALL
        )
        SELECT (SELECT count(*) FROM stored) AS loads,
            (SELECT coalesce(sum(rows), 0)::BIGINT FROM stored) AS rows,
            (SELECT max(started_utc) FROM stored) AS last_load_utc,
            (SELECT coalesce(bool_or(synthetic), false) FROM run) AS synthetic,
            min(first_local) AS first_local, max(last_local) AS last_local, min(first_utc) AS first_utc,
            max(last_utc) AS last_utc, coalesce(bool_and(first_utc IS NOT NULL), false) AS in_utc
        FROM timed
    """)
    return _plain_rows(table)[0]
