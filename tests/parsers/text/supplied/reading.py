"""Reads supplied figures as users do: from a file, with what a command line says about it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zscope.parsers import Tables, read

if TYPE_CHECKING:
    from zscope.parsers.issues import Code

Row = dict[str, Any]


def read_text(folder: Path, table: str, text: str, name: str = "figures.csv", **said: Any) -> Tables:  # noqa: ANN401
    """One table of a file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return read(path, (table,), **said)


def read_lines(folder: Path, table: str, lines: Iterable[str], **said: Any) -> Tables:  # noqa: ANN401
    """One table of a CSV with these lines."""
    return read_text(folder, table, "\n".join(lines) + "\n", **said)


def rows(found: Tables) -> list[Row]:
    """The rows of the only table."""
    (table,) = found.tables.values()
    return [dict(row) for row in table.to_pylist()]


def values(found: Tables, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of the rows."""
    return [tuple(row[column] for column in columns) for row in rows(found)]


def told(found: Tables) -> list[tuple[Code, int | None, str]]:
    """The issues: kind, line, column."""
    return [(issue.code, issue.line_no, issue.field) for issue in found.issues]


def texts(found: Tables) -> str:
    """All that the issues say."""
    return "\n".join(issue.text for issue in found.issues)
