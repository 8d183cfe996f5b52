"""The CPU Activity report as a listing: read it, and write it from rows.

It describes the machine, and has a line for each processor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.console_lines import is_other_message, is_prompt
from zscope.parsers.text.outside_text import is_of_report
from zscope.parsers.text.printed_cells import cells_of
from zscope.parsers.text.rmf.interval_values import MACHINE_LABELS, IntervalValues, label_line
from zscope.parsers.text.rmf.page_title import CPU_TITLE
from zscope.parsers.text.rmf.page_write import (
    RmfPrintForm,
    Row,
    knows_boost,
    page_heading,
    paged,
    place_texts,
    right_aligned,
)
from zscope.parsers.text.rmf.row_shapes import SHAPES_KEPT, row_shape
from zscope.parsers.text.rmf.table_layout import (
    CPU_TYPE,
    HEX_ID,
    HUNDREDTHS,
    TENTHS,
    TOUCHED_WORD,
    CellShape,
    RmfColumn,
    RmfRowKind,
    figures_in,
    layout_of,
)
from zscope.parsers.text.rmf.table_rows import RmfTableRows, is_ruled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows
    from zscope.parsers.text.rmf.page_heading import RmfHeading
    from zscope.parsers.text.rmf.row_shapes import RowShape
    from zscope.parsers.text.rmf.table_layout import RmfLayout

_PRIORITY = CellShape(re.compile(r"HIGH|MED|LOW|-+", re.IGNORECASE))
CPU_COLUMNS = (
    RmfColumn("cpu_id", "NUM", HEX_ID, -1),
    RmfColumn("cpu_type_name", "TYPE", CPU_TYPE, -1),
    RmfColumn("online_pct", "ONLINE", HUNDREDTHS),
    RmfColumn("lpar_busy_pct", "LPAR BUSY", HUNDREDTHS, -4),
    RmfColumn("mvs_busy_pct", "MVS BUSY", HUNDREDTHS, -3),
    RmfColumn("parked_pct", "PARKED", HUNDREDTHS, optional=True),
    RmfColumn("mt_productivity_pct", "PROD", HUNDREDTHS, 2, optional=True),
    RmfColumn("mt_utilisation_pct", "UTIL", HUNDREDTHS, 2, optional=True),
    RmfColumn("share_pct", "SHARE %", TENTHS, -2),
    RmfColumn("priority", "", _PRIORITY, 6),
    RmfColumn("io_interrupt_rate", "RATE", HUNDREDTHS, 1),
    RmfColumn("tpi_pct", "% VIA TPI", HUNDREDTHS, -4),
)

_ALL = frozenset(column.name for column in CPU_COLUMNS)
_IDENTITY = frozenset({"cpu_id", "cpu_type_name"})
_INTERRUPTS = frozenset({"io_interrupt_rate", "tpi_pct"})
"""Counted for general purpose processors only."""
_PAIRS = (
    ("lpar_busy_pct", "share_pct"),  # of a partition: none of the two without one
    ("mt_productivity_pct", "mt_utilisation_pct"),
    ("io_interrupt_rate", "tpi_pct"),
)
_IN_TOTALS = _ALL - _IDENTITY - {"online_pct", "parked_pct", "priority"}
_OF_THREADS = frozenset({"mvs_busy_pct", "parked_pct"})

OTHER_CPU_KIND = RmfRowKind(
    "processor", _IDENTITY | {"online_pct", "mvs_busy_pct"}, _ALL, _PAIRS, TOUCHED_WORD
)
CP_KIND = RmfRowKind("processor", OTHER_CPU_KIND.required | _INTERRUPTS, _ALL, _PAIRS, TOUCHED_WORD)
OTHER_TOTAL_KIND = RmfRowKind("total", frozenset({"mvs_busy_pct"}), _IN_TOTALS, _PAIRS, first=1)
CP_TOTAL_KIND = RmfRowKind("total", OTHER_TOTAL_KIND.required | _INTERRUPTS, _IN_TOTALS, _PAIRS, first=1)
THREAD_KIND = RmfRowKind("thread", _OF_THREADS, _OF_THREADS)


@lru_cache(maxsize=64)
def cpu_layout(text: str) -> RmfLayout:
    """Return the columns by their heading line; raises HeadingUnreadableError."""
    return layout_of(text, CPU_COLUMNS)


TABLE = "rmf_cpu"


@lru_cache(maxsize=SHAPES_KEPT)
def cpu_row_shape(shape: str, layout: RmfLayout, kind: RmfRowKind) -> RowShape | None:
    """Return what rows of this kind and shape have in common; None if they are read one by one."""
    return row_shape(TABLE, figures_in(shape, layout, kind))


_TOTAL = "TOTAL/AVERAGE"
_HEADINGS = re.compile(r"\bNUM +TYPE +ONLINE\b", re.ASCII)
_LAST_THREAD = 1
"""z/OS runs at most two threads on a core: the processor line of a third is missing."""
_CPU_ROW = re.compile(r" {0,40}[0-9A-F]{1,4} {1,8}[A-Z]{2,4} +[\d-]", re.ASCII)
_THREAD_ROW = re.compile(r" {20,}[\d.*-]+(?: +[\d.*-]+)?$", re.ASCII)
_SECOND_PART = re.compile(
    r" *(?:.{0,40}ADDRESS SPACE.{0,30}ANALYSIS|NUMBER OF ADDRESS SPACES|.{0,40}IN-READY WORK UNIT QUEUE"
    r"|.{0,40}BLOCKED WORKLOAD ANALYSIS)"
)
"""Titles of the address space and work unit sections: nothing on processors follows them on the page."""
_OF_SECOND_PART = re.compile(
    r"(?!.*(?:[A-Z][^ A-Z\d]{0,3}\d|\d[^ A-Z\d]{0,3}[A-Z]))[A-Z\d .,:()%/<>=+|*_-]*$", re.ASCII
)
"""The lines of these sections have words in capitals, numbers and bars, but no names with digits."""
_MULTITHREADING = re.compile(r".{0,60}(?:MULTI-?THREADING|MAX CF)")


class _LineKind(Enum):
    """What a line of a page is; the other lines can be labels of the machine."""

    SECOND_PART = auto()
    HEADINGS = auto()
    TOTAL = auto()
    PROCESSOR = auto()
    THREAD = auto()
    MULTITHREADING = auto()
    OTHER = auto()


@lru_cache(maxsize=SHAPES_KEPT)
def _line_kind(shape: str) -> _LineKind:
    """Return what a line of this shape is."""
    if _SECOND_PART.match(shape):
        return _LineKind.SECOND_PART
    if _HEADINGS.search(shape):
        return _LineKind.HEADINGS
    if shape.lstrip().startswith(_TOTAL):
        return _LineKind.TOTAL
    if _CPU_ROW.match(shape):
        return _LineKind.PROCESSOR
    if _THREAD_ROW.match(shape):
        return _LineKind.THREAD
    return _LineKind.MULTITHREADING if _MULTITHREADING.match(shape) else _LineKind.OTHER


@dataclass(slots=True)
class CpuPages:
    """Reads the CPU Activity pages of one interval."""

    out: ReportRows
    interval_values: IntervalValues
    table: RmfTableRows = field(init=False)
    empty: bool = True
    """Whether all pages are without processors and their column headings."""
    _layout: RmfLayout | None = None
    _type: str | None = None
    """Type of the processors since the last total."""
    _core: dict[str, Any] | None = None
    """The row of the processor whose further threads follow."""
    _multithreading: bool = False

    def __post_init__(self) -> None:
        self.table = RmfTableRows(self.out, TABLE, "NUM TYPE ONLINE ...")

    def read(self, heading: RmfHeading, width: int) -> None:
        """Read one page; `width` is the length of its longest line."""
        block: list[Line] = []
        in_table = False
        for at, (line, shape) in enumerate(zip(heading.body, heading.shapes, strict=True)):
            if not line.text or line.text.isspace():
                self._multithreading = False
            elif (kind := _line_kind(shape)) is _LineKind.SECOND_PART:
                self._address_spaces(heading.body[at:])
                break
            elif self._row(line, shape, kind):
                in_table = True
            elif not in_table or label_line(line.text).known:
                block.append(line)
            else:
                self.out.add_unknown_line(line.no, line.text, heading.title)
        self.table.end_page()
        self.interval_values.read_block(block, width, self.out, MACHINE_LABELS)
        self.empty = self.empty and not in_table

    def _address_spaces(self, lines: Sequence[Line]) -> None:
        """Skip lines that are not about processors, unless the title of another page is lost among them, or
        the first line of another report.
        """
        for at, line in enumerate(lines):
            is_own = _OF_SECOND_PART.match(line.text) or is_prompt(line.text) or is_other_message(line.text)
            if is_of_report(line.text) or not is_own:
                problem = (
                    f"the lines {line.no} to {lines[-1].no} are not about address spaces and work units: "
                )
                problem += "the title of another page, or the first line of another report, is missing"
                self.out.issue(Code.REPORT_CUT, problem, line.no, 1, table=TABLE)
                self.out.skipped(lines[at:])
                return
            self.out.furniture(line.no)

    def pages_missing(self) -> None:
        """Forget the rows so far: pages before the next row are missing."""
        self._type = self._core = None

    def _row(self, line: Line, shape: str, kind: _LineKind) -> bool:
        """Read the line if it belongs to the table; return whether it does."""
        text = line.text
        if kind is _LineKind.HEADINGS:
            self._layout = self.table.headings(line, cpu_layout, lambda layout: layout)
            self.out.furniture(line.no)
        elif kind is _LineKind.TOTAL:
            self._total(line, shape)
        elif kind is _LineKind.PROCESSOR:
            self._processor(line, shape)
        elif kind is _LineKind.THREAD and self._layout:
            self._thread(line, shape)
        elif kind is _LineKind.MULTITHREADING:
            self._multithreading = True
            self.out.furniture(line.no)
            if "MAX CF" in text:
                self._keep_text(line, "headings", " ".join(text.split()))
        elif self._multithreading:
            name, _, rest = " ".join(text.split()).partition(" ")
            self._keep_text(line, name, rest)
        elif is_ruled(line.text):
            self.out.furniture(line.no)
        else:
            return False
        return True

    def _keep_text(self, line: Line, name: str, text: str) -> None:
        """Keep a multithreading line as text: the positions of its columns are not known."""
        self.out.used(line.no)
        if self.interval_values.extra.setdefault(f"MULTITHREADING {name}", text) != text:
            self.out.add_unknown_line(line.no, line.text, "multithreading")

    def _add(
        self, line: Line, shape: str, kind: RmfRowKind, known: dict[str, Any], printed: dict[str, str]
    ) -> dict[str, Any] | None:
        """Add a row with these values, of which the printed ones are also among the figures."""
        if self._layout is None:
            cells = cells_of(line.text, kind.word)[kind.first :]
            self.table.report_headless(line, cells[0].start if cells else 1)
            return None
        same = cpu_row_shape(shape, self._layout, kind)
        row = same and same.row_in(line.text)
        if row is not None:
            return self.table.add_row(line, row, known)
        figures = figures_in(line.text, self._layout, kind)
        self.table.report_problem(line, figures.problem)
        if kind is THREAD_KIND and not figures.values:
            return None
        return self.table.add_figures(line, figures, known | printed)

    def _processor(self, line: Line, shape: str) -> None:
        cpu_id, cpu_type, _ = line.text.split(maxsplit=2)
        kind = CP_KIND if cpu_type == "CP" else OTHER_CPU_KIND
        printed = {"cpu_id": cpu_id, "cpu_type_name": cpu_type}
        row = self._add(line, shape, kind, {"thread": 0}, printed)
        if row is not None:
            self._type, self._core = cpu_type, row

    def _thread(self, line: Line, shape: str) -> None:
        if self._core is None or self._core["thread"] == _LAST_THREAD:
            problem = "a further thread without a processor directly above it is skipped"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
            return
        same = {name: self._core[name] for name in ("cpu_id", "cpu_type_name")}
        row = self._add(line, shape, THREAD_KIND, {"thread": self._core["thread"] + 1, **same}, {})
        self._core = row or self._core

    def _total(self, line: Line, shape: str) -> None:
        kind = CP_TOTAL_KIND if self._type == "CP" else OTHER_TOTAL_KIND
        if self._layout is not None and self._type is None:
            self.table.report_total_without_rows(line)
        if self._add(line, shape, kind, {"cpu_type_name": self._type}, {}) is not None:
            self._type = self._core = None


_GROUPS = "---CPU---    ---------------- TIME % ----------------"
_NAMES = "NUM  TYPE    ONLINE    LPAR BUSY    MVS BUSY   PARKED"
_MULTITHREADING_HEADINGS = ("   --- MT % ----   ", "   PROD   UTIL     ")
_NO_MULTITHREADING_GAP = "     "
_BEHIND = ("LOG PROC      --I/O INTERRUPTS--", "SHARE %       RATE     % VIA TPI")
_WITHOUT = 14
"""The last columns are this much further left without multithreading."""

_ADDRESS_SPACES = """
                              SYSTEM ADDRESS SPACE AND WORK UNIT ANALYSIS

   NUMBER OF ADDRESS SPACES   MIN   MAX    AVG     NUMBER OF WORK UNITS   MIN   MAX    AVG
   IN                          41    48   44.7     CP                       2    17    5.3
   IN READY                     1     6    1.9     IIP                      0     9    1.2
   OUT READY                    0     0    0.0
   OUT WAIT                     0     0    0.0     DISTRIBUTION OF IN-READY WORK UNIT QUEUE
   LOGICAL OUT RDY              0     1    0.1     <=  N         91.4  >>>>>>>>>>>>>>>>>>>>>>
   LOGICAL OUT WAIT            12    14   12.8      =  N +   1    5.2  >>
   BATCH                        0     3    0.6      =  N +   2    3.4  >
   STC                         52    55   53.1
   TSO                          2     4    3.3     BLOCKED WORKLOAD ANALYSIS
   ASCH                         0     0    0.0     OPT PARAMETERS: BLWLTRPCT (%)   0.5
   OMVS                         3     5    3.9                     BLWLINTHD        20"""
"""Text that real listings have here; it is not read."""


def cpu_pages(
    interval: Row, cpus: Sequence[Row], form: RmfPrintForm, page: int = 1, *, address_spaces: bool = False
) -> list[list[str]]:
    """Return the pages of the report, optionally with a page of the address space section, which is always
    the same.
    """
    headings = _headings(form)
    rows = [[_row(row, form)] for row in cpus]
    pages = paged(CPU_TITLE, interval, form, page, _machine(interval), [headings, *rows])
    if address_spaces:
        top = page_heading(CPU_TITLE, interval, form, page + len(pages))
        pages.append([*top, *_ADDRESS_SPACES.splitlines()])
    return pages


def _headings(form: RmfPrintForm) -> list[str]:
    between = _MULTITHREADING_HEADINGS if form.multithreading else (_NO_MULTITHREADING_GAP,) * 2
    return [_GROUPS + between[0] + _BEHIND[0], _NAMES + between[1] + _BEHIND[1]]


def _machine(interval: Row) -> list[str]:
    changed = set((interval.get("changed_labels") or "").split(","))

    def shown(label: str, column: str, between: str = " ") -> str:
        value = interval.get(column)
        return "" if value is None else f"{label}{between}{value}{'*' if label in changed else ''}"

    reason = shown("CHANGE REASON", "change_reason", "=")
    hiperdispatch = shown("HIPERDISPATCH", "hiperdispatch", "=") or "HIPERDISPATCH=N/A"
    capacity = shown("CPC CAPACITY", "capacity_rating_msu_per_hour", "   ")
    lines = [
        {1: shown("CPU", "machine_type", " " * 8), 19: capacity},
        {1: shown("MODEL", "capacity_model", " " * 6), 45: hiperdispatch},
        {1: shown("H/W MODEL", "physical_model", "  ")},
    ]
    lines[0][45] = shown("SEQUENCE CODE", "machine_sequence_code")
    if knows_boost(interval):
        lines[2] |= {
            19: reason,
            45: shown("BOOST TYPE", "boost_type", "="),
            64: shown("BOOST CLASS", "boost_class", "="),
        }
        return [place_texts(line) for line in lines]
    lines[1][19] = reason
    return ["", *(place_texts(line) for line in lines)]


def _row(row: Row, form: RmfPrintForm) -> str:
    left = 0 if form.multithreading else _WITHOUT
    kind, is_cp = row["row_kind"], row["cpu_type_name"] == "CP"
    begins: dict[int, str] = {}
    ends: dict[int, str] = {41: _percent(row, "mvs_busy_pct", 5)}
    if kind != "total":
        ends[53] = _percent(row, "parked_pct", 5)
    if kind != "thread":
        ends |= {28: _percent(row, "lpar_busy_pct", 5), 77 - left: f"{row['share_pct']:.1f}"}
        if form.multithreading:
            ends |= {62: _percent(row, "mt_productivity_pct", 6), 69: _percent(row, "mt_utilisation_pct", 6)}
        if is_cp:
            ends[91 - left] = _percent(row, "io_interrupt_rate", 5)
            ends[100 - left] = _percent(row, "tpi_pct", 5)
    if kind == "processor":
        ends |= {2: f"{row['cpu_id']:X}", 19: _percent(row, "online_pct", 5)}
        begins = {7: row["cpu_type_name"], 80 - left: row.get("priority") or ""}
    if kind == "total":
        begins = {1: "TOTAL/AVERAGE"}
    return place_texts(begins | right_aligned(ends))


def _percent(row: Row, column: str, hyphens: int) -> str:
    value = row.get(column)
    return "-" * hyphens if value is None else f"{value:.2f}"
