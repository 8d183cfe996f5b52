"""Determine which records of a repeated hour belong to the first pass of the clock and which to the second.

The times alone do not show it, but the order of the records does. A system with records before the hour is in
the first pass; when its time jumps back by more than half of the shift, the second pass begins. Records are
written through buffers, so some come a few minutes late: that is no jump, and a late record within the second
pass still belongs to the first.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.codecs.base import each_once
from zscope.parsers.smf.codecs.numbers_and_times import DAY_US, decode_dates
from zscope.parsers.smf.header import HUNDREDTHS_OF_A_DAY, read_headers, sliding
from zscope.parsers.smf.walker import DUMP_HEADER, DUMP_TRAILER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.walker import Window
    from zscope.parsers.text.coding import CodePage
    from zscope.pipelines.offsets import Times


_MINUTE_US = 60_000_000
BEFORE_US = 24 * 60 * _MINUTE_US
"""Only records up to this long before the hour show that a system is in its first pass."""
_LATE_US = 5 * _MINUTE_US
"""How late a record of the first pass may come in the second."""
_CHUNK = 512
_MAX_PASSES = 10_000
"""If records are unordered, passes after this many are not stored."""


class Pass(IntEnum):
    """Whether the clock showed the time of a record for the first or second time."""

    UNKNOWN = 0
    FIRST = 1
    SECOND = 2


class Passes:
    """The records of one system around one repeated hour, in the order of the file."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end
        """The repeated hour in local time; its length is the shift of the clock."""
        self._shift = end - begin
        self._late = min(_LATE_US, self._shift // 4)
        self._latest = 0
        self._continued_after = False
        """Whether the first pass continued after the hour without a pause that could hide the second."""
        self._numbers: list[int] = []
        """Number of the first record of each pass."""
        self._kinds: list[Pass] = []
        self._counts: list[int] = []
        """Number of records of each pass within the hour."""
        self._returned_unknown: set[int] = set()
        """Passes returned as unknown; they stay unknown so that all rows of a record agree."""

    @property
    def undecided(self) -> bool:
        """Whether the next records can still determine the current pass."""
        return bool(self._kinds) and self._kinds[-1] is Pass.UNKNOWN

    def covers(self, numbers: Times) -> NDArray[np.bool_]:
        """Return which records are not before the first one observed."""
        covered: NDArray[np.bool_] = numbers >= (self._numbers[0] if self._numbers else 1 << 62)
        return covered

    @property
    def not_set_back(self) -> bool:
        """Whether the clock was not set back at all, and not only late."""
        return self._continued_after and self._latest >= self.end + self._shift // 2

    def unknown(self) -> tuple[int, int]:
        """Return the number of records in an unknown pass, and the first of these records."""
        unknown = [i for i, kind in enumerate(self._kinds) if kind is Pass.UNKNOWN and self._counts[i]]
        return sum(self._counts[i] for i in unknown), self._numbers[unknown[0]] if unknown else 0

    def observe(self, numbers: Times, times: Times) -> None:
        """Observe further records: from a day before the hour to one shift after it."""
        for begin in range(0, len(times), _CHUNK):
            part = times[begin : begin + _CHUNK]
            lowest, highest = int(part.min()), int(part.max())
            if self._kinds and self._continues(lowest, highest):
                self._latest = max(self._latest, highest)
                self._counts[-1] += int(((part >= self.begin) & (part < self.end)).sum())
            else:
                pairs = zip(numbers[begin : begin + _CHUNK].tolist(), part.tolist(), strict=True)
                for number, time in pairs:
                    self._add(number, time)

    def _continues(self, lowest: int, highest: int) -> bool:
        """Whether records between these times cannot begin another pass, in whatever order they are."""
        if lowest < max(self._latest, highest) - self._shift // 2:
            return False
        match self._kinds[-1]:
            case Pass.FIRST:
                return highest < self.end or self._latest >= self.end
            case Pass.UNKNOWN:
                return lowest >= self.begin and highest < self.end
            case Pass.SECOND:
                late = highest >= self.end - self._late and self._latest < self.begin + self._late
                return lowest >= self.begin and not late

    def _add(self, number: int, time: int) -> None:
        jumped = time < self._latest - self._shift // 2
        early, inside = time < self.begin, self.begin <= time < self.end
        late = self._latest + self._shift - self._late <= time
        match self._kinds[-1] if self._kinds else None:
            case None:
                kind = Pass.FIRST if early else Pass.UNKNOWN if inside else Pass.SECOND
                self._begin(number, kind, time)
            case Pass.FIRST if jumped and inside:
                self._begin(number, Pass.SECOND, time)
            case Pass.FIRST if jumped and early:
                # Another dump begins, of the same time or an earlier one.
                self._latest = time
            case Pass.UNKNOWN if early:
                if not jumped:
                    self._settle(Pass.FIRST)
                self._begin(number, Pass.FIRST, time if jumped else self._latest)
            case Pass.UNKNOWN if jumped:
                self._settle(Pass.FIRST)
                self._begin(number, Pass.SECOND, time)
            case Pass.UNKNOWN if not inside:
                if time - self._latest <= self._shift // 2:
                    # After a first pass the hour would follow once more.
                    self._settle(Pass.SECOND)
                self._begin(number, Pass.SECOND, time)
            case Pass.SECOND if early:
                self._begin(number, Pass.FIRST, time)
            case Pass.SECOND if jumped and inside:
                # A clock is not set back twice: another dump begins inside the hour.
                self._begin(number, Pass.UNKNOWN, time)
            case Pass.SECOND if late and inside:
                self._begin(number, Pass.FIRST, self._latest)
                self._counts[-1] += 1
                self._begin(number + 1, Pass.SECOND, self._latest)
                return
            case _:
                leaves = self._kinds[-1] is Pass.FIRST and time >= self.end > self._latest
                self._continued_after |= leaves and time - self._latest <= self._shift // 2
                self._latest = max(self._latest, time)
        self._counts[-1] += inside

    def _begin(self, number: int, kind: Pass, latest: int) -> None:
        self._latest, self._continued_after = latest, False
        if len(self._kinds) > _MAX_PASSES:
            return
        if len(self._kinds) == _MAX_PASSES:
            kind = Pass.UNKNOWN
            self._returned_unknown.add(_MAX_PASSES)
        self._numbers.append(number)
        self._kinds.append(kind)
        self._counts.append(0)

    def _settle(self, kind: Pass) -> None:
        """Set the number of the current pass, now that it is known."""
        if len(self._kinds) - 1 not in self._returned_unknown:
            self._kinds[-1] = kind

    def of(self, numbers: Times) -> NDArray[np.int8]:
        """Return the passes of records; what is unknown now stays unknown."""
        if not self._kinds:
            return np.zeros(len(numbers), np.int8)
        at = np.searchsorted(np.array(self._numbers), numbers, "right") - 1
        kinds = np.array(self._kinds, np.int8)[np.maximum(at, 0)]
        kinds[at < 0] = Pass.UNKNOWN
        self._returned_unknown.update(np.unique(at[(kinds == Pass.UNKNOWN) & (at >= 0)]).tolist())
        return kinds


_TIME_AND_DATE = 6
"""Offset of the time of day in the header; the packed date follows it."""
_HALF = np.uint64(32)
_HUNDREDTH_US = 10_000


def time_range(window: Window) -> tuple[int, int] | None:
    """Return the earliest and the latest time in the headers of a window; None if one of them is invalid.

    Date and time of day combined into one number sort like times, so only two are decoded.
    """
    stamps = sliding(window.data, 8)[window.starts + _TIME_AND_DATE].view(">u8").astype(np.uint64)
    stamps = stamps << _HALF | stamps >> _HALF
    ends = np.array([stamps.min(), stamps.max()])
    times, valid = _decoded(ends >> _HALF, ends & np.uint64(0xFFFFFFFF))
    return (int(times[0]), int(times[1])) if valid.all() else None


def _decoded(dates: NDArray[np.uint64], times: NDArray[np.uint64]) -> tuple[Times, NDArray[np.bool_]]:
    days, valid, _ = each_once(dates.astype(np.uint32), decode_dates)
    return days * DAY_US + times.astype(np.int64) * _HUNDREDTH_US, valid & (times < HUNDREDTHS_OF_A_DAY)


class Headers:
    """System, time and number of the records in a window, without the header and trailer of the dump.

    The dump program writes those two, possibly hours later.
    """

    def __init__(self, window: Window, page: CodePage, unnamed: str | None) -> None:
        headers = read_headers(window.data, window.starts)
        dates = headers["date"].copy().view(">u4").astype(np.uint64)
        times, valid = _decoded(dates, headers["time"].astype(np.uint64))
        valid &= (headers["type"] != DUMP_HEADER) & (headers["type"] != DUMP_TRAILER)
        rows = np.flatnonzero(valid)
        self.times = times[rows]
        self.numbers = rows + window.first_record
        self._words = headers["system"].copy().view(">u4")[rows].astype(np.uint32)
        self._page, self._unnamed = page, unnamed

    @cached_property
    def _named(self) -> tuple[list[str], NDArray[np.int64]]:
        words, which = np.unique(self._words, return_inverse=True)
        raw = [word.to_bytes(4, "big") for word in words.tolist()]
        texts = [self._page.decode(name) or self._unnamed or "" for name in raw]
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        return list(numbers), np.array([numbers[text] for text in texts], np.int64)[which]

    @property
    def names(self) -> list[str]:
        """The distinct systems of the window."""
        return self._named[0]

    @property
    def systems(self) -> NDArray[np.int64]:
        """For each record the index of its system in `names`."""
        return self._named[1]
