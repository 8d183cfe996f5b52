"""From the declaration of a metric to series: which columns are numbers and which labels, and their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.exposition.axis import SPANS, Axis, axis_of
from zscope.pipelines.exposition.labels import INTEGERS, MOMENT, REALS, Label, label_of
from zscope.pipelines.exposition.units import Unit, name_in, unit_of
from zscope.pipelines.metrics import Column, Selection, statement

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Metric

PREFIX = "zscope"
SYSTEM = "system"
END = "sample_end_utc"
"""Column added to the rows of a metric: the end of what they are about."""
_OVER_OTHER_ROWS = re.compile(r"\bover\b", re.IGNORECASE)
_UNIT_COLUMN = re.compile(r"(^|_)unit$")
"""Tells the unit of numbers that are not all of one: without it they cannot be read."""


@dataclass(frozen=True, slots=True)
class Family:
    """All series of one number of a metric."""

    metric: str
    name: str
    """In the base unit, without what all names begin with."""
    help: str
    unit: Unit
    expression: str
    """The value, in SQL."""
    summed: bool
    """Whether it counts what was in the interval, so that values of intervals can be added up."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask for the series of a metric."""

    metric: Metric
    selection: Selection
    statement: str
    begin: str
    """Column in which the interval begins; none where rows are about the state of things."""
    end: str
    """Where it ends: a column, or an expression over columns."""
    in_turn: bool
    """Whether the intervals of a series follow on each other, so that one of them is the newest."""
    labels: tuple[Label, ...]
    parts: tuple[str, ...]
    """Those of the labels whose series have a newest interval of their own: other system, other source."""
    families: tuple[Family, ...]


def question(metric: Metric, by: Sequence[str] | None = None, selection: Selection | None = None) -> Question:
    """The series of a metric: at its declared grain along its clock, or by these columns along its clock."""
    selection = selection or Selection()
    axis = axis_of(metric, None if by is None else tuple(by))
    end = axis.end if axis else ""
    if metric.combinable:
        keys = _keys(metric, by)
        if axis and not axis.fixed:
            asked, end = statement(_with_end(metric, axis), keys, selection), END
        else:
            asked = statement(metric, keys, selection)
        apart = [column.name for column in metric.dimensions if column.apart and column.name not in keys]
        named = [*apart, *keys]
    else:
        asked = statement(metric, by, selection)
        units = [column.name for column in metric.columns if _UNIT_COLUMN.search(column.name)]
        named = [*metric.grain, *(name for name in units if name not in metric.grain)]
    labels = tuple(label_of(column) for column in _label_columns(metric, named, axis))
    parts = {SYSTEM, *(column.name for column in metric.dimensions if column.apart)}
    families = tuple(_families(metric, named, axis))
    if not families:
        raise ExportError(
            f"{metric.name} has no numbers, so nothing of it can be a series; zscope sql shows it"
        )
    begin = axis.begin if axis else ""
    in_turn = bool(axis) and (metric.combinable or begin in metric.grain)
    own = tuple(label.name for label in labels if label.name in parts)
    return Question(metric, selection, asked, begin, end, in_turn, labels, own, families)


def _keys(metric: Metric, by: Sequence[str] | None) -> list[str]:
    """What rows are grouped by: what was asked for or the grain, and always the time."""
    if not metric.clock:
        return list(metric.grain if by is None else by)
    if by is None:
        return [*([metric.clock] if metric.clock not in metric.grain else []), *metric.grain]
    time = next((key for key in by if key in SPANS), metric.clock)
    return [time, *(key for key in by if key not in (*SPANS, metric.clock))]


def _with_end(metric: Metric, axis: Axis) -> Metric:
    """The metric with a measure more: the end of the interval, of rows that are put together the last one."""
    first, _, _ = metric.sql.partition("\n")
    sql = f"{first}\nSELECT *, {axis.end} AS {END} FROM (\n{metric.sql}\n)"
    end = Column(END, MOMENT, "End of the interval.", combine="max")
    return replace(metric, sql=sql, columns=(*metric.columns, end))


def _label_columns(metric: Metric, named: Sequence[str], axis: Axis | None) -> Iterator[Column]:
    """The columns of these names but those that tell the time of a row, in whatever clock."""
    by_name = {column.name: column for column in metric.columns}
    times = axis.columns if axis else frozenset[str]()
    for name in named:
        column = by_name.get(name)
        if column and name not in times and column.type != "TIMESTAMP":
            yield column


def _families(metric: Metric, named: Sequence[str], axis: Axis | None) -> Iterator[Family]:
    times = axis.columns if axis else frozenset[str]()
    for column in (*metric.measures, *metric.derived) if metric.combinable else metric.columns:
        # A moment that tells rows apart, as the last one of a certificate, is worth having as a number too.
        is_label = column.name in named and column.type != MOMENT
        if is_label or column.name in times or (axis and _OVER_OTHER_ROWS.search(column.source)):
            continue
        if expression := _number(column):
            unit = unit_of(column)
            yield Family(
                metric.name,
                name_in(unit, column.name),
                f"{metric.title}: {' '.join(column.meaning.split())}",
                unit,
                unit.scale.format(expression),
                summed=column.combine == "sum" and axis is not None,
            )


def _number(column: Column) -> str:
    """The value of a column as a number, in SQL; nothing if it is none."""
    if column.type.endswith("]"):
        return ""
    if column.type.startswith("BOOLEAN"):
        return f"CAST({column.name} AS BIGINT)"
    if column.type.startswith(INTEGERS):
        return f"CAST({column.name} AS BIGINT)"
    if column.type.startswith(REALS):
        return f"CAST({column.name} AS DOUBLE)"
    return f"epoch_us({column.name}) / 1e6" if column.type == MOMENT else ""
