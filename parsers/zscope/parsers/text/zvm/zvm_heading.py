"""Read the heading of a Performance Toolkit report: number, machine, and period of the figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom, Origin
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.zvm.page_begin import PAGE_BEGIN, RUN, STAMP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows


_INTERVAL = re.compile(
    r" Interval +(?P<begin>\d\d:\d\d:\d\d) *- *(?P<end>\d\d:\d\d:\d\d)(?!\S)", re.ASCII | re.IGNORECASE
)
_LABEL = re.compile(r" {0,8}(?P<label>From|To|For):?(?!\S)", re.ASCII | re.IGNORECASE)
_MOMENT = re.compile(rf" +{STAMP}", re.ASCII)
_SECONDS = re.compile(r" +(?P<seconds>\d{1,9}) +Secs?\b", re.ASCII | re.IGNORECASE)
_MACHINE = re.compile(r" CPU +(?P<cpu>\S{1,12}) +(?:SER|SN) +(?P<serial>\S{1,12})", re.ASCII | re.IGNORECASE)
_RULED = re.compile(r"(?=.*[_=-]{3})[ _=-]+$", re.ASCII)
_DAY_END = "24:00:00"
_SEARCHED = 12
"""The heading is among so many lines at the beginning of a page."""
_EXPECTED = {
    "from": "a date and a time such as 2026/03/02 13:20:00",
    "to": "a date and a time such as 2026/03/02 13:30:00",
    "for": "a number of seconds such as 600 Secs",
    "interval": "two times such as 13:20:00 - 13:30:00",
}


class PrintedTime(NamedTuple):
    """A time of day, with its date if one is printed."""

    clock: time
    day: date | None = None

    @property
    def moment(self) -> datetime | None:
        """Return date and time, if both are known."""
        return datetime.combine(self.day, self.clock) if self.day else None


@dataclass(frozen=True, slots=True)
class ZvmHeading:
    """The heading of a page, which is the same on all pages of a report."""

    number: str
    """Report number: 112 for FCX112."""
    screen: bool
    """Whether it is a screen, which shows only some lines of the report."""
    title: str = ""
    run: PrintedTime | None = None
    """Time at which the listing was printed."""
    begin: PrintedTime | None = None
    end: PrintedTime | None = None
    seconds: int | None = None
    """The length of the period, if it is printed."""
    cpu: str = ""
    serial: str = ""

    @property
    def name(self) -> str:
        """Return the common name of the report."""
        return f"FCX{self.number} {self.title}".strip()


def report_number(text: str) -> str:
    """Return the number of the report that begins with this line.

    >>> report_number(" FCX215      CPU 2964  SER 51524  Interval 13:20:00 - 13:30:00    Perf. Monitor")
    '215'
    """
    match = PAGE_BEGIN.match(text)
    return match["number"] if match else ""


def begins_with_number(text: str) -> bool:
    """Return whether a line begins like a page, with the number of a report, whatever follows."""
    return PAGE_BEGIN.match(text) is not None


def is_ruled(text: str) -> bool:
    """Return whether a line consists of hyphens or underscores."""
    return _RULED.match(text) is not None


def is_label(text: str) -> bool:
    """Return whether a line of a page has the period."""
    return _LABEL.match(text) is not None


def heading_lines(lines: Sequence[Line]) -> int:
    """Return the number of heading lines of a page without column headings."""
    last = 0
    for at, line in enumerate(lines[:_SEARCHED]):
        if _LABEL.match(line.text) or is_ruled(line.text):
            last = at
    return last + 1


def read_heading(lines: Sequence[Line], out: ReportRows) -> ZvmHeading:
    """Read the lines above the column headings; invalid values become issues."""
    first = lines[0]
    run = RUN.search(first.text)
    values: dict[str, Any] = {
        "number": report_number(first.text),
        "screen": run is None,
        "title": (run["title"] or "").upper() if run else "",
        "run": _stamp(run) if run else None,
    }
    for line in lines[:_SEARCHED]:
        label = _LABEL.match(line.text)
        if label and line is not first:
            _read_label(values, label["label"].lower(), line, label.end(), out)
        if (machine := _MACHINE.search(line.text)) and "cpu" not in values:
            values |= {"cpu": machine["cpu"], "serial": machine["serial"]}
    if "begin" not in values and re.search(r" Interval\b", first.text, re.IGNORECASE):
        _read_interval(values, first, out)
    return ZvmHeading(**values)


def _read_label(values: dict[str, Any], label: str, line: Line, at: int, out: ReportRows) -> None:
    if label == "for":
        match = _SECONDS.match(line.text, at)
        value: object = int(match["seconds"]) if match and int(match["seconds"]) else None
        name = "seconds"
    else:
        moment = _MOMENT.match(line.text, at)
        value = _stamp(moment) if moment else None
        name = "begin" if label == "from" else "end"
    if value is None:
        _report_invalid(label, line, line.text[at:], out)
    else:
        values.setdefault(name, value)


def _read_interval(values: dict[str, Any], line: Line, out: ReportRows) -> None:
    match = _INTERVAL.search(line.text)
    begin, end = (_clock(match[name]) for name in ("begin", "end")) if match else (None, None)
    if begin is None or end is None:
        _report_invalid("interval", line, line.text.lower().partition(" interval")[2], out)
    else:
        values |= {"begin": PrintedTime(begin), "end": PrintedTime(end)}


def _report_invalid(label: str, line: Line, text: str, out: ReportRows) -> None:
    problem = f"{quoted(text.strip())} after {label.capitalize()} is not {_EXPECTED[label]}"
    out.issue(Code.BAD_VALUE, problem, line.no, field=label.capitalize())


def _stamp(match: re.Match[str]) -> PrintedTime | None:
    clock, day = _clock(match["clock"]), None
    if match["day"]:
        try:
            day = date.fromisoformat(match["day"].replace("/", "-"))
            if match["clock"] == _DAY_END:
                day += timedelta(days=1)
        except (ValueError, OverflowError):
            return None
    return None if clock is None else PrintedTime(clock, day)


def _clock(text: str) -> time | None:
    """Return the time of day; 24:00 is the next midnight."""
    try:
        return time.min if text == _DAY_END else time.fromisoformat(text)
    except ValueError:
        return None


_DAY = timedelta(days=1)
_CLOCK_ERROR_S = 1
"""Times are printed in whole seconds."""


@dataclass(frozen=True, slots=True)
class ReportPeriod:
    """When the figures of a report were measured."""

    start: datetime | None
    seconds: int | None
    date_from: KnownFrom
    """Where the date is known from."""
    contradiction: str = ""
    """A contradiction in the heading, as an issue text."""


def period_of(heading: ZvmHeading, origin: Origin) -> ReportPeriod:
    """Return the period; its length is in `For n Secs`, or else follows from its two ends.

    A report covers the time before it was printed. A time without a date is therefore the latest one before
    the run of the listing; a screen of a known day ended on that day.
    """
    distance_s = _apart(heading.begin, heading.end)
    seconds, contradiction = heading.seconds or distance_s, ""
    if distance_s is None and heading.begin and heading.end and heading.begin.day:
        contradiction = "To is not after From"
    elif heading.seconds and distance_s is not None and not _same_length(heading, distance_s):
        contradiction = f"For is {heading.seconds} s, but From and To are {distance_s} s apart"
    try:
        start, date_from = _start(heading, seconds, origin)
    except OverflowError:
        start, date_from = None, KnownFrom.NOTHING
    return ReportPeriod(start, seconds, date_from, contradiction)


def _apart(begin: PrintedTime | None, end: PrintedTime | None) -> int | None:
    """Return the seconds between the two ends; times without a date can pass midnight."""
    if begin is None or end is None:
        return None
    if begin.moment and end.moment:
        between = end.moment - begin.moment
    else:
        between = (datetime.combine(date.min, end.clock) - datetime.combine(date.min, begin.clock)) % _DAY
    return int(between.total_seconds()) if between > timedelta() else None


def _same_length(heading: ZvmHeading, distance_s: int) -> bool:
    difference = abs((heading.seconds or 0) - distance_s)
    if heading.begin and heading.end and not (heading.begin.day and heading.end.day):
        # Without dates the number of days between them is unknown.
        difference = min(difference % 86_400, -difference % 86_400)
    return difference <= _CLOCK_ERROR_S


def _start(heading: ZvmHeading, seconds: int | None, origin: Origin) -> tuple[datetime | None, KnownFrom]:
    begin, end = heading.begin, heading.end
    if begin and begin.moment:
        return begin.moment, KnownFrom.REPORT
    length = timedelta(seconds=seconds) if seconds else None
    if end and end.moment and length:
        return end.moment - length, KnownFrom.REPORT
    run = heading.run.moment if heading.run else None
    if run:
        latest, date_from = run, KnownFrom.REPORT
    elif origin.day:
        latest, date_from = datetime.combine(origin.day, origin.clock or time.max), origin.time_from
    else:
        return None, KnownFrom.NOTHING
    if end and length:
        return _latest(end, latest) - length, date_from
    return (_latest(begin, latest), date_from) if begin else (None, KnownFrom.NOTHING)


def _latest(stamp: PrintedTime, before: datetime) -> datetime:
    """Return the last moment with this time of day that is not after `before`."""
    moment = datetime.combine(before.date(), stamp.clock)
    return moment if moment <= before else moment - _DAY
