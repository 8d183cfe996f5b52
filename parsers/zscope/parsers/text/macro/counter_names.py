"""Read the names of crypto counters in macro IFASMFCN: equates, or definitions of the C header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import single_lines
from zscope.parsers.text.report_rows import ReportRows
from zscope.parsers.text.spelling import edit_distance

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import CapturedReport, Line
    from zscope.parsers.text.report_rows import FileRows

TABLE = "counter_name"
PREFIX = "SMF_CrypCtrs_k"
_LINE = re.compile(
    rf" *(?:#define +{PREFIX}(?P<defined>\w+) +|{PREFIX}(?P<equated>\w+) +EQU +)(?P<number>[\d(X]\S*)",
    re.ASCII | re.IGNORECASE,
)
_VALUE = r"(?:\d{1,9}|X'[0-9A-F]{1,8}'|0x[0-9A-F]{1,8})"
_NUMBER = re.compile(rf"{_VALUE}|\({_VALUE}\)", re.ASCII | re.IGNORECASE)
_COMMENT = re.compile(r"\*|\.\*| *(?:/[/*]|\*)", re.ASCII)
_WRONG_LETTERS = 2
"""A word that differs from the prefix in more letters is another name."""


class CounterNames:
    """Reads the names in one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet

    def read(self, report: CapturedReport) -> None:
        """Read the names of one text."""
        out = ReportRows(self._sheet, report.origin)
        numbers: dict[int, int] = {}
        for line in single_lines(report.lines):
            match = _LINE.match(line.text)
            if match:
                self._name(out, line, match, numbers)
            elif _looks_like_name(line.text):
                out.add_unknown_line(line.no, line.text.strip())
            else:
                out.furniture(line.no)
        out.add_report("IFASMFCN", report.first_line, has_date=False)

    def finish(self) -> None:
        """Do nothing: no text depends on another."""

    def _name(self, out: ReportRows, line: Line, match: re.Match[str], numbers: dict[int, int]) -> None:
        name = match["defined"] or match["equated"]
        values = {"counter_name": name, "counter_number": _decimal(match["number"])}
        row = out.row(TABLE, line.no, values)
        known = row["counter_number"]
        if known in numbers:
            text = f"the number {known} has another name in line {numbers[known]}; the later one is used"
            out.issue(Code.REPORT_REPEATED, text, line.no, field="Number", table=TABLE)
        if known is not None:
            numbers[known] = line.no


def _decimal(printed: str) -> str:
    """Return a number as decimal digits; a text that is none stays as it is."""
    if not _NUMBER.fullmatch(printed):
        return printed
    digits = printed.strip("()").upper()
    return digits if digits.isdecimal() else str(int(digits.strip("X'").removeprefix("0X"), 16))


def _looks_like_name(text: str) -> bool:
    """Return whether a line seems to define a name, with a wrong letter or without its number."""
    if _COMMENT.match(text):
        return False
    words = text.split()
    return any(
        edit_distance(word[: len(PREFIX)].upper(), PREFIX.upper()) <= _WRONG_LETTERS for word in words[:2]
    )
