"""What a reader chose to see: the filters of pages and reports, and their conditions in SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from zscope.pipelines.metrics import MetricSelection, statement
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from zscope.pipelines.metrics import Metric

PERIOD_BEFORE, SAME_DAYS = "period before", "same days last week"
COMPARISONS = (PERIOD_BEFORE, SAME_DAYS)
"""Periods that a chosen one can be compared with, beside chosen ones."""
_WEEK = timedelta(days=7)
ROLES = ("client", "server")
"""The sides of a handshake; a server that requests client certificates is a server, too."""
_ROLE_COLUMNS = ("handshake_role", "side")
"""Columns with the role; a metric or table has one of them at most."""
_FIELDS = {"system": "systems", "stack": "stacks", "port": "ports", "job": "jobs", "role": "roles"}
"""The filters of values by their names."""
_LISTS = {"system": "systems", "server_port": "server_ports", "job_name": "job_names"}
"""Columns with all values of what a row was seen at; a filter selects rows with one of its own."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What the reader has chosen in the filter bar; an empty filter does not narrow anything."""

    begin: datetime | None = None
    """First moment, in UTC; of chosen days, the first at which they begin on a system."""
    end: datetime | None = None
    """First moment after the period, in UTC; of chosen days, the last at which they end on a system."""
    systems: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    jobs: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    first_day: date | None = None
    """First local day of the systems, if whole days are chosen: they narrow metrics exactly."""
    last_day: date | None = None
    with_runs: bool = False
    """Whether hours with benchmark runs count in figures of production."""
    compared_with: str = ""
    """What figures are compared with: one of `COMPARISONS`, or the day at which the other period begins."""

    @classmethod
    def of(cls, chosen: MetricSelection) -> Filters:
        """Return the systems and the period of a selection as filters."""
        return cls(
            chosen.begin, chosen.end, chosen.systems, first_day=chosen.first_day, last_day=chosen.last_day,
            with_runs=chosen.with_runs,
        )  # fmt: skip

    @property
    def has_period(self) -> bool:
        """Whether a period is chosen."""
        return any((self.begin, self.end, self.first_day, self.last_day))

    def without_period(self) -> Filters:
        """Return the other filters."""
        return replace(self, begin=None, end=None, first_day=None, last_day=None)

    def chosen(self) -> tuple[str, ...]:
        """Return the names of the filters of values that are set."""
        return tuple(name for name, field in _FIELDS.items() if getattr(self, field))

    def without(self, names: Collection[str]) -> Filters:
        """Return the same without the filters of values with these names."""
        cleared: dict[str, Any] = dict.fromkeys((_FIELDS[name] for name in names), ())
        return replace(self, **cleared)

    def before(self) -> Filters | None:
        """Return the same for the period of the same length before; None without both ends."""
        if self.begin is None or self.end is None:
            return None
        earlier = replace(self, begin=self.begin - (self.end - self.begin), end=self.begin)
        if self.first_day is None or self.last_day is None:
            return earlier
        days = self.last_day - self.first_day + timedelta(days=1)
        return replace(earlier, first_day=self.first_day - days, last_day=self.last_day - days)

    def other(self) -> Filters | None:
        """Return the same for the period that figures are compared with; None if there is none.

        The day that `compared_with` names can be later than the period.
        """
        earlier = self.before() if self.compared_with else None
        if earlier is None or self.begin is None or self.end is None:
            return None
        earlier = replace(earlier, compared_with="")
        if self.compared_with == PERIOD_BEFORE:
            return earlier
        begins = self.first_day or self.begin.date()
        if self.compared_with == SAME_DAYS:
            shift = _WEEK * -(-(self.end - self.begin) // _WEEK)
        else:
            shift = begins - date.fromisoformat(self.compared_with)
        days = [day and day - shift for day in (self.first_day, self.last_day)]
        return replace(
            earlier, begin=self.begin - shift, end=self.end - shift, first_day=days[0], last_day=days[1]
        )

    def options(self) -> list[str]:
        """Return the options of `zscope metrics` for the period."""
        begin, end = self.first_day or self.begin, self.last_day or self.end
        words = ["--from", begin.isoformat()] if begin else []
        return [*words, "--to", end.isoformat()] if end else words

    def words(self) -> str:
        """Return what is chosen, for a heading; empty without filters.

        >>> Filters(systems=("SYSA",), ports=(443, 446)).words()
        'system SYSA; port 443, 446'
        """
        begin = f"from {self.begin:%Y-%m-%d %H:%M} UTC" if self.begin else ""
        end = f"before {self.end:%Y-%m-%d %H:%M} UTC" if self.end else ""
        if self.first_day:
            begin = f"from {self.first_day}"
        if self.last_day:
            end = f"to {self.last_day}"
        chosen = {
            "system": self.systems, "stack": self.stacks, "port": self.ports, "job": self.jobs,
            "role": self.roles,
        }  # fmt: skip
        named = [f"{name} {', '.join(map(str, values))}" for name, values in chosen.items() if values]
        if self.with_runs:
            named.append("with benchmark runs")
        return "; ".join(filter(None, [" ".join(filter(None, [begin, end])), *named]))

    def conditions(self, columns: Collection[str], clock: str = "") -> list[str]:
        """Return the conditions in SQL for a table with these columns; the period is in column `clock`."""
        return [condition for _, condition in self._parts(columns, clock) if condition]

    def without_effect(self, columns: Collection[str], clock: str = "") -> tuple[str, ...]:
        """Return the filters that are set but cannot narrow a table with these columns."""
        return tuple(name for name, condition in self._parts(columns, clock) if not condition)

    def without_effect_on(self, metric: Metric) -> tuple[str, ...]:
        """Return the filters that are set but cannot narrow a metric.

        A metric that takes its period and filters as parameters follows them without a clock and columns.
        """
        columns = _columns(metric)
        of_days = _has_days(metric) and (self.first_day is not None or self.last_day is not None)
        followed = {*metric.filters, *(["period"] if metric.period or of_days else [])}
        return tuple(name for name in self.without_effect(columns, metric.clock) if name not in followed)

    def _parts(self, columns: Collection[str], clock: str) -> Iterator[tuple[str, str]]:
        """Name and condition of each filter that is set; the condition is empty if the column is missing."""
        if self.has_period:
            yield "period", " AND ".join(self._period(clock)) or "true" if clock else ""
        if self.systems:
            yield "system", _one_of("system", self.systems, columns)
        if self.stacks:
            yield "stack", _one_of("stack", self.stacks, columns)
        if self.ports:
            yield "port", _one_of("server_port", self.ports, columns)
        if self.jobs:
            yield "job", _one_of("job_name", self.jobs, columns)
        if self.roles:
            role = next((name for name in _ROLE_COLUMNS if name in columns), None)
            sides = " OR ".join(f"starts_with({role}, {literal(side)})" for side in self.roles)
            yield "role", f"({sides})" if role else ""

    def _period(self, clock: str) -> Iterator[str]:
        if self.begin:
            yield f"{clock} >= TIMESTAMPTZ {literal(self.begin.isoformat())}"
        if self.end:
            yield f"{clock} < TIMESTAMPTZ {literal(self.end.isoformat())}"

    def selection(self, metric: Metric, where: str = "") -> MetricSelection:
        """Return the selection of a metric's rows; `where` is a further condition."""
        of_days = self.first_day is not None or self.last_day is not None
        # A metric that takes its period as parameters has no column for it.
        begin, end = (self.begin, self.end) if metric.period and not of_days else (None, None)
        by_day = metric.period or metric.clock or _has_days(metric)
        days = (self.first_day, self.last_day) if by_day else (None, None)
        if metric.filters:
            chosen = {"stack": self.stacks, "port": self.ports, "job": self.jobs, "role": self.roles}
            return MetricSelection(self.systems, begin, end, where, *days, chosen, self.with_runs)
        columns = _columns(metric)
        conditions = self.conditions(columns, "" if of_days else metric.clock)
        if where:
            conditions.append(f"({where})")
        return MetricSelection((), begin, end, " AND ".join(conditions), *days, with_runs=self.with_runs)


def _has_days(metric: Metric) -> bool:
    """Whether the rows of a metric are of local days."""
    return any(column.name == "day" for column in metric.dimensions)


def _columns(metric: Metric) -> set[str]:
    """The columns of a metric; those of `_LISTS` are no texts."""
    return {
        column.name
        for column in metric.columns
        if column.in_file and (column.name not in _LISTS.values() or column.type.endswith("[]"))
    }


def _one_of(column: str, values: Sequence[str | int], columns: Collection[str]) -> str:
    listed = ", ".join(literal(value) if isinstance(value, str) else str(value) for value in values)
    if column in columns:
        return f"{column} IN ({listed})"
    return f"list_has_any({_LISTS[column]}, [{listed}])" if _LISTS.get(column) in columns else ""


def found_sql(metric: Metric, selection: MetricSelection, sql: str, by: Sequence[str] | None = None) -> str:
    """Return a statement on `found`: the selected rows of a metric, grouped by these columns or its grain."""
    return f"WITH found AS (\n{statement(metric, by, selection)}\n)\n{sql}"
