"""Figures as Performance Toolkit prints them, and which column each word of a row belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.text.zvm.layout import Competing

if TYPE_CHECKING:
    from zscope.parsers.text.rmf.cells import Cell
    from zscope.parsers.text.zvm.layout import Column, Layout

SUFFIXES = {"K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
"""Nothing tells whether they are powers of 1000 or of 1024; 1000 is what rates usually are."""
_FIGURE = re.compile(r"(?P<number>-?(?:\d{1,18}(?:\.\d{0,9})?|\.\d{1,9}))(?P<suffix>[KMG]?)", re.ASCII)
_NO_VALUE = re.compile(r"\.+|-+")


class Figure(NamedTuple):
    """A number as far as it is printed."""

    value: float
    unit: float
    """What its last digit counts: the number was rounded to a multiple of that."""


def figure_of(text: str) -> Figure | None:
    """A printed number; None for dots and hyphens. Raises ValueError for anything else.

    >>> figure_of(".012"), figure_of("12.9M").value, figure_of("...")
    (Figure(value=0.012, unit=0.001), 12900000.0, None)
    """
    if _NO_VALUE.fullmatch(text):
        return None
    found = _FIGURE.fullmatch(text.upper())
    if found is None:
        raise ValueError(text)
    factor = SUFFIXES.get(found["suffix"], 1)
    decimals = len(found["number"].partition(".")[2])
    return Figure(float(Decimal(found["number"]) * factor), float(Decimal(factor).scaleb(-decimals)))


def print_figure(value: float | None, width: int, decimals: int) -> str:
    """A number in so many characters: with fewer decimals, or a suffix, where it does not fit as it is.

    >>> print_figure(0.012, 5, 3), print_figure(72.48, 5, 3), print_figure(12_900_000, 5, 1)
    ('.012', '72.48', '12.9M')
    """
    if value is None:
        return "..."
    for suffix, factor in {"": 1, **SUFFIXES}.items():
        for places in range(decimals, -1, -1):
            text = f"{Decimal(value) / factor:.{places}f}{suffix}"
            text = text[1:] if text.startswith("0.") else text
            if len(text) <= width:
                return text
    raise ValueError(f"{value} does not fit into {width} characters")


def is_figure(text: str) -> bool:
    """Whether a word may stand in a column of figures."""
    return _NO_VALUE.fullmatch(text) is not None or _FIGURE.fullmatch(text.upper()) is not None


@dataclass(slots=True)
class Placed:
    """The words of a row by column."""

    cells: dict[Column, Cell] = field(default_factory=dict)
    stray: list[Cell] = field(default_factory=list)
    """Words that stand under no heading."""
    cut: str = ""
    """The column at or before which the row ends, where it ends early."""


def place_cells(cells: Sequence[Cell], layout: Layout) -> Placed:
    """Give each word behind the first to its column; raises `Competing` where two claim one.

    A row that ends early may have lost the end of its last word, unless that ends where its column does.
    """
    placed = Placed()
    for cell in cells:
        last = cell is cells[-1] and cell.end < layout.figures[-1].end
        try:
            column = _column_of(cell, layout)
            if column is None and not last:
                placed.stray.append(cell)
            elif column and not (last and _may_be_cut(cell, column)):
                _put(placed, column, cell)
        except Competing:
            if not last:
                raise
        if last:
            behind = [column for column in layout.figures if column.end > cell.end]
            lost = behind[0] if cell not in placed.cells.values() else None
            lost = lost or next((column for column in behind if column.name), None)
            placed.cut = lost.label if lost else ""
    return placed


def _may_be_cut(cell: Cell, column: Column) -> bool:
    return cell.end < column.end and not column.text and _NO_VALUE.fullmatch(cell.text) is None


def _column_of(cell: Cell, layout: Layout) -> Column | None:
    if is_figure(cell.text):
        return layout.nearest(cell) or layout.words_over(cell)
    return layout.words_over(cell) or layout.nearest(cell)


def _put(placed: Placed, column: Column, cell: Cell) -> None:
    before = placed.cells.get(column)
    if before is None:
        placed.cells[column] = cell
    elif column.text:
        placed.cells[column] = before._replace(text=f"{before.text} {cell.text}", end=cell.end)
    else:
        raise Competing(cell.start, f"{before.text} and {cell.text} both stand under {column.label}")
