"""Statements and the rows they give, written in the format asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zscope.app.exits import NothingDoneError
from zscope.app.output import Output, Rows
from zscope.app.output.options import Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import Statement

    from zscope.pipelines.store.session import Session


def answer(
    session: Session, statements: Sequence[Statement], output: Output, *, already: int = 0
) -> list[Rows]:
    """Run statements in order, write the rows of each that has some, and return what was read.

    Only tables can stand one behind the other; `already` says how many results the output has before these.
    """
    from zscope.pipelines.store.session import has_rows

    questions = sum(map(has_rows, statements))
    if questions and already + questions > 1 and output.format is not Format.TABLE:
        raise NothingDoneError(
            f"{already + questions} statements give rows, but {output.format} has place for those of one: "
            "ask one at a time, or add --format table"
        )
    read: list[Rows] = []
    results = _results(session, statements, read)
    if questions:
        output.write_all(results)
    else:
        list(results)
    return read


def _results(session: Session, statements: Sequence[Statement], read: list[Rows]) -> Iterator[Rows]:
    for statement in statements:
        result = session.run(statement)
        if result is not None:
            read.append(Rows(result.schema, result.batches))
            yield read[-1]
