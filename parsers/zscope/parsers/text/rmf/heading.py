"""The lines at the top of each page: which report, which system, which interval."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, cast

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.label_lines import LabelLines, Pair
from zscope.schemas.printed import PrintedFormat

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line, Report

CPU, PARTITION, CRYPTO = "CPU ACTIVITY", "PARTITION DATA REPORT", "CRYPTO HARDWARE ACTIVITY"

_READ = (CPU, PARTITION, CRYPTO)
_SHORTEST_TITLE = 9
"""A title that begins like one that is known may be cut: screens are narrower than paper."""

_LABELS = (
    *("z/OS", "SYSTEM ID", "DATE", "START", "INTERVAL"),
    *("RPT VERSION", "TIME", "END", "CYCLE", "PAGE"),
)
_GRAMMAR = LabelLines(_LABELS)
_ANY_LABEL = re.compile("|".join(map(re.escape, _LABELS)), re.IGNORECASE)
_SEARCHED = 12
"""Lines below the title in which the heading may stand: it has three, and captures put others in between."""

_TITLE = re.compile(r"\s*([A-Z](?: {1,3}[A-Z])*)(?=\s|$)", re.ASCII)
_SYSTEM = re.compile(r"[A-Z0-9@#$_-]{1,8}", re.ASCII | re.IGNORECASE)
_RELEASE = re.compile(r"(?:z/OS )?V?\d", re.ASCII | re.IGNORECASE)
_BEGINS_LIKE = {"z/OS": _RELEASE, "RPT VERSION": _RELEASE, "SYSTEM ID": _SYSTEM}
"""How values of the heading begin; all others begin with a digit."""
_DIGIT = re.compile(r"\d", re.ASCII)
_MOMENT = re.compile(r"\d\d/\d\d/\d{4}-\d\d\.\d\d\.\d\d", re.ASCII)
_LENGTH = re.compile(r"(\d{1,4})\.(\d\d)\.(\d{2,3})", re.ASCII)
_CYCLE = re.compile(
    r"(\d{1,6})\.(\d{3})(?: SEC.*)?|(\d{1,6}(?:\.\d{1,3})?) SECONDS", re.ASCII | re.IGNORECASE
)
_ROUNDING = timedelta(seconds=2)
"""Intervals are some milliseconds longer or shorter than the difference of the times printed."""
_WANDERING = timedelta(seconds=5)
"""More than that is no rounding any more, but a figure that is not the report's."""


class Identity(NamedTuple):
    """What tells one interval from all others."""

    system: str
    start: datetime
    end: datetime | None
    interval_ms: int | None

    @property
    def confirmed(self) -> bool:
        """Whether the end and the length say the same, so that neither of them can be a slip."""
        return self.lasts_as_ends(_ROUNDING)

    def lasts_as_ends(self, tolerance: timedelta) -> bool:
        """Whether the length is known and is the distance of start and end."""
        if self.end is None or self.interval_ms is None:
            return False
        return abs(self.end - self.start - timedelta(milliseconds=self.interval_ms)) <= tolerance

    def is_of(self, other: Identity) -> bool:
        """Whether both are the same interval; a duration may start with its first interval."""
        if (self.system, self.start) != (other.system, other.start):
            return False
        return not (self.confirmed and other.confirmed) or self.end == other.end


@dataclass(frozen=True, slots=True)
class Heading:
    """What a page says above its report."""

    title: str
    """Without the blanks between letters: CPU ACTIVITY."""
    line_no: int
    """Of the title."""
    body: list[Line]
    """What is below, blank lines included, without the lines of the heading."""
    page: int | None = None
    identity: Identity | None = None
    """None where nothing tells the system, or the page not the time."""
    tells_system: bool = False
    """Whether the page itself tells the system."""
    cycle_ms: int | None = None
    zos_level: str | None = None
    """Release that wrote the data."""
    report_level: str | None = None
    """Release of the program that printed them."""


def title_of(text: str) -> str:
    """The title that a line of spaced letters is.

    >>> title_of("          C P U  A C T I V I T Y")
    'CPU ACTIVITY'
    """
    found = _TITLE.match(text)
    words = re.split(r" {2,}", found[1]) if found else []
    title = " ".join("".join(word.split()) for word in words)
    whole = (known for known in _READ if known.startswith(title) and len(title) >= _SHORTEST_TITLE)
    return next(whole, title)


def read_heading(page: Report, out: Out) -> Heading:
    """Take the heading of a page apart; what is wrong with it becomes an issue."""
    title = page.lines[0]
    name = _TITLE.match(title.text)
    behind = _GRAMMAR.read(title.text[name.end() :] if name else "").known
    found = {pair.label: (title.no, pair) for pair in behind}
    body = []
    for at, line in enumerate(page.lines[1:]):
        pairs = _heading_pairs(line, out) if at < _SEARCHED and _ANY_LABEL.search(line.text) else ()
        for pair in pairs:
            found.setdefault(pair.label, (line.no, pair))
        if not pairs:
            body.append(line)
    values = _Values(found, out, title.no)
    system, number = values.system(), values.text("PAGE")
    return Heading(
        title_of(title.text),
        title.no,
        body,
        int(number) if re.fullmatch(r"\d{1,6}", number, re.ASCII) else None,
        values.identity(system or page.origin.system),
        system is not None,
        values.cycle_ms(),
        level(values.text("z/OS")),
        level(values.text("RPT VERSION")),
    )


def level(text: str) -> str | None:
    """The release, without the name of the product before or behind it.

    >>> level("V2R4 RMF"), level("z/OS V2R5")
    ('V2R4', 'V2R5')
    """
    words = [word for word in text.split() if word.upper() not in {"RMF", "Z/OS"}]
    return " ".join(words) or None


def _heading_pairs(line: Line, out: Out) -> tuple[Pair, ...]:
    """The labels of a line of the heading.

    One label in a line of other things is no heading: DISPATCH INTERVAL is a field of a report, and EXEC TIME
    the name of a column, which a line may have more than once.
    """
    said = _GRAMMAR.read(line.text)
    others = [*said.rest, *(pair.label for pair in said.pairs if not pair.known)]
    plausible = {pair.label for pair in said.known if _is_plausible(pair)}
    if not plausible or (others and len(plausible) < 2):
        return ()
    for text in others:
        out.unknown(line.no, text, "heading")
    return said.known


def _is_plausible(pair: Pair) -> bool:
    return _BEGINS_LIKE.get(pair.label, _DIGIT).match(pair.value) is not None


@dataclass(frozen=True, slots=True)
class _Values:
    """The labels that were found, each with its line."""

    found: dict[str, tuple[int, Pair]]
    out: Out
    title_no: int

    def text(self, label: str) -> str:
        return self.found[label][1].value if label in self.found else ""

    def identity(self, system: str | None) -> Identity | None:
        start = self._moment("START", "START") if self.text("START") else self._moment("DATE", "TIME")
        if system is None or start is None:
            missing = "SYSTEM ID" if system is None else "START, or DATE and TIME"
            problem = f"the heading of the page has no readable {missing}: the page is left out"
            line, pair = next(iter(self.found.values()), (self.title_no, None))
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, pair.column if pair else 1)
            return None
        end = self._moment("END", "END") if self.text("END") else None
        identity = Identity(system, start, end, self._interval_ms(start, end))
        self._compare(identity)
        return identity

    def _compare(self, identity: Identity) -> None:
        """The end must be behind the start, and as far as the length says."""
        if identity.end is None:
            return
        if identity.end <= identity.start:
            problem = "END is not behind START"
        elif identity.interval_ms is not None and not identity.lasts_as_ends(_WANDERING):
            problem = f"INTERVAL is {identity.interval_ms / 1000:g} s, but START and END are "
            problem += f"{(identity.end - identity.start).total_seconds():g} s apart"
        else:
            return
        line, pair = self.found["END"]
        self.out.issue(Code.ARITHMETIC, problem, line, pair.column, field="END", table="rmf_interval")

    def cycle_ms(self) -> int | None:
        text = self.text("CYCLE")
        found = _CYCLE.fullmatch(text)
        if not found:
            self._bad("CYCLE", "a number of seconds")
            return None
        return round(float(found[3]) * 1000) if found[3] else int(found[1]) * 1000 + int(found[2])

    def system(self) -> str | None:
        text = self.text("SYSTEM ID")
        if _SYSTEM.fullmatch(text):
            return text.upper()
        self._bad("SYSTEM ID", "the name of a system")
        return None

    def _moment(self, day: str, clock: str) -> datetime | None:
        text = self.text(day) if day == clock else f"{self.text(day)}-{self.text(clock)}"
        try:
            if _MOMENT.fullmatch(text):
                return cast("datetime", CODECS[PrintedFormat.TIME].decode(text))
        except ValueError:
            pass
        self._bad(day, f"a time such as 03/31/2024-09.45.00 (it reads {shown(text)})")
        return None

    def _interval_ms(self, start: datetime, end: datetime | None) -> int | None:
        """Minutes, seconds, milliseconds; or hours, minutes, seconds in long intervals.

        The first form without its last digit looks like the second: that is believed only where the end of
        the interval says the same.
        """
        found = _LENGTH.fullmatch(self.text("INTERVAL"))
        expected = end - start if end and end > start else None
        if found:
            first, second, last = map(int, found.groups())
            short = timedelta(minutes=first, seconds=second, milliseconds=last)
            long = timedelta(hours=first, minutes=second, seconds=last)
            if len(found[3]) == 2 and expected and abs(long - expected) <= _ROUNDING:
                return long // timedelta(milliseconds=1)
            if len(found[3]) == 3 and second < 60:
                return short // timedelta(milliseconds=1)
        if "INTERVAL" not in self.found:
            problem = "the heading of the page has no INTERVAL"
            line = self.found["START" if self.text("START") else "DATE"][0]
            self.out.issue(Code.BAD_VALUE, problem, line, field="INTERVAL", table="rmf_interval")
            return expected // timedelta(milliseconds=1) if expected else None
        self._bad("INTERVAL", "minutes, seconds and milliseconds such as 15.00.000")
        return None

    def _bad(self, label: str, expected: str) -> None:
        if label not in self.found:
            return
        line, pair = self.found[label]
        problem = f"{shown(pair.value)} behind {label} is not {expected}"
        self.out.issue(Code.BAD_VALUE, problem, line, pair.column, field=label)
