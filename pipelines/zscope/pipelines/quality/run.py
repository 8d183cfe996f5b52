"""One run: the views of a slice, the checks that apply, their results and the pages about them."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.quality.engine import Engine
from zscope.pipelines.quality.explicit import all_checks
from zscope.pipelines.quality.pages import publish, refuse_other
from zscope.pipelines.quality.results import Outcome, Run, Verdict, result_row, results_table
from zscope.pipelines.quality.slices import SAMPLE_ROWS, Portion, Slice, load_ids, make_views

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from zscope.pipelines.quality.checks import Check

EXAMPLES = 5
"""So many of the unexpected rows are kept with a result."""


def validate(
    catalogue: Path,
    part: Slice,
    docs: Path,
    *,
    sample_rows: int = SAMPLE_ROWS,
    checks: Sequence[Check] | None = None,
) -> pa.Table:
    """Check a slice of a store, put the pages about it in place of those in the folder `docs`.

    Where the slice has no rows there are no results, and the pages stay.
    Takes some seconds and hundreds of megabytes for the library alone: see `validate_in_own_process`.
    """
    refuse_other(docs)
    at = datetime.now(UTC)
    run_id = f"{at:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    with tempfile.TemporaryDirectory(prefix="zscope-quality-") as name:
        folder = Path(name)
        with closing(Engine(folder, folder / "pages")) as engine:
            portions = make_views(engine.connection, catalogue, part, sample_rows)
            loads = load_ids(engine.connection) if part.loads is None else part.loads
            run = Run(run_id, at, part, tuple(sorted(loads)))
            wanted = applicable(all_checks() if checks is None else checks, part, portions)
            if not wanted:
                return results_table([])
            verdicts = engine.run(wanted, portions, run_id)
            rows = [_row(engine.connection, run, verdict, portions) for verdict in verdicts]
            engine.write_docs()
        results = results_table(rows)
        publish(folder / "pages", docs, results)
    return results


def applicable(checks: Sequence[Check], part: Slice, portions: Mapping[str, Portion]) -> list[Check]:
    """The checks of the tables asked for that have rows: of no rows nothing can be said."""
    tables = set(part.tables) & set(portions) if part.tables else set(portions)
    return [check for check in checks if check.table in tables]


def _row(
    connection: duckdb.DuckDBPyConnection, run: Run, verdict: Verdict, portions: Mapping[str, Portion]
) -> dict[str, object]:
    examples = _examples(connection, verdict.check) if verdict.outcome is Outcome.FAILED else None
    return result_row(run, verdict, portions[verdict.check.table], examples)


def _examples(connection: duckdb.DuckDBPyConnection, check: Check) -> str:
    """The first of the unexpected rows, in the order of their places."""
    first = f"SELECT * FROM ({check.unexpected}) ORDER BY 1, 2, 3 LIMIT {EXAMPLES}"
    # As text already here: the database knows dates that Python does not.
    found = connection.execute(f"SELECT to_json(list(bad))::VARCHAR FROM ({first}) AS bad").fetchone()
    return str(found[0]) if found else "[]"
