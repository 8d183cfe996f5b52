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
screen shows them and the columns that rows are grouped by. `notes` names columns with reasons: a terminal
writes their clauses below the rows, once for all rows that share them. `shown_by` names the columns, or `day`
or `week`, that rows are grouped by if the user does not name others. `shown_where` is the condition for the
rows that are shown if the user does not state one. Each entry of `sections` has a heading, the condition on
its rows, and how many of them are shown unless all are wanted. Files always have all rows and columns.

A metric whose rows cannot be combined, but are those of several divisions of one amount, names these in
`rows_by`: `--by COLUMN` then selects the rows of a division with its condition.

The table `[series]` says how a metric is exported as series, where that does not follow from its columns.
Metrics whose rows are successive intervals are exported without it. With it, metrics whose rows are a state,
such as a price with a status, are exported, too. A label must have few values: rows with unbounded ones, such
as addresses of clients, are left out by `rows`.

    [series]
    rows = "shared_by <> 'client network'"   # rows that are exported unless the user chooses others
    status = "status"                        # a text column: its series have the value 1 and a label
    newest = "day"                           # samples without time are about the last 24 hours of data

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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from msgspec import field
from msgspec.structs import asdict, replace

from zscope.pipelines.metrics.metric_checks import filled
from zscope.schemas.arrow import duckdb_type
from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.reference import reference_schemas
from zscope.schemas.stored import stored_schema
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from zscope.schemas.toml_lines import KeyPath

BOTH_ENDS = "A connection between two systems of the store is in the rows of both: each counts its end."
"""A limit of metrics with `both_ends`."""


class SeriesDeclaration(Declared, frozen=True):
    """The table `[series]` of a metric."""

    rows: str = ""
    """SQL condition on the rows that are exported by default; all rows if empty."""
    status: str = ""
    """Text column that becomes a label of series with the value 1."""
    newest: Literal["", "day"] = ""
    """`day`: samples without time combine the last 24 hours, instead of the newest interval."""
    without: tuple[str, ...] = ()
    """Columns that are labels only if a user groups by them: each restart or client has another value, and
    would be another series.
    """


def series_problems(
    declared: SeriesDeclaration, columns: Sequence[str], *, clocked: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a table `[series]`, after its key.

    >>> list(series_problems(SeriesDeclaration(status="why"), ["system"], clocked=False))
    [('series', 'no column why')]
    >>> list(series_problems(SeriesDeclaration(without=("asid",)), ["system"], clocked=True))
    [('series', 'no column asid')]
    """
    if declared.status and declared.status not in columns:
        yield "series", f"no column {declared.status}"
    yield from (("series", f"no column {name}") for name in declared.without if name not in columns)
    if (declared.newest or declared.without) and not clocked:
        key = "newest" if declared.newest else "without"
        yield "series", f"{key} needs a clock, and columns that can all be combined"


Combine = Literal["sum", "min", "max", "most_frequent"]
MetricKind = Literal["metric", "step"]
Stored = Literal["", "day", "result"]
DIGEST_COLUMN = "data_digest"
"""The column of a step computed in Python with a digest of the rows that its SQL returns."""


class MetricColumn(Declared, frozen=True):
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
    source: str = field(name="from", default="")
    """The expression over combined columns that calculates it."""

    @property
    def in_file(self) -> bool:
        """Whether the SQL file returns it."""
        return not self.source


class InheritedColumns(Declared, frozen=True):
    """An entry of `columns` that passes columns on from the inputs."""

    inherit: tuple[str, ...]
    dimension: bool | None = None
    """The use of the columns, where it is another one."""
    apart: bool | None = None
    combine: Literal["", "sum", "min", "max"] | None = None
    """Empty: they are not combined."""


class MetricParameter(Declared, frozen=True):
    """A parameter that a user can set: a DuckDB variable with a default."""

    name: str
    type: str
    default: str
    """An SQL expression."""
    meaning: str


class MetricSection(Declared, frozen=True):
    """The rows that a terminal shows under a heading of their own; no row belongs to two sections."""

    heading: str
    where: str
    """The SQL condition on its rows."""
    first: int
    """How many of its rows are shown unless all are wanted."""


class MetricDeclaration(Declared, frozen=True, kw_only=True):
    """What the file of a metric, or of a step that several metrics share, states besides its columns."""

    kind: MetricKind
    title: str
    question: str
    inputs: tuple[str, ...]
    """The tables, metrics and steps that its SQL reads."""
    grain: tuple[str, ...]
    """The columns that identify a row."""
    keep: bool = False
    """Whether it has few rows, and many others or many queries of a page read it: it is computed once."""
    shared: tuple[str, ...] = ()
    """The columns that stored steps read at a load, if it is computed once for all of them."""
    looks_around: bool = False
    """Whether a row depends on what was recorded long before or after it, so that all days must be read."""
    across_systems: bool = False
    """Whether a row depends on the data of other systems, so that those of all systems must be read."""
    stored: Stored = ""
    """How a store keeps its rows: by day, as a result, or not at all."""
    around: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The number of days before and after a day that are needed of an input, or of `all`."""
    of_runs: tuple[str, ...] = ()
    """The inputs of a stored result of which only the days of benchmark runs matter."""
    empty_without: tuple[str, ...] = ()
    """The tables of which one must have rows for a stored result to have any."""
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
    """Instead of a clock: the parameters that start and end of a period set, if it chooses not rows of the
    result but the data they are calculated from. A second pair are those of a step below.
    """
    filters: Mapping[str, str] = field(default_factory=dict)
    """The same for the other filters: the parameters that `system`, `stack`, `port`, `job` and `role` set."""
    formula: str = ""
    sources: str = ""
    planning: str = ""
    """What a capacity planner can do with it."""
    limits: tuple[str, ...] = ()
    both_ends: bool = False
    """Whether each system counts its end of a connection."""
    references: tuple[str, ...] = ()
    """Published results that it can be compared with."""
    parameters: tuple[MetricParameter, ...] = ()
    series: SeriesDeclaration | None = None
    """How it is exported as series; None if that follows from its columns."""
    answer: tuple[str, ...] = ()
    """The columns that answer the question, the most important first."""
    notes: tuple[str, ...] = ()
    """The columns with reasons, which a terminal writes below the rows."""
    shown_by: tuple[str, ...] = ()
    """What a terminal groups the rows by if the user does not choose; empty for the grain."""
    in_time: str = ""
    """The metric that answers instead if rows are grouped by local days or weeks or selected by a period, as
    its own have no time.
    """
    rows_by: Mapping[str, str] = field(default_factory=dict)
    """Columns with the condition on the rows that have one for each value, where rows cannot be combined."""
    shown_where: str = ""
    """The rows that a terminal shows if the user does not choose; empty for all."""
    sections: tuple[MetricSection, ...] = ()
    """The sections of the rows on a terminal; none for one table."""
    without_parameters: tuple[str, ...] = ()
    """The parameters of steps below that change none of its rows."""


class MetricFile(MetricDeclaration, frozen=True, kw_only=True):
    """The file of a metric."""

    columns: tuple[dict[str, Any], ...]
    """Entries, each a `MetricColumn` or `InheritedColumns`."""


class LikeFile(MetricDeclaration, frozen=True, kw_only=True):
    """The file of a step that is like another one; it inherits what it does not state."""

    like: str
    """The step with the SQL file."""
    instead_of: Mapping[str, str]
    """The inputs that are replaced."""
    inputs: tuple[str, ...] = ()
    grain: tuple[str, ...] = ()
    columns: tuple[dict[str, Any], ...] = ()


class Metric(MetricDeclaration, frozen=True, kw_only=True, dict=True):
    """A declared metric, or a step that several metrics share."""

    name: str
    columns: tuple[MetricColumn, ...]
    sql: str
    """The content of its SQL file."""
    subject: str = ""
    """The folder of its declaration."""

    @property
    def meaning(self) -> str:
        """What a row is: the first sentence of its SQL file."""
        return self.sql.partition("\n")[0].removeprefix("-- ")

    @property
    def known_limits(self) -> tuple[str, ...]:
        """What its numbers do not contain or can mistake."""
        return (BOTH_ENDS, *self.limits) if self.both_ends else self.limits

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
    """Return all metrics and steps by name, each after those it reads. One is read when it is first used.

    >>> list(declared()).index("cpu_interval") < list(declared()).index("cpu_per_transaction")
    True
    """
    return _Declarations(files("zscope.pipelines.metrics"))


def load(folder: Traversable) -> dict[str, Metric]:
    """Load the metrics of a folder and its subject folders, each after those it reads."""
    return dict(_Declarations(folder))


class _Declarations(Mapping[str, Metric]):
    """The metrics of a folder and its subject folders by name, each read with those below it when it is used.

    A command that prints one metric reads a dozen of the files, not all.
    """

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self._places = dict(sorted(_declarations(folder)))
        self._files: dict[str, TomlFile] = {}
        self._declared: dict[str, MetricFile] = {}
        self._metrics: dict[str, Metric] = {}
        self._order: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Metric:
        """Return a metric or step."""
        if name not in self._metrics:
            if name not in self._places:
                raise KeyError(name)
            self._read({name})
        return self._metrics[name]

    def __contains__(self, name: object) -> bool:
        """Whether a metric or step is declared."""
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        """Iterate over all names, each after those that it reads."""
        if not self._order:
            self._order = self._read(self._places)
        return iter(self._order)

    def __len__(self) -> int:
        """Return the number of metrics and steps."""
        return len(self._places)

    def _read(self, names: Iterable[str]) -> tuple[str, ...]:
        """Read metrics with those below them; return their names, each after those that it reads."""
        needs: dict[str, list[str]] = {}
        waiting = list(names)
        for name in waiting:  # which grows meanwhile
            if name not in needs:
                needs[name] = [other for other in self._declaration(name).inputs if other in self._places]
                waiting += needs[name]
        try:
            order = tuple(TopologicalSorter(needs).static_order())
        except CycleError as error:
            problem = f"reads itself through others: {' -> '.join(error.args[1])}"
            raise self._file(error.args[1][0]).error(("inputs",), problem) from error
        for name in order:
            if name not in self._metrics:
                place, file = self._places[name], self._file(name)
                metric = _metric(file, self._declaration(name), self._metrics)
                subject = "" if place == self._folder else place.name
                metric = replace(metric, name=name, sql=self._sql(name), subject=subject)
                _check(file, metric)
                self._metrics[name] = metric
        return order

    def _file(self, name: str) -> TomlFile:
        if name not in self._files:
            self._files[name] = TomlFile.read(self._places[name] / f"{name}.toml")
        return self._files[name]

    def _likeness(self, name: str) -> LikeFile | None:
        """Return the step that a file names with `like`; None if it names none."""
        file = self._file(name)
        if "like" not in file.content:
            return None
        likeness = file.typed(LikeFile)
        if likeness.like not in self._places or "like" in self._file(likeness.like).content:
            raise file.error(("like",), f"there is no step {likeness.like} with an SQL file")
        return likeness

    def _declaration(self, name: str) -> MetricFile:
        """Return what a file declares, with what a step inherits from the one that it is like."""
        if name not in self._declared:
            self._declared[name] = self._with_likeness(self._file(name), self._likeness(name))
        return self._declared[name]

    def _with_likeness(self, file: TomlFile, likeness: LikeFile | None) -> MetricFile:
        if likeness is None:
            return file.typed(MetricFile)
        content = self._file(likeness.like).content
        other = {key: value for key, value in content.items() if key not in _STORING}
        if unknown := sorted(set(likeness.instead_of) - set(other["inputs"])):
            raise file.error(("instead_of",), f"{likeness.like} does not read {', '.join(unknown)}")
        inputs = [likeness.instead_of.get(table, table) for table in other["inputs"]]
        own = {key: value for key, value in file.content.items() if key not in {"like", "instead_of"}}
        return file.typed(MetricFile, {**other, "inputs": inputs, **own})

    def _sql(self, name: str) -> str:
        """Return the statement of a metric, or that of the step that it is like with other inputs."""
        likeness = self._likeness(name)
        like = likeness.like if likeness else name
        path = self._places[like] / f"{like}.sql"
        if not path.is_file():
            raise self._file(name).error((), f"there is no {like}.sql next to it")
        text = filled(like, path.read_text(encoding="utf-8").rstrip())
        for table, other in (likeness.instead_of if likeness else {}).items():
            text = re.sub(rf"\b{table}\b", other, text)
        return text


def _declarations(folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Name and folder of every declaration. Names are unique across subjects."""
    for place in (folder, *(inner for inner in folder.iterdir() if inner.is_dir())):
        for file in place.iterdir():
            name = file.name.removesuffix(".toml")
            if name != file.name and "." not in name:
                yield name, place


_STORING = {
    "stored",
    "shared",
    "around",
    "of_runs",
    "empty_without",
    "computed_by",
    "computed_for",
    "days_from",
    "all_days",
    "from_rows",
}
_TEXTS = ("formula", "sources", "planning")
_MOMENT = "TIMESTAMP WITH TIME ZONE"


def _metric(file: TomlFile, declaration: MetricFile, others: Mapping[str, Metric]) -> Metric:
    """Return a metric without its name and statement."""
    values = {key: getattr(declaration, key) for key in declaration.__struct_fields__}
    values |= {key: values[key].strip() for key in _TEXTS}
    values["columns"] = tuple(
        column
        for number, entry in enumerate(declaration.columns)
        for column in _columns(file, ("columns", number), entry, declaration.inputs, others)
    )
    return Metric(**values, name="", sql="")


def _columns(
    file: TomlFile,
    path: KeyPath,
    entry: Mapping[str, Any],
    inputs: Sequence[str],
    others: Mapping[str, Metric],
) -> Iterator[MetricColumn]:
    """The columns of one entry: those it inherits, or the one it declares."""
    if "inherit" not in entry:
        yield _checked(file, path, file.typed(MetricColumn, entry, path))
        return
    inherited = file.typed(InheritedColumns, entry, path)
    use: dict[str, Any] = {key: value for key, value in asdict(inherited).items() if value is not None}
    if use.get("combine") == "":
        use["combine"] = None
    for name in use.pop("inherit"):
        column = _inherited(name, inputs, others)
        if column is None:
            raise file.error((*path, "inherit"), f"column {name}: no input has a column to inherit")
        yield _checked(file, path, replace(column, **use))


def _inherited(name: str, inputs: Sequence[str], others: Mapping[str, Metric]) -> MetricColumn | None:
    """A column as the first of the inputs that has it declares it."""
    for table in inputs:
        columns = others[table].view_columns if table in others else _table_columns(table)
        for column in columns:
            if column.name == name:
                return replace(column, source="")
    return None


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


def _checked(file: TomlFile, path: KeyPath, column: MetricColumn) -> MetricColumn:
    if column.apart and not column.dimension:
        raise file.error(path, f"column {column.name}: only a dimension keeps rows apart")
    if column.dimension + bool(column.combine) + bool(column.source) > 1:
        raise file.error(path, f"column {column.name}: only one of dimension, combine, from")
    return column


def _check(file: TomlFile, metric: Metric) -> None:
    """Check what can be checked without running the SQL."""
    for key, problem in chain(_problems(metric), _problems_of_steps(metric), _problems_of_display(metric)):
        raise file.error((key,) if key else (), problem)


def _problems(metric: Metric) -> Iterator[tuple[str, str]]:
    """Yield keys and what is wrong with their values."""
    names = [column.name for column in metric.columns]
    dimensions = {column.name for column in metric.dimensions}
    typed = {(column.name, column.type) for column in metric.columns}
    if doubled := [name for name, count in Counter(names).items() if count > 1]:
        yield "columns", f"column {doubled[0]} is declared twice"
    if unknown := set(metric.grain) - set(names):
        yield "grain", f"no column {', '.join(sorted(unknown))}"
    if metric.in_time and (metric.clock or metric.combinable):
        yield "in_time", "its own rows can be grouped by time"
    if metric.clock and (metric.clock, _MOMENT) not in typed:
        yield "clock", f"no column {metric.clock} of type {_MOMENT}"
    if metric.period and (metric.clock or len(metric.period) % 2):
        yield "period", "needs pairs of parameters, and no clock"
    if metric.derived and not metric.combinable:
        yield "columns", "only if all columns can be combined may one have `from`"
    if metric.combinable and set(metric.grain) - dimensions:
        yield "grain", "the grain of a combinable metric consists of dimensions"
    if metric.combinable and metric.keep and {*metric.grain} != dimensions:
        yield "keep", "all dimensions have to be in the grain"
    if not metric.sql.startswith("-- "):
        yield "", f"{metric.name}.sql does not begin with the meaning of a row"


def _problems_of_steps(metric: Metric) -> Iterator[tuple[str, str]]:
    columns = {(column.name, column.type) for column in metric.columns}
    names = {name for name, _ in columns}
    if metric.stored == "day" and ("day", "DATE") not in columns:
        yield "stored", "stored by day: no column day of type DATE"
    if unknown := {*metric.shared} - names:
        yield "shared", f"no column {', '.join(sorted(unknown))}"
    if metric.computed_by and (metric.stored != "result" or metric.combinable or metric.kind != "step"):
        yield "computed_by", "only for a step stored as a result"
    if metric.computed_by and not (metric.computed_for and {*metric.computed_for, DIGEST_COLUMN} <= names):
        yield "computed_by", f"needs computed_for, and a column {DIGEST_COLUMN}"


def _problems_of_display(metric: Metric) -> Iterator[tuple[str, str]]:
    names = {column.name for column in metric.view_columns}
    for key, given in (("answer", metric.answer), ("notes", metric.notes)):
        if unknown := {*given} - names:
            yield key, f"no column {', '.join(sorted(unknown))}"
    if twice := {*metric.answer} & {*metric.notes}:
        yield "notes", f"in the answer, too: {', '.join(sorted(twice))}"
    if unknown := {*metric.rows_by} - names:
        yield "rows_by", f"no column {', '.join(sorted(unknown))}"
    if metric.rows_by and metric.combinable:
        yield "rows_by", "its rows can be combined"
    if metric.shown_by and not metric.combinable:
        yield "shown_by", "its rows cannot be combined"
    times = {"day", "week", "day_utc", "week_utc"} if metric.clock else set()
    if unknown := {*metric.shown_by} - times - {column.name for column in metric.dimensions}:
        yield "shown_by", f"no dimension {', '.join(sorted(unknown))}"
    if metric.series:
        clocked = bool(metric.clock and metric.combinable)
        yield from series_problems(metric.series, [column.name for column in metric.columns], clocked=clocked)
