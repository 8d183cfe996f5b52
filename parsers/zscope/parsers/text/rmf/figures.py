"""Rows of figures: which cell belongs to which column.

A cell belongs to the column whose figures end nearest to where it ends. That is believed when the cells of
a row are then in order, look like figures of their columns, and are those that a row of its kind has. A row
that ends early, with all there is of it exactly in its place, has figures up to its last; one that has
something else in the place of a single figure has the others. Any other has none, but an issue.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.cells import Cell, Layout, Place

_CHANGED = "*"
_EXACT = 1
"""By so many columns a figure may be off its place in a row that does not have all of them."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a row of one kind has."""

    required: frozenset[str]
    allowed: frozenset[str]
    together: tuple[tuple[str, str], ...] = ()
    """Columns of which there are both or none."""


class Trouble(NamedTuple):
    """Why the figures of a row are not, or not all, believed."""

    column: int
    text: str
    cut: bool = False
    """Whether it is that the row ends early."""


@dataclass(slots=True)
class Figures:
    """The cells of one row by column."""

    values: dict[str, str] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    """By heading, from columns that are not known."""
    changed: list[str] = field(default_factory=list)
    """Headings of values with an asterisk behind them."""
    trouble: Trouble | None = None


def figures_of(cells: Sequence[Cell], layout: Layout, kind: Kind, shift: int = 0) -> Figures:
    """Give each cell to its column; `shift` says how much further right the row stands than its headings."""
    row = _Row(layout, kind, Figures())
    last = cells[-1] if cells else Cell("", 1, 1)
    for cell in cells:
        text = cell.text.rstrip(_CHANGED)
        end = cell.end - shift - (len(cell.text) - len(text))
        if layout.missing and end > layout.end:
            break
        index = bisect_left(layout.bounds, end)
        place = layout.places[index]
        if index >= row.next and _fits(text, end, place) and (not place.name or place.name in kind.allowed):
            row.put(index, place, text, end, changed=text is not cell.text)
        elif cell is last and not row.broken and row.may_go_on_with(end):
            return row.ended(cell)
        else:
            trouble = f"{shown(cell.text)} is no figure of the column {place.heading}"
            if row.broken or index < row.next or abs(end - place.edge) > _EXACT:
                return _nothing(cell.start, trouble)
            row.skip(index, Trouble(cell.start, trouble))
    return row.checked(last)


@dataclass(slots=True)
class _Row:
    layout: Layout
    kind: Kind
    figures: Figures
    next: int = 0
    """Number of the column behind the last one that has a figure."""
    off: int = 0
    """How far off its place the worst number is; words begin in one column and end in several."""

    broken: Trouble | None = None
    """With the one thing that stands in the place of a figure and is none."""
    skipped: str = ""
    """Name of its column."""

    @property
    def places(self) -> tuple[Place, ...]:
        return self.layout.places

    def put(self, index: int, place: Place, text: str, end: int, *, changed: bool) -> None:
        self.next = index + 1
        if text[0].isdigit():
            self.off = max(self.off, abs(end - place.edge))
        if place.name:
            self.figures.values[place.name] = text
        else:
            self.figures.extra[place.heading] = text
        if changed:
            self.figures.changed.append(place.heading)

    def lacking(self) -> list[int]:
        """The columns without a figure that a row of the kind has."""
        names = self.figures.values.keys()
        needed = set(self.kind.required)
        for pair in self.kind.together:
            if (pair[0] in names) != (pair[1] in names):
                needed.update(pair)
        places = self.places
        needed.discard(self.skipped)
        return [n for n, place in enumerate(places) if place.name in needed and place.name not in names]

    def may_go_on_with(self, end: int) -> bool:
        """Whether a figure that ends here may be the beginning of the next one of the row."""
        following = [*self.lacking(), min(self.next, len(self.layout.places) - 1)][0]
        return self.next <= following and end <= self.layout.places[following].edge

    def skip(self, index: int, trouble: Trouble) -> None:
        """Pass over what stands in the place of a figure, but cannot be one."""
        self.next, self.broken, self.skipped = index + 1, trouble, self.places[index].name

    def without_broken(self, trouble: Trouble) -> Figures:
        """The other figures: they are certain where all there should be are there, each in its place."""
        if self.off > _EXACT or self.lacking():
            return _nothing(trouble.column, trouble.text)
        self.figures.trouble = trouble._replace(text=f"{trouble.text}; it is null")
        return self.figures

    def checked(self, last: Cell) -> Figures:
        """The figures, if they are those of such a row."""
        if self.broken:
            return self.without_broken(self.broken)
        lacking = self.lacking()
        if not lacking:
            return self.figures
        if lacking[0] < self.next:
            place = self.layout.places[lacking[0]]
            return _nothing(place.edge, f"there is no figure under {place.heading}, but there are others")
        # The last one may have lost its end, or stand in the place of one that is not there.
        self.figures.values.pop(self.layout.places[self.next - 1].name, None)
        return self.ended(last)

    def ended(self, last: Cell) -> Figures:
        """The figures of a row that ends early."""
        if self.off > _EXACT:
            return _nothing(last.start, "figures are missing, and others do not stand in their places")
        lacking = self.lacking()
        where = f"before {self.layout.places[lacking[0]].heading}" if lacking else f"in {shown(last.text)}"
        self.figures.trouble = Trouble(last.start, f"the row ends {where}; what is missing is null", cut=True)
        return self.figures


def _fits(text: str, end: int, place: Place) -> bool:
    usual, other = place.shape
    if usual.fullmatch(text):
        return True
    return end == place.edge and other is not None and other.fullmatch(text) is not None


def _nothing(column: int, why: str) -> Figures:
    return Figures(trouble=Trouble(column, f"{why}; the figures of this row are left out"))
