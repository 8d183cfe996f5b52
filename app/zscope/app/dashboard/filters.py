"""What the reader has narrowed the pages down to, and what that means for a question."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import Selection
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Metric

ROLES = ("client", "server")
"""The sides a system can have in a handshake; a server that asks for certificates is a server, too."""
_PORT = ("server_port",)
_JOB = ("job_name",)
_ROLE = ("handshake_role", "side")
"""Columns that the filter applies to, where a metric or table has one of them."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty parts choose nothing: then all is shown."""

    begin: datetime | None = None
    """From this moment on, in UTC."""
    end: datetime | None = None
    """Before this moment, in UTC."""
    systems: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    jobs: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    def conditions(self, columns: Collection[str], clock: str = "") -> list[str]:
        """Conditions in SQL for what has these columns; `clock` is the one that the period applies to."""
        return [condition for _, condition in self._parts(columns, clock) if condition]

    def without_effect(self, columns: Collection[str], clock: str = "") -> tuple[str, ...]:
        """The filters that are set and cannot narrow what has these columns."""
        return tuple(name for name, condition in self._parts(columns, clock) if not condition)

    def _parts(self, columns: Collection[str], clock: str) -> Iterator[tuple[str, str]]:
        """Name and condition of each filter that is set; without a condition where there is no column."""
        if self.begin or self.end:
            yield "period", " AND ".join(self._period(clock)) if clock else ""
        if self.systems:
            yield "system", _one_of("system" if "system" in columns else None, self.systems)
        if self.stacks:
            yield "stack", _one_of("stack" if "stack" in columns else None, self.stacks)
        if self.ports:
            port = _first(_PORT, columns)
            yield "port", f"{port} IN ({', '.join(map(str, self.ports))})" if port else ""
        if self.jobs:
            yield "job", _one_of(_first(_JOB, columns), self.jobs)
        if self.roles:
            role = _first(_ROLE, columns)
            sides = " OR ".join(f"starts_with({role}, {literal(side)})" for side in self.roles)
            yield "role", f"({sides})" if role else ""

    def _period(self, clock: str) -> Iterator[str]:
        if self.begin:
            yield f"{clock} >= TIMESTAMPTZ {literal(self.begin.isoformat())}"
        if self.end:
            yield f"{clock} < TIMESTAMPTZ {literal(self.end.isoformat())}"

    def selection(self, metric: Metric, where: str = "") -> Selection:
        """The rows of a metric that are wanted; a condition of the page can come on top."""
        columns = {column.name for column in metric.columns if column.in_file}
        wanted = self.conditions(columns, metric.clock)
        # A metric that takes its period as parameters has no column for it.
        begin, end = (self.begin, self.end) if metric.period else (None, None)
        return Selection((), begin, end, " AND ".join([*wanted, *([f"({where})"] if where else [])]))


def _first(names: tuple[str, ...], columns: Collection[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def _one_of(column: str | None, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(map(literal, values))})" if column else ""
