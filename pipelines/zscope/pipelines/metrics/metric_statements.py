"""The SQL statements of metrics: the view in the catalogue, and queries with a grouping and a selection."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from itertools import cycle
from textwrap import indent
from typing import TYPE_CHECKING

from msgspec import structs

from zscope.pipelines.metrics.declarations import MetricColumn
from zscope.schemas.errors import Error
from zscope.schemas.sql_text import literal
from zscope.schemas.suggestions import with_suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.pipelines.metrics.declarations import Metric

UTC_SPANS = {
    "hour_utc": "INTERVAL 1 HOUR",
    "day_utc": "INTERVAL 24 HOUR",
    "week_utc": "INTERVAL 168 HOUR",
}
"""Time spans of UTC that rows of a metric with a clock can be grouped by; weeks begin on Monday.

They are in hours: with days, DuckDB takes a hundred times as long.
"""
LOCAL_SPANS = ("day", "week")
"""The same on the local clock of the system of a row, as columns of type DATE."""
HOUR_LOCAL = "hour_local"
"""The local hour of rows with a measure of this name; they can be grouped by it, too."""
_DAY = "day"
_SYSTEM = "system"
_LOCAL_DAY = "local_day"
"""The column with the local day, where the rows of a metric have none."""
_MOMENT = "TIMESTAMP WITH TIME ZONE"
WITH_RUNS = "with_runs"
"""The parameter by which hours with benchmark runs count in figures of production."""
_OFFSETS = "clock_offset"
"""The step with the offsets of the clocks of systems."""


_WORD = re.compile(r"\w+")
_TEXT = re.compile(r"'(?:[^']|'')*'")


class MetricQueryError(Error, ValueError):
    """The metric cannot answer the query; the message names what it has."""


@dataclass(frozen=True, slots=True)
class MetricSelection:
    """The rows of a metric that a query selects."""

    systems: tuple[str, ...] = ()
    begin: datetime | None = None
    """The first moment."""
    end: datetime | None = None
    """The first moment after."""
    where: str = ""
    """An SQL condition on the columns of the metric."""
    first_day: date | None = None
    """The first local day."""
    last_day: date | None = None
    """The last local day."""
    chosen: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """The values of filters other than system and period, for a metric that takes them as parameters."""
    with_runs: bool = False
    """Whether hours with benchmark runs count in figures of production."""

    @property
    def has_days(self) -> bool:
        """Whether it selects rows by their local days."""
        return self.first_day is not None or self.last_day is not None

    @property
    def earliest(self) -> datetime | None:
        """The first moment at which a system of any time zone can have a selected row."""
        return self.begin or (_midnight_utc(self.first_day) - _FURTHEST if self.first_day else None)

    @property
    def latest(self) -> datetime | None:
        """The first moment after all selected rows of systems of any time zone."""
        after = timedelta(days=1) + _FURTHEST
        return self.end or (_midnight_utc(self.last_day) + after if self.last_day else None)


_FURTHEST = timedelta(hours=16)
"""Clocks differ from UTC by less."""


def _midnight_utc(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


@cache
def macros_sql() -> str:
    """Return the statements that create the macros of the views. Run them before the views are created."""
    return (files("zscope.pipelines.metrics") / "macros.sql").read_text(encoding="utf-8")


def view_sql(metric: Metric) -> str:
    """Return the statement of the view: rows at the declared grain; none of a step computed in Python."""
    if metric.computed_by:
        return no_rows_sql(metric)
    return _combined_rows(metric, metric.grain, _computed(metric)) if metric.combinable else metric.sql


def no_rows_sql(metric: Metric) -> str:
    """Return a statement with the columns of the view and no rows."""
    columns = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in metric.view_columns)
    return f"SELECT {columns} WHERE false"


def statement(
    metric: Metric, by: Sequence[str] | None = None, selection: MetricSelection | None = None
) -> str:
    """Return the statement for the selected rows of a metric, grouped by these columns or by its grain.

    An empty `by` combines all rows into one, or into one for each value of columns that are never combined.
    """
    keys = metric.grain if by is None else _with_apart_columns(metric, by)
    if by is not None and not metric.combinable:
        selection = _of_division(metric, by, selection or MetricSelection())
    finest = finest_rows(metric, selection, by_local_day=bool({*keys} & {*LOCAL_SPANS}))
    if not metric.combinable:
        added = f" EXCLUDE ({_LOCAL_DAY})" if _needs_local_day(metric, selection) else ""
        return f"SELECT *{added} FROM {finest}"
    where = selection.where if selection else ""
    return _combined_rows(metric, keys, finest, where if names_calculated(metric, where) else "")


def _of_division(metric: Metric, by: Sequence[str], selection: MetricSelection) -> MetricSelection:
    """Select the rows that have one for each value of a column, and for each system."""
    if not metric.rows_by:
        raise MetricQueryError(
            f"{metric.name}: its rows cannot be combined, so there is no --by; they are by "
            f"{', '.join(metric.grain)}, by which --where selects them"
        )
    division = [key for key in by if key != _SYSTEM] or [*by]
    if len(division) != 1 or division[0] not in metric.rows_by:
        key = next((key for key in division if key not in metric.rows_by), ",".join(by))
        names = [*metric.rows_by, *(LOCAL_SPANS if metric.in_time else ())]
        message = f"{metric.name} has no rows by {key!r}; there is one of: {', '.join(names)}"
        raise MetricQueryError(with_suggestion(message, key, names))
    condition = metric.rows_by[division[0]]
    where = f"({condition}) AND ({selection.where}\n)" if selection.where else condition
    return replace(selection, where=where)


def names_calculated(metric: Metric, where: str) -> bool:
    """Whether a condition names calculated columns: it selects from the rows after they are combined.

    Others select rows before they are combined.
    """
    words = set(_WORD.findall(_TEXT.sub("", where)))
    return any(column.name in words for column in metric.derived)


def _combined_rows(metric: Metric, keys: Sequence[str], finest: str, where: str = "") -> str:
    """Return the statement that groups the finest rows of a metric, given as text for a FROM clause.

    A condition selects from the groups.
    """
    measures = [column for column in metric.measures if column.name not in keys]
    grouped = [_key(metric, key) for key in keys] + [_combined(column) for column in measures]
    group = f"\nGROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}" if keys else ""
    combined = f"SELECT\n{indent(_listed(grouped), '    ')}\nFROM {finest}{group}"
    derived = [f"CAST({column.source} AS {column.type}) AS {column.name}" for column in metric.derived]
    order = f"\nORDER BY {', '.join(f'{n + 1} NULLS LAST' for n in range(len(keys)))}" if keys else ""
    columns = indent(_listed(["*", *derived]), "    ")
    rows = f"SELECT\n{columns}\nFROM (\n{indent(combined, '    ')}\n) AS combined"
    return f"SELECT * FROM (\n{rows}\n) WHERE ({where}\n){order}" if where else rows + order


def finest_rows(
    metric: Metric, selection: MetricSelection | None = None, *, by_local_day: bool = False
) -> str:
    """Return the selected rows of a metric before they are combined, for the FROM clause of a statement.

    The rows get a column with their local day if they are selected or grouped by it and do not have it.
    """
    conditions = _conditions(metric, selection or MetricSelection())
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    # Rows that are kept are in a table; those of a combinable metric at its grain, which has all dimensions.
    rows = f"{metric.name} AS finest" if metric.keep else _computed(metric)
    if _needs_local_day(metric, selection) or (by_local_day and _adds_local_day(metric)):
        rows = f"(\n{indent(_with_local_day(metric, rows), '    ')}\n) AS finest"
    return rows + where


def _computed(metric: Metric) -> str:
    return f"(\n{indent(metric.sql, '    ')}\n) AS finest"


def _monday_of(day: str) -> str:
    """Return the SQL expression of the first day of a week."""
    return f"({day} - (isodow({day}) - 1)::INTEGER)"


def with_day_bounds(metric: Metric, span: str, begin: str, end: str) -> Metric:
    """Add the begin and end of the local day or week of each row to a metric, in columns of these names."""
    day = _DAY if _has_local_day(metric) else _LOCAL_DAY
    first, days = (day, 1) if span == _DAY else (_monday_of(day), 7)
    meaning, _, _ = metric.sql.partition("\n")
    begin_offset, end_offset, joins = "0", "0", ""
    if _has_system(metric):
        begin_offset, end_offset = "b.offset_s", "e.offset_s"
        joins = (
            f"\nASOF LEFT JOIN {_OFFSETS} AS b ON r.system = b.system AND r.first_day >= b.from_local"
            f"\nASOF LEFT JOIN {_OFFSETS} AS e ON r.system = e.system AND r.day_after >= e.from_local"
        )
    sql = (
        f"{meaning}\nSELECT\n    r.*,\n    day_begin(r.first_day, {begin_offset}) AS {begin},\n"
        f"    day_begin(r.day_after, {end_offset}) AS {end}\nFROM (\n    SELECT\n        *,\n"
        f"        {first}::TIMESTAMP AS first_day,\n        ({first} + {days})::TIMESTAMP AS day_after\n"
        f"    FROM {finest_rows(metric, by_local_day=True)}\n) AS r{joins}"
    )
    added: tuple[MetricColumn, ...] = (
        MetricColumn(begin, _MOMENT, "Start of the first day.", combine="min"),
        MetricColumn(end, _MOMENT, "End of the last day.", combine="max"),
    )
    if not _has_local_day(metric):
        sql = f"{meaning}\nSELECT * RENAME ({_LOCAL_DAY} AS {_DAY}) FROM (\n{indent(sql, '    ')}\n)"
        added = (*added, MetricColumn(_DAY, "DATE", "Day on the clock of the system.", dimension=True))
    return structs.replace(metric, sql=sql, keep=False, columns=(*metric.columns, *added))


def _has_local_day(metric: Metric) -> bool:
    """Whether the rows of a metric state their local day: as a dimension, not as the day of their records."""
    return any(column.name == _DAY and column.type == "DATE" for column in metric.dimensions)


def _adds_local_day(metric: Metric) -> bool:
    """Whether the local day of a row of a metric follows from its clock."""
    return bool(metric.clock) and not _has_local_day(metric)


def _needs_local_day(metric: Metric, selection: MetricSelection | None) -> bool:
    return bool(selection and selection.has_days and not metric.period) and _adds_local_day(metric)


def _with_local_day(metric: Metric, rows: str) -> str:
    """Return the statement that adds the local day to rows; without a system it is that of UTC."""
    if not _has_system(metric):
        return f"SELECT\n    *,\n    local_day({metric.clock}, 0) AS {_LOCAL_DAY}\nFROM {rows}"
    return (
        f"SELECT\n    finest.*,\n    local_day(finest.{metric.clock}, o.offset_s) AS {_LOCAL_DAY}\n"
        f"FROM {rows}\nASOF LEFT JOIN {_OFFSETS} AS o\n"
        f"    ON finest.system = o.system AND finest.{metric.clock} >= o.from_utc"
    )


def _has_system(metric: Metric) -> bool:
    return any(column.name == "system" and column.in_file for column in metric.columns)


def _listed(expressions: Sequence[str]) -> str:
    return ",\n".join(expressions)


def settings(metric: Metric, selection: MetricSelection) -> list[str]:
    """Return the statements that set what a metric takes as parameters: period, filters, benchmark runs.

    The parameters of a period are moments: a local day begins when it begins on the first of the systems,
    and ends when it ends on the last.
    """
    first = selection.begin and moment(selection.begin)
    last = selection.end and moment(selection.end)
    if selection.first_day:
        first = first_moment(selection.first_day, selection.systems)
    if selection.last_day:
        last = first_moment_after(selection.last_day, selection.systems)
    times = zip(metric.period, cycle((first, last)), strict=False)
    values = {name: value for name, value in times if value}
    if selection.with_runs:
        values[WITH_RUNS] = "true"
    for name, parameter in metric.filters.items():
        if chosen := selection.systems if name == "system" else selection.chosen.get(name):
            values[parameter] = f"[{', '.join(literal(str(each)) for each in chosen)}]"
    return [f"SET VARIABLE {name} = {value}" for name, value in values.items()]


def earlier_settings(first: date, last: date, systems: Sequence[str] = ()) -> list[str]:
    """Return the statements that set the earlier one of the periods that are compared."""
    return [
        f"SET VARIABLE earlier_from = {first_moment(first, systems)}",
        f"SET VARIABLE earlier_to = {first_moment_after(last, systems)}",
    ]


def first_moment(day: date, systems: Sequence[str] = ()) -> str:
    """Return the SQL expression for the moment at which a local day begins on the first of some systems."""
    return _midnight_of_systems("min", day, systems)


def first_moment_after(day: date, systems: Sequence[str] = ()) -> str:
    """Return the SQL expression for the moment at which a local day ends on the last of some systems."""
    return _midnight_of_systems("max", day + timedelta(days=1), systems)


def _midnight_of_systems(combine: str, day: date, systems: Sequence[str]) -> str:
    """Return the SQL expression for the first or last moment at which a local day begins on some systems."""
    chosen = f" WHERE system IN ({', '.join(map(literal, systems))})" if systems else ""
    return (
        f"coalesce((SELECT {combine}(midnight) FROM (SELECT day_begin({_day_literal(day)}, "
        f"arg_max(offset_s, from_local) FILTER (WHERE from_local <= {_day_literal(day)})) AS midnight "
        f"FROM {_OFFSETS}{chosen} GROUP BY system)), day_begin({_day_literal(day)}, 0))"
    )


def _with_apart_columns(metric: Metric, by: Sequence[str]) -> tuple[str, ...]:
    apart = (column.name for column in metric.dimensions if column.apart)
    return (*(name for name in apart if name not in by), *by)


def _key(metric: Metric, key: str) -> str:
    hours = [column.name for column in metric.measures if column.name == HOUR_LOCAL]
    if key in {*hours, *(column.name for column in metric.dimensions)}:
        return key
    if key in UTC_SPANS and metric.clock:
        # Not date_trunc: that follows the time zone of the session.
        return f"time_bucket({UTC_SPANS[key]}, {metric.clock}) AS {key}"
    if key in LOCAL_SPANS and (metric.clock or _has_local_day(metric)):
        day = _DAY if _has_local_day(metric) else _LOCAL_DAY
        return f"{day} AS {key}" if key == _DAY else f"{_monday_of(day)} AS {key}"
    spans = LOCAL_SPANS if metric.clock or _has_local_day(metric) else ()
    spans = (*spans, *UTC_SPANS) if metric.clock else spans
    names = list(dict.fromkeys([*(column.name for column in metric.dimensions), *hours, *spans]))
    message = f"{metric.name} has no {key!r} to group by; there is: {', '.join(names)}"
    raise MetricQueryError(with_suggestion(message, key, names))


def _combined(column: MetricColumn) -> str:
    return f"CAST({column.combine}({column.name}) AS {column.type}) AS {column.name}"


def _conditions(metric: Metric, selection: MetricSelection) -> list[str]:
    names = {column.name for column in metric.columns if column.in_file}
    conditions = []
    if selection.systems and "system" not in metric.filters:
        if "system" not in names:
            raise MetricQueryError(f"{metric.name} has no column system")
        conditions.append(f"system IN ({', '.join(literal(system) for system in selection.systems)})")
    if (selection.begin or selection.end or selection.has_days) and not metric.period:
        only_days = not (selection.begin or selection.end) and _has_local_day(metric)
        if not metric.clock and not only_days:
            if _has_local_day(metric):
                raise MetricQueryError(
                    f"{metric.name} has local days, and no times: select days, such as 2026-03-02"
                )
            in_time = f"; {metric.in_time} has its days" if metric.in_time else ""
            raise MetricQueryError(
                f"{metric.name} has no time column, so there is no period to select{in_time}"
            )
        day = _DAY if _has_local_day(metric) else _LOCAL_DAY
        if selection.first_day:
            conditions.append(f"{day} >= {_day_literal(selection.first_day)}")
        if selection.last_day:
            conditions.append(f"{day} <= {_day_literal(selection.last_day)}")
        if selection.begin:
            conditions.append(f"{metric.clock} >= {moment(selection.begin)}")
        if selection.end:
            conditions.append(f"{metric.clock} < {moment(selection.end)}")
    if selection.where and not names_calculated(metric, selection.where):
        conditions.append(f"({selection.where}\n)")
    return conditions


def moment(time: datetime) -> str:
    """Return a moment as an SQL literal."""
    return f"TIMESTAMPTZ {literal(time.isoformat())}"


def _day_literal(day: date) -> str:
    return f"DATE {literal(day.isoformat())}"
