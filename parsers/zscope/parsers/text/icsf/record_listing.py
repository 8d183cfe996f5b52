"""Read listings of CSFSMFR: blocks of keys and values, whatever the subtype of the record and its keys.

A block begins with `Subtype=` and four hexadecimal digits. Keys have three to six characters and are padded
with points to six; several can be in one line. Lines that are indented deeper explain the value before. All
keys are kept as they are printed: what they mean is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom, single_lines
from zscope.parsers.text.report_rows import ReportRows, quoted

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import CapturedReport, Line
    from zscope.parsers.text.report_rows import FileRows

RECORDS, VALUES = "icsf_record", "icsf_value"
_HEADING = re.compile(r"Subtype=(?P<subtype>[0-9A-F]{4})(?: +(?P<title>.*))?", re.ASCII | re.IGNORECASE)
_TIME = re.compile(
    r" *(?P<day>\d{1,2} [A-Z][a-z]{2} \d{4}) +(?P<clock>\d\d:\d\d:\d\d(?:\.\d{1,6})?)", re.ASCII
)
_PADDED = r"(?=\S{6}(?:\s|$))[A-Z][A-Z0-9]{2,4}\.{1,3}"
_FIRST = re.compile(rf" *(?:{_PADDED}|[A-Z][A-Z0-9]{{2,5}})(?=\s|$)", re.ASCII)
_KEY = re.compile(rf"(?<!\S)(?:{_PADDED}|(?<=  )[A-Z][A-Z0-9]{{5}})(?=\s|$)", re.ASCII)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK_LENGTH = len("00:00:00.000000")
_RULE = re.compile(r"[-=*_ ]+")


@dataclass
class _PrintedValue:
    """A key with its value, and the lines that explain it."""

    line: int
    key: str
    printed: str
    explained: list[str] = field(default_factory=list)


@dataclass
class _PrintedRecord:
    """What is printed of one record."""

    written: datetime | None = None
    about: list[str] = field(default_factory=list)
    values: list[_PrintedValue] = field(default_factory=list)
    indent: int = 0
    """Of the last line with keys."""


class RecordListing:
    """Reads the blocks of one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet

    def read(self, report: CapturedReport) -> None:
        """Read one block."""
        out = ReportRows(self._sheet, report.origin)
        first, *lines = single_lines(report.lines)
        heading = _HEADING.match(first.text.strip())
        if heading is None:
            out.add_unknown_line(first.no, first.text.strip())
            return
        subtype, block = int(heading["subtype"], 16), _PrintedRecord()
        for line in lines:
            if not line.text.strip() or _RULE.fullmatch(line.text):
                out.furniture(line.no)
            else:
                _line(out, block, line)
        self._rows(out, block, first.no, {"record_subtype": subtype, "title": heading["title"] or ""})

    def finish(self) -> None:
        """Do nothing: no block depends on another."""

    def _rows(self, out: ReportRows, block: _PrintedRecord, first: int, values: dict[str, Any]) -> None:
        """Add the rows of a block, and check what is printed twice."""
        origin, subtype = out.origin, values["record_subtype"]
        if block.written:
            origin.day, origin.clock = block.written.date(), block.written.time()
            origin.time_from = KnownFrom.REPORT
        for value in block.values:
            if value.key == "SID" and value.printed:
                origin.system, origin.system_from = value.printed, KnownFrom.REPORT
            if value.key == "STY" and value.printed.upper() != f"{subtype:04X}":
                text = f"STY is {quoted(value.printed)}, but the heading has subtype {subtype:04X}"
                out.issue(Code.BAD_VALUE, text, value.line, field="STY", table=VALUES)
        if not block.values:
            text = f"the record of subtype {subtype} has no values: the listing is cut"
            out.issue(Code.REPORT_CUT, text, first)
        out.add_report("CSFSMFR", first)
        about = {"description": " ".join(block.about), "value_count": len(block.values)}
        out.row(RECORDS, first, values | about)
        for number, value in enumerate(block.values, 1):
            printed = {"value_key": value.key, "printed_value": value.printed or None}
            known = {
                "explanation": "; ".join(value.explained) or None,
                "value_no": number,
                "record_line": first,
            }
            out.row(VALUES, value.line, {"record_subtype": subtype} | printed | known)


def _line(out: ReportRows, block: _PrintedRecord, line: Line) -> None:
    """Take a line after the heading."""
    indent = len(line.text) - len(line.text.lstrip())
    keys = _keys(line.text)
    padded = bool(keys) and keys[0].group().endswith(".")
    clock = _TIME.fullmatch(line.text)
    if keys and (padded or not block.values or indent <= block.indent):
        block.indent = indent
        ends = [key.start() for key in keys[1:]] + [len(line.text)]
        for key, end in zip(keys, ends, strict=True):
            name = key.group().strip().rstrip(".")
            block.values.append(_PrintedValue(line.no, name, line.text[key.end() : end].strip()))
        out.used(line.no)
    elif clock and not block.written and (written := _time(clock)):
        block.written = written
        out.used(line.no)
    elif block.values and indent > block.indent:
        block.values[-1].explained.append(" ".join(line.text.split()))
        out.used(line.no)
    elif not block.values:
        block.about.append(line.text.strip())
        out.used(line.no)
    else:
        out.add_unknown_line(line.no, line.text.strip())


def _keys(text: str) -> list[re.Match[str]]:
    """Return the keys of a line; none if it does not begin with one."""
    first = _FIRST.match(text)
    return [first, *_KEY.finditer(text, first.end())] if first else []


def _time(match: re.Match[str]) -> datetime | None:
    """Return a local time; None if there is no such day."""
    day, month, year = match["day"].split()
    try:
        at = time.fromisoformat(
            match["clock"].ljust(_CLOCK_LENGTH, "0") if "." in match["clock"] else match["clock"]
        )
        return datetime.combine(date(int(year), _MONTHS.index(month) + 1, int(day)), at)
    except ValueError:
        return None
