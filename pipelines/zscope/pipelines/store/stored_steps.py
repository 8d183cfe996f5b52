"""The rows of stored steps: computed once after a load, kept as Parquet files, replaced day by day.

A step that is declared as stored has few rows, however many connections the store has. Its rows for a day
depend only on the records of that day, and of neighbouring days if the declaration says so. So after a load
only the days that it touched are computed again. The files are immutable and listed by commits, as those of
the tables: a new file replaces the same days of older ones. Small files are merged when a new one is written,
so that there are few.

Steps that are computed in Python are stored in every store, with the steps that they read; all others only in
stores so large that views would be slow.

The views of the catalogue read these files. Days that are not stored yet, because a writer was interrupted or
an older version wrote them, are computed by the views from the data; the rows are the same, only slower.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from zscope.pipelines.metrics import (
    declared,
    macros_sql,
    needed,
    no_rows_sql,
    steps_of_computed,
    stored_names,
    view_sql,
)
from zscope.pipelines.metrics.running_totals import visible_rows_sql
from zscope.pipelines.runs import run_table
from zscope.pipelines.store.catalogue_file import zscope_version
from zscope.pipelines.store.commits import NO_DAY_KEY, Commit, DayRows, SummaryFile, append
from zscope.pipelines.store.folder import runs_digest
from zscope.pipelines.store.parquet_files import data_tables
from zscope.pipelines.store.tables import on_days
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from zscope.pipelines.metrics import Metric
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

_ONE_DAY = timedelta(days=1)
_LAST_DAY = date.max.toordinal()


class DayWindow(NamedTuple):
    """How many days before and after a day an input matters for the rows of that day."""

    before: int
    after: int

    def around(self, day: str) -> Iterator[str]:
        """Yield the days of an input that the rows of a day depend on."""
        return _days(day, -self.before, self.after)

    def touched(self, day: str) -> Iterator[str]:
        """Yield the days whose rows depend on a day of an input."""
        return _days(day, -self.after, self.before)


def _days(day: str, first: int, last: int) -> Iterator[str]:
    if day == NO_DAY_KEY:
        yield day
        return
    middle = date.fromisoformat(day).toordinal()
    for number in range(max(1, middle + first), min(_LAST_DAY, middle + last) + 1):
        yield date.fromordinal(number).isoformat()


@cache
def leaves(step: str) -> Mapping[str, DayWindow]:
    """Return the tables and stored steps that a stored step reads, directly or through other steps.

    >>> sorted(leaves("resumption_network_day"))
    ['changed_handshake_record', 'job_port', 'open_handshake_record', 'smf119_zert_detail']
    >>> leaves("handshake_slot_day")["cpu_slot"]
    DayWindow(before=1, after=0)
    """
    metric = declared()[step]
    found: dict[str, DayWindow] = {}

    def visit(name: str) -> None:
        if name in data_tables() or (name != step and name in declared() and declared()[name].stored):
            found[name] = DayWindow(*metric.around.get(name, metric.around.get("all", (0, 0))))
        elif name in declared():
            for other in declared()[name].inputs:
                visit(other)

    visit(step)
    return found


@cache
def _definition(step: str) -> str:
    """Return a digest of all statements that determine the rows of a step."""
    parts = [
        zscope_version(),
        macros_sql(),
        *(view_sql(declared()[n]) for n in needed(step) if n in declared()),
        *(visible_rows_sql(n, "") for n in needed(step) if n in data_tables()),
        *(declared()[n].sql for n in needed(step) if _is_computed_in_python(n)),
    ]
    return sha256("\n".join(parts).encode()).hexdigest()[:12]


def _is_computed_in_python(name: str) -> bool:
    return name in declared() and bool(declared()[name].computed_by)


@dataclass
class Summaries:
    """What is stored of each step, and what has to be computed."""

    folder: Folder
    state: State
    steps: tuple[str, ...] = ()
    """The steps whose rows are stored; if not given, as the state has them."""
    runs: str = field(init=False)
    """Digest of the benchmark runs, on which stored results depend."""
    _by_step: dict[str, list[SummaryFile]] = field(default_factory=lambda: defaultdict(list))
    _places: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The days of each table with files."""
    _run_days: frozenset[str] = frozenset()
    _complete_at: int = 0
    """The commit with which everything was up to date: only later changes matter."""

    def __post_init__(self) -> None:
        self.runs = runs_digest(self.folder)
        for file in self.state.files.values():
            self._places[file.table].update(day or NO_DAY_KEY for day in file.each_day)
        for summary in self.state.summaries.values():
            if self._is_of_this_version(summary):
                self._by_step[summary.step].append(summary)
        self.steps = self.steps or steps_to_store(self.state)
        self._run_days = _days_of_runs(self.folder)
        if self.state.summaries_of == self.definitions:
            self._complete_at = self.state.summaries_at

    @property
    def definitions(self) -> str:
        """A digest of all that determines the stored rows, apart from the data."""
        return sha256("".join(map(self.definition, self.steps)).encode()).hexdigest()[:12]

    def definition(self, step: str) -> str:
        """Return a digest of all that determines the rows of a step, apart from the data."""
        if step not in declared():
            return ""
        return _definition(step) + (f"-{self.runs}" if declared()[step].stored == "result" else "")

    def _is_of_this_version(self, file: SummaryFile) -> bool:
        """Whether the rows of a file are those that this version computes.

        Rows computed in Python are also shown if runs have changed since, as views cannot compute others.
        """
        if _is_computed_in_python(file.step):
            return file.definition.partition("-")[0] == _definition(file.step)
        return file.definition == self.definition(file.step)

    def files(self, step: str) -> list[SummaryFile]:
        """Return the files of a step that are of this version."""
        return self._by_step.get(step, [])

    def stored_days(self, step: str) -> dict[str, DayRows]:
        """Return the days of a step that are stored, some of which may be out of date."""
        return {day: rows for file in self.files(step) for day, rows in file.days.items()}

    def add(self, added: SummaryFile) -> None:
        """Add a file that was just written."""
        kept = (file.without(set(added.days)) for file in self.files(added.step))
        self._by_step[added.step] = [*(file for file in kept if file.days), added]

    @property
    def is_used(self) -> bool:
        """Whether any rows are stored."""
        return any(self._by_step.values())

    @property
    def is_complete(self) -> bool:
        """Whether rows of all stored steps are there, and not only of those that Python needs."""
        return self.is_used and self.steps == stored_names()

    def out_of_date(self) -> dict[str, set[str]]:
        """Return for each stored step the days that have to be computed; a result has one, without a date."""
        dirty: dict[str, set[str]] = {}
        for step in self.steps:
            if days := self.days_to_compute(step, dirty):
                dirty[step] = days
        return dirty

    def days_to_compute(self, step: str, dirty: Mapping[str, set[str]]) -> set[str]:
        """Return the days of a step that have to be computed, given those of the steps that it reads."""
        metric = declared()[step]
        known = self.stored_days(step)
        days: set[str] = set()
        for leaf, window in leaves(step).items():
            for day, number in self._changes(leaf, dirty, of_runs=leaf in metric.of_runs):
                for touched in window.touched(day) if metric.stored == "day" else (NO_DAY_KEY,):
                    if touched not in known or known[touched].up_to < number:
                        days.add(touched)
        if metric.stored == "result":
            current = {file.definition for file in self.files(step)} == {self.definition(step)}
            return days if known and current else {NO_DAY_KEY}
        wanted = self._wanted(step)
        missing = set() if self._complete_at else wanted - known.keys()
        return missing | days & (wanted | known.keys())

    def _wanted(self, step: str) -> set[str]:
        """Return the days with data that rows of a step can be about."""
        tables = [leaf for leaf in leaves(step) if leaf in data_tables()]
        days = {day for table in tables for day in self._places.get(table, ())}
        return days if tables else {day for leaf in leaves(step) for day in self._wanted(leaf)}

    def _changes(
        self, leaf: str, dirty: Mapping[str, set[str]], *, of_runs: bool
    ) -> Iterator[tuple[str, int]]:
        """Yield the days of an input and the commit that last changed them."""
        if leaf in declared():
            changes = [(day, rows.changed) for day, rows in self.stored_days(leaf).items()]
            changes += [(day, self.state.number + 1) for day in dirty.get(leaf, ())]
        else:
            changes = list(self.state.changed.get(leaf, {}).items())
        for day, number in changes:
            if number > self._complete_at and (not of_runs or day == NO_DAY_KEY or day in self._run_days):
                yield day, number

    def rows_sql(self, step: str, days: Collection[str] | None = None) -> str:
        """Return the statement that reads the stored rows of a step, or those of some days."""
        files = self.files(step)
        if days is not None:
            days = self.stored_days(step).keys() & days
            files = [file for file in files if not file.days.keys().isdisjoint(days)]
        text = stored_rows_sql(
            declared()[step], [(str(self.folder.path / file.path), file.stale) for file in files]
        )
        return text if days is None else f"FROM (\n{text}\n) WHERE {on_days(days)}"

    def days_for(self, step: str, days: Collection[str]) -> Iterator[tuple[str, set[str] | None]]:
        """Yield each stored step that a step reads, with the days of it that these days need, or None."""
        for leaf, window in leaves(step).items():
            if leaf in declared():
                by_day = declared()[step].stored == declared()[leaf].stored == "day"
                yield leaf, {other for day in days for other in window.around(day)} if by_day else None

    def tables_for(self, step: str, days: Collection[str]) -> dict[str, set[str]]:
        """Return the days of tables that the rows of these days depend on."""
        metric = declared()[step]
        found: dict[str, set[str]] = {}
        for table, window in leaves(step).items():
            if table not in data_tables():
                continue
            if metric.stored == "day":
                around = {other for day in days for other in window.around(day)}
            elif table in metric.of_runs:
                around = {*self._run_days, NO_DAY_KEY}
            else:
                around = self._places.get(table, set())
            found[table] = around & self._places.get(table, set())
        return found

    def rows_read(self, steps: Sequence[str], day: str) -> int:
        """Return the number of rows of tables that the rows of a day of steps stored by day depend on."""
        found: dict[str, set[str]] = defaultdict(set)
        for step in steps:
            if declared()[step].stored == "day":
                for table, days in self.tables_for(step, [day]).items():
                    found[table] |= days
        return self.rows_of(found)

    def rows_of(self, tables: Mapping[str, set[str]]) -> int:
        """Return the number of rows of some days of tables."""
        return sum(
            file.rows_on(day or None)
            for table, days in tables.items()
            for day in days
            for file in self.state.files_on(table, day or None)
        )


def _days_of_runs(folder: Folder) -> frozenset[str]:
    """Return the days of all benchmark runs, with those before and after, as clocks differ from UTC."""
    days: set[str] = set()
    for run in run_table(folder.path).select(["from_utc", "to_utc"]).to_pylist():
        if run["from_utc"] is None or run["to_utc"] is None:
            continue
        first, last = run["from_utc"].date(), run["to_utc"].date()
        length = min((last - first).days, 366)
        days.update((first + number * _ONE_DAY).isoformat() for number in range(-1, length + 2))
    return frozenset(days)


def stored_rows_sql(metric: Metric, files: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the statement that reads the rows of a step from files, without days that others have."""
    columns = ", ".join(column.name for column in metric.view_columns)
    selects = [
        f"SELECT {columns} FROM read_parquet({literal(path)}) WHERE {_not_on_days(stale)}"
        for path, stale in files
        if stale
    ]
    if whole := ", ".join(literal(path) for path, stale in files if not stale):
        selects.append(f"SELECT {columns} FROM read_parquet([{whole}])")
    return "\nUNION ALL\n".join(selects) or no_rows_sql(metric)


def _not_on_days(days: Sequence[str]) -> str:
    return f"({on_days(days)}) IS NOT TRUE"


def drop_summaries(folder: Folder, state: State) -> None:
    """Drop all stored rows; the end of the change computes them again."""
    if state.summaries:
        append(folder, state, Commit("summarise", drops_summaries=True))


def steps_to_store(state: State, min_rows: int | None = None) -> tuple[str, ...]:
    """Return the steps of which a store keeps rows.

    These are all stored steps if rows of some are there already, or if the tables that they read have so many
    rows that metrics are slow without them; otherwise those that are computed in Python, if they can be.
    """
    there = {file.step for file in state.summaries.values()}
    few = steps_of_computed()
    if there - set(few):
        return stored_names()
    tables = _summarised_tables()
    rows: Counter[str] = Counter()
    for file in state.files.values():
        rows[file.table] += file.rows
    if min_rows is not None and sum(rows[table] for table in tables) >= min_rows:
        return stored_names()
    wanted = [declared()[name].from_rows for name in few if declared()[name].computed_by]
    enough = any(rows[table] >= count for each in wanted for table, count in each.items())
    return few if there or (enough and min_rows is not None) else ()


@cache
def _summarised_tables() -> frozenset[str]:
    return frozenset(leaf for step in stored_names() for leaf in leaves(step)) & frozenset(data_tables())
