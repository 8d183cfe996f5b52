"""The lines of a report: column headings, rows, and what is no row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.cells import cells_of
from zscope.parsers.text.zvm.figures import Figure, Placed, figure_of, is_figure, place_cells
from zscope.parsers.text.zvm.heading import is_label, is_ruled, names_report
from zscope.parsers.text.zvm.layout import LONGEST, Competing, Layout, find_layout

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line
    from zscope.parsers.text.rmf.cells import Cell
    from zscope.parsers.text.zvm.kinds import Kind
    from zscope.parsers.text.zvm.layout import Column

_MOST_ABOVE = 4
"""So many lines of groups stand above the last heading line."""
_OFF = 1
"""So far from its heading the first word of a row may begin: one that stands elsewhere was moved."""
_WORD = re.compile(r"\S+")
USERS_BEGIN = "USER DATA:"
"""The line that users begin behind."""
_FRAME = re.compile(
    r"Command +=+>|P?F\d{1,2} *= *\S|Select a user\b|Ready(?:\(\d+\))?;"
    r"|(?:MORE\.\.\.|HOLDING|RUNNING|VM READ) +\S+$",
    re.ASCII | re.IGNORECASE,
)
"""What a screen or a session has around a report."""


class Refused(Exception):  # noqa: N818 - says what is so
    """A report in which nothing can be believed."""

    def __init__(self, line: Line, error: Competing) -> None:
        super().__init__(error.text)
        self.line = line
        self.column = error.column
        self.text = error.text


class Row(NamedTuple):
    """One line with figures."""

    line: Line
    key: str
    figures: Mapping[str, Figure]
    """By column of the table; what has no value is not there."""
    texts: Mapping[str, str]
    extra: Mapping[str, str]

    def says_the_same(self, other: Row) -> bool:
        """Whether another row has the same in it."""
        return (self.figures, self.texts, self.extra) == (other.figures, other.texts, other.extra)


@dataclass(slots=True)
class Body:
    """Takes the lines of one report, page by page."""

    kind: Kind
    out: Out
    has_classes: bool
    """Whether lines about classes stand before those about users."""
    rows: list[Row] = field(default_factory=list)
    layout: Layout | None = None
    left_out: bool = False
    """Whether there were rows that are not among these."""
    _skipping: bool = field(init=False)
    _told: set[int] = field(default_factory=set)
    """Where words under no heading stand that were told of."""

    def __post_init__(self) -> None:
        self._skipping = self.has_classes

    def read(self, lines: Sequence[Line]) -> None:
        """Take the lines of a page below its heading; raises `Refused`."""
        titles = self._titles(lines)
        passed = {at for above in titles.values() for at in above}
        for at, line in enumerate(lines):
            if at in passed or not line.text.strip() or is_ruled(line.text):
                continue
            try:
                if at in titles:
                    self.layout = self._layout(line, [lines[above].text for above in titles[at]])
                elif names_report(line.text) and not self._is_row(_words(line.text)):
                    problem = "a report whose heading is not readable begins here; its lines are left out"
                    self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1)
                    return
                else:
                    self._line(line)
            except Competing as error:
                raise Refused(line, error) from error

    def _titles(self, lines: Sequence[Line]) -> dict[int, list[int]]:
        """Where the last lines of column headings are, each with those of the groups above it."""
        found: dict[int, list[int]] = {}
        for at, line in enumerate(lines):
            if is_headings(self.kind, line):
                found[at] = []
                for above in range(at - 1, max(-1, at - 1 - _MOST_ABOVE), -1):
                    if above in found or not self._may_be_title(lines[above].text):
                        break
                    found[at].insert(0, above)
        return found

    def _may_be_title(self, text: str) -> bool:
        plain = text.strip()
        if not plain or is_ruled(text) or is_label(text) or plain.startswith(">") or _ends_class(plain):
            return False
        return not self._is_row(_words(text))

    def _is_row(self, cells: Sequence[Cell]) -> bool:
        """Whether the words of a line are a name and figures, among other things."""
        has_figures = any(is_figure(cell.text) for cell in cells[1:])
        return has_figures and self.kind.key_shape.fullmatch(cells[0].text) is not None

    def _layout(self, line: Line, titles: Sequence[str]) -> Layout:
        if len(line.text) > LONGEST:
            raise Competing(1, "a line of column headings is longer than any")
        layout = find_layout(self.kind, line.text, titles)
        lacking = [name for name in self.kind.required if not layout.has(name)]
        if lacking:
            raise Competing(1, f"the column headings are not {self.kind.headings_shown}")
        return layout

    def _line(self, line: Line) -> None:
        plain = line.text.strip()
        if plain.startswith(">") or _FRAME.match(plain):
            return
        if _ends_class(plain):
            self._skipping = plain.upper() != USERS_BEGIN
            return
        if self._skipping:
            return
        cells = _words(line.text)
        if not self._is_row(cells):
            self.out.unknown(line.no, line.text, self.kind.title)
        elif self.layout is None:
            self._tell_headless(line)
        else:
            self._row(line, cells, self.layout)

    def _tell_headless(self, line: Line) -> None:
        if not self.left_out:
            self.left_out = True
            problem = f"rows without column headings above them ({self.kind.headings_shown}) are left out"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=self.kind.table)

    def _row(self, line: Line, cells: list[Cell], layout: Layout) -> None:
        key = cells[0]
        if abs(key.start - layout.key.start) > _OFF:
            problem = f"{shown(key.text)} does not stand under {layout.key.text}; the row is left out"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, key.start, table=self.kind.table)
            self.left_out = True
            return
        placed = place_cells(cells[1:], layout)
        if not self._is_whole(line, placed, layout):
            self.left_out = True
            return
        row = self._decoded(line, key.text.upper(), placed)
        missing = [name for name in self.kind.required if name not in row.figures]
        if missing and not placed.cut:
            label = layout.label(missing[0])
            problem = f"{row.key} has no value under {label}; the row is left out"
            self.out.issue(Code.BAD_VALUE, problem, line.no, field=label, table=self.kind.table)
        if placed.cut:
            rest = "the row is left out" if missing else "what is missing is null"
            problem = f"the row ends before the end of {placed.cut}; {rest}"
            self.out.issue(Code.REPORT_CUT, problem, line.no, len(line.text), table=self.kind.table)
        if missing:
            self.left_out = True
        else:
            self.rows.append(row)

    def _is_whole(self, line: Line, placed: Placed, layout: Layout) -> bool:
        """Whether figures that stand under no heading do not come from columns that lack theirs."""
        figures = [cell for cell in placed.stray if is_figure(cell.text)]
        named = [column for column in layout.figures if column.name]
        lacking = next((column for column in named if column not in placed.cells), None)
        if figures and lacking:
            problem = f"{figures[0].text} stands under no heading, and nothing under {lacking.label}"
            problem += "; the row is left out"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, figures[0].start, table=self.kind.table)
            return False
        for cell in placed.stray:
            if cell.start not in self._told:
                self._told.add(cell.start)
                problem = f"{shown(cell.text)} stands under no heading; it is kept in extra"
                self.out.issue(Code.UNKNOWN_COLUMN, problem, line.no, cell.start, table=self.kind.table)
        return True

    def _decoded(self, line: Line, key: str, placed: Placed) -> Row:
        figures: dict[str, Figure] = {}
        texts: dict[str, str] = {}
        extra: dict[str, str] = {}
        for column, cell in placed.cells.items():
            if column.name and not column.text:
                figure = self._figure(line, column, cell)
                if figure is not None:
                    figures[column.name] = figure
            elif cell.text.strip(".-"):
                into, name = (texts, column.name) if column.name else (extra, column.label)
                into[name] = cell.text
        extra |= {f"column {cell.start}": cell.text for cell in placed.stray}
        return Row(line, key, figures, texts, extra)

    def _figure(self, line: Line, column: Column, cell: Cell) -> Figure | None:
        try:
            figure = figure_of(cell.text)
            if figure is None or figure.value >= 0:
                return figure
            problem = "is below 0"
        except ValueError:
            problem = "is not a number"
        told = f"{shown(cell.text)} {problem}; the column is null"
        self.out.issue(Code.BAD_VALUE, told, line.no, cell.start, field=column.label, table=self.kind.table)
        return None


def _words(text: str) -> list[Cell]:
    """The words of a line with their places; those of one that is longer than any are not looked at."""
    return cells_of(text, _WORD) if len(text) <= LONGEST else []


def _ends_class(plain: str) -> bool:
    """Whether a line is a title within the report: of users, or of classes of them."""
    return plain.upper().endswith("DATA:")


def is_headings(kind: Kind, line: Line) -> bool:
    """Whether a line is the last one of the column headings."""
    return kind.headings.match(line.text[: LONGEST + 1]) is not None
