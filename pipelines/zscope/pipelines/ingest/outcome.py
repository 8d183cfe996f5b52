"""What became of each input of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.parsers.issues import Issues
from zscope.pipelines.store.tables import ISSUE_TABLE, kept_schema

if TYPE_CHECKING:
    from zscope.parsers.issues import Issue, Severity
    from zscope.pipelines.store.loads import Load


class Status(StrEnum):
    """How an input ended."""

    LOADED = "loaded"
    REPEATED = "repeated"
    """Loaded before, as it is."""
    REFUSED = "refused"
    EMPTY = "nothing to load"
    """Readable, but nothing in it that was asked for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One input."""

    file: str
    status: Status
    load: Load | None = None
    """The load that has its data: of this run or, for a repeated file, an earlier one. None if there is none.
    """
    issues: tuple[Issue, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    """Issues by code, those that are only counted included."""
    note: str = ""

    @property
    def worst(self) -> Severity | None:
        """The highest severity of its issues."""
        return max((issue.severity for issue in self.issues), default=None)


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run."""

    outcomes: tuple[Outcome, ...]
    seconds: float
    committed: bool
    """False for a dry run."""

    def count(self, status: Status) -> int:
        """How many inputs ended so."""
        return sum(outcome.status is status for outcome in self.outcomes)

    @property
    def loads(self) -> list[Load]:
        """What was loaded in this run."""
        return [o.load for o in self.outcomes if o.status is Status.LOADED and o.load]

    @property
    def issues(self) -> Issues:
        """Everything that could not be read as it stands, of all inputs."""
        together = Issues()
        for outcome in self.outcomes:
            for issue in outcome.issues:
                together.add(issue)
        return together


def as_before(load: Load) -> str:
    """What is said of a file that is there already."""
    return f"was loaded before, as load {load.load_id}"


def issue_rows(issues: Sequence[Issue], load_id: int) -> pa.Table:
    """Issues as rows of the store."""
    return pa.Table.from_pylist(
        [{"load_id": load_id} | issue.to_row() for issue in issues], kept_schema(ISSUE_TABLE)
    )
