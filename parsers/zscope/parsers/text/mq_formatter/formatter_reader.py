"""Readers of the files of the formatter: CSV with a block of a record in each line, and JSON objects."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.coding import LONGEST_LINE
from zscope.parsers.text.mq_formatter.blocks import BlockRows
from zscope.parsers.text.mq_formatter.layout import STRUCTURES, plain, structure_of
from zscope.parsers.text.mq_formatter.values import cells
from zscope.parsers.text.report_rows import ReportRows, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from zscope.parsers.text.captured_report import CapturedReport, Line, Origin
    from zscope.parsers.text.mq_formatter.layout import Structure
    from zscope.parsers.text.report_rows import FileRows


class MqFormatter:
    """Reads the CSV files of the formatter."""

    def __init__(self, sheet: FileRows, zone: tzinfo | None = None) -> None:
        self._sheet = sheet
        self._blocks = BlockRows(sheet, zone)
        self._begun = 0
        """Line of the column names of the last part of a file: a long file is read in parts."""

    def read(self, report: CapturedReport) -> None:
        """Read the lines from the column names to the next column names, or the end of the file."""
        heading, *lines = report.lines
        out = ReportRows(self._sheet, report.origin)
        labels = cells(heading.text) or []
        structure = structure_of(map(plain, labels))
        if structure is None:
            message = "the columns belong to a block without tasks or channels of the channel initiator"
            out.issue(Code.OTHER_REPORT, f"{message}; the lines below are skipped", heading.no)
            return
        names = [plain(label) for label in labels]
        if doubled := sorted({name for name in names if name and names.count(name) > 1}):
            message = f"the column {', '.join(doubled)} occurs twice; the lines below are skipped"
            out.issue(Code.REPORT_UNREADABLE, message, heading.no)
            return
        self._compare_with_file_name(out, structure, heading.no)
        filled = [line for line in lines if line.text.strip()]
        for line in filled:
            if (texts := _values(out, labels, line)) is not None:
                self._blocks.take(out, structure, line.no, texts)
        if filled:
            self._begun = heading.no
        elif heading.no != self._begun:
            out.issue(Code.REPORT_CUT, "no line follows the column names", heading.no)

    def finish(self) -> None:
        """Do nothing: each line is a row."""

    def _compare_with_file_name(self, out: ReportRows, structure: Structure, line: int) -> None:
        """Report a file name that the formatter gives to files with other columns."""
        name = PurePath(self._sheet.file).name.upper()
        named = next((other for other in STRUCTURES if f"SMF-{other}." in name), structure.name)
        if named != structure.name:
            message = (
                f"a file of this name has blocks {named}, but these columns are those of {structure.name}"
            )
            out.issue(Code.BAD_VALUE, f"{message}; they are read as such", line, table=structure.table)


def _values(out: ReportRows, labels: list[str], line: Line) -> dict[str, str] | None:
    """Return the values of a line by column name, or None if the line is damaged."""
    values = cells(line.text) if len(line.text) < LONGEST_LINE else None
    if values is not None and len(values) == len(labels):
        return {label: text for label, text in zip(labels, values, strict=True) if label}
    if values is None:
        message = f"the line {quoted(line.text)} has an unclosed quote or is too long"
    else:
        message = f"the line has {len(values)} values, but {len(labels)} columns are named"
    remedy = "the line is skipped: write the file again if it was cut off"
    out.issue(Code.UNKNOWN_LINE, f"{message}; {remedy}", line.no)
    return None


_STRUCTURE = "structure"
_ABOUT_RECORD = frozenset({_STRUCTURE, "recordType", "recordSubType"})


_MOST_OTHERS = 100
"""More structures than MQ records have; a file with invalid structures must not fill the memory."""


class MqObjects:
    """Reads the JSON objects of one file."""

    def __init__(self, sheet: FileRows, origin: Origin, zone: tzinfo | None = None) -> None:
        self._blocks = BlockRows(sheet, zone)
        self._out = ReportRows(sheet, origin)
        self._others: set[str] = set()
        """Structures that were skipped."""

    def take(self, line: int, values: Mapping[str, Any]) -> bool:
        """Write the row of an object of the formatter; return false for any other object."""
        if not values.keys() >= _ABOUT_RECORD:
            return False
        name = str(values[_STRUCTURE])
        if (structure := STRUCTURES.get(name)) is not None:
            texts = {key: _text(value) for key, value in values.items() if key not in _ABOUT_RECORD}
            self._blocks.take(self._out, structure, line, texts)
        elif name not in self._others and len(self._others) < _MOST_OTHERS:
            self._others.add(name)
            message = f"blocks {quoted(name)} contain no tasks or channels of the channel initiator"
            self._out.issue(Code.OTHER_REPORT, f"{message}; they are skipped", line)
        return True

    def finish(self) -> None:
        """Do nothing: each object is a row."""


def _text(value: object) -> str:
    """Return a value in the form of a CSV."""
    return "" if value is None else str(value).strip()
