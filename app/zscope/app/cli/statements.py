"""Run SQL statements and write their rows in the chosen format."""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.output import Output, Rows
from zscope.app.cli.output.output_options import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from contextlib import AbstractContextManager

    from duckdb import Statement

    from zscope.pipelines.store.session import Session


def run_statements(
    session: Session, statements: Sequence[Statement], output: Output, *, earlier_results: int = 0
) -> list[Rows]:
    """Run statements in order, write the rows of each that returns some, and return the results.

    Only the format `table` can contain several results; `earlier_results` counts those already written.
    """
    from zscope.pipelines.store.session import returns_rows

    queries = sum(map(returns_rows, statements))
    total = earlier_results + queries
    if queries and total > 1 and output.format is not OutputFormat.TABLE:
        raise NothingDoneError(
            f"{total} statements return rows, but {output.format} can contain the rows of one: "
            "run one at a time, or add --format table"
        )
    results: list[Rows] = []
    # Closed here, not when it is collected: by then the session has ended.
    with closing(_results(session, statements, results)) as running:
        if queries:
            output.write_all(running)
        else:
            list(running)
    return results


def _results(session: Session, statements: Sequence[Statement], results: list[Rows]) -> Generator[Rows]:
    for statement in statements:
        with _prepared(session, statement):
            result = session.run(statement)
            if result is not None:
                results.append(Rows(result.schema, result.batches))
                yield results[-1]


def _prepared(session: Session, statement: Statement) -> AbstractContextManager[None]:
    """With the steps of metrics computed: the views of the catalogue take DuckDB seconds to plan."""
    if not session.reads_metrics(statement):
        return nullcontext()
    from zscope.pipelines.metrics.narrowing import prepared_for

    return prepared_for(session, statement.query)
