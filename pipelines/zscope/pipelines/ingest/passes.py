"""A span of time that a clock shows twice: which records are of the first pass and which of the second.

The times do not tell, but the order of the records does. A system that comes from before the span is in its
first pass; when its time jumps back by more than half of what the clock was set back, the second has begun.
Records are written through buffers, so some come a few minutes late; that is no jump, and one that comes
late into the second pass is still of the first.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.pipelines.offsets import Times

_MINUTE_US = 60_000_000
BEFORE_US = 24 * 60 * _MINUTE_US
"""A system that was last seen longer ago does not count as one that comes from before the span."""
_LATE_US = 5 * _MINUTE_US
"""By so much a record of the first pass may come late into the second."""
_CHUNK = 512
_MOST_TURNS = 10_000
"""Where records are in no order at all, turns of the clock are no longer kept after so many."""


class Pass(IntEnum):
    """How often the clock has shown the time of a record."""

    UNKNOWN = 0
    FIRST = 1
    SECOND = 2


class Passes:
    """The records of one system around one span, in the order of the file."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end
        """The span in local time; it is as long as the clock was set back."""
        self._shift = end - begin
        self._late = min(_LATE_US, self._shift // 4)
        self._latest = 0
        self._ran_on = False
        """Whether the first pass went on behind the span, without a pause for the second to hide in."""
        self._numbers: list[int] = []
        """Numbers of the records with which a pass begins."""
        self._kinds: list[Pass] = []
        self._counts: list[int] = []
        """How many records in the span each of them has."""
        self._told: set[int] = set()
        """Passes that were said to be unknown; they stay so, or rows of one record would differ."""

    @property
    def undecided(self) -> bool:
        """Whether the last records belong to a pass of which the next ones can still tell the number."""
        return bool(self._kinds) and self._kinds[-1] is Pass.UNKNOWN

    def covers(self, numbers: Times) -> NDArray[np.bool_]:
        """Which records are not before the first one that was observed."""
        covered: NDArray[np.bool_] = numbers >= (self._numbers[0] if self._numbers else 1 << 62)
        return covered

    @property
    def not_set_back(self) -> bool:
        """Whether the clock went on behind the span, and is not just set late."""
        return self._ran_on and self._latest >= self.end + self._shift // 2

    def unknown(self) -> tuple[int, int]:
        """How many records nothing is known about, and the number of the first."""
        found = [at for at, kind in enumerate(self._kinds) if kind is Pass.UNKNOWN and self._counts[at]]
        return sum(self._counts[at] for at in found), self._numbers[found[0]] if found else 0

    def observe(self, numbers: Times, times: Times) -> None:
        """Take further records: from a day before the span to one shift behind it."""
        for begin in range(0, len(times), _CHUNK):
            part = times[begin : begin + _CHUNK]
            lowest, highest = int(part.min()), int(part.max())
            if self._kinds and self._goes_on(lowest, highest):
                self._latest = max(self._latest, highest)
                self._counts[-1] += int(((part >= self.begin) & (part < self.end)).sum())
            else:
                pairs = zip(numbers[begin : begin + _CHUNK].tolist(), part.tolist(), strict=True)
                for number, time in pairs:
                    self._take(number, time)

    def _goes_on(self, lowest: int, highest: int) -> bool:
        """Whether records between these times, in any order, cannot begin another pass."""
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

    def _take(self, number: int, time: int) -> None:
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
                # Another dump, of the same time or an earlier one.
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
                    # Had it been the first pass, the span would come once more.
                    self._settle(Pass.SECOND)
                self._begin(number, Pass.SECOND, time)
            case Pass.SECOND if early:
                self._begin(number, Pass.FIRST, time)
            case Pass.SECOND if jumped and inside:
                # It is not set back twice: another dump begins inside the span.
                self._begin(number, Pass.UNKNOWN, time)
            case Pass.SECOND if late and inside:
                self._begin(number, Pass.FIRST, self._latest)
                self._counts[-1] += 1
                self._begin(number + 1, Pass.SECOND, self._latest)
                return
            case _:
                leaves = self._kinds[-1] is Pass.FIRST and time >= self.end > self._latest
                self._ran_on |= leaves and time - self._latest <= self._shift // 2
                self._latest = max(self._latest, time)
        self._counts[-1] += inside

    def _begin(self, number: int, kind: Pass, latest: int) -> None:
        self._latest, self._ran_on = latest, False
        if len(self._kinds) > _MOST_TURNS:
            return
        if len(self._kinds) == _MOST_TURNS:
            kind = Pass.UNKNOWN
            self._told.add(_MOST_TURNS)
        self._numbers.append(number)
        self._kinds.append(kind)
        self._counts.append(0)

    def _settle(self, kind: Pass) -> None:
        """Say of which number the last pass was, now that this is known."""
        if len(self._kinds) - 1 not in self._told:
            self._kinds[-1] = kind

    def of(self, numbers: Times) -> NDArray[np.int8]:
        """The passes of records; what is unknown now stays unknown."""
        if not self._kinds:
            return np.zeros(len(numbers), np.int8)
        at = np.searchsorted(np.array(self._numbers), numbers, "right") - 1
        kinds = np.array(self._kinds, np.int8)[np.maximum(at, 0)]
        kinds[at < 0] = Pass.UNKNOWN
        self._told.update(np.unique(at[(kinds == Pass.UNKNOWN) & (at >= 0)]).tolist())
        return kinds
