"""What is left of the lines of a report: a margin, message ids, carriage control characters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import Line
from zscope.parsers.text.console_lines import is_other_message
from zscope.parsers.text.spelling import edit_distance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.parsers.text.captured_report import CapturedReport
    from zscope.parsers.text.report_family import ProblemReporter, ReportFamily, ReportHeading

_MESSAGE_ID = re.compile(r" {0,8}EZZ\d{4}I ", re.ASCII)
_ANY_ID = re.compile(r" {0,8}(?P<id>[A-Z0-9]{7,9}) ", re.ASCII)
_CONNECTOR_ONLY = re.compile(r" *\d{1,4} +$", re.ASCII)
_CONTROLS = frozenset(" 01+-")
_FEWEST_LINES = 5
"""So many lines must look like lines with carriage control characters."""


@dataclass(slots=True)
class ReportMargin:
    """The margin and the message ids of one report, which its heading shows."""

    width: int = 0
    ids: bool = False
    """Whether lines begin with a message id."""

    @classmethod
    def of_heading(cls, heading: ReportHeading) -> ReportMargin:
        """Return the margin of a report that begins with this heading."""
        if not heading.family.has_margin:
            return cls()
        return cls(heading.column, _MESSAGE_ID.match(heading.text) is not None)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is removed from lines."""
        return not (self.width or self.ids)

    def removed_from(
        self, text: str, number: int, report: CapturedReport, family: ReportFamily, problem: ProblemReporter
    ) -> str:
        """Return a line without margin and message id, and report an id with a wrong character."""
        if self.width and len(report.lines) == 1 and text.strip():
            # Envelopes indent the heading and the lines after it differently.
            self.width = _margin_of(text, self.width)
        margin = text[: self.width]
        system = report.origin.system
        if self.width and (not margin.strip() or _CONNECTOR_ONLY.match(margin) or margin.split() == [system]):
            text = text[self.width :]
        return self.without_id(text, number, family, problem) if self.ids else text

    def without_id(self, text: str, number: int, family: ReportFamily, problem: ProblemReporter) -> str:
        """Return a line of a display without its message id."""
        if match := _MESSAGE_ID.match(text):
            return text[match.end() :]
        if match := _damaged_id(text, family):
            problem(number, f"{match['id']!r} seems to be the damaged message id of a line of the display")
            return text[match.end() :]
        return text


def _margin_of(text: str, column: int) -> int:
    """Return the width of the margin of the first line after a heading that begins in this column."""
    indent = len(text) - len(text.lstrip(" "))
    return indent if column // 2 < indent < column else column


def _damaged_id(line: str, family: ReportFamily) -> re.Match[str] | None:
    """Return the message id of a line of the display if one character of it is wrong."""
    match = _ANY_ID.match(line)
    if match is None or family.continues.match(line[match.end() :]) is None:
        return None
    plain = "".join("9" if character.isdecimal() else character for character in match["id"])
    return match if edit_distance(plain, "EZZ9999I") == 1 else None


def begin_with_control(lines: Sequence[Line]) -> bool:
    """Return whether every line of a page begins like one with a carriage control character.

    A page without such characters has lines that begin with a letter.
    """
    filled = [line.text for line in lines if line.text]
    return len(filled) >= _FEWEST_LINES and all(text[0] in _CONTROLS for text in filled)


def without_controls(lines: Sequence[Line], *, first_has: bool) -> Iterator[Line]:
    """Yield the lines of a page without their carriage control characters; other messages have none."""
    first, *others = lines
    yield Line(first.no, first.text[1:]) if first_has else first
    for line in others:
        is_whole = line.text[:1] not in _CONTROLS and is_other_message(line.text)
        yield line if is_whole else Line(line.no, line.text[1:])
