"""The lines of a report: column headings, rows and other text; and checks of the figures of a row."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.printed_cells import cells_of
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.spelling import misspelt, misspelt_text, nearly
from zscope.parsers.text.zvm.zvm_columns import (
    LONGEST,
    USER,
    AmbiguousColumnError,
    PlacedCells,
    PrintedFigure,
    ZvmLayout,
    ZvmReportKind,
    figure_of,
    find_layout,
    is_figure,
    place_cells,
)
from zscope.parsers.text.zvm.zvm_heading import begins_with_number, is_label, is_ruled
from zscope.schemas.errors import Error
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.printed_cells import Cell
    from zscope.parsers.text.report_rows import ReportRows
    from zscope.parsers.text.zvm.zvm_columns import HeadingChoice, ZvmColumn


_MOST_ABOVE = 4
"""Number of title lines above the last heading line."""
_OFF = 1
"""How far from its heading the key of a row may begin; further away the row is shifted."""
_COUNTED = re.compile(r"[-.]?\d", re.ASCII)
_FEWEST_FIGURES = 3
USERS_BEGIN = "USER DATA:"
"""The line before the users."""
_FRAME = re.compile(
    r"Command +=+>|P?F\d{1,2} *= *\S|Select a user\b|Ready(?:\(\d+\))?;"
    r"|(?:MORE\.\.\.|HOLDING|RUNNING|VM READ) +\S+$",
    re.ASCII | re.IGNORECASE,
)
"""Text of screens and sessions around a report."""


class ReportRefusedError(Error):
    """A page without any reliable row."""

    def __init__(self, line: Line, error: AmbiguousColumnError) -> None:
        super().__init__(error.text)
        self.line = line
        self.column = error.column
        self.text = error.text


class ZvmRow(NamedTuple):
    """One line with figures."""

    line: Line
    key: str
    figures: Mapping[str, PrintedFigure]
    """By column of the table; columns without a value are missing."""
    texts: Mapping[str, str]
    extra: Mapping[str, str]

    def says_the_same(self, other: ZvmRow) -> bool:
        """Return whether another row has the same contents."""
        return (self.figures, self.texts, self.extra) == (other.figures, other.texts, other.extra)


@dataclass(slots=True)
class ZvmReportBody:
    """Reads the lines of one report, page by page."""

    kind: ZvmReportKind
    out: ReportRows
    has_classes: bool
    """Whether lines about classes precede those about users."""
    rows: list[ZvmRow] = field(default_factory=list)
    layout: ZvmLayout | None = None
    left_out: bool = False
    """Whether rows were skipped."""
    _skipping: bool = field(init=False)
    _is_titled: bool = False
    """Whether a title of users or of a class was read."""
    _last_skipped: Line | None = None
    _reported: set[int] = field(default_factory=set)
    """Positions of words under no heading that were reported."""

    def __post_init__(self) -> None:
        self._skipping = self.has_classes

    def read(self, lines: Sequence[Line]) -> None:
        """Read the lines of a page below its heading; raises `ReportRefusedError`."""
        titles = self._titles(lines)
        title_indexes = {at for above in titles.values() for at in above}
        for at, line in enumerate(lines):
            if at in title_indexes or not line.text.strip() or is_ruled(line.text):
                self.out.furniture(line.no)
                continue
            try:
                if at in titles and at - 1 in titles:
                    problem = "the column headings are twice; those of the first line are used"
                    self.out.issue(Code.REPORT_REPEATED, problem, line.no, 1, table=self.kind.table)
                elif at in titles:
                    self.out.furniture(line.no)
                    self.layout = self._layout(line, [lines[above].text for above in titles[at]])
                elif _begins_page(line.text) and not self._is_row(_words(line.text)):
                    problem = "a report with an unreadable heading begins here; its lines are skipped"
                    self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1)
                    self.out.skipped(lines[at:])
                    return
                else:
                    self._line(line)
            except AmbiguousColumnError as error:
                raise ReportRefusedError(line, error) from error

    def _titles(self, lines: Sequence[Line]) -> dict[int, list[int]]:
        """Return the indexes of the last heading lines, each with those of the title lines above it."""
        titles_by_line: dict[int, list[int]] = {}
        for at, line in enumerate(lines):
            if is_headings(self.kind, line):
                titles_by_line[at] = []
                for above in range(at - 1, max(-1, at - 1 - _MOST_ABOVE), -1):
                    if above in titles_by_line or not self._may_be_title(lines[above].text):
                        break
                    titles_by_line[at].insert(0, above)
        return titles_by_line

    def _may_be_title(self, text: str) -> bool:
        plain = text.strip()
        if not plain or is_ruled(text) or is_label(text) or plain.startswith(">") or _ends_class(plain):
            return False
        return not self._is_row(_words(text))

    def _is_row(self, cells: Sequence[Cell]) -> bool:
        """Return whether a line begins with a key and contains figures."""
        has_figures = any(is_figure(cell.text) for cell in cells[1:])
        return has_figures and self.kind.key_shape.fullmatch(cells[0].text) is not None

    def _layout(self, line: Line, titles: Sequence[str]) -> ZvmLayout:
        if len(line.text) > LONGEST:
            raise AmbiguousColumnError(1, "a line of column headings is too long")
        layout = find_layout(self.kind, line.text, titles)
        self._report_wrong_headings(line)
        self._report_untitled_columns(line, layout)
        lacking = [name for name in self.kind.required if not layout.has(name)]
        if lacking:
            raise AmbiguousColumnError(1, f"the column headings are not {self.kind.headings_shown}")
        return layout

    def _report_wrong_headings(self, line: Line) -> None:
        """Report figures in a line of headings, and headings that resemble a missing one."""
        words = _words(line.text)
        if figure := next((word for word in words if _COUNTED.match(word.text)), None):
            problem = f"{figure.text} stands among the column headings: a row that was joined to them is lost"
            self.out.issue(Code.UNKNOWN_LINE, problem, line.no, figure.start, table=self.kind.table)
        known = {*self.kind.words, *self.kind.choices, *self.kind.texts}
        names = [word.text.upper() for word in words[1:]]
        choices = self.kind.choices
        missing = {
            name: name
            for name in known
            if names.count(name) < (len(choices[name].columns) if name in choices else 1)
        }
        for at, resembled in misspelt(["", *names], known, missing).items():
            word = words[at]
            text = misspelt_text(word.text, resembled)
            self.out.issue(
                Code.UNKNOWN_COLUMN, text, line.no, word.start, field=word.text, table=self.kind.table
            )

    def _report_untitled_columns(self, line: Line, layout: ZvmLayout) -> None:
        """Report headings of columns that only the titles above tell apart, and that have no such title."""
        for word, choice in self.kind.choices.items():
            lacking = [name for name, _ in choice.columns if not layout.has(name)]
            cells = [
                column
                for column in layout.columns
                if column.word == word and not column.name and _lacks_title(column, choice)
            ]
            if lacking and cells:
                problem = (
                    f"no title above {word} says which column it is; its figures go into extra: a line of "
                )
                problem += "titles may be missing or damaged"
                self.out.issue(
                    Code.UNKNOWN_COLUMN, problem, line.no, cells[0].start, field=word, table=self.kind.table
                )

    def _line(self, line: Line) -> None:
        plain = line.text.strip()
        if plain.startswith(">") or _FRAME.match(plain):
            self.out.furniture(line.no)
            if self.layout and len(_words(plain)) > len(self.layout.columns) + 1 and not _FRAME.match(plain):
                problem = (
                    f"{quoted(plain)} has more figures than there are columns: a row that was joined to "
                )
                problem += "it is lost"
                self.out.issue(Code.UNKNOWN_LINE, problem, line.no, 1, table=self.kind.table)
            return
        if self.kind.classes and _ends_class(plain):
            self._skipping = plain.upper() != USERS_BEGIN
            if not self._skipping:
                self._report_untitled(line)
            self._is_titled = True
            self.out.furniture(line.no)
            return
        if self._skipping:
            # Classes of users are sums of the rows of users.
            self._last_skipped = line
            self.out.furniture(line.no)
            return
        cells = _words(line.text)
        if not self._is_row(cells):
            self.out.add_unknown_line(line.no, line.text, self.kind.title)
        elif self.layout is None:
            self._report_headless(line)
        else:
            self._row(line, cells, self.layout)

    def _report_untitled(self, title: Line) -> None:
        """Report a row just above the title of users if no title of classes is above it."""
        row = self._last_skipped
        is_above = row is not None and row.no == title.no - 1 and self._is_row(_words(row.text))
        if row is not None and is_above and not self._is_titled:
            problem = (
                f"{row.text.split()[0]} is above {title.text.strip()} but no title of classes precedes it"
            )
            text = f"{problem}; the row is skipped"
            self.out.issue(Code.UNKNOWN_LINE, text, row.no, 1, table=self.kind.table)

    def _report_headless(self, line: Line) -> None:
        self.out.skipped([line])
        if not self.left_out:
            self.left_out = True
            problem = f"rows without column headings above them ({self.kind.headings_shown}) are skipped"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=self.kind.table)

    def _row(self, line: Line, cells: list[Cell], layout: ZvmLayout) -> None:
        key = cells[0]
        if abs(key.start - layout.key.start) > _OFF:
            problem = f"{quoted(key.text)} is not under {layout.key.text}; the row is skipped"
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
            problem = f"{row.key} has no value under {label}; the row is skipped"
            self.out.issue(Code.BAD_VALUE, problem, line.no, field=label, table=self.kind.table)
        if placed.cut:
            rest = "the row is skipped" if missing else "what is missing is null"
            problem = f"the row ends before the end of {placed.cut}; {rest}"
            self.out.issue(Code.REPORT_CUT, problem, line.no, len(line.text), table=self.kind.table)
        if missing:
            self.left_out = True
        else:
            self.rows.append(row)

    def _is_whole(self, line: Line, placed: PlacedCells, layout: ZvmLayout) -> bool:
        """Check that figures under no heading do not belong to a column without a figure."""
        figures = [cell for cell in placed.stray if is_figure(cell.text)]
        named = [column for column in layout.figures if column.name]
        lacking = next((column for column in named if column not in placed.cells), None)
        if figures and lacking:
            problem = f"{figures[0].text} is under no heading, and nothing is under {lacking.label}"
            problem += "; the row is skipped"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, figures[0].start, table=self.kind.table)
            return False
        for cell in placed.stray:
            if cell.start not in self._reported:
                self._reported.add(cell.start)
                problem = f"{quoted(cell.text)} is under no heading; it goes into extra"
                self.out.issue(Code.UNKNOWN_COLUMN, problem, line.no, cell.start, table=self.kind.table)
        return True

    def _decoded(self, line: Line, key: str, placed: PlacedCells) -> ZvmRow:
        figures: dict[str, PrintedFigure] = {}
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
        return ZvmRow(line, key, figures, texts, extra)

    def _figure(self, line: Line, column: ZvmColumn, cell: Cell) -> PrintedFigure | None:
        try:
            figure = figure_of(cell.text)
            if figure is None or figure.value >= 0:
                return figure
            problem = "is below 0"
        except ValueError:
            problem = "is not a number"
        text = f"{quoted(cell.text)} {problem}; the column is null"
        self.out.issue(Code.BAD_VALUE, text, line.no, cell.start, field=column.label, table=self.kind.table)
        return None


def _words(text: str) -> list[Cell]:
    """Return the words of a line with their positions; none if the line is too long."""
    return cells_of(text) if len(text) <= LONGEST else []


def _begins_page(text: str) -> bool:
    """Return whether a line below the column headings is one of the heading of another page."""
    return begins_with_number(text) or is_label(text)


def looks_like_row(text: str) -> bool:
    """Return whether a line is a row of any report: one word or two, and then only figures."""
    words = text.split()
    figures = sum(is_figure(word) for word in words[1:])
    return figures >= _FEWEST_FIGURES and figures >= len(words) - 2


def _lacks_title(column: ZvmColumn, choice: HeadingChoice) -> bool:
    """Return whether a column may be one of a choice: it is in no group, or its group is misspelt. A word of
    one column of the table can also be in another group.
    """
    titles = column.label.upper().split()[:-1]
    marks = {mark for _, marks in choice.columns for mark in marks}
    return len(choice.columns) > 1 or not titles or any(nearly(title, marks) for title in titles)


def _ends_class(plain: str) -> bool:
    """Return whether a line is a title within the report: of users, or of a class of users."""
    return plain.upper().endswith("DATA:")


def is_headings(kind: ZvmReportKind, line: Line) -> bool:
    """Return whether a line is the last one of the column headings."""
    return kind.headings.match(line.text[: LONGEST + 1]) is not None


_NOISE = 1e-6
"""Decimal fractions are not exact in binary."""
_FEW = 3
"""More contradictions, in most rows, are reported once for the report."""


class _Relation(NamedTuple):
    column: str
    text: str
    """What the column should be."""
    bounds: Callable[[ZvmRow], tuple[float, float] | None]
    """Returns the limits of the figure; None if a figure that they depend on is missing."""


def check_rows(kind: ZvmReportKind, rows: Sequence[ZvmRow], seconds: int | None, out: ReportRows) -> None:
    """Add an issue for each figure that contradicts others of its row.

    A contradiction in most rows is reported once: the columns may have another meaning in that release.
    """
    labels = {field.column: field.label for field in report_table(kind.table).columns}
    for relation in _of_users(seconds) if kind is USER else _of_channels():
        checked, wrong = 0, list[tuple[int, str]]()
        label = labels[relation.column]
        for row in rows:
            bounds = relation.bounds(row) if relation.column in row.figures else None
            if bounds is None:
                continue
            checked += 1
            figure = row.figures[relation.column]
            low, high = bounds[0] - figure.unit - _NOISE, bounds[1] + figure.unit + _NOISE
            if not low <= figure.value <= high:
                wrong.append((row.line.no, f"{label} of {row.key} is {figure.value:g}, {relation.text}"))
        if len(wrong) > _FEW and len(wrong) * 2 > checked:
            line, text = wrong[0]
            wrong = [(line, f"{text}; the same in {len(wrong):,} of {checked:,} rows of this report")]
        for line, text in wrong:
            out.issue(Code.ARITHMETIC, text, line, field=label, table=kind.table)


def _of_users(seconds: int | None) -> Iterable[_Relation]:
    yield _Relation(
        "tv_ratio",
        "which is not TCPU over VCPU",
        lambda row: _quotient(row.figures.get("tcpu_s"), row.figures.get("vcpu_s")),
    )
    if seconds and seconds > 1:
        yield _Relation(
            "cpu_pct",
            f"which is not TCPU in percent of {seconds} s",
            lambda row: _percent(row.figures["tcpu_s"], seconds),
        )


def _of_channels() -> Iterable[_Relation]:
    for name in ("work_units_pct", "data_write_pct", "data_read_pct"):
        yield _Relation(f"own_{name}", "which is more than the whole machine", _no_more_than(name))


def _quotient(total: PrintedFigure | None, part: PrintedFigure | None) -> tuple[float, float] | None:
    """Return the limits of the quotient of two rounded figures."""
    if total is None or part is None or part.value <= part.unit:
        return None
    low = (total.value - total.unit) / (part.value + part.unit)
    return low, (total.value + total.unit) / (part.value - part.unit)


def _percent(spent: PrintedFigure, seconds: int) -> tuple[float, float]:
    """Return the limits of the percentage; the length of the period is rounded too."""
    return 100 * (spent.value - spent.unit) / (seconds + 1), 100 * (spent.value + spent.unit) / (seconds - 1)


def _no_more_than(column: str) -> Callable[[ZvmRow], tuple[float, float] | None]:
    """Return limits up to the figure of the whole in another column."""

    def bounds(row: ZvmRow) -> tuple[float, float] | None:
        whole = row.figures.get(column)
        return (0.0, whole.value + whole.unit) if whole else None

    return bounds
