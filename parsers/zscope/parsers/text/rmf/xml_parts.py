"""Pieces of a Postprocessor document, for writing one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from textwrap import indent
from typing import Any
from xml.sax.saxutils import escape, quoteattr

PACKED_WIDTH = 250
_STEP = "    "


@dataclass(frozen=True, slots=True)
class Table:
    """Column headings with their types (N number, T text) and rows of printed cells."""

    headings: Sequence[tuple[str, str]]
    rows: Sequence[tuple[Sequence[str], bool]]
    """With whether it is a total."""


def leaf(name: str, text: str = "", **attributes: str) -> list[str]:
    """An element with nothing but text in it."""
    opening = name + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return [f"<{opening}>{escape(text)}</{name}>" if text else f"<{opening}/>"]


def inside(name: str, content: Iterable[str], **attributes: str) -> list[str]:
    """An element with others in it."""
    opening = name + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return [f"<{opening}>", *(indent(line, _STEP) for line in content), f"</{name}>"]


class Ids:
    """The running numbers of segments, parts, lists and tables."""

    def __init__(self) -> None:
        self._next = count(1)

    def segment(self, name: str, parts: Callable[[], Iterable[list[str]]]) -> list[str]:
        """A segment; its parts are made when their turn has come, as numbers follow the order."""
        number = str(next(self._next))
        return inside(
            "segment", [*leaf("name", name), *(line for part in parts() for line in part)], id=number
        )

    def part(
        self, name: str, variables: Mapping[str, str] | None = None, table: Table | None = None
    ) -> list[str]:
        """A part with single values, a table, or both; the first of a segment has no name."""
        number = str(next(self._next))
        content = leaf("name", name) if name else []
        if variables is not None:
            content += self._variables(variables)
        if table is not None:
            content += self._table(table)
        return inside("part", content, id=number)

    def _variables(self, variables: Mapping[str, str]) -> list[str]:
        content: list[str] = []
        for name, value in variables.items():
            content += inside("var", [*leaf("name", name), *leaf("value", value)])
        return inside("var-list", content, id=str(next(self._next)))

    def _table(self, table: Table) -> list[str]:
        number = str(next(self._next))
        heads = [line for text, kind in table.headings for line in leaf("col", text, type=kind)]
        content = inside("column-headers", heads)
        for refno, (cells, total) in enumerate(table.rows, 1):
            attributes = {"refno": str(refno)} | ({"type": "SUM"} if total else {})
            content += inside("row", [line for cell in cells for line in leaf("col", cell)], **attributes)
        return inside("table", content, id=number)


def packed(lines: Iterable[str]) -> Iterator[str]:
    """The same without indentation, broken at ends of tags."""
    line = ""
    for piece in lines:
        text = piece.strip()
        if line and len(line) + len(text) > PACKED_WIDTH:
            yield line
            line = ""
        line += text
    if line:
        yield line


def by_interval(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, Any], list[Mapping[str, Any]]]:
    """Rows by system and start of the interval."""
    found: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row.get("system"), row.get("interval_start_local")), []).append(row)
    return found
