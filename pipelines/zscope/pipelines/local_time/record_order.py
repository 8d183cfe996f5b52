"""Determine from the order of the records of a dump which hour it was, if the clock showed it twice.

The times alone do not show it. A system with records before the hour is in the first pass; when its time
jumps back by more than half of the shift, the second pass begins. Records are written through buffers, so
some come a few minutes late: that is no jump, and a late record within the second pass still belongs to the
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
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
    from zscope.pipelines.local_time.timelines import Times


_MINUTE_US = 60_000_000
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


@dataclass
class _Stretch:
    """Successive records of one pass."""

    number: int
    """Number of its first record."""
    kind: Pass
    count: int = 0
    """Number of its records within the hour."""
    final: bool = False
    """Whether the pass was returned as unknown: it stays unknown, so that all rows of a record agree."""


class Passes:
    """The records of one system around one repeated hour, in the order of the file."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end
        """The repeated hour in local time; its length is the shift of the clock."""
        self._jump = (end - begin) // 2
        self._late = min(_LATE_US, (end - begin) // 4)
        self._latest = 0
        self._continued_after = False
        """Whether the first pass continued after the hour without a pause that could hide the second."""
        self._stretches: list[_Stretch] = []

    @property
    def not_set_back(self) -> bool:
        """Whether the clock was not set back at all, and not only late."""
        return self._continued_after and self._latest >= self.end + self._jump

    def unknown(self) -> tuple[int, int]:
        """Return the number of records in an unknown pass, and the first of these records."""
        unknown = [each for each in self._stretches if each.kind is Pass.UNKNOWN and each.count]
        return sum(each.count for each in unknown), unknown[0].number if unknown else 0

    def of(self, numbers: Times) -> NDArray[np.int8]:
        """Return the pass of each record. A pass that is unknown at this call stays unknown."""
        begins = np.array([each.number for each in self._stretches], np.int64)
        at = np.searchsorted(begins, numbers, "right")
        kinds = np.array([Pass.UNKNOWN, *(each.kind for each in self._stretches)], np.int8)[at]
        for place in np.unique(at[(kinds == Pass.UNKNOWN) & (at > 0)]).tolist():
            self._stretches[place - 1].final = True
        return kinds

    def before_all(self, numbers: Times) -> int:
        """Return the number of records before the first observed one."""
        return int((numbers < self._stretches[0].number).sum()) if self._stretches else len(numbers)

    def observe(self, numbers: Times, times: Times) -> None:
        """Observe further records: from a day before the hour to one shift after it."""
        for begin in range(0, len(times), _CHUNK):
            part = times[begin : begin + _CHUNK]
            lowest, highest = int(part.min()), int(part.max())
            if self._stretches and self._continues(lowest, highest):
                self._latest = max(self._latest, highest)
                self._stretches[-1].count += int(((part >= self.begin) & (part < self.end)).sum())
            else:
                pairs = zip(numbers[begin : begin + _CHUNK].tolist(), part.tolist(), strict=True)
                for number, time in pairs:
                    self._add(number, time)

    def _continues(self, lowest: int, highest: int) -> bool:
        """Whether records between these times cannot begin another pass, in whatever order they are."""
        if lowest < max(self._latest, highest) - self._jump:
            return False
        match self._stretches[-1].kind:
            case Pass.FIRST:
                return highest < self.end or self._latest >= self.end
            case Pass.UNKNOWN:
                return lowest >= self.begin and highest < self.end
            case Pass.SECOND:
                late = highest >= self.end - self._late and self._latest < self.begin + self._late
                return lowest >= self.begin and not late

    def _add(self, number: int, time: int) -> None:
        jumped = time < self._latest - self._jump
        early, inside = time < self.begin, self.begin <= time < self.end
        late = self._latest + (self.end - self.begin) - self._late <= time
        match self._stretches[-1].kind if self._stretches else None:
            case None:
                self._begin(number, Pass.FIRST if early else Pass.UNKNOWN if inside else Pass.SECOND, time)
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
                if time - self._latest <= self._jump:
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
                self._stretches[-1].count += 1
                self._begin(number + 1, Pass.SECOND, self._latest)
                return
            case _:
                leaves = self._stretches[-1].kind is Pass.FIRST and time >= self.end > self._latest
                self._continued_after |= leaves and time - self._latest <= self._jump
                self._latest = max(self._latest, time)
        self._stretches[-1].count += inside

    def _begin(self, number: int, kind: Pass, latest: int) -> None:
        self._latest, self._continued_after = latest, False
        full = len(self._stretches) >= _MAX_PASSES
        if not (full and self._stretches[-1].final):
            self._stretches.append(_Stretch(number, Pass.UNKNOWN if full else kind, final=full))

    def _settle(self, kind: Pass) -> None:
        """Set the kind of the current pass, now that it is known."""
        if not self._stretches[-1].final:
            self._stretches[-1].kind = kind


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
        words, which = np.unique(headers["system"].copy().view(">u4")[rows], return_inverse=True)
        texts = [page.decode(int(word).to_bytes(4, "big")) or unnamed or "" for word in words]
        indices = {text: index for index, text in enumerate(dict.fromkeys(texts))}
        self.names = list(indices)
        """The distinct systems of the window."""
        self.systems: Times = np.array([indices[text] for text in texts], np.int64)[which]
        """For each record the index of its system in `names`."""
