"""Validate the options of `metrics` and `check`, and explain results without rows.

DuckDB would report most of these mistakes too, but in terms of a statement that the user did not write.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.store_option import query_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zscope.pipelines.metrics import Metric, MetricParameter
    from zscope.pipelines.store.session import Session

YEARS = (1970, 2999)
"""SMF has no dates before the first; DuckDB cannot add days to dates far beyond the last."""

_SYSTEMS = """
SELECT DISTINCT system FROM (SELECT system FROM load_kind UNION ALL SELECT system FROM run)
WHERE system IS NOT NULL ORDER BY system
"""


def day_or_moment(text: str) -> date:
    """Parse a day, or a point in time, which is in UTC unless it has another offset.

    >>> day_or_moment("2026-03-02T09:00+01:00")
    datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        value = date.fromisoformat(text) if len(text) <= len("2026-03-02") else datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a day or time such as 2026-03-02 or 2026-03-02T09:41Z"
        ) from error
    if not YEARS[0] <= value.year <= YEARS[1]:
        raise click.BadParameter(f"{text!r}: the year must be between {YEARS[0]} and {YEARS[1]}")
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    return value


def _start_of(day: date) -> datetime:
    return day if isinstance(day, datetime) else datetime.combine(day, time(), UTC)


def period(begin: date | None, end: date | None) -> tuple[datetime | None, datetime | None]:
    """Return the first moment of a period, and the first moment after it; both days are part of it.

    >>> [f"{moment:%d %H}" for moment in period(date(2026, 3, 2), date(2026, 3, 2)) if moment]
    ['02 00', '03 00']
    """
    first = None if begin is None else _start_of(begin)
    last = None if end is None else _start_of(end)
    if last is not None and not isinstance(end, datetime):
        last += timedelta(days=1)
    if first is not None and last is not None and last <= first:
        raise click.UsageError(f"--to {end} is not after --from {begin}: the period is empty")
    return first, last


def check_systems(session: Session, systems: Sequence[str]) -> None:
    """Raise an error for a system that the store does not have: no findings would look like good news."""
    if not systems:
        return
    known = query_table(session, _SYSTEMS)["system"].to_pylist()
    for system in systems:
        if system not in known:
            hint = f"it has {', '.join(known)}" if known else "it has none"
            raise NothingDoneError(f"--system {system}: there is no such system in the store; {hint}")


def check_condition(session: Session, metric: Metric, where: str) -> None:
    """Run a condition on one row of nulls, so that an error in it names the columns of the metric."""
    from zscope.pipelines.store.session import QueryError

    if not where:
        return
    columns = [column for column in metric.columns if column.in_file]
    row = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in columns)
    try:
        session.run(f"SELECT 1 FROM (SELECT {row}) WHERE (\n{where}\n)")
    except QueryError as error:
        message, _, _ = str(error).partition("\n")
        names = ", ".join(column.name for column in columns)
        raise NothingDoneError(
            f"--where {where}: {message}\nWrite an SQL condition on the columns of {metric.name}: {names}"
        ) from error


def why_no_rows(session: Session, metric: Metric, *, narrowed: bool) -> str:
    """Explain a result without rows: the inputs that are missing, or which tables it needs and are empty."""
    from zscope.pipelines.metrics import declared, needed
    from zscope.pipelines.metrics.narrowing import FILES
    from zscope.pipelines.store.parts import data_tables
    from zscope.schemas.questions import questions

    tables = [table for table in needed(metric.name) if table not in declared()]
    records = [table for table in tables if table in data_tables()]
    queries = (f"SELECT '{table}' AS name WHERE NOT EXISTS (FROM {FILES}.{table})" for table in records)
    empty = query_table(session, " UNION ALL ".join(queries))["name"].to_pylist() if records else []
    needs = [need for question in questions() if question.metric == metric.name for need in question.needs]
    missing = [need.without for need in needs if set(need.tables) <= set(empty)]
    if missing:
        return f"no rows; {'; '.join(dict.fromkeys(missing))}"
    parts = [f"no rows; {metric.name} is computed from {', '.join(tables)}"]
    steps = [declared()[step] for step in needed(metric.name) if step in declared()]
    if enough := {table: rows for step in steps for table, rows in step.from_rows.items()}:
        counts = " or ".join(f"{rows} rows of {table}" for table, rows in enough.items())
        parts = [f"no rows; it is estimated when data are loaded, from {counts} on"]
    elif needs:
        parts = [f"no rows, although the store has the inputs that {metric.name} needs"]
    elif empty:
        parts.append(f"the store has no rows in {', '.join(empty)}")
    if narrowed and len(empty) < len(records):
        parts.append("there may be some without --from, --to, --system and --where")
    return "; ".join(parts)


def set_statement(metric: Metric, known: Mapping[str, MetricParameter], text: str) -> str:
    """Return the SQL statement that sets a parameter of a metric, from NAME=VALUE."""
    from zscope.schemas.arrow import literal

    name, sign, value = text.partition("=")
    if name not in known:
        hint = f"it has: {', '.join(known)}" if known else "it has none"
        raise NothingDoneError(f"--set {text}: {metric.name} has no parameter {name!r}; {hint}")
    parameter = known[name]
    if not sign:
        raise NothingDoneError(f"--set {text}: the value is missing; write {name}=VALUE")
    if parameter.type in _PARSERS:
        expected, parse = _PARSERS[parameter.type]
        parsed = parse(value)
        if parsed is None:
            raise NothingDoneError(
                f"--set {text}: {value!r} is not a {expected}; "
                f"zscope metrics {metric.name} --parameters explains the parameter"
            )
        value = parsed
    return f"SET VARIABLE {name} = CAST({literal(value)} AS {parameter.type})"


def _real(text: str) -> str | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return repr(value) if value >= 0 else None  # this also refuses nan


def _whole(text: str, largest: int) -> str | None:
    try:
        value = int(text)
    except ValueError:
        return None
    return str(value) if 0 <= value <= largest else None


def _moment(text: str) -> str | None:
    try:
        return _start_of(day_or_moment(text)).isoformat()
    except click.BadParameter:
        return None


_PARSERS: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    "DOUBLE": ("number of 0 or more", _real),
    "INTEGER": ("whole number of 0 or more", lambda text: _whole(text, 2**31 - 1)),
    "BIGINT": ("whole number of 0 or more", lambda text: _whole(text, 2**63 - 1)),
    "TIMESTAMP WITH TIME ZONE": ("day or time such as 2026-03-02 or 2026-03-02T09:41Z", _moment),
}
"""How values of each type are parsed. Parameters are counts, shares and durations: none can be negative."""
