"""The rows of a case of a metric as a text: small tables, as `tests/pipelines/cases/README.md` describes."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Row = dict[str, Any]

NOT_NAMED = "-"
NULL = "NULL"
_CELL = re.compile(r'((?:\w+: )?"(?:[^"\\]|\\.)*"|\S+(?: \S+)*)(?:  +|$)')
_PAIR = re.compile(r"(\w+): (.+)", re.DOTALL)


class CaseError(Exception):
    """A text that is no table of rows."""


def read_rows(text: str, types: Mapping[str, str]) -> list[Row]:
    """Read the rows of a text, whose columns have these DuckDB types. A column that is NULL is None.

    >>> read_rows('''
    ... system  bytes  name
    ... SYSA    100    two words  # half of 200
    ... SYSB    NULL   -
    ... ''', {"system": "VARCHAR", "bytes": "BIGINT", "name": "VARCHAR"})
    [{'system': 'SYSA', 'bytes': 100, 'name': 'two words'}, {'system': 'SYSB', 'bytes': None}]
    """
    return [row for table in _tables(text) for row in _rows(table, types)]


def _tables(text: str) -> Iterator[list[list[str]]]:
    """The cells of each table; an empty line is between two."""
    table: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if cells := _cells(line):
            table.append(cells)
        elif not line.strip() and table:
            yield table
            table = []


def _cells(line: str) -> list[str]:
    """The cells of a line, without its comment."""
    cells: list[str] = []
    rest = line.strip()
    while rest and not rest.startswith("#"):
        match = _CELL.match(rest)
        if match is None:
            raise CaseError(f"two blanks are missing after the quoted text: {line}")
        cells.append(match[1])
        rest = rest[match.end() :]
    return cells


def _rows(table: list[list[str]], types: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a table: each line is a row, or a column, or has pairs of one row."""
    if _PAIR.fullmatch(table[0][0]):
        table = _row_of_pairs([cell for line in table for cell in line])
    elif table[0][0].endswith(":"):
        if wrong := [line[0] for line in table if not line[0].endswith(":")]:
            raise CaseError(f"a colon is missing after the column {wrong[0]}")
        table = [[line[0][:-1], *line[1:]] for line in table]
        if len({len(line) for line in table}) != 1:
            raise CaseError(f"the columns have different numbers of rows: {table}")
        table = [list(row) for row in zip(*table, strict=True)]
    names, *rows = table
    if unknown := sorted(set(names) - set(types)):
        raise CaseError(f"there is no column {', '.join(unknown)}")
    if len(set(names)) != len(names):
        raise CaseError(f"a column is named twice: {names}")
    for row in rows:
        if len(row) != len(names):
            raise CaseError(f"{len(row)} cells for {len(names)} columns: {row}")
        yield {
            name: read_cell(cell, types[name])
            for name, cell in zip(names, row, strict=True)
            if cell != NOT_NAMED
        }


def _row_of_pairs(cells: list[str]) -> list[list[str]]:
    pairs = [_PAIR.fullmatch(cell) for cell in cells]
    if wrong := [cell for cell, pair in zip(cells, pairs, strict=True) if not pair]:
        raise CaseError(f"not a column, a colon, a blank and a value: {wrong[0]}")
    return [[pair[1] for pair in pairs if pair], [pair[2] for pair in pairs if pair]]


def read_cell(cell: str, kind: str) -> Any:  # noqa: ANN401 - of the type of the column
    """Read the value of a cell of a column with this DuckDB type.

    >>> read_cell("2026-03-02T10:00Z", "TIMESTAMP WITH TIME ZONE").minute, read_cell('["a"]', "VARCHAR[]")
    (0, ['a'])
    """
    if cell == NULL:
        return None
    try:
        return _READERS.get(kind, _toml_value)(cell)
    except (ValueError, KeyError) as error:
        raise CaseError(f"{cell} is no {kind}") from error


def _text(cell: str) -> str:
    text = json.loads(cell) if cell.startswith('"') else cell
    return str(text)


def _truth(cell: str) -> bool:
    return {"true": True, "false": False}[cell]


def _moment(cell: str) -> datetime:
    """A point in time with its zone."""
    time = datetime.fromisoformat(cell)
    if time.tzinfo is None:
        raise ValueError
    return time


def _local_time(cell: str) -> datetime:
    time = datetime.fromisoformat(cell)
    if time.tzinfo is not None:
        raise ValueError
    return time


def _toml_value(cell: str) -> Any:  # noqa: ANN401 - a list or a structure
    return tomllib.loads(f"value = {cell}")["value"]


_READERS: dict[str, Callable[[str], Any]] = {
    "VARCHAR": _text,
    "INTEGER": int,
    "BIGINT": int,
    "DOUBLE": float,
    "BOOLEAN": _truth,
    "DATE": date.fromisoformat,
    "TIMESTAMP": _local_time,
    "TIMESTAMP WITH TIME ZONE": _moment,
}
"""How a cell of a column of each type is read; those of other types are written as in TOML."""
