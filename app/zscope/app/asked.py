"""What a user gives to a question, checked before it is asked, and what is said when nothing comes of it.

DuckDB would find most of these slips as well, but tell them in terms of a statement that is not the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from zscope.app.exits import NothingDoneError
from zscope.app.moments import day_or_moment, start_of

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Metric, Parameter
    from zscope.pipelines.store.session import Session

_SYSTEMS = """
SELECT DISTINCT system FROM (SELECT system FROM load_kind UNION ALL SELECT system FROM run)
WHERE system IS NOT NULL ORDER BY system
"""


def only_known(session: Session, systems: Sequence[str]) -> None:
    """Refuse a system that the store does not have: nothing found there would look as if all were well."""
    if not systems:
        return
    there = _names(session, _SYSTEMS)
    for system in systems:
        if system not in there:
            known = f"it has {', '.join(there)}" if there else "it has none"
            raise NothingDoneError(f"--system {system}: there is no such system in the store; {known}")


def check_condition(session: Session, metric: Metric, where: str) -> None:
    """Try a condition on one row of nulls, so that a slip in it is told with the columns there are."""
    from zscope.pipelines.store.session import QueryError

    if not where:
        return
    columns = [column for column in metric.columns if column.in_file]
    row = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in columns)
    try:
        session.run(f"SELECT 1 FROM (SELECT {row}) WHERE (\n{where}\n)")
    except QueryError as error:
        told, _, _ = str(error).partition("\n")
        names = ", ".join(column.name for column in columns)
        raise NothingDoneError(
            f"--where {where}: {told}\nIt is a condition in SQL on columns of {metric.name}: {names}"
        ) from error


def why_no_rows(session: Session, metric: Metric, *, of_a_part: bool) -> str:
    """What to tell in place of rows: what they would be made from, and what of that is not there."""
    from zscope.pipelines.metrics import declared, needed
    from zscope.pipelines.metrics.narrowing import FILES
    from zscope.pipelines.store.tables import data_tables

    tables = [table for table in needed(metric.name) if table not in declared()]
    records = [table for table in tables if table in data_tables()]
    questions = (f"SELECT '{table}' AS name WHERE NOT EXISTS (FROM {FILES}.{table})" for table in records)
    missing = _names(session, " UNION ALL ".join(questions)) if records else []
    told = [f"no rows; {metric.name} is made from {', '.join(tables)}"]
    if missing:
        told.append(f"the store has nothing in {', '.join(missing)}")
    if of_a_part and len(missing) < len(records):
        told.append("there may be some without --from, --to, --system and --where")
    return "; ".join(told)


def set_statement(metric: Metric, known: Mapping[str, Parameter], text: str) -> str:
    """The statement that sets one of the known parameters of a metric, from NAME=VALUE."""
    from zscope.schemas.ddl import literal

    name, sign, value = text.partition("=")
    if name not in known:
        there = f"it has: {', '.join(known)}" if known else "it has none"
        raise NothingDoneError(f"--set {text}: {metric.name} has no parameter {name!r}; {there}")
    parameter = known[name]
    if not sign:
        raise NothingDoneError(f"--set {text}: the value is missing; write {name}=VALUE")
    if parameter.type in _READ:
        expected, read = _READ[parameter.type]
        taken = read(value)
        if taken is None:
            explained = f"zscope metrics {metric.name} --parameters explains it"
            raise NothingDoneError(f"--set {text}: {value!r} is no {expected}; {explained}")
        value = taken
    return f"SET VARIABLE {name} = CAST({literal(value)} AS {parameter.type})"


def _names(session: Session, question: str) -> list[str]:
    result = session.run(question)
    assert result is not None, "a question has rows"
    return [name for batch in result.batches for name in batch.column(0).to_pylist()]


def _real(text: str) -> str | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return repr(value) if value >= 0 else None  # nor what is no number, which is not above anything


def _whole(text: str, largest: int) -> str | None:
    try:
        value = int(text)
    except ValueError:
        return None
    return str(value) if 0 <= value <= largest else None


def _moment(text: str) -> str | None:
    try:
        return start_of(day_or_moment(text)).isoformat()
    except click.BadParameter:
        return None


_READ: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    "DOUBLE": ("number from 0 on", _real),
    "INTEGER": ("whole number from 0 on", lambda text: _whole(text, 2**31 - 1)),
    "BIGINT": ("whole number from 0 on", lambda text: _whole(text, 2**63 - 1)),
    "TIMESTAMP WITH TIME ZONE": ("day such as 2026-03-02 or moment such as 2026-03-02T09:41Z", _moment),
}
"""How values of a type are read. What can be set are counts, shares and spans: none can be below zero."""
