"""The SQL statements of metrics: the view in the catalogue, and queries with a grouping and a selection."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import indent
from typing import TYPE_CHECKING

from zscope.schemas.errors import Error
from zscope.schemas.sql_text import literal
from zscope.schemas.suggestions import with_suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zscope.pipelines.metrics.declarations import Metric, MetricColumn

_SPANS = {"day": "INTERVAL 24 HOUR", "week": "INTERVAL 168 HOUR"}
"""Time spans that rows of a metric with a clock can be grouped by; weeks begin on Monday.

They are in hours: with days, DuckDB takes a hundred times as long.
"""


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
    finest = finest_rows(metric, selection)
    if not metric.combinable:
        if by is not None:
            raise MetricQueryError(f"{metric.name}: its rows cannot be combined, so there is no --by")
        return f"SELECT * FROM {finest}"
    return _combined_rows(metric, metric.grain if by is None else _with_apart_columns(metric, by), finest)


def _combined_rows(metric: Metric, keys: Sequence[str], finest: str) -> str:
    """Return the statement that groups the finest rows of a metric, given as text for a FROM clause."""
    grouped = [_key(metric, key) for key in keys] + [_combined(column) for column in metric.measures]
    group = f"\nGROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}" if keys else ""
    combined = f"SELECT\n{indent(_listed(grouped), '    ')}\nFROM {finest}{group}"
    derived = [f"CAST({column.source} AS {column.type}) AS {column.name}" for column in metric.derived]
    order = f"\nORDER BY {', '.join(f'{n + 1} NULLS LAST' for n in range(len(keys)))}" if keys else ""
    columns = indent(_listed(["*", *derived]), "    ")
    return f"SELECT\n{columns}\nFROM (\n{indent(combined, '    ')}\n) AS combined{order}"


def finest_rows(metric: Metric, selection: MetricSelection | None = None) -> str:
    """Return the selected rows of a metric before they are combined, for the FROM clause of a statement."""
    conditions = _conditions(metric, selection or MetricSelection())
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    # Rows that are kept are in a table; those of a combinable metric at its grain, which has all dimensions.
    return (f"{metric.name} AS finest" if metric.keep else _computed(metric)) + where


def _computed(metric: Metric) -> str:
    return f"(\n{indent(metric.sql, '    ')}\n) AS finest"


def _listed(expressions: Sequence[str]) -> str:
    return ",\n".join(expressions)


def settings(metric: Metric, selection: MetricSelection) -> list[str]:
    """Return the statements that set the period of a metric that takes it as parameters."""
    times = zip(metric.period, (selection.begin, selection.end), strict=False)
    return [f"SET VARIABLE {name} = {moment(time)}" for name, time in times if time]


def _with_apart_columns(metric: Metric, by: Sequence[str]) -> tuple[str, ...]:
    apart = (column.name for column in metric.dimensions if column.apart)
    return (*(name for name in apart if name not in by), *by)


def _key(metric: Metric, key: str) -> str:
    if key in {column.name for column in metric.dimensions}:
        return key
    if key in _SPANS and metric.clock:
        # Not date_trunc: that follows the time zone of the session.
        return f"time_bucket({_SPANS[key]}, {metric.clock}) AS {key}_utc"
    names = [column.name for column in metric.dimensions] + (list(_SPANS) if metric.clock else [])
    message = f"{metric.name} has no {key!r} to group by; there is: {', '.join(names)}"
    raise MetricQueryError(with_suggestion(message, key, names))


def _combined(column: MetricColumn) -> str:
    return f"CAST({column.combine}({column.name}) AS {column.type}) AS {column.name}"


def _conditions(metric: Metric, selection: MetricSelection) -> list[str]:
    names = {column.name for column in metric.columns if column.in_file}
    conditions = []
    if selection.systems:
        if "system" not in names:
            raise MetricQueryError(f"{metric.name} has no column system")
        conditions.append(f"system IN ({', '.join(literal(system) for system in selection.systems)})")
    if (selection.begin or selection.end) and not metric.period:
        if not metric.clock:
            raise MetricQueryError(f"{metric.name} has no time column, so there is no period to select")
        if selection.begin:
            conditions.append(f"{metric.clock} >= {moment(selection.begin)}")
        if selection.end:
            conditions.append(f"{metric.clock} < {moment(selection.end)}")
    if selection.where:
        conditions.append(f"({selection.where}\n)")
    return conditions


def moment(time: datetime) -> str:
    """Return a moment as an SQL literal."""
    return f"TIMESTAMPTZ {literal(time.isoformat())}"
