"""Writes NETSTAT CONFIG from rows of its table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from zscope.parsers.text.netstat.heading_write import Command, reply_lines

Row = Mapping[str, Any]

_LABEL_WIDTHS = (20, 19)
"""Of the left and of the right label of a line."""
_VALUE_WIDTH = 10


def config_lines(rows: Iterable[Row], command: Command | None = None, *, pairs: int = 2) -> list[str]:
    """The report with the tables in the order of the rows, one or two parameters in a line."""
    body: list[str] = []
    for section, inside in groupby(rows, key=lambda row: row.get("section")):
        if section is not None:
            body.append(f"{section}:")
        body += _lines(inside, pairs)
    return reply_lines(command or Command(), body)


def _lines(rows: Iterable[Row], pairs: int) -> Iterator[str]:
    waiting: list[str] = []
    for row in rows:
        value = row.get("value") or ""
        if row.get("label") is None:
            yield from _joined(waiting)
            yield value
            continue
        label = f"{row['label']}:"
        width = _LABEL_WIDTHS[len(waiting) % 2]
        waiting.append(f"{label:<{width - 1}} {value:<{_VALUE_WIDTH - 2}}  ")
        if len(waiting) == pairs:
            yield from _joined(waiting)
    yield from _joined(waiting)


def _joined(waiting: list[str]) -> Iterator[str]:
    if waiting:
        yield "".join(waiting).rstrip()
    waiting.clear()
