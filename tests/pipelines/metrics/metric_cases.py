"""The cases of the metrics, computed by hand: `tests/pipelines/cases/NAME.toml`, as its README describes."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.pipelines.metric_world import table_schema
from tests.pipelines.metrics.case_tables import CaseError, Row, read_rows
from tests.pipelines.metrics.metric_steps import EVIDENCE, EVIDENCE_ROWS, step_tables

from zscope.pipelines.metrics import declared
from zscope.pipelines.metrics.metric_statements import LOCAL_SPANS, UTC_SPANS
from zscope.schemas.arrow import duckdb_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.pipelines.metrics import Metric

CASES = Path(__file__).parents[1] / "cases"
_KEYS = {"name", "covers", "parameters", "by", "given", "expect", "tolerance"}
_TOLERANCE = 1e-9
_SPANS = dict.fromkeys(UTC_SPANS, "TIMESTAMP WITH TIME ZONE") | dict.fromkeys(LOCAL_SPANS, "DATE")
"""The columns of rows that are grouped by hour, day or week."""


@dataclass(frozen=True)
class MetricCase:
    """Given rows, and the rows that a metric returns for them."""

    metric: str
    name: str
    covers: Sequence[str] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    by: Sequence[str] | None = None
    """The columns that rows are grouped by; None for the view."""
    given: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """The rows of tables, and of steps that are then not computed, with the defaults of the file."""
    expect: Sequence[Row] = ()
    """The values of some columns of each row, in the order of the rows."""
    tolerance: float = _TOLERANCE


@cache
def case_files() -> dict[str, tuple[MetricCase, ...]]:
    """Return the cases of each metric that has some."""
    return {
        file.stem: read_cases(declared()[file.stem], file.read_text(encoding="utf-8"))
        for file in sorted(CASES.glob("*.toml"))
    }


def read_cases(metric: Metric, text: str) -> tuple[MetricCase, ...]:
    """Read the text of a file with cases of a metric."""
    content = tomllib.loads(text)
    defaults = {table: _rows(table, rows)[0] for table, rows in content.get("defaults", {}).items()}
    returned = _SPANS | {column.name: column.type for column in (*metric.columns, *metric.view_columns)}
    if metric.computed_by:
        returned |= step_tables().types(metric.sql)
    if metric.name in EVIDENCE:
        returned[EVIDENCE_ROWS] = "BIGINT"
    cases = []
    for entry in content["case"]:
        if unknown := sorted(set(entry) - _KEYS):
            raise CaseError(f"{metric.name}: {entry.get('name')}: unknown key {', '.join(unknown)}")
        given = {
            table: [defaults.get(table, {}) | row for row in _rows(table, rows)]
            for table, rows in entry.get("given", {}).items()
        }
        expect = read_rows(entry.get("expect", ""), returned)
        cases.append(MetricCase(**{**entry, "metric": metric.name, "given": given, "expect": expect}))
    return tuple(cases)


def difference(case: MetricCase, rows: Sequence[Row]) -> str:
    """Return the first difference between rows and the expected rows; an empty text if there is none."""
    if len(rows) != len(case.expect):
        return f"{len(rows)} rows, not {len(case.expect)}: {rows}"
    for number, (row, wanted) in enumerate(zip(rows, case.expect, strict=True)):
        differing = {
            key: (row[key], value)
            for key, value in wanted.items()
            if not same(row[key], value, case.tolerance)
        }
        if differing:
            return f"row {number}: (returned, expected) {differing} in {row}"
    return ""


def same(value: object, wanted: object, tolerance: float) -> bool:
    """Return whether a value is the expected one. A local time is never the same as a moment."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, float) and isinstance(wanted, (int, float)):
        return math.isclose(value, wanted, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(value, datetime) and isinstance(wanted, datetime):
        return (value.tzinfo is None) == (wanted.tzinfo is None) and value == wanted
    return value == wanted


def _rows(table: str, text: str) -> list[Row]:
    return read_rows(text, column_types(table))


@cache
def column_types(table: str) -> dict[str, str]:
    """Return the DuckDB types of the columns of a table, or of the view of a metric."""
    if table in declared():
        return {column.name: column.type for column in declared()[table].view_columns}
    return {column.name: duckdb_type(column.type) for column in table_schema(table)}
