"""The results of the data validation, and where the pages about them are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_RUNS = 50
MOST = 2000
_VERDICT = "CASE outcome WHEN 'failed' THEN severity ELSE outcome END"
"""What is to be thought of a result: how grave it is where rows are not as expected."""
VERDICTS = ("error", "failure", "warning", "note", "passed")
"""The worst first."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of zscope validate."""

    run_id: str
    checked_utc: datetime
    loads: int
    expectations: int
    held: int

    @property
    def words(self) -> str:
        """In one line."""
        return (
            f"{self.checked_utc:%Y-%m-%d %H:%M} UTC: {self.held:,} of {self.expectations:,} hold "
            f"({self.loads:,} load{'' if self.loads == 1 else 's'})"
        )


def runs(data: Data) -> tuple[Run, ...]:
    """The newest runs, the newest first."""
    found = data.rows(f"""
        SELECT run_id, min(checked_utc) AS checked_utc, any_value(len(load_ids))::BIGINT AS loads,
            count(*) AS expectations, count(*) FILTER (WHERE outcome = 'passed') AS held
        FROM validation GROUP BY run_id ORDER BY checked_utc DESC, run_id LIMIT {_RUNS}
    """)
    return tuple(Run(**row) for row in found.to_pylist())


def not_validated(data: Data) -> int:
    """Loads that were never validated in full without an error."""
    [found] = data.rows("""
        WITH whole AS (
            SELECT any_value(load_ids) AS load_ids FROM validation WHERE whole_loads
            GROUP BY run_id HAVING bool_and(outcome <> 'error')
        )
        SELECT count(*) AS loads FROM load
        WHERE status <> 'removed' AND rows > 0 AND load_id NOT IN (SELECT unnest(load_ids) FROM whole)
    """).to_pylist()
    return int(found["loads"])


def by_kind(data: Data, run: Run) -> pa.Table:
    """How many expectations of each kind hold and how many do not, by how grave that is."""
    return data.rows(
        f"""
        SELECT kind, {_VERDICT} AS verdict, count(*) AS expectations, sum(unexpected_rows)::BIGINT AS rows
        FROM validation WHERE run_id = ? GROUP BY ALL ORDER BY kind, verdict
        """,
        [run.run_id],
    )


def results(data: Data, run: Run) -> pa.Table:
    """The results of a run, the worst first."""
    return data.rows(
        f"""
        SELECT {_VERDICT} AS verdict, table_name, column_name, meaning, unexpected_rows, checked_rows,
            slice_rows, sampled, kind, expectation, error, examples
        FROM validation WHERE run_id = ?
        ORDER BY list_position({list(VERDICTS)!r}, verdict), unexpected_rows DESC, table_name, expectation
        LIMIT {MOST}
        """,
        [run.run_id],
    )


def examples(text: str | None) -> pa.Table:
    """Some of the rows that are not as expected, as a table."""
    rows: list[dict[str, object]] = json.loads(text) if text else []
    names = list(dict.fromkeys(name for row in rows for name in row))
    # One expectation can show numbers in one row and text in another.
    return pa.table({name: [_text(row.get(name)) for row in rows] for name in names})


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def pages_of(data: Data) -> Path | None:
    """The first of the pages about the last run, if there are such."""
    index = existing_store(data.answers.store).docs.resolve() / "index.html"
    return index if index.is_file() else None
