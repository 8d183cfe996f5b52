"""The results as a table: one row for each expectation of a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.pipelines.quality.checks import CHECKED, Check, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.pipelines.quality.slices import Portion, Slice


class Outcome(StrEnum):
    """What became of a check."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """It could not be made: nothing is known about the data."""


def _field(name: str, kind: pa.DataType, meaning: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"meaning": meaning})


_FEW = pa.dictionary(pa.int32(), pa.string())
VALIDATION_SCHEMA = pa.schema(
    [
        _field("run_id", pa.string(), "Which run of zscope validate: its time in UTC and some letters."),
        _field("checked_utc", pa.timestamp("us", "UTC"), "When the run began."),
        _field("load_ids", pa.list_(pa.uint32()), "Loads of the slice."),
        _field(
            "whole_loads", pa.bool_(), "Whether these loads were checked in full: nothing else narrowed it."
        ),
        _field("slice_system", _FEW, "System to which the run was narrowed, if it was.", nullable=True),
        _field("first_day", pa.date32(), "First day to which the run was narrowed.", nullable=True),
        _field("last_day", pa.date32(), "Last day to which the run was narrowed.", nullable=True),
        _field("table_name", _FEW, "Table the expectation is about."),
        _field("column_name", _FEW, "Column the expectation is about, if it is one.", nullable=True),
        _field("expectation", pa.string(), "Name of the expectation; the same in every run."),
        _field("kind", _FEW, "What it is about: not-null, range, codes, unique, arithmetic and the like."),
        _field("severity", _FEW, "What unexpected rows are: failure, warning or note."),
        _field("outcome", _FEW, "passed, failed, or error: then it could not be checked."),
        _field("success", pa.bool_(), "Whether no row was unexpected; null after an error.", nullable=True),
        _field("checked_rows", pa.uint64(), "Rows of the table that were looked at."),
        _field("slice_rows", pa.uint64(), "Rows of the table in the slice."),
        _field("unexpected_rows", pa.uint64(), "Rows that are not as expected.", nullable=True),
        _field("sampled", pa.bool_(), "Whether only a sample of the rows was looked at."),
        _field(
            "examples", pa.string(), "Some of the unexpected rows with their places, as JSON.", nullable=True
        ),
        _field("meaning", pa.string(), "What is expected, in one sentence."),
        _field("error", pa.string(), "Why it could not be checked.", nullable=True),
    ],
    metadata={"table": "validation"},
)
"""Columns of the table `validation`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the engine found for one check."""

    check: Check
    unexpected_rows: int | None
    error: str | None = None

    @property
    def outcome(self) -> Outcome:
        """Passed, failed or not checked."""
        if self.error is not None or self.unexpected_rows is None:
            return Outcome.ERROR
        return Outcome.FAILED if self.unexpected_rows else Outcome.PASSED


@dataclass(frozen=True, slots=True)
class Run:
    """What all results of a run have in common."""

    id: str
    at: datetime
    part: Slice
    loads: tuple[int, ...]


def result_row(run: Run, verdict: Verdict, portion: Portion, examples: str | None) -> dict[str, object]:
    """One row of the table."""
    check, outcome = verdict.check, verdict.outcome
    looked_at = portion.rows if check.rows == CHECKED else portion.sampled_rows
    return {
        "run_id": run.id,
        "checked_utc": run.at,
        "load_ids": list(run.loads),
        "whole_loads": run.part.whole_loads,
        "slice_system": run.part.system,
        "first_day": run.part.first_day,
        "last_day": run.part.last_day,
        "table_name": check.table,
        "column_name": check.column or None,
        "expectation": check.id,
        "kind": check.kind.value,
        "severity": check.severity.value,
        "outcome": outcome.value,
        "success": None if outcome is Outcome.ERROR else outcome is Outcome.PASSED,
        "checked_rows": 0 if outcome is Outcome.ERROR else looked_at,
        "slice_rows": portion.rows,
        "unexpected_rows": verdict.unexpected_rows,
        "sampled": looked_at < portion.rows,
        "examples": examples,
        "meaning": check.meaning,
        "error": verdict.error,
    }


def results_table(rows: Sequence[dict[str, object]]) -> pa.Table:
    """The rows as the table `validation` has them."""
    return pa.Table.from_pylist(list(rows), VALIDATION_SCHEMA)


def worst(results: pa.Table) -> Severity | Outcome:
    """The gravest thing in a run: an error, a severity of what failed, or that all passed.

    >>> worst(VALIDATION_SCHEMA.empty_table()).value
    'passed'
    """
    outcomes, severities = results["outcome"].to_pylist(), results["severity"].to_pylist()
    if Outcome.ERROR in outcomes:
        return Outcome.ERROR
    failed = {s for o, s in zip(outcomes, severities, strict=True) if o == Outcome.FAILED}
    return next((severity for severity in Severity if severity.value in failed), Outcome.PASSED)


def unvalidated(validated: set[int], loads: set[int]) -> tuple[int, ...]:
    """The loads of a run that was not told which: all that were never validated in full.

    >>> unvalidated({1, 2}, {2, 3, 4})
    (3, 4)
    """
    return tuple(sorted(loads - validated))
