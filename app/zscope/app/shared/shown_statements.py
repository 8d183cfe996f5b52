"""The statements that a reader sees first, and the command that prints the rows behind each of them."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from zscope.pipelines.metrics import metric, settable
from zscope.pipelines.metrics.metric_statements import WITH_RUNS
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STATEMENT = "statement"
"""The metric that composes them."""


def shown_sql(rows: str, *, every: bool = False) -> str:
    """Return the query for the statements that are shown first, or every one, from the name or text of all.

    The column `of_subject` is the number of statements of a subject, with those that are not shown.
    """
    counted = f"SELECT *, count(*) OVER (PARTITION BY subject) AS of_subject FROM {rows}"
    chosen = "true" if every else metric(STATEMENT).shown_where
    return f"SELECT * FROM ({counted}) WHERE {chosen} ORDER BY place"


def more_words(shown: Sequence[Mapping[str, Any]]) -> str:
    """Return how many statements of the subject of some are not shown, with the command for all; often empty.

    >>> print(more_words(2 * [{"subject": "change", "of_subject": 5}]))
    3 more statements: zscope metrics statement --where "subject = 'change'"
    """
    first = shown[0]
    if not (more := first["of_subject"] - len(shown)):
        return ""
    command = command_line(
        ["zscope", "metrics", STATEMENT, "--where", f"subject = {literal(first['subject'])}"]
    )
    return f"{more} more {'statement' if more == 1 else 'statements'}: {command}"


def evidence_words(statement: Mapping[str, Any], *, with_runs: bool = False) -> list[str]:
    """Return the words of the command that prints the rows behind a statement, with or without runs.

    >>> evidence_words({"evidence_metric": "tls_posture", "evidence_by": "source"})
    ['zscope', 'metrics', 'tls_posture', '--by', 'source']
    """
    moments = {
        name: moment and moment.isoformat()
        for name, moment in (
            ("--from", statement.get("evidence_from_utc")),
            ("--to", statement.get("evidence_to_utc")),
        )
    }
    options = {
        "--by": statement.get("evidence_by"),
        "--where": statement.get("evidence_condition"),
        **moments,
    }
    set_options = [word for name, value in options.items() if value for word in (name, value)]
    if with_runs and WITH_RUNS in settable(statement["evidence_metric"]):
        set_options.append("--with-runs")
    return ["zscope", "metrics", statement["evidence_metric"], *set_options]


def command_line(words: list[str]) -> str:
    """Return a command as one types it.

    >>> print(command_line(["zscope", "metrics", "tls_price", "--where", "part = 'TLS'"]))
    zscope metrics tls_price --where "part = 'TLS'"
    """
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """Quote a word for a shell; SQL has apostrophes, so quotation marks are easier to read.

    >>> print(_quoted("part = 'TLS'"), _quoted("day"), _quoted("a b"))
    "part = 'TLS'" day 'a b'
    """
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else quote(word)
