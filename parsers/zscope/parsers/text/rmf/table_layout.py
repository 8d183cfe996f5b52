"""Tables of a listing: their columns by the heading line, and the cells of rows by column.

Columns move between releases, so they are located by their headings. Figures do not end where their headings
do, but the difference is the same in all releases.

A cell belongs to the column whose figures end nearest to its end. This is accepted if the cells of a row are
in order, look like figures of their columns, and are those that a row of its kind has. A row that ends early,
with all cells exactly in place, has figures up to its last; a row with one invalid figure has the others. Any
other row gets an issue and no figures.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.text.printed_cells import Cell, cells_of
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.rmf.label_lines import LONGEST
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORD = re.compile(r"(?:[YN] ){2}[YN](?!\S)|\S+")
"""Three flags are one cell."""
TOUCHED_WORD = re.compile(r"(?:HIGH|MED|LOW)\*?(?=\d)|\S+", re.IGNORECASE)
"""Rates of 10,000 and more begin directly after the priority of a processor."""


class CellShape(NamedTuple):
    """The form of the cells of a column."""

    usual: re.Pattern[str]
    other: re.Pattern[str] | None = None
    """Other form that is accepted only for cells that end exactly in place: elsewhere it is a cut cell."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"{text}|-+", re.ASCII | re.IGNORECASE)


_DECIMAL = _pattern(r"\d{1,9}(?:\.\d{0,4})?")
HUNDREDTHS = CellShape(_pattern(r"\d{1,9}\.\d\d"), _DECIMAL)
TENTHS = CellShape(_pattern(r"\d{1,9}\.\d"), _DECIMAL)
COUNT = CellShape(_pattern(r"\d{1,9}"))
CPU_COUNT = CellShape(_pattern(r"\d{1,4}(?:\.\d{1,2})?"))
HEX_ID = CellShape(_pattern(r"[0-9A-F]{1,4}"))
CPU_TYPE = CellShape(re.compile(r"[A-Z]{2,4}", re.ASCII | re.IGNORECASE))
SPAN = CellShape(re.compile(r"\d{2,4}\.\d\d\.\d\d\.\d{3}", re.ASCII))
ANYTHING = CellShape(re.compile(r"\S.*"))


@dataclass(frozen=True, slots=True)
class RmfColumn:
    """A column that a report is known to have."""

    name: str
    """Column of the table."""
    heading: str
    """Its words in the last heading line; empty if it has none there."""
    shape: CellShape
    shift: int = 0
    """How much further right its figures end than the heading, or than the column before if it has no
    heading.
    """
    optional: bool = False
    """Not in all releases and modes."""


class DoubtfulHeading(NamedTuple):
    """An unknown heading where known ones can be that the report lacks: it may be one of them, damaged."""

    words: str
    start: int
    """Where it begins."""
    lacking: tuple[str, ...]
    """The known headings."""


class RmfColumnPlace(NamedTuple):
    """A column of a report with its position."""

    name: str
    """Empty if the column is not known."""
    heading: str
    shape: CellShape
    start: int
    """Where its heading begins."""
    edge: int
    """Where its figures end."""


@dataclass(frozen=True, slots=True, eq=False)
class RmfLayout:
    """The columns of a table in a report."""

    places: tuple[RmfColumnPlace, ...]
    missing: str = ""
    """The first heading that a cut heading line lacks."""
    doubtful: tuple[DoubtfulHeading, ...] = ()
    bounds: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        edges = [place.edge for place in self.places]
        bounds = tuple((one + other) / 2 for one, other in pairwise(edges))
        object.__setattr__(self, "bounds", bounds)

    def place(self, name: str) -> RmfColumnPlace | None:
        """Return the column of this name, if the report has it."""
        return next((place for place in self.places if place.name == name), None)

    @property
    def end(self) -> int:
        """Return the last position that can belong to a column."""
        return self.places[-1].edge + 4


class HeadingUnreadableError(Error):
    """A heading line whose columns are not in the known order."""


def layout_of(text: str, columns: Sequence[RmfColumn]) -> RmfLayout:
    """Return the columns by their headings; raises HeadingUnreadableError if their order is unknown."""
    if len(text) > LONGEST:
        raise HeadingUnreadableError(text[:LONGEST].strip())
    places: list[RmfColumnPlace] = []
    unknown: list[DoubtfulHeading] = []
    first = 0
    for words, start, end in _headings(text, columns):
        index = _next_column(columns, first, words)
        if index is None:
            if words in {column.heading for column in columns}:
                raise HeadingUnreadableError(words)
            places.append(RmfColumnPlace("", words, ANYTHING, start, end))
            possible = takewhile(lambda column: column.optional, columns[first:])
            unknown.append(DoubtfulHeading(words, start, tuple(column.heading for column in possible)))
            continue
        first, column = index + 1, columns[index]
        places.append(RmfColumnPlace(column.name, words, column.shape, start, end + column.shift))
        if first < len(columns) and not columns[first].heading:
            below = columns[first]
            places.append(
                RmfColumnPlace(below.name, below.name, below.shape, start, places[-1].edge + below.shift)
            )
            first += 1
    rest = [column.heading for column in columns[first:] if not column.optional]
    if rest and places and not places[-1].name and rest[0].startswith(places[-1].heading):
        places.pop()
    if not places or any(one.edge >= other.edge for one, other in pairwise(places)):
        raise HeadingUnreadableError(text.strip())
    present = {place.heading for place in places}
    doubtful = tuple(
        heading._replace(lacking=lacking)
        for heading in unknown
        if (lacking := tuple(words for words in heading.lacking if words not in present))
    )
    return RmfLayout(tuple(places), rest[0] if rest else "", doubtful)


def _headings(text: str, columns: Sequence[RmfColumn]) -> Iterator[tuple[str, int, int]]:
    """Yield words that belong together, with their first and last column."""
    known = sorted({column.heading for column in columns if column.heading}, key=len, reverse=True)
    several = [re.escape(words).replace(r"\ ", " +") for words in known]
    pattern = rf"(?<!\S)(?:{'|'.join(several)})(?!\S)|\S+"
    for index in re.finditer(pattern, text.upper()):
        yield " ".join(index.group().split()), index.start() + 1, index.end()


def _next_column(columns: Sequence[RmfColumn], first: int, words: str) -> int | None:
    for number in range(first, len(columns)):
        if columns[number].heading == words:
            return number
        if not columns[number].optional:
            return None
    return None


_CHANGED = "*"
_EXACT = 1
"""How far a figure may be out of place in a row that lacks some."""


@dataclass(frozen=True, slots=True, eq=False)
class RmfRowKind:
    """The columns of one kind of row."""

    name: str
    """As the column `row_kind` has it."""
    required: frozenset[str]
    allowed: frozenset[str]
    together: tuple[tuple[str, str], ...] = ()
    """Columns of which a row has both or none."""
    word: re.Pattern[str] = WORD
    first: int = 0
    """The number of the first word that can be a figure."""


class RowProblem(NamedTuple):
    """Why figures of a row are not accepted."""

    column: int
    text: str
    cut: bool = False
    """Whether the row ends early."""


@dataclass(slots=True)
class RowFigures:
    """The cells of one row by column."""

    values: dict[str, str] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    """Cells of unknown columns, by heading."""
    changed: list[str] = field(default_factory=list)
    """Headings of values with an asterisk after them."""
    problem: RowProblem | None = None
    spans: dict[str, slice] = field(default_factory=dict)
    """Where each value is in its line."""
    known: dict[str, Any] = field(default_factory=dict)
    """Values that are not printed, such as the kind of the row."""

    def all_extra(self) -> dict[str, str]:
        """Return what has no column, with the headings of what changed."""
        return {**self.extra, "changed": ", ".join(self.changed)} if self.changed else self.extra


def figures_in(text: str, layout: RmfLayout, kind: RmfRowKind) -> RowFigures:
    """Return the figures of a line."""
    return figures_of(cells_of(text, kind.word)[kind.first :], layout, kind)


def no_figures(kind: RmfRowKind, problem: RowProblem) -> RowFigures:
    """Return a row of this kind without figures."""
    return RowFigures(problem=problem, known={"row_kind": kind.name})


def figures_of(cells: Sequence[Cell], layout: RmfLayout, kind: RmfRowKind, shift: int = 0) -> RowFigures:
    """Assign each cell to its column; `shift` is how much further right the row is than its headings."""
    row = _RowAssignment(layout, kind, RowFigures(known={"row_kind": kind.name}))
    last = cells[-1] if cells else Cell("", 1, 1)
    for cell in cells:
        text = cell.text.rstrip(_CHANGED)
        end = cell.end - shift - (len(cell.text) - len(text))
        if layout.missing and end > layout.end:
            break
        index = bisect_left(layout.bounds, end)
        place = layout.places[index]
        if (
            index >= row.next_index
            and _fits(text, end, place)
            and (not place.name or place.name in kind.allowed)
        ):
            row.assign(index, place, Cell(text, cell.start, end), changed=text is not cell.text)
        elif cell is last and not row.problem_cell and row.may_begin_next(end):
            return row.ended(cell)
        else:
            problem = f"{quoted(cell.text)} is not a figure of the column {place.heading}"
            if row.problem_cell or index < row.next_index or abs(end - place.edge) > _EXACT:
                return row.none(cell.start, problem)
            row.skip(index, RowProblem(cell.start, problem))
    return row.complete(last)


@dataclass(slots=True)
class _RowAssignment:
    layout: RmfLayout
    kind: RmfRowKind
    figures: RowFigures
    next_index: int = 0
    """Index after the last column with a figure."""
    distance: int = 0
    """How far the worst number is out of place; words begin in one column and end in several."""

    problem_cell: RowProblem | None = None
    """The problem of the only invalid figure."""
    skipped: str = ""
    """Name of its column."""

    @property
    def places(self) -> tuple[RmfColumnPlace, ...]:
        return self.layout.places

    def assign(self, index: int, place: RmfColumnPlace, figure: Cell, *, changed: bool) -> None:
        """Assign a figure, whose end is that of an unshifted row."""
        self.next_index = index + 1
        text = figure.text
        if text[0].isdigit():
            self.distance = max(self.distance, abs(figure.end - place.edge))
        if place.name:
            self.figures.values[place.name], self.figures.spans[place.name] = text, figure.span
        else:
            self.figures.extra[place.heading] = text
        if changed:
            self.figures.changed.append(place.heading)

    def missing_columns(self) -> list[int]:
        """Return the required columns without a figure."""
        names = self.figures.values.keys()
        needed = set(self.kind.required)
        for pair in self.kind.together:
            if (pair[0] in names) != (pair[1] in names):
                needed.update(pair)
        places = self.places
        needed.discard(self.skipped)
        return [n for n, place in enumerate(places) if place.name in needed and place.name not in names]

    def none(self, column: int, why: str) -> RowFigures:
        """Return no figures of the row, and why."""
        return no_figures(self.kind, RowProblem(column, f"{why}; the figures of this row are skipped"))

    def may_begin_next(self, end: int) -> bool:
        """Return whether a figure that ends here can be the beginning of the next one."""
        following = [*self.missing_columns(), min(self.next_index, len(self.layout.places) - 1)][0]
        return self.next_index <= following and end <= self.layout.places[following].edge

    def skip(self, index: int, problem: RowProblem) -> None:
        """Skip a text that cannot be a figure of its column."""
        self.next_index, self.problem_cell, self.skipped = index + 1, problem, self.places[index].name

    def without_invalid(self, problem: RowProblem) -> RowFigures:
        """Return the other figures if all are present and in place."""
        if self.distance > _EXACT or self.missing_columns():
            return self.none(problem.column, problem.text)
        self.figures.problem = problem._replace(text=f"{problem.text}; it is null")
        return self.figures

    def complete(self, last: Cell) -> RowFigures:
        """Return the figures if they are complete for such a row."""
        if self.problem_cell:
            return self.without_invalid(self.problem_cell)
        missing = self.missing_columns()
        if not missing:
            return self.figures
        if missing[0] < self.next_index:
            place = self.layout.places[missing[0]]
            return self.none(place.edge, f"there is no figure under {place.heading}, but there are others")
        # The last figure may have lost its end, or may belong to a missing one.
        self.figures.values.pop(self.layout.places[self.next_index - 1].name, None)
        return self.ended(last)

    def ended(self, last: Cell) -> RowFigures:
        """Return the figures of a row that ends early."""
        if self.distance > _EXACT:
            return self.none(last.start, "figures are missing, and others are not in their places")
        missing = self.missing_columns()
        where = f"before {self.layout.places[missing[0]].heading}" if missing else f"in {quoted(last.text)}"
        self.figures.problem = RowProblem(
            last.start, f"the row ends {where}; what is missing is null", cut=True
        )
        return self.figures


def _fits(text: str, end: int, place: RmfColumnPlace) -> bool:
    usual, other = place.shape
    if usual.fullmatch(text):
        return True
    return end == place.edge and other is not None and other.fullmatch(text) is not None
