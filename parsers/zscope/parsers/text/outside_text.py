"""Text outside of reports: find stretches that look like the inside of one whose heading is missing.

A text that was cut, or whose headings are damaged, has rows and labels without a heading. One row that no
other program prints is enough for an issue; of labels, which other programs can have, two are needed, or one
at the begin of the file. All other text outside of reports is only counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from zscope.parsers.text.console_lines import begins_with_time, is_prompt
from zscope.parsers.text.families import families
from zscope.parsers.text.headings import is_report_line
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.syslog_replies import is_log_line
from zscope.schemas.reports import plain_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.parsers.text.captured_report import Line

_MOST_BETWEEN = 3
"""Lines without a clue between two lines of one stretch."""
_BEGIN = 3
"""So many lines are the begin of a file."""
_SHORTEST = 7
"""Characters of a label that other programs hardly have; of shorter ones, several in a line are needed."""
_LONGEST = 400
_WORDS, _WORDS_OF_LOG = 3, 5
"""So many words can be the rest of a line of a display, and of a log."""
_END_OF_ROW = re.compile(r"(?: *[A-Z]{1,12})? *\d{1,9}(?:\.\d{1,3})?$", re.ASCII)
"""The last figure of a page, perhaps with the end of its label."""
_COMMENTS = ("#", "*", "/")
_AT_BEGIN = re.compile(
    r" *\w[\w .%-]{0,40}: {2,}\S|.{0,300}\b(?:LOCAL|REMOTE|JOBNAME|USERID|RULE|RC|ACTIONS|STATUS): +\S"
    r"|\S*\.\.\d{1,5}(?: |$)|.{0,80}\bHandshake$| *\}$|(?: *(?:[\dA-F][\dA-F.:,%*/-]*|N/A)(?= |$)){2,} *$",
    re.ASCII,
)
"""The rest of a line of a report, as a cut leaves it at the begin of a file."""
_MESSAGE_ID = re.compile(r" {0,8}EZZ\d{4}I ", re.ASCII)
_PAIR = re.compile(r"(?<![^ ])(?P<label>[A-Za-z][\w/%. -]{2,40}?)(?: *:|  *=)(?![^ ])", re.ASCII)
_STATEMENT = re.compile(r" *(?P<word>[A-Za-z3][\w.]{3,40})(?: +[^ =:]+)?(?: +#.*)? *$", re.ASCII)
_EVERYWHERE = frozenset(
    {"STARTTIME", "ALGORITHM", "DIRECTION", "PRIORITY", "TIMEZONE", "INTERVAL", "JOBNAME", "KEYRING"}
)
"""Labels that other programs have, too."""


@cache
def _labels() -> frozenset[str]:
    """Return the labels of reports, in the form in which labels are compared."""
    declared = (label.rpartition(": ")[2] for family in families() for label in family.labels())
    plain = {plain_label(label) for label in declared}
    return frozenset(label for label in plain if len(label) >= _SHORTEST) - _EVERYWHERE


@cache
def _statements() -> frozenset[str]:
    """Return the words with which lines of reports begin."""
    return frozenset(word for family in families() for word in family.statements())


@cache
def _rows() -> re.Pattern[str]:
    """Return the pattern of rows, column headings and messages that no other program prints."""
    return re.compile("|".join(family.rows for family in families()), re.ASCII | re.IGNORECASE)


@cache
def _page_lines() -> re.Pattern[str]:
    """Return the pattern of other lines that no other program prints."""
    return re.compile("|".join(family.page_lines for family in families()), re.ASCII)


@dataclass(slots=True)
class OutsideText:
    """The lines outside of reports, as far as they may be the inside of one."""

    report_problem: Callable[[int, str], None]
    """Receives line and text for each stretch."""
    _first: Line | None = None
    """The first line with a clue of the stretch."""
    _last: int = 0
    """The last line with a clue."""
    _between: int = 0
    """Lines since then."""
    _certain: bool = False
    _labels: set[str] = field(default_factory=set)

    def add(self, line: Line) -> bool:
        """Read a line; return whether it can only be part of a report."""
        text = _MESSAGE_ID.sub("", line.text[:_LONGEST], count=1)
        certain = is_report_line(text) or is_of_report(text) or _page_lines().match(text) is not None
        labels = set() if certain else _labels_in(text)
        if line.no <= _BEGIN and not certain and _AT_BEGIN.match(text):
            labels.add(text)
        if not certain and not labels:
            self._between += 1
            if self._between > _MOST_BETWEEN:
                self.end()
            return False
        self._first = self._first or line
        self._last, self._between = line.no, 0
        self._certain = self._certain or certain
        self._labels |= labels
        return certain

    def end(self) -> None:
        """Report the stretch, if it looks like the inside of a report: other text or a report follows."""
        first, self._first = self._first, None
        needed = 1 if first and first.no <= _BEGIN else 2
        if first is not None and (self._certain or len(self._labels) >= needed):
            place = f"the lines {first.no} to {self._last}" if self._last > first.no else "the line"
            verb = "look" if self._last > first.no else "looks"
            problem = (
                f"{place} ({quoted(first.text.strip())}) {verb} like the inside of a report whose heading is "
                "missing, and cannot be read: capture the report again, with its first line"
            )
            self.report_problem(first.no, problem)
        self._certain, self._between = False, 0
        self._labels.clear()


def is_of_report(text: str) -> bool:
    """Return whether a line is a row, a line of column headings or a message that no other program prints."""
    return _rows().match(text) is not None


def may_be_of_report(text: str) -> bool:
    """Return whether a text is a line of a report, or has a label of one."""
    return is_report_line(text) or is_of_report(text) or bool(_labels_in(text))


def is_rest_of_line(text: str, following: str) -> bool:
    """Return whether the first line of a file can be the rest of one: some words before a prompt, or before
    lines of a log that begin otherwise, or a number before the title of a page.

    >>> is_rest_of_line("0A", "Mar 15 02:14:18 SRV2 TTLS[7]:"), is_rest_of_line("# log", "Mar 15 02:14:18 A")
    (True, False)
    """
    words = len(text.split())
    if text.lstrip().startswith(_COMMENTS) or is_prompt(text) or _is_of_log(text):
        return False
    if _END_OF_ROW.match(text) and any(family.page_title.match(following) for family in families()):
        return True
    return (words <= _WORDS and is_prompt(following)) or (words <= _WORDS_OF_LOG and _is_of_log(following))


def _is_of_log(text: str) -> bool:
    return is_log_line(text) or begins_with_time(text)


def _labels_in(text: str) -> set[str]:
    """Return the labels of displays or the words of a policy file in a line."""
    if ":" in text or "=" in text:
        return {
            plain for match in _PAIR.finditer(text) if (plain := plain_label(match["label"])) in _labels()
        }
    statement = _STATEMENT.match(text)
    return {word} if statement and (word := statement["word"].upper()) in _statements() else set()
