"""Read the heading of an RMF page: report, system, interval."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.rmf.label_lines import LabelGrammar, LabelledValue
from zscope.parsers.text.rmf.page_title import WORKLOAD_TITLE, damaged_title, title_end, title_of
from zscope.parsers.text.rmf.row_shapes import SHAPES_KEPT, shapes_of
from zscope.schemas.reports import PrintedFormat

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import CapturedReport, Line
    from zscope.parsers.text.report_rows import ReportRows


_LABELS = (
    *("z/OS", "SYSTEM ID", "DATE", "START", "INTERVAL"),
    *("RPT VERSION", "TIME", "END", "CYCLE", "PAGE"),
)
_OF_SYSPLEX = ("SYSPLEX", "MODE")
"""Further labels in the heading of a report about a sysplex."""
_GRAMMAR = LabelGrammar(_LABELS)
_SYSPLEX_GRAMMAR = LabelGrammar((*_LABELS, *_OF_SYSPLEX))
_ANY_LABEL = re.compile("|".join(re.escape(label.upper()) for label in (*_LABELS, "SYSPLEX")))
_SEARCHED = 12
"""Lines below the title that are searched: a heading has three, and captures can add others."""

_SYSTEM = re.compile(r"[A-Z0-9@#$_-]{1,8}", re.ASCII | re.IGNORECASE)
_RELEASE = re.compile(r"(?:z/OS )?V?\d", re.ASCII | re.IGNORECASE)
_BEGINS_LIKE = {
    "z/OS": _RELEASE,
    "RPT VERSION": _RELEASE,
    "SYSTEM ID": _SYSTEM,
    "SYSPLEX": _SYSTEM,
    "MODE": _SYSTEM,
}
"""Patterns for the beginning of values; all others begin with a digit."""
_DIGIT = re.compile(r"\d", re.ASCII)
_MOMENT = re.compile(r"\d\d/\d\d/\d{4}-\d\d\.\d\d\.\d\d", re.ASCII)
_LENGTH = re.compile(r"(\d{1,4})\.(\d\d)\.(\d{2,3})", re.ASCII)
_CYCLE = re.compile(
    r"(\d{1,6})\.(\d{3})(?: SEC.*)?|(\d{1,6}(?:\.\d{1,3})?) SECONDS", re.ASCII | re.IGNORECASE
)
_SUNDAY, _LAST_SET_BACK = 6, 4
_ROUNDING = timedelta(seconds=2)
"""Intervals differ from the difference of the printed times by some milliseconds."""
_WANDERING = timedelta(seconds=5)
"""A greater difference is not rounding: one of the figures is wrong."""


def is_set_back(start: datetime) -> bool:
    """Return whether clocks can be set back in the hour of this time.

    >>> is_set_back(datetime(2026, 10, 25, 2, 45)), is_set_back(datetime(2026, 10, 26, 2, 45))
    (True, False)
    """
    return start.weekday() == _SUNDAY and start.hour < _LAST_SET_BACK


class IntervalIdentity(NamedTuple):
    """Identifies an interval."""

    system: str
    start: datetime
    end: datetime | None
    interval_ms: int | None

    @property
    def confirmed(self) -> bool:
        """Return whether the end and the length agree, so that neither can be a misprint."""
        return self.lasts_as_ends(_ROUNDING)

    def lasts_as_ends(self, tolerance: timedelta) -> bool:
        """Return whether the length is known and equals the difference of start and end."""
        if self.end is None or self.interval_ms is None:
            return False
        return abs(self.end - self.start - timedelta(milliseconds=self.interval_ms)) <= tolerance

    def is_of(self, other: IntervalIdentity) -> bool:
        """Return whether both are the same interval; a duration can start with its first interval."""
        if (self.system, self.start) != (other.system, other.start):
            return False
        return not (self.confirmed and other.confirmed) or self.end == other.end


@dataclass(frozen=True, slots=True)
class RmfHeading:
    """The contents of a page heading."""

    title: str
    """Without the blanks between letters: CPU ACTIVITY."""
    line_no: int
    """Line of the title."""
    body: list[Line]
    """The lines below the title except those of the heading, blank lines included."""
    shapes: list[str] = field(default_factory=list)
    """The shapes of these lines."""
    page: int | None = None
    identity: IntervalIdentity | None = None
    """None if the system is not known, or the page has no time."""
    has_system: bool = False
    """Whether the page has the system."""
    cycle_ms: int | None = None
    zos_level: str | None = None
    """Release that wrote the data."""
    report_level: str | None = None
    """Release of the program that printed them."""
    sysplex: str | None = None
    """Only in reports about a sysplex, whose identity has it in place of a missing system."""


def read_heading(page: CapturedReport, out: ReportRows) -> RmfHeading:
    """Read the heading of a page; invalid values become issues."""
    title = page.lines[0]
    out.used(title.no)
    damaged = damaged_title(title.text)
    if damaged:
        problem = f"{quoted(title.text.strip())} is not exactly the title {damaged}: the page is damaged; "
        problem += f"lines {title.no} to {page.lines[-1].no} are read as {damaged}"
        out.issue(Code.REPORT_UNREADABLE, problem, title.no, 1)
    about_sysplex = WORKLOAD_TITLE in (damaged, title_of(title.text))
    grammar = _SYSPLEX_GRAMMAR if about_sysplex else _GRAMMAR
    after_title = grammar.read(title.text[title_end(title.text) :]).known
    labels = {pair.label: (title.no, pair) for pair in after_title}
    below, shapes = page.lines[1:], shapes_of(page.lines[1:])
    taken = []
    for at, line in enumerate(below[:_SEARCHED]):
        found = _heading_labels(line.text, grammar) if _may_have_label(shapes[at]) else None
        if found is None:
            continue
        for text in found.others:
            out.add_unknown_line(line.no, text, "heading")
        for pair in found.pairs:
            labels.setdefault(pair.label, (line.no, pair))
        out.used(line.no)
        taken.append(at)
    for at in reversed(taken):
        del below[at], shapes[at]
    values = _Values(labels, out, title.no)
    system, number = values.name("SYSTEM ID"), values.text("PAGE")
    sysplex = values.name("SYSPLEX") if about_sysplex else None
    return RmfHeading(
        damaged or title_of(title.text),
        title.no,
        below,
        shapes,
        int(number) if re.fullmatch(r"\d{1,6}", number, re.ASCII) else None,
        values.identity(system or sysplex or page.origin.system),
        system is not None,
        values.cycle_ms(),
        release_level(values.text("z/OS")),
        release_level(values.text("RPT VERSION")),
        sysplex,
    )


@lru_cache(maxsize=256)
def release_level(text: str) -> str | None:
    """Return the release, without the name of the product.

    >>> release_level("V2R4 RMF"), release_level("z/OS V2R5")
    ('V2R4', 'V2R5')
    """
    words = [word for word in text.split() if word.upper() not in {"RMF", "Z/OS"}]
    return " ".join(words) or None


class _HeadingLine(NamedTuple):
    """The contents of a line of a heading."""

    pairs: tuple[LabelledValue, ...]
    """The known labels with their values."""
    others: list[str]
    """Other texts."""


@lru_cache(maxsize=SHAPES_KEPT)
def _may_have_label(shape: str) -> bool:
    """Return whether a line of this shape contains a label of a heading."""
    return _ANY_LABEL.search(shape.upper()) is not None


@lru_cache(maxsize=256)
def _heading_labels(text: str, grammar: LabelGrammar) -> _HeadingLine | None:
    """Return the labels of a heading line; None if the line is not part of the heading.

    A single label among other text is not a heading: DISPATCH INTERVAL is a field of a report, and EXEC TIME
    is a column name that a line can have more than once.
    """
    parsed = grammar.read(text)
    others = [*parsed.rest, *(pair.label for pair in parsed.pairs if not pair.known)]
    plausible = {pair.label for pair in parsed.known if _is_plausible(pair)}
    if not plausible or (others and len(plausible) < 2):
        return None
    return _HeadingLine(parsed.known, others)


def _is_plausible(pair: LabelledValue) -> bool:
    return _BEGINS_LIKE.get(pair.label, _DIGIT).match(pair.value) is not None


@dataclass(frozen=True, slots=True)
class _Values:
    """The labels of a page heading, each with its line."""

    labels: dict[str, tuple[int, LabelledValue]]
    out: ReportRows
    title_line: int

    def text(self, label: str) -> str:
        return self.labels[label][1].value if label in self.labels else ""

    def identity(self, system: str | None) -> IntervalIdentity | None:
        start = self._moment("START", "START") if self.text("START") else self._moment("DATE", "TIME")
        if system is None or start is None:
            missing = "SYSTEM ID" if system is None else "START, or DATE and TIME"
            problem = f"the heading of the page has no readable {missing}: the page is skipped"
            line, pair = next(iter(self.labels.values()), (self.title_line, None))
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, pair.column if pair else 1)
            return None
        end = self._moment("END", "END") if self.text("END") else None
        identity = IntervalIdentity(system, start, end, self._interval_ms(start, end))
        self._compare(identity)
        return identity

    def _compare(self, identity: IntervalIdentity) -> None:
        """Report an end that is not after the start, or not as far from it as the length."""
        if identity.end is None:
            return
        if identity.end <= identity.start:
            problem = "END is not after START"
        elif identity.interval_ms is not None and not identity.lasts_as_ends(_WANDERING):
            problem = f"INTERVAL is {identity.interval_ms / 1000:g} s, but START and END are "
            problem += f"{(identity.end - identity.start).total_seconds():g} s apart"
        else:
            return
        line, pair = self.labels["END"]
        self.out.issue(Code.ARITHMETIC, problem, line, pair.column, field="END", table="rmf_interval")

    def cycle_ms(self) -> int | None:
        text = self.text("CYCLE")
        match = _CYCLE.fullmatch(text)
        if not match:
            self._report_invalid("CYCLE", "a number of seconds")
            return None
        return round(float(match[3]) * 1000) if match[3] else int(match[1]) * 1000 + int(match[2])

    def name(self, label: str) -> str | None:
        text = self.text(label)
        if _SYSTEM.fullmatch(text):
            return text.upper()
        self._report_invalid(label, f"the name of a {'system' if label == 'SYSTEM ID' else 'sysplex'}")
        return None

    def _moment(self, day: str, clock: str) -> datetime | None:
        text = self.text(day) if day == clock else f"{self.text(day)}-{self.text(clock)}"
        try:
            if _MOMENT.fullmatch(text):
                return cast("datetime", CODECS[PrintedFormat.TIME].decode(text))
        except ValueError:
            pass
        self._report_invalid(day, f"a time such as 03/31/2024-09.45.00 (it reads {quoted(text)})")
        return None

    def _interval_ms(self, start: datetime, end: datetime | None) -> int | None:
        """Return the length: minutes, seconds, milliseconds; in long intervals hours, minutes, seconds.

        The first form without its last digit looks like the second, so the second is accepted only if the end
        of the interval agrees.
        """
        match = _LENGTH.fullmatch(self.text("INTERVAL"))
        expected = end - start if end and end > start else None
        if match:
            first, second, last = map(int, match.groups())
            short = timedelta(minutes=first, seconds=second, milliseconds=last)
            long = timedelta(hours=first, minutes=second, seconds=last)
            if len(match[3]) == 2 and expected and abs(long - expected) <= _ROUNDING:
                return long // timedelta(milliseconds=1)
            if len(match[3]) == 3 and second < 60:
                return short // timedelta(milliseconds=1)
        if "INTERVAL" not in self.labels:
            problem = "the heading of the page has no INTERVAL"
            line = self.labels["START" if self.text("START") else "DATE"][0]
            self.out.issue(Code.BAD_VALUE, problem, line, field="INTERVAL", table="rmf_interval")
            return expected // timedelta(milliseconds=1) if expected else None
        self._report_invalid("INTERVAL", "minutes, seconds and milliseconds such as 15.00.000")
        return None

    def _report_invalid(self, label: str, expected: str) -> None:
        if label not in self.labels:
            return
        line, pair = self.labels[label]
        problem = f"{quoted(pair.value)} after {label} is not {expected}"
        self.out.issue(Code.BAD_VALUE, problem, line, pair.column, field=label)
