"""The recommended settings: which are in force where, what says so, and what the recommendation is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

NO_SYSTEM = "not seen on any"
"""Stands for the system where nothing tells of a setting anywhere."""
MARKS = {"pass": "✓ pass", "fail": "✕ fail", "unknown": "? unknown"}
MOST = 500
"""Rows of evidence."""


@dataclass(frozen=True, slots=True)
class Checks:
    """Each practice on each system."""

    rows: pa.Table
    counts: Counter[str]
    """Checks by status."""
    practices: dict[str, str]
    """Setting by id, in the order of the declarations."""
    systems: tuple[str, ...]


def checks(data: Data) -> Checks:
    """All checks, the statuses with shape and word."""
    found = data.metric("best_practice_check")
    rows = found.to_pylist()
    systems = [row["system"] or NO_SYSTEM for row in rows]
    shown = found.set_column(
        found.column_names.index("system"), "system", pa.array(systems, pa.string())
    ).append_column("shown", pa.array([MARKS[row["status"]] for row in rows], pa.string()))
    return Checks(
        rows=shown,
        counts=Counter(row["status"] for row in rows),
        practices={row["practice"]: row["setting"] or row["practice"] for row in rows},
        systems=tuple(sorted({row["system"] for row in rows} - {None})),
    )


def practice(data: Data, name: str) -> dict[str, Any]:
    """A recommendation as it is printed: setting, effect, document, conflicts."""
    [found] = data.rows(f"SELECT * FROM best_practice WHERE id = {literal(name)}").to_pylist()
    return dict(found)


def published(data: Data, results: list[str]) -> pa.Table:
    """The published results that a recommendation rests on."""
    named = ", ".join(map(literal, results)) or "NULL"
    return data.rows(f"SELECT * FROM reference_result WHERE id IN ({named}) ORDER BY id LIMIT {MOST}")


def evidence(data: Data, statement: str) -> pa.Table:
    """The rows behind a check; its statement comes from the declarations of the checks."""
    return data.rows(f"SELECT * FROM ({statement}) LIMIT {MOST}")
