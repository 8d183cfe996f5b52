"""The Partition Data report as a listing: a line for each partition and kind of processor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from zscope.parsers.text.rmf import partition_columns as columns
from zscope.parsers.text.rmf.cells import Cell, cells_of
from zscope.parsers.text.rmf.facts import Facts, label_line
from zscope.parsers.text.rmf.figures import Figures, Kind, Trouble, figures_of
from zscope.parsers.text.rmf.partition_columns import PartitionLayout, is_letter, spans_among
from zscope.parsers.text.rmf.table_rows import TableRows, is_ruled

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line
    from zscope.parsers.text.rmf.heading import Heading

TABLE = "rmf_partition"
_PHYSICAL, _TOTAL = "*PHYSICAL*", "TOTAL"
_STATUS = {"A": "active", "D": "deactivated"}
_NAME = re.compile(r"[A-Z0-9@#$_-]{1,8}", re.ASCII | re.IGNORECASE)
_SHIFTED_MOST = 2
"""A row that stands further off from its headings has lost something in between."""


@dataclass(slots=True)
class PartitionPages:
    """Reads the Partition Data pages of one interval."""

    out: Out
    facts: Facts
    table: TableRows = field(init=False)
    tells_nothing: bool = True
    """Whether there were no partitions on any page, not even headings for them."""
    _layout: PartitionLayout | None = None
    _type: str | None = None
    """Kind of processors of the group that is open."""
    _physical_seen: bool = False

    def __post_init__(self) -> None:
        self.table = TableRows(self.out, TABLE, "NAME S WGT ...")

    def read(self, heading: Heading, width: int) -> None:
        """Take one page, the widest line of which has this width."""
        block: list[Line] = []
        in_table = False
        for line in heading.body:
            if not line.text.strip():
                continue
            if self._row(line):
                in_table = True
            elif not in_table or label_line(line).known:
                block.append(line)
            else:
                self.out.unknown(line.no, line.text, heading.title)
        self.facts.take(block, width, self.out)
        self.tells_nothing = self.tells_nothing and not in_table

    def pages_missing(self) -> None:
        """The rows above the next ones are not there."""
        self._type, self._physical_seen = None, False

    def _row(self, line: Line) -> bool:
        """Whether the line belongs to the table."""
        if "NAME" in line.text and "WGT" in line.text:
            self._layout = self.table.headings(line, columns.partition_layout, lambda found: found.figures)
            return True
        cells = cells_of(line.text)
        if not self._is_row(cells):
            return is_ruled(line)
        if self._layout is None:
            self.table.tell_headless(line, cells[0].start)
        elif cells[0].text == _PHYSICAL:
            self._physical(line, cells, self._layout)
        elif _is_total(cells):
            self._total(line, cells, self._layout)
        else:
            self._partition(line, cells, self._layout)
        return True

    def _is_row(self, cells: list[Cell]) -> bool:
        if cells[0].text == _PHYSICAL or _is_total(cells):
            return True
        if len(cells) < 2 or not _NAME.fullmatch(cells[0].text):
            return False
        if self._layout is None:
            return len(spans_among(cells)) == 2 and is_letter(cells[1])
        near = abs(cells[0].start - self._layout.name.start) <= _SHIFTED_MOST
        return near and _status_among(cells, self._layout) is not None

    def _figures(self, line: Line, cells: Sequence[Cell], kind: Kind, layout: PartitionLayout) -> Figures:
        """The dispatch times tell how far the row stands from its headings."""
        spans = spans_among(cells)
        names = ["effective_ms", "dispatch_ms"][-1 if kind is columns.PHYSICAL and len(spans) == 1 else 0 :]
        places = map(layout.figures.place, names)
        shifts = [cell.end - place.edge for cell, place in zip(spans, places, strict=False) if place]
        if any(abs(shift) > _SHIFTED_MOST for shift in shifts):
            text = (
                "the dispatch times do not stand under their headings; the figures of this row are left out"
            )
            figures = Figures(trouble=Trouble(spans[0].start, text))
        else:
            figures = figures_of(cells, layout.figures, kind, shifts[0] if shifts else 0)
        self.table.tell(line, figures.trouble)
        return figures

    def _partition(self, line: Line, cells: list[Cell], layout: PartitionLayout) -> None:
        number = _status_among(cells, layout) or 1
        letter = cells[number].text
        rest = [*cells[1:number], *cells[number + 1 :]]
        boost = _boost_among(rest, layout)
        kind = columns.DEACTIVATED if letter == "D" else columns.PARTITION
        figures = self._figures(line, [cell for cell in rest if cell is not boost], kind, layout)
        cpu_type = figures.values.get("cpu_type_name")
        if cpu_type and cpu_type != self._type:
            self._type, self._physical_seen = cpu_type, False
        known: dict[str, Any] = {
            "row_kind": "partition",
            "partition_name": cells[0].text,
            "partition_status": _STATUS.get(letter, letter),
            "boost_type": boost.text if boost else None,
        }
        if weight := figures.values.pop("weight", None):
            known["dedicated"] = weight == columns.DEDICATED
            known["weight"] = None if known["dedicated"] else weight
        self.table.put(line, figures, known)

    def _physical(self, line: Line, cells: list[Cell], layout: PartitionLayout) -> None:
        figures = self._figures(line, cells[1:], columns.PHYSICAL, layout)
        if self._physical_seen:
            self._type = None
        self._physical_seen = True
        self._of_group(line, figures, "physical", _PHYSICAL)

    def _total(self, line: Line, cells: list[Cell], layout: PartitionLayout) -> None:
        figures = self._figures(line, cells[1:], columns.TOTAL, layout)
        self._of_group(line, figures, "total", _TOTAL)
        self._type, self._physical_seen = None, False

    def _of_group(self, line: Line, figures: Figures, kind: str, name: str) -> None:
        if self._type is None:
            self.table.tell_typeless(line)
        known = {"row_kind": kind, "partition_name": name, "cpu_type_name": self._type}
        self.table.put(line, figures, known)


def _is_total(cells: list[Cell]) -> bool:
    """A partition may have this name, but it has a status."""
    return cells[0].text == _TOTAL and not (len(cells) > 1 and is_letter(cells[1]))


def _status_among(cells: Sequence[Cell], layout: PartitionLayout) -> int | None:
    """Which cell is the status: of the letters behind the name the one nearest to its heading."""
    letters = [
        (abs(cells[n].end - layout.status.edge), n) for n in (1, 2) if n < len(cells) and is_letter(cells[n])
    ]
    distance, number = min(letters, default=(_SHIFTED_MOST + 1, 0))
    return number if distance <= _SHIFTED_MOST else None


def _boost_among(cells: Sequence[Cell], layout: PartitionLayout) -> Cell | None:
    """The cell under the heading BT: a word where other columns have figures."""
    if layout.boost is None:
        return None
    first, last = layout.boost.start - _SHIFTED_MOST, layout.boost.edge + _SHIFTED_MOST
    spans = spans_among(cells)
    types = [cell for cell, behind in pairwise(cells) if spans and behind is spans[0]]
    for cell in cells:
        is_word = cell.text.isalpha() and cell.text != columns.DEDICATED and cell not in types
        if is_word and cell.end >= first and cell.start <= last:
            return cell
    return None
