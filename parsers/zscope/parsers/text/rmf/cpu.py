"""The CPU Activity report as a listing: the machine, and a line for each processor."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.rmf import cpu_columns as columns
from zscope.parsers.text.rmf.cells import TOUCHED_WORD, cells_of
from zscope.parsers.text.rmf.facts import Facts, label_line
from zscope.parsers.text.rmf.figures import figures_of
from zscope.parsers.text.rmf.table_rows import TableRows, is_ruled

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line
    from zscope.parsers.text.rmf.cells import Cell, Layout
    from zscope.parsers.text.rmf.figures import Figures, Kind
    from zscope.parsers.text.rmf.heading import Heading

TABLE = "rmf_cpu"
_TOTAL = "TOTAL/AVERAGE"
_HEADINGS = re.compile(r"\bNUM +TYPE +ONLINE\b", re.ASCII)
_LAST_THREAD = 1
"""z/OS runs two threads on a core at most: a third line belongs to a core that is not there."""
_CPU_ROW = re.compile(r" {0,40}[0-9A-F]{1,4} {1,8}[A-Z]{2,4} +[\d-]", re.ASCII)
_THREAD_ROW = re.compile(r" {20,}[\d.*-]+(?: +[\d.*-]+)?$", re.ASCII)
_SECOND_PART = re.compile(
    r" *(?:.{0,40}ADDRESS SPACE.{0,30}ANALYSIS|NUMBER OF ADDRESS SPACES|.{0,40}IN-READY WORK UNIT QUEUE"
    r"|.{0,40}BLOCKED WORKLOAD ANALYSIS)"
)
"""Address spaces and work units: from there on the page tells nothing about processors."""
_MULTITHREADING = re.compile(r".{0,60}(?:MULTI-?THREADING|MAX CF)")


@dataclass(slots=True)
class CpuPages:
    """Reads the CPU Activity pages of one interval."""

    out: Out
    facts: Facts
    table: TableRows = field(init=False)
    tells_nothing: bool = True
    """Whether there were no processors on any page, not even headings for them."""
    _layout: Layout | None = None
    _type: str | None = None
    """Kind of the processors since the last total."""
    _core: dict[str, Any] | None = None
    """The row of the processor that further threads belong to."""
    _multithreading: bool = False

    def __post_init__(self) -> None:
        self.table = TableRows(self.out, TABLE, "NUM TYPE ONLINE ...")

    def read(self, heading: Heading, width: int) -> None:
        """Take one page, the widest line of which has this width."""
        block: list[Line] = []
        in_table = False
        for line in heading.body:
            if not line.text.strip():
                self._multithreading = False
            elif _SECOND_PART.match(line.text):
                break
            elif self._row(line):
                in_table = True
            elif not in_table or label_line(line).known:
                block.append(line)
            else:
                self.out.unknown(line.no, line.text, heading.title)
        self.facts.take(block, width, self.out)
        self.tells_nothing = self.tells_nothing and not in_table

    def pages_missing(self) -> None:
        """The rows above the next ones are not there."""
        self._type = self._core = None

    def _row(self, line: Line) -> bool:
        """Whether the line belongs to the table."""
        text = line.text
        if _HEADINGS.search(text):
            self._layout = self.table.headings(line, columns.cpu_layout, lambda layout: layout)
        elif text.lstrip().startswith(_TOTAL):
            self._total(line)
        elif _CPU_ROW.match(text):
            self._processor(line)
        elif self._layout and _THREAD_ROW.match(text):
            self._thread(line)
        elif _MULTITHREADING.match(text):
            self._multithreading = True
            if "MAX CF" in text:
                self._keep(line, "headings", " ".join(text.split()))
        elif self._multithreading:
            kind, _, rest = " ".join(text.split()).partition(" ")
            self._keep(line, kind, rest)
        else:
            return is_ruled(line)
        return True

    def _keep(self, line: Line, what: str, text: str) -> None:
        """What the report says of multithreading is kept as it is: nothing tells where its columns stand."""
        if self.facts.extra.setdefault(f"MULTITHREADING {what}", text) != text:
            self.out.unknown(line.no, line.text, "multithreading")

    def _figures(self, line: Line, cells: list[Cell], kind: Kind) -> Figures | None:
        if self._layout is None:
            self.table.tell_headless(line, cells[0].start if cells else 1)
            return None
        figures = figures_of(cells, self._layout, kind)
        self.table.tell(line, figures.trouble)
        return figures

    def _processor(self, line: Line) -> None:
        cells = cells_of(line.text, TOUCHED_WORD)
        cpu_type = cells[1].text
        figures = self._figures(line, cells, columns.CP if cpu_type == "CP" else columns.OTHER_CPU)
        if figures is not None:
            self._type = cpu_type
            known = {"row_kind": "processor", "cpu_id": cells[0].text, "cpu_type_name": cpu_type, "thread": 0}
            self._core = self.table.put(line, figures, known)

    def _thread(self, line: Line) -> None:
        figures = self._figures(line, cells_of(line.text), columns.THREAD)
        if self._core is None or self._core["thread"] == _LAST_THREAD:
            problem = "a further thread without a processor right above it is left out"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
        elif figures is not None and figures.values:
            same = {name: self._core[name] for name in ("cpu_id", "cpu_type_name")}
            known = {"row_kind": "thread", "thread": self._core["thread"] + 1, **same}
            self._core = self.table.put(line, figures, known)

    def _total(self, line: Line) -> None:
        kind = columns.CP_TOTAL if self._type == "CP" else columns.OTHER_TOTAL
        figures = self._figures(line, cells_of(line.text)[1:], kind)
        if figures is not None:
            if self._type is None:
                self.table.tell_typeless(line)
            self.table.put(line, figures, {"row_kind": "total", "cpu_type_name": self._type})
            self._type = self._core = None
