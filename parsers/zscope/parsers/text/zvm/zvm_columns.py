"""The reports of Performance Toolkit that are read, their columns, and which column each word of a row
belongs to.

No listing is published, so a column is identified only by its word in the last heading line and by the words
above it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.text.printed_cells import Cell, cells_of
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class HeadingChoice:
    """A word that can be the heading of several columns; the words above it decide."""

    columns: tuple[tuple[str, frozenset[str]], ...]
    """Columns of the table in their usual order, each with words that only this column has above its heading.
    """
    alone: bool = False
    """Whether a single occurrence is the first of these columns, whatever is above it."""


@dataclass(frozen=True, slots=True)
class ZvmReportKind:
    """One kind of report."""

    title: str
    table: str
    headings: re.Pattern[str]
    """Pattern of the last heading line."""
    headings_shown: str
    """Name of the kind in issue texts."""
    key: str
    """Column that identifies a row: the first word of its line."""
    key_shape: re.Pattern[str]
    words: Mapping[str, str]
    """Columns by their words in capitals, if no other column has the word."""
    choices: Mapping[str, HeadingChoice]
    required: tuple[str, ...]
    """Columns without which a row is useless."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Columns of text by their words, with their name in the table or an empty name."""
    classes: bool = False
    """Whether it can have rows of classes of users, and then a line that announces the users."""


_SYSTEM, _OWN = frozenset({"SYSTEM"}), frozenset({"OWN", "PARTITION"})

USER = ZvmReportKind(
    title="USER",
    table="zvm_user",
    headings=re.compile(r"[01+-]? *Userid(?!\S)", re.ASCII | re.IGNORECASE),
    headings_shown="Userid ... TCPU",
    key="userid",
    key_shape=re.compile(r"[A-Z0-9@#$_:+-]{1,8}", re.ASCII),
    words={"%CPU": "cpu_pct", "TCPU": "tcpu_s", "VCPU": "vcpu_s"},
    choices={
        "RATIO": HeadingChoice((("tv_ratio", frozenset({"T/V"})),), alone=True),
        "TOTAL": HeadingChoice((("virtual_io_per_s", frozenset({"VIRTUAL", "VIRT", "VIRT."})),)),
    },
    required=("tcpu_s",),
    texts={"USER STATUS": "", "STATUS": ""},
    classes=True,
)
CHANNEL = ZvmReportKind(
    title="FCHANNEL",
    table="zvm_channel",
    headings=re.compile(
        r"(?=.{0,400}(?<!\S)Write/s(?!\S))(?=.{0,400}(?<!\S)Read/s(?!\S))", re.ASCII | re.IGNORECASE
    ),
    headings_shown="ID Shrd ... Write/s Read/s",
    key="chpid",
    key_shape=re.compile(r"[0-9A-F]{2}", re.ASCII | re.IGNORECASE),
    words={"CYCLE": "bus_cycle_pct", "WRITE/S": "write_bytes_per_s", "READ/S": "read_bytes_per_s"},
    choices={
        "UNITS": HeadingChoice((("work_units_pct", _SYSTEM), ("own_work_units_pct", _OWN))),
        "WRITE": HeadingChoice((("data_write_pct", _SYSTEM), ("own_data_write_pct", _OWN))),
        "READ": HeadingChoice((("data_read_pct", _SYSTEM), ("own_data_read_pct", _OWN))),
    },
    required=("write_bytes_per_s", "read_bytes_per_s"),
    texts={"SHRD": "shared"},
)
REPORT_KINDS = {"112": USER, "215": CHANNEL}
"""By report number."""


TOLERANCE = 2
"""Figures end where their heading ends, or up to so many columns from there."""
LONGEST = 1_000
"""Print lines have 133 characters; much longer lines are not part of a report."""
_HEADING = re.compile(r"User +Status(?!\S)|\S+", re.ASCII | re.IGNORECASE)
_GROUP = re.compile(r"<[^<>]{1,200}>|[^\s<>]+")
_RULES = "<>-_= "


class AmbiguousColumnError(Error):
    """Two words fit one column equally well, so no figure of the report is reliable."""

    def __init__(self, column: int, text: str) -> None:
        super().__init__(text)
        self.column = column
        self.text = text


class ZvmColumn(NamedTuple):
    """One column of a report."""

    name: str
    """Column of the table; empty if the value goes into `extra`."""
    label: str
    """Its words, with the title of its group if the table does not have the column."""
    start: int
    end: int
    """Where its heading ends, from 1: figures are right-aligned."""
    text: bool = False
    """Whether it contains words instead of figures."""
    word: str = ""
    """Its last word, in upper case."""


class _Word(NamedTuple):
    cell: Cell
    above: tuple[str, ...]
    """The titles above it, from the top."""
    group: str
    """The topmost title in brackets above it."""


@dataclass(frozen=True, slots=True)
class ZvmLayout:
    """The columns of a report, without that of the key."""

    key: Cell
    columns: tuple[ZvmColumn, ...]
    figures: tuple[ZvmColumn, ...] = field(init=False)
    """The columns of numbers."""
    _ends: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        figures = tuple(column for column in self.columns if not column.text)
        object.__setattr__(self, "figures", figures)
        object.__setattr__(self, "_ends", tuple(column.end for column in figures))

    def nearest(self, cell: Cell) -> ZvmColumn | None:
        """Return the column whose heading ends nearest to the end of a figure; None beyond the tolerance."""
        at = bisect_left(self._ends, cell.end)
        near = [
            (abs(column.end - cell.end), column)
            for column in self.figures[max(0, at - 1) : at + 1]
            if abs(column.end - cell.end) <= TOLERANCE
        ]
        if len(near) == 2 and near[0][0] == near[1][0]:
            names = " and ".join(column.label for _, column in near)
            raise AmbiguousColumnError(cell.start, f"{cell.text} ends equally near to {names}")
        return min(near)[1] if near else None

    def words_over(self, cell: Cell) -> ZvmColumn | None:
        """Return the text column of a cell."""
        for column in self.columns:
            if column.text and cell.start <= column.end + TOLERANCE and cell.end >= column.start - TOLERANCE:
                return column
        return None

    def has(self, name: str) -> bool:
        """Return whether the report has this column of the table."""
        return any(column.name == name for column in self.columns)

    def label(self, name: str) -> str:
        """Return the heading of a column of the table."""
        return next((column.label for column in self.columns if column.name == name), name)


def find_layout(kind: ZvmReportKind, headings: str, above: Sequence[str]) -> ZvmLayout:
    """Return the columns by the last heading line and the lines above it; raises `AmbiguousColumnError`."""
    groups = [cells_of(text[:LONGEST], _GROUP) for text in above]
    cells = cells_of(headings[:LONGEST], _HEADING)
    words = [_Word(cell, *_above(cell, groups)) for cell in cells[1:]]
    brackets = any(group.text.startswith("<") for line in groups for group in line)
    names = dict(_named(kind, words, brackets=brackets))
    labels = _labels(words, names)
    columns = []
    for word, label in zip(words, labels, strict=True):
        cell, plain = word.cell, _plain(word)
        text = plain in kind.texts
        name = kind.texts[plain] if text else names.get(cell.start, "")
        columns.append(ZvmColumn(name, label, cell.start, cell.end, text, plain))
    return ZvmLayout(cells[0], tuple(columns))


def _plain(word: _Word) -> str:
    return " ".join(word.cell.text.upper().split())


def _above(cell: Cell, lines: Iterable[Sequence[Cell]]) -> tuple[tuple[str, ...], str]:
    """Return the titles above a word: of each line the bracket that covers most of it, or the words it
    overlaps.
    """
    titles: list[str] = []
    group = ""
    for line in lines:
        begin = bisect_left(line, cell.start, key=lambda other: other.end)
        touching = line[begin : bisect_right(line, cell.end, key=lambda other: other.start)]
        brackets = [other for other in touching if other.text.startswith("<")]
        if brackets:
            title = " ".join(
                max(brackets, key=lambda other: _overlap(cell, other)).text.strip(_RULES).split()
            )
            titles.append(title)
            group = group or title
        titles.extend(other.text for other in touching if not other.text.startswith("<"))
    return tuple(titles), group


def _overlap(one: Cell, other: Cell) -> int:
    return min(one.end, other.end) - max(one.start, other.start) + 1


def _named(kind: ZvmReportKind, words: Sequence[_Word], *, brackets: bool) -> Iterator[tuple[int, str]]:
    """Yield the columns of the table, with the positions of their words."""
    by_text: dict[str, list[_Word]] = {}
    for word in words:
        by_text.setdefault(_plain(word), []).append(word)
    for text, column in kind.words.items():
        first, *others = by_text.get(text, [None])
        if first and others and others[0]:
            raise _repeated_heading(others[0])
        if first:
            yield first.cell.start, column
    for text, choice in kind.choices.items():
        yield from _chosen(choice, by_text.get(text, []), brackets=brackets)


def _chosen(choice: HeadingChoice, words: Sequence[_Word], *, brackets: bool) -> Iterator[tuple[int, str]]:
    """Yield the columns of a word with several meanings: by brackets if there are any, else by order."""
    chosen: dict[str, _Word] = {}
    for word in words:
        over = {part for text in word.above for part in text.upper().split()}
        column = next((name for name, marks in choice.columns if marks & over), None)
        if column in chosen:
            raise _repeated_heading(word)
        if column:
            chosen[column] = word
    if not chosen and (not brackets or (choice.alone and len(words) == 1)):
        if len(words) > len(choice.columns) > 1:
            raise _repeated_heading(words[len(choice.columns)])
        chosen = {name: word for (name, _), word in zip(choice.columns, words, strict=False)}
    for name, word in chosen.items():
        yield word.cell.start, name


def _repeated_heading(word: _Word) -> AmbiguousColumnError:
    return AmbiguousColumnError(word.cell.start, f"the heading {word.cell.text} occurs more than once")


def _labels(words: Sequence[_Word], names: dict[int, str]) -> list[str]:
    """Return the names of the columns, each name once."""
    labels: list[str] = []
    used: dict[str, int] = {}
    for word in words:
        text = " ".join(word.cell.text.split())
        label = text if word.cell.start in names else f"{word.group} {text}".strip()
        used[label] = used.get(label, 0) + 1
        labels.append(label if used[label] == 1 else f"{label} {used[label]}")
    return labels


SUFFIXES = {"K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
"""Powers of 1000, as rates usually have; nothing indicates powers of 1024."""
_FIGURE = re.compile(r"(?P<number>-?(?:\d{1,18}(?:\.\d{0,9})?|\.\d{1,9}))(?P<suffix>[KMG]?)", re.ASCII)
_NO_VALUE = re.compile(r"\.+|-+")


class PrintedFigure(NamedTuple):
    """A number with its printed precision."""

    value: float
    unit: float
    """The value of its last digit: the number was rounded to a multiple of it."""


def figure_of(text: str) -> PrintedFigure | None:
    """Return a printed number; None for dots and hyphens. Raises ValueError for anything else.

    >>> figure_of(".012"), figure_of("12.9M").value, figure_of("...")
    (PrintedFigure(value=0.012, unit=0.001), 12900000.0, None)
    """
    if _NO_VALUE.fullmatch(text):
        return None
    match = _FIGURE.fullmatch(text.upper())
    if match is None:
        raise ValueError(text)
    factor = SUFFIXES.get(match["suffix"], 1)
    decimals = len(match["number"].partition(".")[2])
    return PrintedFigure(float(Decimal(match["number"]) * factor), float(Decimal(factor).scaleb(-decimals)))


def print_figure(value: float | None, width: int, decimals: int) -> str:
    """Return a number in at most `width` characters, with fewer decimals or a suffix if necessary.

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
    """Return whether a word can be in a column of figures."""
    return _NO_VALUE.fullmatch(text) is not None or _FIGURE.fullmatch(text.upper()) is not None


@dataclass(slots=True)
class PlacedCells:
    """The words of a row by column."""

    cells: dict[ZvmColumn, Cell] = field(default_factory=dict)
    stray: list[Cell] = field(default_factory=list)
    """Words that are under no heading."""
    cut: str = ""
    """The column in or before which a cut row ends."""


def place_cells(cells: Sequence[Cell], layout: ZvmLayout) -> PlacedCells:
    """Assign the words after the first to columns; raises `AmbiguousColumnError` if two claim one.

    The last word of a row that ends early may be cut, unless it ends where its column does.
    """
    placed = PlacedCells()
    for cell in cells:
        last = cell is cells[-1] and cell.end < layout.figures[-1].end
        try:
            column = _column_of(cell, layout)
            if column is None and not last:
                placed.stray.append(cell)
            elif column and not (last and _may_be_cut(cell, column)):
                _put(placed, column, cell)
        except AmbiguousColumnError:
            if not last:
                raise
        if last:
            following = [column for column in layout.figures if column.end > cell.end]
            lost = following[0] if cell not in placed.cells.values() else None
            lost = lost or next((column for column in following if column.name), None)
            placed.cut = lost.label if lost else ""
    return placed


def _may_be_cut(cell: Cell, column: ZvmColumn) -> bool:
    return cell.end < column.end and not column.text and _NO_VALUE.fullmatch(cell.text) is None


def _column_of(cell: Cell, layout: ZvmLayout) -> ZvmColumn | None:
    if is_figure(cell.text):
        return layout.nearest(cell) or layout.words_over(cell)
    return layout.words_over(cell) or layout.nearest(cell)


def _put(placed: PlacedCells, column: ZvmColumn, cell: Cell) -> None:
    before = placed.cells.get(column)
    if before is None:
        placed.cells[column] = cell
    elif column.text:
        placed.cells[column] = before._replace(text=f"{before.text} {cell.text}", end=cell.end)
    else:
        raise AmbiguousColumnError(cell.start, f"{before.text} and {cell.text} are both under {column.label}")
