"""The CSV files of the formatter: one line names the columns, each further one is a block of a record."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import PurePath
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.coding import LONGEST_LINE
from zscope.parsers.text.mq_formatter.layout import STRUCTURES, plain, structure_of
from zscope.parsers.text.mq_formatter.rows import Blocks
from zscope.parsers.text.mq_formatter.values import cells
from zscope.parsers.text.out import Out, shown

if TYPE_CHECKING:
    from zscope.parsers.text.mq_formatter.layout import Structure
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Line, Report


class MqFormatter:
    """Reads the CSV files of the formatter."""

    def __init__(self, sheet: Sheet, zone: tzinfo | None = None) -> None:
        self._sheet = sheet
        self._blocks = Blocks(sheet, zone)
        self._begun = 0
        """Where the columns are named of the last line that was taken: a long file comes in parts."""

    def read(self, report: Report) -> None:
        """Take the lines from one that names the columns to the next such line, or the end of the file."""
        heading, *lines = report.lines
        out = Out(self._sheet, report.origin)
        labels = cells(heading.text) or []
        structure = structure_of(map(plain, labels))
        if structure is None:
            told = "the columns are those of a block without tasks or channels of the channel initiator"
            out.issue(Code.OTHER_REPORT, f"{told}: the lines below were passed over", heading.no)
            return
        names = [plain(label) for label in labels]
        if doubled := sorted({name for name in names if name and names.count(name) > 1}):
            told = f"the column {', '.join(doubled)} is there twice; no line below is taken"
            out.issue(Code.REPORT_UNREADABLE, told, heading.no)
            return
        self._compare_with_file_name(out, structure, heading.no)
        filled = [line for line in lines if line.text.strip()]
        for line in filled:
            if (found := _told(out, labels, line)) is not None:
                self._blocks.take(out, structure, line.no, found)
        if filled:
            self._begun = heading.no
        elif heading.no != self._begun:
            out.issue(Code.REPORT_CUT, "no line stands behind the names of the columns", heading.no)

    def finish(self) -> None:
        """There are no more in this file."""

    def _compare_with_file_name(self, out: Out, structure: Structure, line: int) -> None:
        """Whether the formatter gives a file with such columns the name that this one has."""
        name = PurePath(self._sheet.file).name.upper()
        named = next((other for other in STRUCTURES if f"SMF-{other}." in name), structure.name)
        if named != structure.name:
            told = f"a file of this name has blocks {named}, but these columns are those of {structure.name}"
            out.issue(Code.BAD_VALUE, f"{told}: they are taken as such", line, table=structure.table)


def _told(out: Out, labels: list[str], line: Line) -> dict[str, str] | None:
    """The values of a line by the names of their columns, or None where the line is not whole."""
    found = cells(line.text) if len(line.text) < LONGEST_LINE else None
    if found is not None and len(found) == len(labels):
        return {label: text for label, text in zip(labels, found, strict=True) if label}
    if found is None:
        told = (
            f"the line {shown(line.text)} has a quote that is not closed, or is longer than any line can be"
        )
    else:
        told = f"{len(found)} values stand where {len(labels)} columns are named"
    remedy = "it is left out: have the file written again if it was cut"
    out.issue(Code.UNKNOWN_LINE, f"{told}; {remedy}", line.no)
    return None
