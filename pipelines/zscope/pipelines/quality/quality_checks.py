"""Checks: expectations with a name, a meaning, and the statement for unexpected rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from zscope.schemas.errors import Error

SAMPLED = "sampled"
"""Schema with the rows of the slice for checks of single rows; for a large table, a sample."""
CHECKED = "checked"
"""Schema with all rows of the slice."""
NEARBY = "nearby"
"""Schema with all rows of the days of the slice and the day before, of any load."""


class QualityError(Error):
    """Validation could not run; the message contains the reason. Bad data never raises this."""


class CheckSeverity(StrEnum):
    """How bad an unexpected row is, the worst first."""

    FAILURE = "failure"
    """The data contradicts itself or its declaration."""
    WARNING = "warning"
    """Possible, but unlikely enough to be examined."""
    NOTE = "note"
    """Valid data, for information."""


class CheckKind(StrEnum):
    """What a check examines."""

    NOT_NULL = "not-null"
    RANGE = "range"
    CODES = "codes"
    UNIQUE = "unique"
    CLOCK = "clock"
    ORDER = "order"
    MONOTONIC = "monotonic"
    ARITHMETIC = "arithmetic"
    IDENTITY = "identity"
    REFERENCE = "reference"
    AGREEMENT = "agreement"
    COVERAGE = "coverage"


@dataclass(frozen=True, slots=True)
class NotNull:
    """The column is not null."""


@dataclass(frozen=True, slots=True)
class Between:
    """Values are between two limits, inclusive; one of them can be None."""

    minimum: float | None
    maximum: float | None


@dataclass(frozen=True, slots=True)
class OneOf:
    """Values are in a set."""

    values: tuple[int, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoRows:
    """The statement for unexpected rows returns no rows."""


Test = NotNull | Between | OneOf | NoRows


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation about the rows of a table."""

    id: str
    table: str
    kind: CheckKind
    severity: CheckSeverity
    meaning: str
    unexpected: str
    """The statement that returns unexpected rows, with the columns of their origin first."""
    test: Test = NoRows()
    column: str = ""
    rows: str = SAMPLED
    """The rows it examines: those of schema `sampled` or `checked`."""
    needs: tuple[str, ...] = ()
    """Other tables that the statement reads."""
