"""The results of a validation run as a table, with one row per expectation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.pipelines.quality.quality_checks import CHECKED, Check, CheckSeverity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zscope.pipelines.quality.slices import SliceSize, StoreSlice


class CheckOutcome(StrEnum):
    """The outcome of a check."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """The check could not run."""


def _field(name: str, kind: pa.DataType, meaning: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"meaning": meaning})


_FEW = pa.dictionary(pa.int32(), pa.string())
VALIDATION_SCHEMA = pa.schema(
    [
        _field("run_id", pa.string(), "Run of zscope validate: its time in UTC and some letters."),
        _field("checked_utc", pa.timestamp("us", "UTC"), "When the run began."),
        _field("load_ids", pa.list_(pa.uint32()), "Loads of the slice."),
        _field(
            "whole_loads",
            pa.bool_(),
            "Whether these loads were checked completely.",
        ),
        _field("slice_system", _FEW, "System to which the run was restricted.", nullable=True),
        _field("first_day", pa.date32(), "First day to which the run was restricted.", nullable=True),
        _field("last_day", pa.date32(), "Last day to which the run was restricted.", nullable=True),
        _field("table_name", _FEW, "Table of the expectation."),
        _field("column_name", _FEW, "Column of the expectation, if there is one.", nullable=True),
        _field("expectation", pa.string(), "Name of the expectation; the same in every run."),
        _field(
            "kind", _FEW, "Kind of the expectation: not-null, range, codes, unique, arithmetic and so on."
        ),
        _field("severity", _FEW, "Severity of unexpected rows: failure, warning or note."),
        _field("outcome", _FEW, "passed, failed, or error if it could not be checked."),
        _field("success", pa.bool_(), "Whether no row was unexpected; null for an error.", nullable=True),
        _field("checked_rows", pa.uint64(), "Rows of the table that were checked."),
        _field("slice_rows", pa.uint64(), "Rows of the table in the slice."),
        _field("unexpected_rows", pa.uint64(), "Unexpected rows.", nullable=True),
        _field(
            "first_unexpected",
            pa.timestamp("us"),
            "Earliest time of the unexpected rows, on the clock of the table; null if they have none.",
            nullable=True,
        ),
        _field("last_unexpected", pa.timestamp("us"), "Latest time of the unexpected rows.", nullable=True),
        _field("sampled", pa.bool_(), "Whether only a sample of the rows was checked."),
        _field(
            "examples", pa.string(), "Some of the unexpected rows with their origin, as JSON.", nullable=True
        ),
        _field("meaning", pa.string(), "The expectation in one sentence."),
        _field("error", pa.string(), "Why it could not be checked.", nullable=True),
    ],
    metadata={"table": "validation"},
)
"""Columns of the table `validation`."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    check: Check
    unexpected_rows: int | None
    error: str | None = None

    @property
    def outcome(self) -> CheckOutcome:
        """Passed, failed or error."""
        if self.error is not None or self.unexpected_rows is None:
            return CheckOutcome.ERROR
        return CheckOutcome.FAILED if self.unexpected_rows else CheckOutcome.PASSED


@dataclass(frozen=True, slots=True)
class UnexpectedRows:
    """The period of unexpected rows, and some of them as JSON."""

    examples: str | None = None
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class ValidationRun:
    """Values common to all results of a run."""

    id: str
    at: datetime
    store_slice: StoreSlice
    loads: tuple[int, ...]


def result_row(
    run: ValidationRun, result: CheckResult, size: SliceSize, found: UnexpectedRows
) -> dict[str, object]:
    """Return the row of a result."""
    check, outcome = result.check, result.outcome
    checked_rows = size.rows if check.rows == CHECKED else size.sampled_rows
    return {
        "run_id": run.id,
        "checked_utc": run.at,
        "load_ids": list(run.loads),
        "whole_loads": run.store_slice.whole_loads,
        "slice_system": run.store_slice.system,
        "first_day": run.store_slice.first_day,
        "last_day": run.store_slice.last_day,
        "table_name": check.table,
        "column_name": check.column or None,
        "expectation": check.id,
        "kind": check.kind.value,
        "severity": check.severity.value,
        "outcome": outcome.value,
        "success": None if outcome is CheckOutcome.ERROR else outcome is CheckOutcome.PASSED,
        "checked_rows": 0 if outcome is CheckOutcome.ERROR else checked_rows,
        "slice_rows": size.rows,
        "unexpected_rows": result.unexpected_rows,
        "first_unexpected": found.first,
        "last_unexpected": found.last,
        "sampled": checked_rows < size.rows,
        "examples": found.examples,
        "meaning": check.meaning,
        "error": result.error,
    }


def results_table(rows: Sequence[dict[str, object]]) -> pa.Table:
    """Return the rows as the table `validation`."""
    return pa.Table.from_pylist(list(rows), VALIDATION_SCHEMA)


def worst_outcome(results: pa.Table) -> CheckSeverity | CheckOutcome:
    """Return the worst result of a run: an error, the highest severity of failed checks, or passed.

    >>> worst_outcome(VALIDATION_SCHEMA.empty_table()).value
    'passed'
    """
    outcomes, severities = results["outcome"].to_pylist(), results["severity"].to_pylist()
    if CheckOutcome.ERROR in outcomes:
        return CheckOutcome.ERROR
    failed = {s for o, s in zip(outcomes, severities, strict=True) if o == CheckOutcome.FAILED}
    return next((severity for severity in CheckSeverity if severity.value in failed), CheckOutcome.PASSED)


def unvalidated_loads(validated: set[int], loads: set[int]) -> tuple[int, ...]:
    """Return the loads to validate by default: those never validated completely.

    >>> unvalidated_loads({1, 2}, {2, 3, 4})
    (3, 4)
    """
    return tuple(sorted(loads - validated))
