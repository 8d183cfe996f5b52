"""The declarations of the metrics: a TOML file and an SQL file of the same name in a subject folder.

A declaration lists the columns of a metric, how rows are combined, and what the SQL reads. Files are found by
listing the folders; a new metric needs no other edit.

There are two sorts of metrics. If every column is a dimension, declares how it is combined, or is calculated
from combined columns, the metric is combinable: its SQL returns the finest rows, which can be grouped by any
of its dimensions. If a column cannot be combined, such as a fitted value, the rows are used as they are.

Each line of `columns` declares a column, or passes columns on from one of the inputs by name. These inherit
type, meaning, unit and use from the first input that has a column of this name; the line can state another
use:

    columns = [
        { inherit = ["system", "hour_utc"], dimension = true },
        { name = "ended", type = "BIGINT", combine = "sum", meaning = "Connections that ended." },
    ]

A step can do the same as another one with other rows: `like` names that step, and `instead_of` which of its
inputs are replaced. Such a step has no SQL file.

A metric declares what a terminal shows of it. `answer` names the columns that answer its question; a narrow
screen shows them and the columns that rows are grouped by. `shown_by` names the columns, or `day` or `week`,
that rows are grouped by if the user does not name others. `shown_where` is the condition for the rows that
are shown if the user does not state one. Files always have all rows and columns.

A store keeps the rows of steps that are declared as `stored`:

- `stored = "day"`: the rows of each day of the store are computed from the records of that day, when they are
  loaded, and kept. The step has the column `day`. `around` names inputs of which neighbouring days are needed
  as well: `around = { cpu_slot = [1, 0] }` is one day before and none after.
- `stored = "result"`: all rows are computed after a load that can have changed them, and kept. Such steps
  depend on benchmark runs. `of_runs` names inputs that count only on the days of runs.
- `computed_by = "module:function"`, with `stored = "result"`: the function computes the rows from those that
  the SQL returns, for what SQL cannot do. It is called for each group of rows with the same values in the
  columns `computed_for`, as a table, and returns the rows as dictionaries without these columns. The column
  `data_digest` has a digest of the rows of the SQL: a group is computed again only if it has changed. Such a
  step is stored in every store in which a table has the number of rows that `from_rows` states for it; in
  other stores it has no rows.
- `days_from`, with `stored = "result"`, names an input with the columns first_day and last_day: only these
  days are read of tables and of steps that are stored by day, except of those in `all_days`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from zscope.pipelines.metrics.metric_checks import filled
from zscope.pipelines.metrics.series_declaration import SeriesDeclaration, series_problem
from zscope.schemas.arrow import duckdb_type
from zscope.schemas.errors import DeclarationError
from zscope.schemas.reference import reference_schemas
from zscope.schemas.stored import stored_schema
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable

Combine = Literal["sum", "min", "max"]
MetricKind = Literal["metric", "step"]
Stored = Literal["", "day", "result"]
DIGEST_COLUMN = "data_digest"
"""The column of a step computed in Python with a digest of the rows that its SQL returns."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """One column of a metric."""

    name: str
    type: str
    """The DuckDB type as DESCRIBE shows it."""
    meaning: str
    unit: str = ""
    dimension: bool = False
    """Whether rows can be grouped by it."""
    apart: bool = False
    """Whether rows with different values must never be combined, such as those of overlapping sources."""
    combine: Combine | None = None
    """The aggregate function that combines the values of several rows."""
    source: str = ""
    """The expression over combined columns that calculates it; `from` in the declaration."""

    @property
    def in_file(self) -> bool:
        """Whether the SQL file returns it."""
        return not self.source


@dataclass(frozen=True, slots=True)
class MetricParameter:
    """A parameter that a user can set: a DuckDB variable with a default."""

    name: str
    type: str
    default: str
    """An SQL expression."""
    meaning: str


@dataclass(frozen=True)
class Metric:
    """A declared metric, or a step that several metrics share."""

    name: str
    kind: MetricKind
    title: str
    question: str
    inputs: tuple[str, ...]
    """The tables, metrics and steps that its SQL reads."""
    grain: tuple[str, ...]
    """The columns that identify a row."""
    columns: tuple[MetricColumn, ...]
    sql: str
    """The content of its SQL file."""
    subject: str = ""
    """The folder of its declaration."""
    keep: bool = False
    """Whether it has few rows, and many others or many queries of a page read it: it is computed once."""
    looks_around: bool = False
    """Whether a row depends on what was recorded long before or after it, so that all days must be read."""
    stored: Stored = ""
    """How a store keeps its rows: by day, as a result, or not at all."""
    around: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The number of days before and after a day that are needed of an input, or of `all`."""
    of_runs: tuple[str, ...] = ()
    """The inputs of a stored result of which only the days of benchmark runs matter."""
    computed_by: str = ""
    """The function that computes the rows of a stored result from what the SQL returns: `module:name`."""
    computed_for: tuple[str, ...] = ()
    """The columns of the groups of rows that it is called for."""
    days_from: str = ""
    """The input with the days that are read of inputs stored by day; all days if empty."""
    all_days: tuple[str, ...] = ()
    """The inputs stored by day of which all days are read nevertheless."""
    from_rows: Mapping[str, int] = field(default_factory=dict)
    """The numbers of rows of tables of which one is needed to compute it."""
    clock: str = ""
    """The column that a period applies to."""
    period: tuple[str, ...] = ()
    """Instead of a clock: the two parameters that a period sets, if it does not choose rows of the result but
    the data they are calculated from.
    """
    formula: str = ""
    sources: str = ""
    planning: str = ""
    """What a capacity planner can do with it."""
    limits: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """Published results that it can be compared with."""
    parameters: tuple[MetricParameter, ...] = ()
    series: SeriesDeclaration | None = None
    """How it is exported as series; None if that follows from its columns."""
    answer: tuple[str, ...] = ()
    """The columns that answer the question, the most important first."""
    shown_by: tuple[str, ...] = ()
    """What a terminal groups the rows by if the user does not choose; empty for the grain."""
    shown_where: str = ""
    """The rows that a terminal shows if the user does not choose; empty for all."""

    @property
    def meaning(self) -> str:
        """What a row is: the first sentence of its SQL file."""
        return self.sql.partition("\n")[0].removeprefix("-- ")

    @cached_property
    def dimensions(self) -> tuple[MetricColumn, ...]:
        """The columns that rows can be grouped by."""
        return tuple(column for column in self.columns if column.dimension)

    @property
    def measures(self) -> tuple[MetricColumn, ...]:
        """The columns that are combined when rows are grouped."""
        return tuple(column for column in self.columns if column.combine)

    @property
    def derived(self) -> tuple[MetricColumn, ...]:
        """The columns that are calculated from combined columns."""
        return tuple(column for column in self.columns if column.source)

    @cached_property
    def combinable(self) -> bool:
        """Whether its rows can be grouped in other ways."""
        return all(column.dimension or column.combine or column.source for column in self.columns)

    @cached_property
    def view_columns(self) -> tuple[MetricColumn, ...]:
        """The columns of the view."""
        if not self.combinable:
            return self.columns
        by_name = {column.name: column for column in self.dimensions}
        return (*(by_name[name] for name in self.grain), *self.measures, *self.derived)


@cache
def declared() -> Mapping[str, Metric]:
    """Return all metrics and steps by name, each after those it reads.

    >>> list(declared()).index("cpu_interval") < list(declared()).index("cpu_per_transaction")
    True
    """
    return MappingProxyType(load(files("zscope.pipelines.metrics")))


def load(folder: Traversable) -> dict[str, Metric]:
    """Load the metrics of a folder and its subject folders, each after those it reads."""
    places = dict(sorted(_declarations(folder)))
    contents = {name: _read(name, place / f"{name}.toml") for name, place in places.items()}
    texts = {name: _sql(name, content, places, contents) for name, content in contents.items()}
    contents = {name: _like(name, content, contents) for name, content in contents.items()}
    needs = {
        name: [other for other in content["inputs"] if other in contents]
        for name, content in contents.items()
    }
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        around = " -> ".join(error.args[1])
        raise DeclarationError(
            f"{error.args[1][0]}.toml", "", f"reads itself through others: {around}"
        ) from error
    metrics: dict[str, Metric] = {}
    for name in order:
        subject = "" if places[name] == folder else places[name].name
        metrics[name] = replace(_metric(name, contents[name], texts[name], metrics), subject=subject)
    return metrics


def _like(name: str, content: Mapping[str, Any], contents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Complete the declaration of a step that does the same as another one."""
    if "like" not in content:
        return dict(content)
    other = {key: value for key, value in contents[content["like"]].items() if key not in _STORING}
    replaced = content["instead_of"]
    if unknown := sorted(set(replaced) - set(other["inputs"])):
        raise DeclarationError(
            f"{name}.toml", "", f"instead_of: {content['like']} does not read {', '.join(unknown)}"
        )
    inputs = [replaced.get(table, table) for table in other["inputs"]]
    own = {key: value for key, value in content.items() if key not in {"like", "instead_of"}}
    return {**other, "inputs": inputs, **own}


def _sql(
    name: str, content: Mapping[str, Any], places: Mapping[str, Traversable], contents: Mapping[str, Any]
) -> str:
    """Return the statement of a metric, or that of the step that it is like with other inputs."""
    like = content.get("like", name)
    if like not in places or (like != name and "like" in contents[like]):
        raise DeclarationError(f"{name}.toml", "", f"like: there is no step {like} with an SQL file")
    file = places[like] / f"{like}.sql"
    if not file.is_file():
        raise DeclarationError(f"{name}.toml", "", f"there is no {like}.sql next to it")
    text = filled(like, file.read_text(encoding="utf-8").rstrip())
    for table, other in content.get("instead_of", {}).items():
        text = re.sub(rf"\b{table}\b", other, text)
    return text


def _declarations(folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Name and folder of every declaration. Names are unique across subjects."""
    for place in (folder, *(inner for inner in folder.iterdir() if inner.is_dir())):
        for file in place.iterdir():
            name = file.name.removesuffix(".toml")
            if name != file.name and "." not in name:
                yield name, place


_REQUIRED = {"kind", "title", "question", "inputs", "grain", "columns"}
_STORING = {
    "stored",
    "around",
    "of_runs",
    "computed_by",
    "computed_for",
    "days_from",
    "all_days",
    "from_rows",
}
_OPTIONAL = {
    "keep", "looks_around", "clock", "period", "formula", "sources", "planning", "limits", "references",
    "parameters", "series", "answer", "shown_by", "shown_where", *_STORING,
}  # fmt: skip
_LIKE_REQUIRED = {"kind", "title", "question", "like", "instead_of"}
_COLUMN_REQUIRED = {"name", "type", "meaning"}
_COLUMN_OPTIONAL = {"unit", "dimension", "apart", "combine", "from"}
_USE_KEYS = {"dimension", "apart", "combine"}
_PARAMETER_KEYS = {"name", "type", "default", "meaning"}
_KINDS = ("metric", "step")
_STORED = ("", "day", "result")
_COMBINE = ("sum", "min", "max")
_MOMENT = "TIMESTAMP WITH TIME ZONE"


def _read(name: str, file: Traversable) -> dict[str, Any]:
    """Parse a declaration and check its keys."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(f"{name}.toml", "", str(error)) from error
    if "like" in content:
        _check_keys(name, "declaration", content, _LIKE_REQUIRED, {*_REQUIRED, *_OPTIONAL})
    else:
        _check_keys(name, "declaration", content, _REQUIRED, _OPTIONAL)
    if content["kind"] not in _KINDS:
        raise DeclarationError(
            f"{name}.toml", "", f"kind is {content['kind']!r}, not one of {', '.join(_KINDS)}"
        )
    if content.get("stored", "") not in _STORED:
        raise DeclarationError(f"{name}.toml", "", f"stored is {content['stored']!r}, not one of day, result")
    return content


def _metric(name: str, content: Mapping[str, Any], sql: str, others: Mapping[str, Metric]) -> Metric:
    metric = Metric(
        name=name,
        kind=content["kind"],
        title=content["title"],
        question=content["question"],
        inputs=tuple(content["inputs"]),
        grain=tuple(content["grain"]),
        columns=tuple(
            column
            for entry in content["columns"]
            for column in _columns(name, entry, content["inputs"], others)
        ),
        sql=sql,
        keep=content.get("keep", False),
        looks_around=content.get("looks_around", False),
        stored=content.get("stored", ""),
        around={table: (before, after) for table, (before, after) in content.get("around", {}).items()},
        of_runs=tuple(content.get("of_runs", ())),
        computed_by=content.get("computed_by", ""),
        computed_for=tuple(content.get("computed_for", ())),
        days_from=content.get("days_from", ""),
        all_days=tuple(content.get("all_days", ())),
        from_rows=dict(content.get("from_rows", {})),
        clock=content.get("clock", ""),
        period=tuple(content.get("period", ())),
        formula=content.get("formula", "").strip(),
        sources=content.get("sources", "").strip(),
        planning=content.get("planning", "").strip(),
        limits=tuple(content.get("limits", ())),
        references=tuple(content.get("references", ())),
        parameters=tuple(_parameter(name, entry) for entry in content.get("parameters", ())),
        answer=tuple(content.get("answer", ())),
        shown_by=tuple(content.get("shown_by", ())),
        shown_where=content.get("shown_where", ""),
    )
    _check(metric)
    if (series := content.get("series")) is not None:
        names = [column.name for column in metric.columns]
        if problem := series_problem(series, names, clocked=bool(metric.clock and metric.combinable)):
            raise DeclarationError(f"{name}.toml", "", problem)
        return replace(metric, series=SeriesDeclaration(**series))
    return metric


def _columns(
    name: str, entry: Mapping[str, Any], inputs: Sequence[str], others: Mapping[str, Metric]
) -> Iterator[MetricColumn]:
    """The columns of one entry: those it inherits, or the one it declares."""
    if "inherit" not in entry:
        yield _column(name, entry)
        return
    _check_keys(name, "column", entry, {"inherit"}, _USE_KEYS)
    use: dict[str, Any] = {
        key: entry[key] or None if key == "combine" else entry[key] for key in _USE_KEYS & set(entry)
    }
    for column in entry["inherit"]:
        yield _checked(name, replace(_inherited(name, column, inputs, others), **use))


def _inherited(name: str, column: str, inputs: Sequence[str], others: Mapping[str, Metric]) -> MetricColumn:
    """A column as the first of the inputs that has it declares it."""
    for table in inputs:
        columns = others[table].view_columns if table in others else _table_columns(table)
        for other in columns:
            if other.name == column:
                return replace(other, source="")
    raise DeclarationError(f"{name}.toml", "", f"column {column}: no input has a column to inherit")


@cache
def _table_columns(table: str) -> tuple[MetricColumn, ...]:
    """The columns of a table of the store."""
    if table in reference_schemas():
        schema = reference_schemas()[table]
    elif table in table_names():
        schema = stored_schema(table)
    else:
        return ()
    described = ((field, field.metadata or {}) for field in schema)
    return tuple(
        MetricColumn(
            field.name,
            duckdb_type(field.type),
            metadata.get(b"meaning", b"").decode(),
            metadata.get(b"unit", b"").decode(),
        )
        for field, metadata in described
    )


def _column(name: str, entry: Mapping[str, Any]) -> MetricColumn:
    _check_keys(name, f"column {entry.get('name', '?')}", entry, _COLUMN_REQUIRED, _COLUMN_OPTIONAL)
    column = MetricColumn(
        name=entry["name"],
        type=entry["type"],
        meaning=entry["meaning"],
        unit=entry.get("unit", ""),
        dimension=entry.get("dimension", False),
        apart=entry.get("apart", False),
        combine=entry.get("combine"),
        source=entry.get("from", ""),
    )
    return _checked(name, column)


def _checked(name: str, column: MetricColumn) -> MetricColumn:
    if column.combine not in (None, *_COMBINE):
        raise DeclarationError(f"{name}.toml", "", f"column {column.name}: combine is {column.combine!r}")
    if column.apart and not column.dimension:
        raise DeclarationError(f"{name}.toml", "", f"column {column.name}: only a dimension keeps rows apart")
    if column.dimension + bool(column.combine) + bool(column.source) > 1:
        raise DeclarationError(
            f"{name}.toml", "", f"column {column.name}: only one of dimension, combine, from"
        )
    return column


def _parameter(name: str, entry: Mapping[str, Any]) -> MetricParameter:
    _check_keys(name, f"parameter {entry.get('name', '?')}", entry, _PARAMETER_KEYS, set())
    return MetricParameter(**entry)


def _check(metric: Metric) -> None:
    """Check what can be checked without running the SQL."""
    names = [column.name for column in metric.columns]
    if doubled := [name for name, count in Counter(names).items() if count > 1]:
        raise DeclarationError(f"{metric.name}.toml", "", f"column {doubled[0]} is declared twice")
    if unknown := set(metric.grain) - set(names):
        raise DeclarationError(f"{metric.name}.toml", "", f"grain: no column {', '.join(sorted(unknown))}")
    if metric.clock and (metric.clock, _MOMENT) not in [(c.name, c.type) for c in metric.columns]:
        raise DeclarationError(
            f"{metric.name}.toml", "", f"clock: no column {metric.clock} of type {_MOMENT}"
        )
    if metric.period and (metric.clock or len(metric.period) != 2):
        raise DeclarationError(f"{metric.name}.toml", "", "period: needs two parameters, and no clock")
    if metric.derived and not metric.combinable:
        raise DeclarationError(
            f"{metric.name}.toml", "", "only if all columns can be combined may one have `from`"
        )
    if metric.combinable and set(metric.grain) - {column.name for column in metric.dimensions}:
        raise DeclarationError(
            f"{metric.name}.toml", "", "the grain of a combinable metric consists of dimensions"
        )
    if metric.combinable and metric.keep and {*metric.grain} != {column.name for column in metric.dimensions}:
        raise DeclarationError(f"{metric.name}.toml", "", "keep: all dimensions have to be in the grain")
    if metric.stored == "day" and ("day", "DATE") not in [(c.name, c.type) for c in metric.columns]:
        raise DeclarationError(f"{metric.name}.toml", "", "stored by day: no column day of type DATE")
    if metric.computed_by and (metric.stored != "result" or metric.combinable or metric.kind != "step"):
        raise DeclarationError(f"{metric.name}.toml", "", "computed_by: only for a step stored as a result")
    if metric.computed_by and not (metric.computed_for and {*metric.computed_for, DIGEST_COLUMN} <= {*names}):
        raise DeclarationError(
            f"{metric.name}.toml", "", f"computed_by: needs computed_for, and a column {DIGEST_COLUMN}"
        )
    if not metric.sql.startswith("-- "):
        raise DeclarationError(
            f"{metric.name}.toml", "", f"{metric.name}.sql does not begin with the meaning of a row"
        )
    _check_shown(metric)


def _check_shown(metric: Metric) -> None:
    """Check what a terminal shows of a metric."""
    visible = {column.name for column in metric.view_columns}
    if unknown := sorted({*metric.answer} - visible):
        raise DeclarationError(f"{metric.name}.toml", "", f"answer: no column {', '.join(unknown)}")
    if metric.shown_by and not metric.combinable:
        raise DeclarationError(f"{metric.name}.toml", "", "shown_by: its rows cannot be combined")
    times = {"day", "week"} if metric.clock else set()
    if unknown := sorted({*metric.shown_by} - times - {column.name for column in metric.dimensions}):
        raise DeclarationError(f"{metric.name}.toml", "", f"shown_by: no dimension {', '.join(unknown)}")


def _check_keys(
    name: str, where: str, entry: Mapping[str, Any], required: set[str], optional: set[str]
) -> None:
    if unknown := sorted(set(entry) - required - optional):
        raise DeclarationError(f"{name}.toml", "", f"{where}: unknown key {', '.join(unknown)}")
    if missing := sorted(required - set(entry)):
        raise DeclarationError(f"{name}.toml", "", f"{where}: {', '.join(missing)} is missing")
