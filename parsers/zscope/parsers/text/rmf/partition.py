"""The Partition Data report as a listing: read it, and write it from rows.

It has a line for each partition and type of processor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.printed_cells import Cell, cells_of
from zscope.parsers.text.rmf.interval_values import IntervalValues, label_line
from zscope.parsers.text.rmf.page_title import PARTITION_TITLE
from zscope.parsers.text.rmf.page_write import (
    RmfPrintForm,
    Row,
    knows_boost,
    paged,
    place_texts,
    right_aligned,
)
from zscope.parsers.text.rmf.row_shapes import SHAPES_KEPT, row_shape
from zscope.parsers.text.rmf.table_layout import (
    COUNT,
    CPU_COUNT,
    CPU_TYPE,
    HUNDREDTHS,
    SPAN,
    TENTHS,
    WORD,
    CellShape,
    HeadingUnreadableError,
    RmfColumn,
    RmfColumnPlace,
    RmfLayout,
    RmfRowKind,
    RowFigures,
    RowProblem,
    figures_of,
    layout_of,
    no_figures,
)
from zscope.parsers.text.rmf.table_rows import RmfTableRows, is_ruled
from zscope.schemas.reports import PrintedFormat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows
    from zscope.parsers.text.rmf.page_heading import RmfHeading
    from zscope.parsers.text.rmf.row_shapes import RowShape

DEDICATED = "DED"
_LETTER = CellShape(re.compile(r"[A-Z]", re.ASCII))
_WEIGHT = CellShape(re.compile(rf"\d{{1,5}}|{DEDICATED}|-+", re.ASCII))
_CAPPING = CellShape(re.compile(r"[YN] [YN] [YN]|YES|NO|-+", re.ASCII))
PARTITION_COLUMNS = (
    RmfColumn("partition_name", "NAME", COUNT),
    RmfColumn("partition_status", "S", _LETTER),
    RmfColumn("weight", "WGT", _WEIGHT),
    RmfColumn("defined_capacity_msu", "DEF", COUNT),
    RmfColumn("actual_msu_per_hour", "ACT", COUNT),
    RmfColumn("capping", "DEF", _CAPPING, 2),
    RmfColumn("wlm_capping_pct", "WLM%", TENTHS),
    RmfColumn("logical_cpus", "NUM", CPU_COUNT, -1),
    RmfColumn("cpu_type_name", "TYPE", CPU_TYPE, -1),
    RmfColumn("effective_ms", "EFFECTIVE", SPAN, 2),
    RmfColumn("dispatch_ms", "TOTAL", SPAN, 4),
    RmfColumn("logical_effective_pct", "EFFECTIVE", HUNDREDTHS),
    RmfColumn("logical_total_pct", "TOTAL", HUNDREDTHS),
    RmfColumn("physical_management_pct", "LPAR MGMT", HUNDREDTHS),
    RmfColumn("physical_effective_pct", "EFFECTIVE", HUNDREDTHS),
    RmfColumn("physical_total_pct", "TOTAL", HUNDREDTHS),
)
_BOOST = "BT"
"""Its position varies, and it is empty in most rows."""

_CAPACITY = ("defined_capacity_msu", "actual_msu_per_hour")
_FIGURES = frozenset(column.name for column in PARTITION_COLUMNS[2:])
_SPAN_COLUMNS = frozenset({"effective_ms", "dispatch_ms"})
_PHYSICAL_PCT = frozenset({"physical_management_pct", "physical_effective_pct", "physical_total_pct"})
_OF_MACHINE = frozenset({"dispatch_ms", "physical_management_pct", "physical_total_pct"})

PARTITION_KIND = RmfRowKind(
    "partition", _FIGURES - {"weight", *_CAPACITY, "capping", "wlm_capping_pct"}, _FIGURES, (_CAPACITY,)
)
DEACTIVATED_KIND = RmfRowKind("partition", frozenset(), _FIGURES)
PHYSICAL_KIND = RmfRowKind("physical", _OF_MACHINE, _OF_MACHINE | _SPAN_COLUMNS | _PHYSICAL_PCT)
TOTAL_KIND = RmfRowKind("total", _SPAN_COLUMNS | _PHYSICAL_PCT, _SPAN_COLUMNS | _PHYSICAL_PCT | {"weight"})


@dataclass(frozen=True, slots=True, eq=False)
class PartitionLayout:
    """The columns of a report."""

    name: RmfColumnPlace
    status: RmfColumnPlace
    boost: RmfColumnPlace | None
    figures: RmfLayout
    """The columns right of the status."""


@lru_cache(maxsize=64)
def partition_layout(text: str) -> PartitionLayout:
    """Return the columns by their heading line; raises HeadingUnreadableError."""
    layout = layout_of(text, PARTITION_COLUMNS)
    name, status = layout.place("partition_name"), layout.place("partition_status")
    boost = next((place for place in layout.places if place.heading == _BOOST), None)
    figures = tuple(place for place in layout.places if place not in {name, status, boost})
    if name is None or status is None or not figures:
        raise HeadingUnreadableError(text.strip())
    return PartitionLayout(name, status, boost, RmfLayout(figures, layout.missing, layout.doubtful))


def spans_among(cells: Iterable[Cell]) -> list[Cell]:
    """Return the dispatch times; no other cell looks like them."""
    return [cell for cell in cells if SPAN.usual.fullmatch(cell.text)]


def is_letter(cell: Cell) -> bool:
    """Return whether the cell can be a status."""
    return _LETTER.usual.fullmatch(cell.text) is not None


TABLE = "rmf_partition"
_PHYSICAL, _TOTAL = "*PHYSICAL*", "TOTAL"
_STATUS = {"A": "active", "D": "deactivated"}
_NAME = re.compile(r"[A-Z0-9@#$_-]{1,8}", re.ASCII | re.IGNORECASE)
_HEADINGS = re.compile(r"[\s\d-]*NAME\b.*\bWGT\b")
"""The name of the system's own partition above the table can be WGT."""
_SHIFTED_MOST = 2
"""A row further away from its headings has lost something in between."""


@dataclass(slots=True)
class PartitionPages:
    """Reads the Partition Data pages of one interval."""

    out: ReportRows
    interval_values: IntervalValues
    table: RmfTableRows = field(init=False)
    empty: bool = True
    """Whether all pages are without partitions and their column headings."""
    _layout: PartitionLayout | None = None
    _type: str | None = None
    """Type of the processors of the current group."""
    _physical_seen: bool = False

    def __post_init__(self) -> None:
        self.table = RmfTableRows(self.out, TABLE, "NAME S WGT ...")

    def read(self, heading: RmfHeading, width: int) -> None:
        """Read one page; `width` is the length of its longest line."""
        block: list[Line] = []
        in_table = False
        for line, shape in zip(heading.body, heading.shapes, strict=True):
            if not line.text or line.text.isspace():
                continue
            if self._row(line, shape):
                in_table = True
            elif not in_table or label_line(line.text).known:
                block.append(line)
            else:
                self.out.add_unknown_line(line.no, line.text, heading.title)
        self.table.end_page()
        self.interval_values.read_block(block, width, self.out)
        self.empty = self.empty and not in_table

    def pages_missing(self) -> None:
        """Forget the rows so far: pages before the next row are missing."""
        self._type, self._physical_seen = None, False

    def _row(self, line: Line, shape: str) -> bool:
        """Read the line if it belongs to the table; return whether it does."""
        if _HEADINGS.match(line.text):
            self._layout = self.table.headings(line, partition_layout, lambda layout: layout.figures)
            self.out.furniture(line.no)
        elif self._layout is not None and (found := partition_row_shape(shape, self._layout)):
            self._add(line, found, self._layout)
        elif self._layout is None and (column := _begin_of_headless_row(shape)):
            self.table.report_headless(line, column)
        elif is_ruled(line.text):
            self.out.furniture(line.no)
        else:
            return False
        return True

    def _add(self, line: Line, found: PartitionRowShape, layout: PartitionLayout) -> None:
        """Add a row, with the type of the processors of its group."""
        row = found.shape and found.shape.row_in(line.text)
        if row is not None:
            known = self._known(line, found.kind, row.get("cpu_type_name"))
            self.table.add_row(line, row, known)
        elif (figures := read_row(line.text, layout)) is not None:
            self.table.report_problem(line, figures.problem)
            known = self._known(line, found.kind, figures.values.get("cpu_type_name"))
            self.table.add_figures(line, figures, known)
        if found.kind == TOTAL_KIND.name:
            self._type, self._physical_seen = None, False

    def _known(self, line: Line, kind: str, cpu_type: str | None) -> dict[str, Any]:
        """Return what a row has from the rows above it: the type of its processors, unless it is printed."""
        if kind == PARTITION_KIND.name:
            if cpu_type and cpu_type != self._type:
                self._type, self._physical_seen = cpu_type, False
            return {}
        if kind == PHYSICAL_KIND.name:
            if self._physical_seen:
                self._type = None
            self._physical_seen = True
        if self._type is None:
            self.table.report_total_without_rows(line)
        return {"cpu_type_name": self._type}


class PartitionRowShape(NamedTuple):
    """The shape of a row of the table."""

    kind: str
    """As the column `row_kind` has it."""
    shape: RowShape | None
    """None if rows of this shape are read one by one."""


@lru_cache(maxsize=SHAPES_KEPT)
def partition_row_shape(shape: str, layout: PartitionLayout) -> PartitionRowShape | None:
    """Return what rows of this shape have in common; None if lines of this shape are none."""
    figures = read_row(shape, layout)
    return PartitionRowShape(figures.known["row_kind"], row_shape(TABLE, figures)) if figures else None


def read_row(text: str, layout: PartitionLayout) -> RowFigures | None:
    """Return the row in a line; None if the line is none."""
    name, *rest = cells_of(text, WORD)
    for kind, is_kind in ((PHYSICAL_KIND, name.text == _PHYSICAL), (TOTAL_KIND, _is_total([name, *rest]))):
        if is_kind:
            figures = _figures(rest, kind, layout)
            figures.known["partition_name"] = name.text
            return figures
    number = _status_among(rest, layout)
    is_near = abs(name.start - layout.name.start) <= _SHIFTED_MOST
    if number is None or not is_near or not _NAME.fullmatch(name.text):
        return None
    letter = rest.pop(number).text
    boost = _boost_among(rest, layout)
    kind = DEACTIVATED_KIND if letter == "D" else PARTITION_KIND
    figures = _figures([cell for cell in rest if cell is not boost], kind, layout)
    for column, cell in (("partition_name", name), ("boost_type", boost)):
        if cell is not None:
            figures.values[column], figures.spans[column] = cell.text, cell.span
    figures.known["partition_status"] = _STATUS.get(letter, letter)
    if weight := figures.values.get("weight"):
        figures.known["dedicated"] = weight == DEDICATED
        if weight == DEDICATED:
            figures.known["weight"] = None
    return figures


def _figures(cells: Sequence[Cell], kind: RmfRowKind, layout: PartitionLayout) -> RowFigures:
    """Return the figures; the dispatch times show how far the row is shifted from its headings."""
    spans = spans_among(cells)
    names = ["effective_ms", "dispatch_ms"][-1 if kind is PHYSICAL_KIND and len(spans) == 1 else 0 :]
    places = map(layout.figures.place, names)
    shifts = [cell.end - place.edge for cell, place in zip(spans, places, strict=False) if place]
    if any(abs(shift) > _SHIFTED_MOST for shift in shifts):
        text = "the dispatch times are not under their headings; the figures of this row are skipped"
        return no_figures(kind, RowProblem(spans[0].start, text))
    return figures_of(cells, layout.figures, kind, shifts[0] if shifts else 0)


@lru_cache(maxsize=SHAPES_KEPT)
def _begin_of_headless_row(shape: str) -> int | None:
    """Return the column in which a row begins that has no column headings above it; None if a line of this
    shape does not look like one.
    """
    cells = cells_of(shape, WORD)
    is_named = len(cells) > 1 and is_letter(cells[1]) and _NAME.fullmatch(cells[0].text) is not None
    if cells[0].text == _PHYSICAL or _is_total(cells) or (is_named and len(spans_among(cells)) == 2):
        return cells[0].start
    return None


def _is_total(cells: list[Cell]) -> bool:
    """Return whether it is a total; a partition of this name has a status."""
    return cells[0].text == _TOTAL and not (len(cells) > 1 and is_letter(cells[1]))


def _status_among(cells: Sequence[Cell], layout: PartitionLayout) -> int | None:
    """Return the index of the status among the cells after the name: the letter nearest to its heading."""
    letters = [(abs(cell.end - layout.status.edge), n) for n, cell in enumerate(cells[:2]) if is_letter(cell)]
    distance, number = min(letters, default=(_SHIFTED_MOST + 1, 0))
    return number if distance <= _SHIFTED_MOST else None


def _boost_among(cells: Sequence[Cell], layout: PartitionLayout) -> Cell | None:
    """Return the cell under the heading BT: a word where other columns have figures."""
    if layout.boost is None:
        return None
    first, last = layout.boost.start - _SHIFTED_MOST, layout.boost.edge + _SHIFTED_MOST
    spans = spans_among(cells)
    types = [cell for cell, following_cell in pairwise(cells) if spans and following_cell is spans[0]]
    for cell in cells:
        is_word = cell.text.isalpha() and cell.text != DEDICATED and cell not in types
        if is_word and cell.end >= first and cell.start <= last:
            return cell
    return None


_OWN = (
    ("MVS PARTITION NAME", "partition_name"),
    ("IMAGE CAPACITY", "image_capacity_msu_per_hour"),
    ("NUMBER OF CONFIGURED PARTITIONS", "configured_partitions"),
    ("WAIT COMPLETION", "wait_completion"),
    ("DISPATCH INTERVAL", "dispatch_interval"),
)
_PROCESSOR_COUNTS = (
    ("PHYS PROC NUM", "physical_cpus"),
    ("CP", "physical_cps"),
    ("AAP", "physical_zaaps"),
    ("IFL", "physical_ifls"),
    ("ICF", "physical_icfs"),
    ("IIP", "physical_ziips"),
)
_CAPACITY_GROUP = (
    ("GROUP NAME", "capacity_group_name"),
    ("LIMIT", "capacity_group_limit_msu"),
    ("AVAILABLE", "capacity_group_available_msu"),
)
_CAPS = (
    ("INITIAL CAP", "initial_capping"),
    ("LPAR HW CAP", "lpar_hardware_capping"),
    ("HW GROUP CAP", "hardware_group_capping"),
    ("ABS MSU CAP", "absolute_msu_capping"),
)


@dataclass(frozen=True, slots=True)
class _Front:
    """Positions of the first columns, which depend on the boost column."""

    status: int
    weight: int
    defined: int
    actual: int
    capping: int
    boost: int = 0
    """0 if there is none."""


_USUAL = _Front(12, 17, 23, 30, 33)
_BOOST_BEHIND = _Front(10, 20, 26, 31, 34, 12)
_BOOST_FIRST = _Front(15, 20, 26, 31, 34, 10)
_LAST_NAMES = "NUM  TYPE  EFFECTIVE       TOTAL      EFFECTIVE    TOTAL  LPAR MGMT  EFFECTIVE  TOTAL"
_PARTS = (
    "--------- PARTITION DATA ----------------    -- LOGICAL PARTITION PROCESSOR DATA -- "
    "-- AVERAGE PROCESSOR UTILIZATION PERCENTAGES --"
)
_SPAN_ENDS = {69: "effective_ms", 83: "dispatch_ms"}
_PERCENTAGE_ENDS = {
    94: "logical_effective_pct",
    103: "logical_total_pct",
    114: "physical_management_pct",
    125: "physical_effective_pct",
    132: "physical_total_pct",
}


def partition_pages(
    interval: Row, partitions: Sequence[Row], form: RmfPrintForm, page: int = 1
) -> list[list[str]]:
    """Return the pages of the report; rows of one type of processor are adjacent, with their total last."""
    with_boost = _BOOST_FIRST if form.boost_first else _BOOST_BEHIND
    front = with_boost if knows_boost(interval) else _USUAL
    rows = [_with_rules(row, front) for row in partitions]
    return paged(PARTITION_TITLE, interval, form, page, ["", *_block(interval)], [_headings(front), *rows])


def _block(interval: Row) -> list[str]:
    """Return the description of the own partition: four columns of labels and values."""
    lines: list[dict[int, str]] = [{} for _ in _PROCESSOR_COUNTS]
    for line, (label, column) in zip(lines, _OWN, strict=False):
        line.update({1: label} | right_aligned({42: _value(interval, column)}))
    physical = [pair for pair in _PROCESSOR_COUNTS if interval.get(pair[1]) is not None]
    for line, (label, column) in zip(lines, physical, strict=False):
        line.update(right_aligned({65: label, 70: _value(interval, column)}))
    for line, (label, column) in zip(lines, _CAPACITY_GROUP, strict=False):
        line.update({80: label, 93: _value(interval, column) or "N/A"})
    for line, (label, column) in zip(lines, _CAPS, strict=False):
        line.update({104: label, 119: _value(interval, column)})
    return [place_texts(line) for line in lines if line]


def _value(interval: Row, column: str) -> str:
    value = interval.get(column)
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return "" if value is None else str(value)


def _headings(front: _Front) -> list[str]:
    names = {1: "NAME", front.status: "S", front.capping: "DEF", 41: "WLM%", 48: _LAST_NAMES}
    names |= right_aligned({front.weight: "WGT", front.defined: "DEF", front.actual: "ACT"})
    if front.boost:
        names[front.boost] = "BT"
    msu = f"{'MSU':-^{front.actual - front.defined + 5}}"
    groups = right_aligned({front.actual: msu, 42: f"{'CAPPING':-^{43 - front.capping}}"})
    groups |= {47: "PROCESSOR- ----DISPATCH TIME DATA----  LOGICAL PROCESSORS  --- PHYSICAL PROCESSORS ---"}
    return [_PARTS, place_texts(groups), place_texts(names)]


def _with_rules(row: Row, front: _Front) -> list[str]:
    """Return a row; a total has a line of hyphens before it and a blank line after it."""
    line = _row(row, front)
    if row["row_kind"] != "total":
        return [line]
    widths = {front.weight: 6, 69: 12, 83: 12, 114: 5, 125: 5, 132: 5}
    return [place_texts(right_aligned({end: "-" * width for end, width in widths.items()})), line, ""]


def _row(row: Row, front: _Front) -> str:
    begins = {1: row["partition_name"]}
    ends = {
        front.weight: "DED" if row.get("dedicated") else _whole(row, "weight"),
        front.defined: _whole(row, "defined_capacity_msu"),
        front.actual: _whole(row, "actual_msu_per_hour"),
        44: "" if row.get("wlm_capping_pct") is None else f"{row['wlm_capping_pct']:.1f}",
        49: "" if row.get("logical_cpus") is None else f"{row['logical_cpus']:g}",
    }
    if row["row_kind"] == "partition":
        begins |= {
            front.status: {"active": "A", "deactivated": "D"}.get(row["partition_status"], "?"),
            front.capping: row.get("capping") or "",
            54: row.get("cpu_type_name") or "",
        }
        if front.boost:
            begins[front.boost] = row.get("boost_type") or ""
    for end, column in _SPAN_ENDS.items():
        ends[end] = "" if row.get(column) is None else CODECS[PrintedFormat.SPAN].encode(row[column])
    for end, column in _PERCENTAGE_ENDS.items():
        ends[end] = "" if row.get(column) is None else f"{row[column]:.2f}"
    return place_texts(begins | right_aligned(ends))


def _whole(row: Row, column: str) -> str:
    return "" if row.get(column) is None else str(row[column])
