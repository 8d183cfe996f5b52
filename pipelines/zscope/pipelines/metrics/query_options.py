"""The options of metrics on the command line and in Python: period, systems, condition and parameters.

DuckDB would report most mistakes in them too, but in terms of a statement that the user did not write.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, metric_names, settable
from zscope.pipelines.metrics.metric_statements import (
    LOCAL_SPANS,
    MetricQueryError,
    MetricSelection,
    names_calculated,
)
from zscope.pipelines.written_days import parse_day
from zscope.schemas.sql_text import literal
from zscope.schemas.suggestions import suggestion, with_suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zscope.pipelines.metrics.declarations import Metric

YEARS = (1970, 2999)
"""SMF has no dates before the first; DuckDB cannot add days to dates far beyond the last."""
KNOWN_SYSTEMS = """
SELECT DISTINCT system FROM (SELECT system FROM load_kind UNION ALL SELECT system FROM run)
WHERE system IS NOT NULL ORDER BY system
"""
ONE_GROUP = "all"
"""The grouping of all rows into one."""


def day_or_moment(text: str) -> date:
    """Parse a day, or a point in time, which is in UTC unless it has another offset.

    >>> day_or_moment("2026-03-02T09:00+01:00")
    datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        value = parse_day(text) if len(text) <= len("2026-03-02") else datetime.fromisoformat(text)
    except ValueError as error:
        raise MetricQueryError(
            f"{text!r} is not a day or time such as 2026-03-02 or 2026-03-02T09:41Z"
        ) from error
    if not YEARS[0] <= value.year <= YEARS[1]:
        raise MetricQueryError(f"{text!r}: the year must be between {YEARS[0]} and {YEARS[1]}")
    return _in_utc(value) if isinstance(value, datetime) else value


def _in_utc(value: datetime) -> datetime:
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)


def _start_of(day: date) -> datetime:
    return _in_utc(day) if isinstance(day, datetime) else datetime.combine(day, time(), UTC)


def selected(
    systems: Sequence[str] = (),
    begin: date | None = None,
    end: date | None = None,
    where: str = "",
    *,
    with_runs: bool = False,
) -> MetricSelection:
    """Return the selection of systems, a period and a condition, with or without benchmark runs.

    Each end of the period is a day or a moment. Days are local days of the systems, and both belong to it.

    >>> selected(begin=date(2026, 3, 2), end=date(2026, 3, 2)).last_day
    datetime.date(2026, 3, 2)
    """
    if begin is not None and end is not None and _is_empty(begin, end):
        raise MetricQueryError(f"the period from {begin} to {end} is empty")
    first, last = (_in_utc(value) if isinstance(value, datetime) else None for value in (begin, end))
    first_day, last_day = (None if isinstance(value, datetime) else value for value in (begin, end))
    return MetricSelection(tuple(systems), first, last, where, first_day, last_day, with_runs=with_runs)


def _is_empty(begin: date, end: date) -> bool:
    """Whether a period has no moments in any time zone."""
    if isinstance(begin, datetime) and isinstance(end, datetime):
        return _in_utc(end) <= _in_utc(begin)
    if isinstance(begin, datetime) or isinstance(end, datetime):
        selection = MetricSelection(
            begin=_in_utc(begin) if isinstance(begin, datetime) else None,
            end=_in_utc(end) if isinstance(end, datetime) else None,
            first_day=None if isinstance(begin, datetime) else begin,
            last_day=None if isinstance(end, datetime) else end,
        )
        first, last = selection.earliest, selection.latest
        return first is not None and last is not None and last <= first
    return end < begin


def grouping(by: str | Sequence[str] | None) -> list[str] | None:
    """Return the columns to group by, without repeated ones; None for the grain of the metric.

    >>> grouping("system, day"), grouping("all"), grouping(["port"])
    (['system', 'day'], [], ['port'])
    """
    if by is None or by == ONE_GROUP:
        return None if by is None else []
    keys = by.split(",") if isinstance(by, str) else by
    return list(dict.fromkeys(key.strip() for key in keys))


def answering(metric: Metric, by: Sequence[str] | None, *days: date | None) -> Metric:
    """Return the metric whose rows answer if they are grouped by these columns, or are those of a period.

    It is another one if they are grouped by time, or if a period without a grouping begins or ends.

    >>> answering(declared()["tls_price"], ["system", "week"]).name
    'tls_price_day'
    >>> answering(declared()["tls_price"], None, date(2026, 3, 2), None).name
    'tls_price_day'
    """
    by_time = any(days) if by is None else not {*LOCAL_SPANS}.isdisjoint(by)
    return declared()[metric.in_time] if metric.in_time and by_time else metric


def like_metric(name: str, otherwise: str) -> str:
    """Return a question with the metrics whose title has all words of a name, or else with similar names.

    >>> like_metric("tls_cost", ""), like_metric("handshake_mx", "")
    ('did you mean tls_price?', 'did you mean handshake_mix or handshake_cost?')
    """
    words = {*name.lower().split("_")}
    titled = [each for each in metric_names() if {*declared()[each].title.lower().split()} >= words]
    if len(words) > 1 and titled:
        return f"did you mean {min(titled, key=lambda each: len(declared()[each].title))}?"
    return suggestion(name, metric_names(), otherwise)


def compared_texts(metric: Metric, where: str) -> dict[str, list[str]]:
    """Return the texts that a condition compares text columns with, by column.

    >>> compared_texts(declared()["tls_price"], "shared_by = 'jobs' AND part IN ('TLS', 'bulk')")
    {'shared_by': ['jobs'], 'part': ['TLS', 'bulk']}
    """
    texts = {column.name for column in metric.columns if column.type == "VARCHAR"}
    found: dict[str, list[str]] = {}
    for column, one, several in _COMPARED.findall(where):
        if column in texts:
            found.setdefault(column, []).extend(_QUOTED.findall(one or several))
    return found


_QUOTED = re.compile(r"'([^']*)'")
_COMPARED = re.compile(r"\b(\w+)\s*(?:=\s*('[^']*')|IN\s*\(([^()]*)\))", re.IGNORECASE)


def check_systems(systems: Sequence[str], known: Sequence[str]) -> None:
    """Raise an error for a system that the store does not have: no rows would look like good news."""
    for system in systems:
        if system not in known:
            hint = f"it has {', '.join(known)}" if known else "it has none"
            message = f"system {system}: there is no such system in the store; {hint}"
            raise MetricQueryError(with_suggestion(message, system, known))


def condition_check(metric: Metric, where: str) -> str:
    """Return a query that applies a condition to one row of nulls: it fails if the condition is wrong."""
    columns = [column for column in metric.columns if column.in_file or names_calculated(metric, where)]
    row = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in columns)
    return f"SELECT 1 FROM (SELECT {row}) WHERE (\n{where}\n)"


def wrong_condition(metric: Metric, where: str, error: Exception) -> MetricQueryError:
    """Return the error for a condition whose check failed; it names the columns of the metric."""
    message, _, _ = str(error).partition("\n")
    names = ", ".join(column.name for column in metric.columns)
    return MetricQueryError(
        f"where {where}: {message}\nWrite an SQL condition on the columns of {metric.name}: {names}"
    )


def set_statement(metric: Metric, name: str, value: str) -> str:
    """Return the SQL statement that sets a parameter of a metric."""
    known = {key: parameter for key, (_, parameter) in settable(metric.name).items()}
    if name not in known:
        hint = f"it has: {', '.join(known)}" if known else "it has none"
        raise MetricQueryError(
            with_suggestion(f"{metric.name} has no parameter {name!r}; {hint}", name, known)
        )
    parameter = known[name]
    if parameter.type in _PARSERS:
        expected, parse = _PARSERS[parameter.type]
        parsed = parse(value)
        if parsed is None:
            raise MetricQueryError(
                f"{value!r} is not {expected}; "
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
    except ValueError:
        return None


_PARSERS: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    "BOOLEAN": ("true or false", lambda text: text.lower() if text.lower() in {"true", "false"} else None),
    "DOUBLE": ("a number of 0 or more", _real),
    "INTEGER": ("a whole number of 0 or more", lambda text: _whole(text, 2**31 - 1)),
    "BIGINT": ("a whole number of 0 or more", lambda text: _whole(text, 2**63 - 1)),
    "TIMESTAMP WITH TIME ZONE": ("a day or time such as 2026-03-02 or 2026-03-02T09:41Z", _moment),
}
"""How values of each type are parsed. Parameters are counts, shares and durations: none can be negative."""
