"""Helpers that read supplied tables from a file, with options, as users do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zscope.parsers import ReadOptions, Tables, read

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from zscope.parsers.issues import Code

Row = dict[str, Any]


def read_text(folder: Path, table: str, text: str, name: str = "figures.csv", **options: Any) -> Tables:  # noqa: ANN401
    """Read one table of a file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return read(path, (table,), options=ReadOptions(**options))


def read_lines(folder: Path, table: str, lines: Iterable[str], **options: Any) -> Tables:  # noqa: ANN401
    """Read one table of a CSV with these lines."""
    return read_text(folder, table, "\n".join(lines) + "\n", **options)


def rows(result: Tables) -> list[Row]:
    """Return the rows of the only table."""
    (table,) = result.tables.values()
    return [dict(row) for row in table.to_pylist()]


def values(result: Tables, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of the rows."""
    return [tuple(row[column] for column in columns) for row in rows(result)]


def issues_of(result: Tables) -> list[tuple[Code, int | None, str]]:
    """Return code, line and column of each issue."""
    return [(issue.code, issue.line_no, issue.field) for issue in result.issues]


def texts(result: Tables) -> str:
    """Return the texts of all issues."""
    return "\n".join(issue.text for issue in result.issues)
