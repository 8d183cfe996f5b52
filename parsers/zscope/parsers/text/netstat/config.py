"""NETSTAT CONFIG: the parameters of a stack, one row for each, whatever their names.

IBM adds parameters with most releases and moves them about, so the table is a long one: the report's own
words, and beside them our name of the few that matter for TLS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.config_settings import LABELS, is_cut, is_out_of_order, place_of, setting_of
from zscope.parsers.text.netstat.labels import doubtful, pairs_of, spreader
from zscope.parsers.text.out import shown

if TYPE_CHECKING:
    from zscope.parsers.text.netstat.body import Body
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

BEGINS = re.compile(
    r" *(?:(?:TCP|UDP|IP) +Configuration +Table|Global +Configuration +Information) *:",
    re.ASCII | re.IGNORECASE,
)

_TABLE = "netstat_config"
_SECTION = re.compile(
    r" *([A-Z][A-Z0-9/ -]{0,60} (?:TABLE|INFORMATION|PARAMETERS|SETTINGS?)) *:$", re.ASCII | re.IGNORECASE
)
_OF_PAIRS = re.compile(r"(?:TCP|UDP|IP)\b", re.ASCII | re.IGNORECASE)
"""Tables in which every line has labels: another line does not belong there."""
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?", re.ASCII)
_spread = spreader(LABELS)


def read(body: Body, out: Out) -> None:
    """Make a row of each parameter; the console does not count them."""
    reader = _Reader(out)
    for line in body.lines:
        reader.take(line)
    reader.close()


@dataclass(slots=True)
class _Reader:
    out: Out
    _section: str | None = None
    _seen: set[str] = field(default_factory=set)
    _latest: int = -1
    """Place of the label furthest down in the order of the TCP table."""
    _waiting: tuple[str, int] | None = None
    """A label at the end of a line, whose value may be in the next."""

    def take(self, line: Line) -> None:
        """Read one line."""
        if not line.text.strip(" -"):
            return
        if found := _SECTION.match(line.text):
            self.close()
            self._section, self._seen, self._latest = " ".join(found[1].split()), set(), -1
            return
        for label, value in pairs_of(_spread(line.text)):
            if label:
                self.close()
                self._waiting = (label, line.no)
                if value:
                    self._value(value, line.no)
            elif self._waiting and _NUMBER.fullmatch(value):
                self._value(value, line.no)
            else:
                self.close()
                self._loose(value, line.no)

    def close(self) -> None:
        """A label that waits for its value has none."""
        if self._waiting:
            self._value("", self._waiting[1])

    def _value(self, value: str, line: int) -> None:
        label, begins = self._waiting or ("", line)
        self._waiting = None
        setting = setting_of(self._section, label)
        if setting and doubtful(value):
            problem = f"{shown(value)} seems to have more in it than its value; the setting is left out"
            self.out.issue(Code.BAD_VALUE, problem, line, field=label, table=_TABLE)
            setting = None
        elif is_cut(label, value):
            problem = f"{shown(value)} has fewer digits than {label} is printed with; it is no number"
            self.out.issue(Code.BAD_VALUE, problem, line, field=label, table=_TABLE)
            setting = None
        elif is_out_of_order(label, self._latest):
            problem = f"{label} comes too late in its table: the heading of another table may be missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            setting = None
        elif setting in self._seen:
            problem = f"a second {label} in one table: the heading of another table may be missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            setting = None
        elif setting:
            self._seen.add(setting)
        self._latest = max(self._latest, place_of(label))
        self._row(begins, label, setting, value)

    def _loose(self, text: str, line: int) -> None:
        """A line without a label: part of a list, such as that of the procedures to start."""
        if self._section is None or _OF_PAIRS.match(self._section):
            self.out.unknown(line, text, self._section or "")
        self._row(line, None, None, text)

    def _row(self, line: int, label: str | None, setting: str | None, value: str) -> None:
        whole = label is not None and _NUMBER.fullmatch(value) and not is_cut(label, value)
        number = value if whole else None
        self.out.row(
            _TABLE,
            line,
            {
                "section": self._section,
                "label": label,
                "setting": setting,
                "value": value,
                "value_number": number,
            },
        )
