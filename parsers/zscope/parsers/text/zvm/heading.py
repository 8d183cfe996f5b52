"""The heading of a Performance Toolkit report: its number, the machine, when its figures were measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.out import shown

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

_BEGIN = re.compile(r"[01+-]? {0,8}FCX(?P<number>\d{3})(?![A-Z0-9_-])", re.ASCII | re.IGNORECASE)
_MORE = re.compile(
    r" +Run +\d{4}|(?: .{0,60})? CPU +\S{1,12} +(?:SER|SN) +\S|(?: .{0,60})? Interval +\d\d:\d\d"
    r"| .{0,120}\bPerf\. Monitor\b",
    re.ASCII | re.IGNORECASE,
)
"""What only a heading has behind the number: texts about reports begin lines with their numbers too."""
_COLUMNS = re.compile(
    r"[01+-]? *(?:Userid +(?:\S{1,12} +){0,20}TCPU|ID +(?:\S{1,12} +){0,20}Write/s +Read/s)(?!\S)",
    re.ASCII | re.IGNORECASE,
)
_STAMP = r"(?:(?P<day>\d{4}[/-]\d\d[/-]\d\d) +)?(?P<clock>\d\d:\d\d:\d\d)(?!\S)"
_RUN = re.compile(rf" Run +{_STAMP}(?: {{1,40}}(?P<title>[A-Z][A-Z0-9]{{0,7}})\b)?", re.ASCII | re.IGNORECASE)
_INTERVAL = re.compile(
    r" Interval +(?P<begin>\d\d:\d\d:\d\d) *- *(?P<end>\d\d:\d\d:\d\d)(?!\S)", re.ASCII | re.IGNORECASE
)
_LABEL = re.compile(r" {0,8}(?P<label>From|To|For):?(?!\S)", re.ASCII | re.IGNORECASE)
_MOMENT = re.compile(rf" +{_STAMP}", re.ASCII)
_SECONDS = re.compile(r" +(?P<seconds>\d{1,9}) +Secs?\b", re.ASCII | re.IGNORECASE)
_MACHINE = re.compile(r" CPU +(?P<cpu>\S{1,12}) +(?:SER|SN) +(?P<serial>\S{1,12})", re.ASCII | re.IGNORECASE)
_RULED = re.compile(r"(?=.*[_=-]{3})[ _=-]+$", re.ASCII)
_DAY_END = "24:00:00"
_SEARCHED = 12
"""The heading of a page is among so many lines at its beginning."""
_EXPECTED = {
    "from": "a date and a time such as 2026/03/02 13:20:00",
    "to": "a date and a time such as 2026/03/02 13:30:00",
    "for": "a number of seconds such as 600 Secs",
    "interval": "two times such as 13:20:00 - 13:30:00",
}


class Stamp(NamedTuple):
    """A time of day, with its date where one is printed."""

    clock: time
    day: date | None = None

    @property
    def moment(self) -> datetime | None:
        """Both, if both are there."""
        return datetime.combine(self.day, self.clock) if self.day else None


@dataclass(frozen=True, slots=True)
class Heading:
    """What the heading of a page says; all pages of a report say the same."""

    number: str
    """Of the report: 112 for FCX112."""
    screen: bool
    """Whether it is from a screen, which shows some lines of the report at a time."""
    title: str = ""
    run: Stamp | None = None
    """When the listing was made."""
    begin: Stamp | None = None
    end: Stamp | None = None
    seconds: int | None = None
    """How long that was, where it is printed."""
    cpu: str = ""
    serial: str = ""

    @property
    def name(self) -> str:
        """The report as people know it."""
        return f"FCX{self.number} {self.title}".strip()


def begins_page(text: str) -> bool:
    """Whether a page of a report begins with this line.

    >>> begins_page("1FCX112  Run 2026/03/02 14:20:11         USER")
    True
    >>> begins_page("FCX112 shows the CPU seconds of each virtual machine")
    False
    """
    found = _BEGIN.match(text)
    return found is not None and _MORE.match(text, found.end()) is not None


def names_columns(text: str) -> bool:
    """Whether a line has the column headings of a report that is read.

    >>> names_columns("Userid    %CPU  TCPU  VCPU Ratio Total")
    True
    """
    return _COLUMNS.match(text) is not None


def report_number(text: str) -> str:
    """The number of the report that begins with this line.

    >>> report_number(" FCX215      CPU 2964  SER 51524  Interval 13:20:00 - 13:30:00    Perf. Monitor")
    '215'
    """
    found = _BEGIN.match(text)
    return found["number"] if found else ""


def from_screen(text: str) -> bool:
    """Whether a line that begins a page is that of a screen: a listing tells when it was made."""
    return _RUN.search(text) is None


def names_report(text: str) -> bool:
    """Whether a line has the number of a report where a page begins, whatever is behind it."""
    return _BEGIN.match(text) is not None


def is_ruled(text: str) -> bool:
    """Whether a line consists of hyphens or underscores."""
    return _RULED.match(text) is not None


def is_label(text: str) -> bool:
    """Whether a line of a page tells the period."""
    return _LABEL.match(text) is not None


def heading_lines(lines: Sequence[Line]) -> int:
    """How many lines the heading of a page without column headings has."""
    last = 0
    for at, line in enumerate(lines[:_SEARCHED]):
        if _LABEL.match(line.text) or is_ruled(line.text):
            last = at
    return last + 1


def read_heading(lines: Sequence[Line], out: Out) -> Heading:
    """What the lines above the column headings say; what cannot be read of it becomes an issue."""
    first = lines[0]
    run = _RUN.search(first.text)
    values: dict[str, Any] = {
        "number": report_number(first.text),
        "screen": run is None,
        "title": (run["title"] or "").upper() if run else "",
        "run": _stamp(run) if run else None,
    }
    for line in lines[:_SEARCHED]:
        label = _LABEL.match(line.text)
        if label and line is not first:
            _take_label(values, label["label"].lower(), line, label.end(), out)
        if (machine := _MACHINE.search(line.text)) and "cpu" not in values:
            values |= {"cpu": machine["cpu"], "serial": machine["serial"]}
    if "begin" not in values and re.search(r" Interval\b", first.text, re.IGNORECASE):
        _take_interval(values, first, out)
    return Heading(**values)


def _take_label(values: dict[str, Any], label: str, line: Line, at: int, out: Out) -> None:
    if label == "for":
        found = _SECONDS.match(line.text, at)
        value: object = int(found["seconds"]) if found and int(found["seconds"]) else None
        name = "seconds"
    else:
        moment = _MOMENT.match(line.text, at)
        value = _stamp(moment) if moment else None
        name = "begin" if label == "from" else "end"
    if value is None:
        _tell(label, line, line.text[at:], out)
    else:
        values.setdefault(name, value)


def _take_interval(values: dict[str, Any], line: Line, out: Out) -> None:
    found = _INTERVAL.search(line.text)
    begin, end = (_clock(found[name]) for name in ("begin", "end")) if found else (None, None)
    if begin is None or end is None:
        _tell("interval", line, line.text.lower().partition(" interval")[2], out)
    else:
        values |= {"begin": Stamp(begin), "end": Stamp(end)}


def _tell(label: str, line: Line, text: str, out: Out) -> None:
    problem = f"{shown(text.strip())} behind {label.capitalize()} is not {_EXPECTED[label]}"
    out.issue(Code.BAD_VALUE, problem, line.no, field=label.capitalize())


def _stamp(found: re.Match[str]) -> Stamp | None:
    clock, day = _clock(found["clock"]), None
    if found["day"]:
        try:
            day = date.fromisoformat(found["day"].replace("/", "-"))
            if found["clock"] == _DAY_END:
                day += timedelta(days=1)
        except (ValueError, OverflowError):
            return None
    return None if clock is None else Stamp(clock, day)


def _clock(text: str) -> time | None:
    """24 o'clock is the next midnight."""
    try:
        return time.min if text == _DAY_END else time.fromisoformat(text)
    except ValueError:
        return None
