"""Map the declaration of a metric to series: time axis, labels, base units, names and values."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.metrics import MetricColumn, MetricSelection, statement
from zscope.pipelines.metrics.metric_statements import LOCAL_SPANS, UTC_SPANS, finest_rows, with_day_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zscope.pipelines.metrics import Metric


_END_BY_BEGIN = {
    "interval_start_utc": "interval_end_utc",
    "from_utc": "to_utc",
    "period_from_utc": "period_to_utc",
    "begin_utc": "end_utc",
}
_LENGTHS = {"hour_utc": "INTERVAL 1 HOUR", "day_utc": "INTERVAL 1 DAY", "week_utc": "INTERVAL 7 DAY"}
"""Start columns of intervals whose length is fixed."""
_LENGTH = "interval_ms"
SPANS = (*LOCAL_SPANS, *UTC_SPANS)
"""Time units by which the rows of a metric with a clock can be grouped, in addition to its columns."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Start and end of the interval of a row."""

    begin: str
    """Column with the start."""
    end: str
    """SQL expression over the columns of the metric; the start if the end is not known, or if the clock of
    the metric is the end itself.
    """
    columns: frozenset[str]
    """Columns that only contain times."""
    fixed: bool = False
    """Whether the end follows from the start alone, so that grouping rows does not change it."""


def axis_of(metric: Metric, by: tuple[str, ...] | None = None) -> Axis | None:
    """Return the time axis of a metric; None if its rows describe a current state."""
    names = {column.name for column in metric.columns if column.in_file}
    begin = metric.clock or next((name for name in _END_BY_BEGIN if name in names), "")
    if not begin:
        return None
    end = _END_BY_BEGIN.get(begin, "")
    times = frozenset({begin, end} & names)
    span = _span(by) if metric.clock else ""
    if span in LOCAL_SPANS:
        return Axis(BEGIN, END, times | {*LOCAL_SPANS}, fixed=True)
    begin = span or begin
    if begin in _LENGTHS:
        return Axis(begin, f"{begin} + {_LENGTHS[begin]}", times, fixed=True)
    if end in names:
        return Axis(begin, f"coalesce({end}, {begin})", times)
    if _LENGTH in names:
        return Axis(begin, f"coalesce({begin} + to_milliseconds({_LENGTH}), {begin})", times)
    return Axis(begin, begin, times, fixed=True)


def _span(by: Sequence[str] | None) -> str:
    """Return the time unit that rows are grouped by; empty if there is none."""
    return next((key for key in by or () if key in SPANS), "")


# Label values come from the data, so they can contain anything. They are adapted to all formats before rows
# are compared, so that different series never become equal in the output: a changed value gets a hash.

LONGEST = 512
"""Characters of a label value; common limits of receivers are slightly above, certificate names below."""
BLANK = "(blank)"
"""Value for an empty text: Prometheus treats an empty label as a missing one, which has another meaning."""
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
"""All but tab and line feed. Some readers fail on NUL and carriage return, and terminals interpret the
others.
"""

Value = str | int | float | bool
Labels = tuple[tuple[str, Value], ...]
"""Names and values, without those that have none."""
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""Types whose values are integers of at most 64 bits with a sign."""
REALS = ("DOUBLE", "FLOAT", "DECIMAL", "UBIGINT", "HUGEINT", "UHUGEINT")
"""Types of numbers that are converted to 64-bit floating point."""
MOMENT = "TIMESTAMP WITH TIME ZONE"


@dataclass(frozen=True, slots=True)
class Label:
    """One label of the series of a metric."""

    name: str
    expression: str
    """SQL expression of the value."""


def label_of(column: MetricColumn) -> Label:
    """Return the label for a column."""
    name = column.name
    if column.type.startswith((*INTEGERS, "BOOLEAN")):
        return Label(name, name)
    if column.type.startswith(REALS):
        return Label(name, f"CAST({name} AS DOUBLE)")
    if column.type == MOMENT:
        return Label(name, f"strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')")
    return Label(name, _fit(f"CAST({name} AS VARCHAR)"))


def _fit(text: str) -> str:
    changed = f"left(regexp_replace({text}, '{_CONTROLS}', '\ufffd', 'g'), {LONGEST})"
    return (
        f"CASE WHEN {text} = '' THEN '{BLANK}' "
        f"WHEN length({text}) > {LONGEST} OR regexp_matches({text}, '{_CONTROLS}') "
        f"THEN {changed} || '~' || left(md5({text}), 8) ELSE {text} END"
    )


_PER_SECOND = "_per_s"


@dataclass(frozen=True, slots=True)
class Unit:
    """A base unit, and the conversion from a declared unit."""

    name: str
    """End of names, and value of the UNIT line; rates have none there."""
    ucum: str
    """UCUM code for OpenTelemetry."""
    word: str = ""
    """The declared unit in column names."""
    scale: str = "{}"
    """SQL expression of the value in the base unit. Divisions are exact to the last digit; multiplying by
    0.001 is not.
    """
    ahead: str = ""
    """Part of names before the unit."""

    @property
    def ending(self) -> str:
        """End of the names of columns with this unit."""
        return "_".join(part for part in (self.ahead, self.name) if part)


COUNT = Unit("", "")
UNITS_MOMENT = Unit("seconds", "s", "utc", ahead="timestamp")
"""Times as numbers: seconds since 1970."""
_UNITS = {
    "": COUNT,
    "s": Unit("seconds", "s", "s"),
    "ms": Unit("seconds", "s", "ms", "CAST({} AS DOUBLE) / 1e3"),
    "us": Unit("seconds", "s", "us", "CAST({} AS DOUBLE) / 1e6"),
    "days": Unit("seconds", "s", "days", "{} * 86400"),
    "%": Unit("ratio", "1", "pct", "CAST({} AS DOUBLE) / 1e2"),
    "bits": Unit("bits", "bit", "bits"),
    "bytes": Unit("bytes", "By", "bytes"),
    "B": Unit("bytes", "By", "bytes"),
    "MB": Unit("bytes", "By", "mb", "{} * 1000000"),
    "1/s": Unit("", "1/s", "per_s", ahead="per_second"),
    "bytes/s": Unit("bytes_per_second", "By/s", "bytes_per_s"),
    "ECB s": Unit("", "s"),
    "msu": Unit("msu", "{msu}", "msu"),
    "us/s": Unit("seconds_per_second", "1", "us_per_s", "CAST({} AS DOUBLE) / 1e6"),
}


def unit_of(column: MetricColumn) -> Unit:
    """Return the base unit of a column.

    If the declaration has no unit, the column name can show a rate, so that its name is the same either way.
    """
    if column.type.startswith("TIMESTAMP"):
        return UNITS_MOMENT
    if not column.unit and column.name.endswith(_PER_SECOND):
        return _UNITS["1/s"]
    return _UNITS[column.unit]


def name_in(unit: Unit, column: str) -> str:
    """Return the name of a column converted to a base unit: it ends with that unit and contains no other one.

    >>> name_in(_UNITS["us"], "cpu_us_per_transaction")
    'cpu_per_transaction_seconds'
    >>> name_in(_UNITS["%"], "unprotected_bytes_pct")
    'unprotected_bytes_ratio'
    """
    around = f"_{column}_"
    if unit.word and f"_{unit.word}_" in around:
        around = around.replace(f"_{unit.word}_", "_", 1)
    return "_".join(part for part in (around.strip("_"), unit.ending) if part)


def without_unit(name: str, unit: Unit) -> str:
    """Return a name without its unit; a ratio has none.

    >>> without_unit("cpu_per_transaction_seconds", _UNITS["us"])
    'cpu_per_transaction'
    >>> without_unit("unprotected_bytes_ratio", _UNITS["%"])
    'unprotected_bytes_ratio'
    """
    if unit.ucum == "1" or not unit.name:
        return name
    return re.sub(rf"(^|_){unit.name}$", "", name)


PREFIX = "zscope"
SYSTEM = "system"
BEGIN, END = "sample_begin_utc", "sample_end_utc"
"""Columns added to the rows of a metric: start and end of their interval."""
_OVER_OTHER_ROWS = re.compile(r"\bover\b", re.IGNORECASE)
_UNIT_COLUMN = re.compile(r"(^|_)unit$")
"""Columns with the unit of other columns; without it, values of different units could not be interpreted."""


@dataclass(frozen=True, slots=True)
class Family:
    """All series of one number column of a metric."""

    metric: str
    name: str
    """Name in the base unit, without the common prefix."""
    help: str
    unit: Unit
    expression: str
    """SQL expression of the value."""
    summed: bool
    """Whether it is a count of the interval, so that values of intervals can be added up."""
    state: Label | None = None
    """A label that only this family has: its value is the state of the row, and the sample is 1."""
    plain_name: str = ""
    """Name without the unit, for formats in which it is a field of its own; empty if that is the same."""


@dataclass(frozen=True, slots=True)
class SeriesQuery:
    """The query for the series of a metric."""

    metric: Metric
    selection: MetricSelection
    statement: str
    begin: str
    """Column with the start of the interval; empty if rows describe a current state."""
    end: str
    """End of the interval: a column, or an SQL expression."""
    in_turn: bool
    """Whether the intervals of a series follow each other, so that one of them is the newest."""
    labels: tuple[Label, ...]
    parts: tuple[str, ...]
    """Labels whose values each have their own newest interval, such as system and source."""
    families: tuple[Family, ...]
    untimed: str = ""
    """Query of the number of rows without a time, if the statement leaves them out."""

    @property
    def of_day(self) -> bool:
        """Whether the rows combine the last 24 hours."""
        return bool(self.untimed)


def series_query(
    metric: Metric,
    by: Sequence[str] | None = None,
    selection: MetricSelection | None = None,
    *,
    newest: bool = False,
) -> SeriesQuery:
    """Return the query for the series of a metric, at its declared grain or by other columns.

    With `newest` the samples will have no time: metrics that declare it combine their last 24 hours.
    """
    selection = selection or MetricSelection()
    if metric.series and not selection.where:
        selection = replace(selection, where=metric.series.rows)
    axis = axis_of(metric, None if by is None else tuple(by))
    end = axis.end if axis else ""
    of_day = bool(newest and metric.series and metric.series.newest and not set(by or ()) & {*SPANS})
    untimed = ""
    if metric.combinable:
        keys = _keys(metric, by)
        if axis and of_day:
            keys = [key for key in keys if key not in {metric.clock, *axis.columns}]
            query, end = statement(_of_last_day(metric, selection, axis), keys), END
            rows = finest_rows(metric, selection)
            untimed = f"SELECT count(*) AS rows FROM (SELECT * FROM {rows}) WHERE {metric.clock} IS NULL"
        elif axis and (span := _span(keys)) in LOCAL_SPANS:
            query = statement(with_day_bounds(metric, span, BEGIN, END), keys, selection)
        elif axis and not axis.fixed:
            query, end = statement(_with_end(metric, axis), keys, selection), END
        else:
            query = statement(metric, keys, selection)
        apart = [column.name for column in metric.dimensions if column.apart and column.name not in keys]
        named = [*apart, *keys]
    else:
        query = statement(metric, by, selection)
        units = [column.name for column in metric.columns if _UNIT_COLUMN.search(column.name)]
        named = [*metric.grain, *(name for name in units if name not in metric.grain)]
    labels = tuple(label_of(column) for column in _label_columns(metric, named, axis))
    parts = {SYSTEM, *(column.name for column in metric.dimensions if column.apart)}
    families = (*_apart(_families(metric, named, axis, of_day=of_day)), *_states(metric))
    if not families:
        raise ExportError(
            f"{metric.name} has no numeric columns, so it cannot be exported as series; zscope sql shows it"
        )
    begin = BEGIN if untimed else axis.begin if axis else ""
    in_turn = bool(axis) and (metric.combinable or begin in metric.grain)
    own = tuple(label.name for label in labels if label.name in parts)
    return SeriesQuery(metric, selection, query, begin, end, in_turn, labels, own, families, untimed)


def _keys(metric: Metric, by: Sequence[str] | None) -> list[str]:
    """Return the columns by which rows are grouped, always including the time.

    By default these are the columns of the grain, except those with a new value for each restart or client.
    """
    if not metric.clock:
        return list(metric.grain if by is None else by)
    if by is None:
        unbounded = metric.series.without if metric.series else ()
        grain = [name for name in metric.grain if name not in unbounded]
        return [*([metric.clock] if metric.clock not in grain else []), *grain]
    time = next((key for key in by if key in SPANS), metric.clock)
    return [time, *(key for key in by if key not in (*SPANS, metric.clock))]


def _with_end(metric: Metric, axis: Axis) -> Metric:
    """Add a measure to the metric: the end of the interval, of grouped rows the last one."""
    first, _, _ = metric.sql.partition("\n")
    sql = f"{first}\nSELECT *, {axis.end} AS {END} FROM (\n{metric.sql}\n)"
    end = MetricColumn(END, MOMENT, "End of the interval.", combine="max")
    return structs.replace(metric, sql=sql, keep=False, columns=(*metric.columns, end))


def _of_last_day(metric: Metric, selection: MetricSelection, axis: Axis) -> Metric:
    """Restrict the metric to the last 24 hours of each system and source, and add start and end."""
    first, _, _ = metric.sql.partition("\n")
    names = {column.name for column in metric.dimensions}
    parts = [*([SYSTEM] if SYSTEM in names else []), *(c.name for c in metric.dimensions if c.apart)]
    partition = f"PARTITION BY {', '.join(parts)}" if parts else ""
    sql = (
        f"{first}\nSELECT *, {metric.clock} AS {BEGIN}, {axis.end} AS {END}\n"
        f"FROM {finest_rows(metric, selection)}\n"
        f"QUALIFY {metric.clock} > max({metric.clock}) OVER ({partition}) - INTERVAL 1 DAY"
    )
    begin = MetricColumn(BEGIN, MOMENT, "Start of the first interval.", combine="min")
    end = MetricColumn(END, MOMENT, "End of the last interval.", combine="max")
    return structs.replace(metric, sql=sql, keep=False, columns=(*metric.columns, begin, end))


def _label_columns(metric: Metric, named: Sequence[str], axis: Axis | None) -> Iterator[MetricColumn]:
    """Yield the columns of these names that are not times of a row."""
    by_name = {column.name: column for column in metric.columns}
    times = axis.columns if axis else frozenset[str]()
    for name in named:
        column = by_name.get(name)
        if column and name not in times and column.type != "TIMESTAMP":
            yield column


def _states(metric: Metric) -> Iterator[Family]:
    """Yield the family of the status that a metric declares."""
    for column in metric.columns:
        if metric.series and column.name == metric.series.status:
            help_text = f"{metric.title}: {' '.join(column.meaning.split())}"
            yield Family(metric.name, column.name, help_text, COUNT, "1", False, label_of(column))


def _apart(families: Iterable[Family]) -> list[Family]:
    """Remove names without unit that are those of another family."""
    several = list(families)
    names = Counter(family.plain_name or family.name for family in several)
    return [replace(family, plain_name="") if names[family.plain_name] > 1 else family for family in several]


def _families(metric: Metric, named: Sequence[str], axis: Axis | None, *, of_day: bool) -> Iterator[Family]:
    period = " In the 24 hours to the newest interval." if of_day else ""
    times = axis.columns if axis else frozenset[str]()
    for column in (*metric.measures, *metric.derived) if metric.combinable else metric.columns:
        # A time that is a label, such as the expiry of a certificate, is useful as a number, too.
        is_label = column.name in named and column.type != MOMENT
        if is_label or column.name in times or (axis and _OVER_OTHER_ROWS.search(column.source)):
            continue
        if expression := _number(column):
            unit = unit_of(column)
            name = name_in(unit, column.name)
            yield Family(
                metric.name,
                name,
                f"{metric.title}: {' '.join(column.meaning.split())}{period}",
                unit,
                unit.scale.format(expression),
                summed=column.combine == "sum" and axis is not None,
                plain_name=without_unit(name, unit),
            )


def _number(column: MetricColumn) -> str:
    """Return the SQL expression of a column as a number; empty if it is not a number."""
    if column.type.endswith("]"):
        return ""
    if column.type.startswith("BOOLEAN"):
        return f"CAST({column.name} AS BIGINT)"
    if column.type.startswith(INTEGERS):
        return f"CAST({column.name} AS BIGINT)"
    if column.type.startswith(REALS):
        return f"CAST({column.name} AS DOUBLE)"
    return f"epoch_us({column.name}) / 1e6" if column.type == MOMENT else ""
