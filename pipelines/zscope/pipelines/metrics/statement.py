"""The statements that metrics become: the view of the catalogue, and what a user asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import indent
from typing import TYPE_CHECKING

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.pipelines.metrics.model import Column, Metric

_SPANS = {"day": "INTERVAL 1 DAY", "week": "INTERVAL 7 DAY"}
"""Spans of time that rows can be grouped by where the metric has a clock; weeks begin on Monday."""


class AskedWronglyError(Exception):
    """What was asked is not in the metric; the message says what is."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows wanted of a metric."""

    systems: tuple[str, ...] = ()
    begin: datetime | None = None
    """From this moment on."""
    end: datetime | None = None
    """Before this moment."""
    where: str = ""
    """A condition in SQL on the columns of the metric."""


def view_sql(metric: Metric) -> str:
    """The statement behind the view: rows at the declared grain."""
    return statement(metric) if metric.combinable else metric.sql


def statement(metric: Metric, by: Sequence[str] | None = None, selection: Selection | None = None) -> str:
    """The statement for rows of a metric: grouped by these columns, of these rows; whole by default.

    An empty `by` puts all rows together into one, or into one for each value of what must be kept apart.
    """
    conditions = _conditions(metric, selection or Selection())
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    finest = f"(\n{indent(metric.sql, '    ')}\n) AS finest{where}"
    if not metric.combinable:
        if by is not None:
            raise AskedWronglyError(f"{metric.name}: its rows cannot be put together, so there is no --by")
        return f"SELECT * FROM {finest}"
    keys = metric.grain if by is None else _with_what_is_kept_apart(metric, by)
    grouped = [_key(metric, key) for key in keys] + [_combined(column) for column in metric.measures]
    group = f"\nGROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}" if keys else ""
    combined = f"SELECT\n{indent(_listed(grouped), '    ')}\nFROM {finest}{group}"
    derived = [f"CAST({column.source} AS {column.type}) AS {column.name}" for column in metric.derived]
    order = f"\nORDER BY {', '.join(f'{n + 1} NULLS LAST' for n in range(len(keys)))}" if keys else ""
    columns = indent(_listed(["*", *derived]), "    ")
    return f"SELECT\n{columns}\nFROM (\n{indent(combined, '    ')}\n) AS combined{order}"


def _listed(expressions: Sequence[str]) -> str:
    return ",\n".join(expressions)


def settings(metric: Metric, selection: Selection) -> list[str]:
    """Statements that set the parameters by which a metric takes a period, if it has such."""
    times = zip(metric.period, (selection.begin, selection.end), strict=False)
    return [f"SET VARIABLE {name} = {moment(time)}" for name, time in times if time]


def _with_what_is_kept_apart(metric: Metric, by: Sequence[str]) -> tuple[str, ...]:
    kept = (column.name for column in metric.dimensions if column.apart)
    return (*(name for name in kept if name not in by), *by)


def _key(metric: Metric, key: str) -> str:
    if key in {column.name for column in metric.dimensions}:
        return key
    if key in _SPANS and metric.clock:
        # Not date_trunc: that follows the time zone of the session.
        return f"time_bucket({_SPANS[key]}, {metric.clock}) AS {key}_utc"
    names = [column.name for column in metric.dimensions] + (list(_SPANS) if metric.clock else [])
    raise AskedWronglyError(f"{metric.name} has no {key!r} to group by; there is: {', '.join(names)}")


def _combined(column: Column) -> str:
    return f"CAST({column.combine}({column.name}) AS {column.type}) AS {column.name}"


def _conditions(metric: Metric, selection: Selection) -> list[str]:
    names = {column.name for column in metric.columns if column.in_file}
    conditions = []
    if selection.systems:
        if "system" not in names:
            raise AskedWronglyError(f"{metric.name} does not tell systems apart")
        conditions.append(f"system IN ({', '.join(literal(system) for system in selection.systems)})")
    if (selection.begin or selection.end) and not metric.period:
        if not metric.clock:
            raise AskedWronglyError(f"{metric.name} has no time by which a period could be chosen")
        if selection.begin:
            conditions.append(f"{metric.clock} >= {moment(selection.begin)}")
        if selection.end:
            conditions.append(f"{metric.clock} < {moment(selection.end)}")
    if selection.where:
        conditions.append(f"({selection.where}\n)")
    return conditions


def moment(time: datetime) -> str:
    """A moment as SQL has it."""
    return f"TIMESTAMPTZ {literal(time.isoformat())}"
