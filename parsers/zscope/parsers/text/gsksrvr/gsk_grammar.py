"""Read GSKSRVR replies: split them into messages, select the reader of each display, read DISPLAY CRYPTO."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pyparsing as pp

from zscope.parsers.issues import Code
from zscope.parsers.text.gsksrvr import statistics, status
from zscope.parsers.text.gsksrvr.gsk_heading import Display, begins_message, read_heading
from zscope.parsers.text.gsksrvr.statistics_history import DisplayHistory
from zscope.parsers.text.report_rows import NO_VALUE, ReportRows, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zscope.parsers.text.captured_report import CapturedReport, Line, Origin
    from zscope.parsers.text.gsksrvr.gsk_heading import GskHeading
    from zscope.parsers.text.report_rows import FileRows


TABLE = "gsk_crypto"
_SIZES = {"HARDWARE": "hardware_bits", "SOFTWARE": "software_bits"}
_SIZE = pp.Group(pp.Located(pp.CaselessKeyword("Hardware") | pp.CaselessKeyword("Software")))
_ALGORITHM = pp.Regex(r"(?i)algorithms?\b").suppress()
_NAMES = (_ALGORITHM + _SIZE[1, 2]("sizes") | _SIZE[2]("sizes")) + pp.StringEnd()
_FIELD = re.compile(r"\S+(?: \S+)*")
_QUOTES = "\"'"


class _Span(NamedTuple):
    text: str
    start: int
    end: int

    def below(self, name: _Span) -> bool:
        """Return whether a value is at least in part below the name of a column."""
        return self.start < name.end and name.start < self.end


def has_columns(body: Sequence[Line]) -> bool:
    """Return whether one of these lines names the columns of the display."""
    return any(_names(line.text) for line in body)


def read(out: ReportRows, body: Sequence[Line], heading_line: int) -> None:
    """Write the rows of a display; `heading_line` is the number of its first line."""
    lines = [line for line in body if line.text.strip()]
    begins = next((index for index, line in enumerate(lines) if _names(line.text)), None)
    if begins is None:
        instead = f"the line is {quoted(lines[0].text)}" if lines else "the display ends"
        message = f"expected 'Hardware' and 'Software', but {instead}; the display is skipped"
        out.issue(Code.REPORT_UNREADABLE, message, lines[0].no if lines else heading_line, 1)
        out.skipped(lines)
        return
    names = _names(lines[begins].text)
    out.furniture(lines[begins].no)
    for line in lines[:begins]:
        out.add_unknown_line(line.no, line.text)
    for index, line in enumerate(lines[begins + 1 :], begins + 2):
        if _names(line.text):
            message = "a second display seems to start here without a heading; the rest is skipped"
            out.issue(Code.REPORT_UNREADABLE, message, line.no, 1)
            out.skipped(lines[index - 1 :])
            return
        # A number alone in the next line may be the rest of the last number in this one.
        continues = index < len(lines) and lines[index].text.strip().isdecimal()
        if continues or not _row(out, names, line):
            out.add_unknown_line(line.no, line.text)


def _row(out: ReportRows, names: Sequence[_Span], line: Line) -> bool:
    """Write a row; return False if a value cannot be assigned to one column."""
    algorithm, *values = [_Span(match[0], match.start(), match.end()) for match in _FIELD.finditer(line.text)]
    if not algorithm.text.strip("-"):
        out.furniture(line.no)
        return True
    if len(values) == len(names):
        printed = {name.text: value.text for name, value in zip(names, values, strict=True)}
    else:
        pairs = [(name.text, value.text) for name in names for value in values if value.below(name)]
        printed = dict(pairs)
        if not len(printed) == len(pairs) == len(values) > 0:
            return False
    row, extra = {"algorithm": algorithm.text}, {}
    for name, text in printed.items():
        plain = text.strip(_QUOTES)
        if plain.isdecimal() or plain in NO_VALUE:
            row[_SIZES[name]] = plain
        else:
            extra[name.capitalize()] = text
            if any(map(str.isdigit, text)):
                problem = f"{quoted(text)} is not a whole number; the column is null"
                out.issue(Code.BAD_VALUE, problem, line.no, field=name.capitalize(), table=TABLE)
    out.row(TABLE, line.no, row, extra=extra)
    return True


def _names(text: str) -> list[_Span]:
    """Return the columns that a line names after the algorithm; none for any other line."""
    if "WARE" not in text.upper():
        return []
    try:
        sizes = _NAMES.parse_string(text)["sizes"]
    except pp.ParseException:
        return []
    names = [_Span(place["value"][0].upper(), place["locn_start"], place["locn_end"]) for place in sizes]
    return names if len({name.text for name in names}) == len(names) else []


_NOT_AVAILABLE = "--"


def crypto_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a display in the form that `read` expects, one for each algorithm.

    >>> crypto_lines([{"algorithm": "AES", "hardware_bits": 256, "software_bits": 256}])[-1]
    'AES                     256         256'
    """
    lines = [_line(row["algorithm"], row.get("hardware_bits"), row.get("software_bits")) for row in rows]
    return ["GSK01009I Cryptographic status", _line("Algorithm", "Hardware", "Software"), *lines]


def _line(algorithm: str, hardware: object, software: object) -> str:
    return f"{algorithm:<15}{_shown(hardware):>12}{_shown(software):>12}"


def _shown(size: object) -> str:
    return _NOT_AVAILABLE if size is None else str(size)


_CRYPTO = "GSK01009I"
_XCF_FAILED = "GSK01034E"
_ERROR = re.compile(r"\berror\s{1,9}(\d{1,9})\b", re.ASCII | re.IGNORECASE)
_XCF_ERRORS = {
    1: "no XCF control lock on the target",
    2: "cross-system services are not available",
    3: "the token is not known on the target",
    4: "the user may not use the data of the token",
    5: "no storage on the target",
    6: "the target is not in the group",
    7: "the target is not active",
    8: "IXCMSGO failed",
    9: "IXCMSGI failed on the target",
    10: "the target does not support the function",
    11: "the request was cancelled",
    12: "unknown notification",
    13: "the target did not answer",
    14: "no storage on the local system",
    15: "IXCMSGI failed on the local system",
}


def note_message(out: ReportRows, heading: GskHeading, line: int) -> None:
    """Report a message that is no display, with the meaning of its error number."""
    text = f"{heading.message_id} {heading.text}".strip()[:200]
    if heading.message_id == _XCF_FAILED and (match := _ERROR.search(heading.text)):
        meaning = _XCF_ERRORS.get(int(match[1]))
        text += f" ({meaning})" if meaning else ""
    more = sum(1 for further in heading.body if further.text.strip())
    if more and heading.message_id == _CRYPTO:
        problem = f"{quoted(text)} is not the heading of a display; {more} further lines are skipped"
        out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=TABLE)
        out.skipped(heading.body)
        return
    out.skipped(heading.body)
    if more:
        text += f", and {more} further {'line' if more == 1 else 'lines'}"
    out.issue(Code.OTHER_REPORT, f"this message fills no table: {text}", line)


class Gsksrvr:
    """Reads the replies of GSKSRVR in one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet
        self._history = DisplayHistory()

    def read(self, report: CapturedReport) -> None:
        """Read one report."""
        for lines in _messages(report.lines):
            self._message(lines, report.origin)
        if not report.complete:
            text = "the reply ends before its last line; lines may be missing"
            ReportRows(self._sheet, report.origin).issue(Code.REPORT_CUT, text, report.lines[-1].no)

    def finish(self) -> None:
        """Write the rows of cache statistics, which are compared with each other at the end of a file."""
        self._history.finish()

    def _message(self, lines: list[Line], origin: Origin) -> None:
        out = ReportRows(self._sheet, origin)
        first = lines[0]
        heading = read_heading(lines)
        if heading is None:
            text = f"{quoted(first.text)} is not a message id GSK01nnnX; the report is skipped"
            out.issue(Code.REPORT_UNREADABLE, text, first.no, 1)
            out.skipped(lines)
            return
        for line in lines[: len(lines) - len(heading.body)]:
            out.used(line.no)
        if heading.cache is not None:
            self._cache(out, heading, first)
        elif heading.display is Display.CRYPTO or has_columns(heading.body):
            out.add_report("GSKSRVR CRYPTO", first.no)
            read(out, heading.body, first.no)
        else:
            note_message(out, heading, first.no)

    def _cache(self, out: ReportRows, heading: GskHeading, first: Line) -> None:
        if heading.cache is None or heading.display is None:
            text = "the heading must continue with 'status' or 'statistics'; the report is skipped"
            out.issue(Code.REPORT_UNREADABLE, text, first.no, len(first.text) + 1)
            out.skipped(heading.body)
            return
        name = f"GSKSRVR {heading.cache.command} {heading.display}"
        if heading.display is Display.STATUS:
            out.add_report(name, first.no)
            status.read(out, heading.cache, heading.body, first.no)
            return
        display = statistics.read(out, heading.cache, heading.body, first.no)
        out.add_report(name, first.no)
        if display is not None:
            self._history.add(display)


def _messages(lines: list[Line]) -> Iterator[list[Line]]:
    """Yield the lines of each message; messages can follow each other without a separator."""
    first = 0
    for index, line in enumerate(lines):
        if index > first and begins_message(line.text):
            yield lines[first:index]
            first = index
    yield lines[first:]
