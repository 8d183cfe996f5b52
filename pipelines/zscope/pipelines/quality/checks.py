"""What an expectation is: a check with a name, a meaning for people, and the rows that it does not expect."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SAMPLED = "sampled"
"""Schema with the rows of the slice for checks of single rows: of a large table a sample."""
CHECKED = "checked"
"""Schema with all rows of the slice."""
NEARBY = "nearby"
"""Schema with all rows of the days of the slice and the day before, whatever load they came by."""


class QualityError(Exception):
    """Validation could not be run; the message says why and what to do. Bad data is never this."""


class Severity(StrEnum):
    """How bad an unexpected row is, the worst first."""

    FAILURE = "failure"
    """The data contradicts itself or its declaration."""
    WARNING = "warning"
    """Possible, but so unlikely that somebody should look."""
    NOTE = "note"
    """Legal; good to know."""


class Kind(StrEnum):
    """What a check is about."""

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


@dataclass(frozen=True, slots=True)
class NotNull:
    """Every row has a value in the column."""


@dataclass(frozen=True, slots=True)
class Between:
    """Values lie between two limits, both included; one may be absent."""

    minimum: float | None
    maximum: float | None


@dataclass(frozen=True, slots=True)
class OneOf:
    """Values are among these."""

    values: tuple[int, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoRows:
    """The statement with the unexpected rows returns none."""


Test = NotNull | Between | OneOf | NoRows


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation about the rows of a table."""

    id: str
    table: str
    kind: Kind
    severity: Severity
    meaning: str
    unexpected: str
    """A statement that returns the rows which are not expected, beginning with where they are from."""
    test: Test = NoRows()
    column: str = ""
    rows: str = SAMPLED
    """Which rows of the table it looks at: those in the schema `sampled` or those in `checked`."""
    needs: tuple[str, ...] = ()
    """Other tables that the statement reads."""


def identifier(name: str) -> str:
    """A name as SQL takes it, whatever it is.

    >>> identifier("file")
    '"file"'
    """
    return '"' + name.replace('"', '""') + '"'
