"""Displays of the same counters one after another: which of them were reset in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.gsksrvr.stats_checks import COUNTERS
from zscope.parsers.text.gsksrvr.stats_values import TABLE

if TYPE_CHECKING:
    from zscope.parsers.text.gsksrvr.heading import Cache
    from zscope.parsers.text.gsksrvr.stats_values import Values
    from zscope.parsers.text.out import Out

_MARKS = {"started_local": "Start time", "reset_local": "Reset time", "reset_count": "Number of resets"}


@dataclass(slots=True)
class Shown:
    """What one display of cache statistics shows."""

    out: Out
    line: int
    cache: Cache
    values: Values
    extra: dict[str, str]
    reset: bool | None = None


@dataclass(slots=True)
class History:
    """The displays of one file. Their rows are made at the end: files are not always in order of time."""

    _shown: list[Shown] = field(default_factory=list)

    def add(self, shown: Shown) -> None:
        """Keep a display."""
        self._shown.append(shown)

    def finish(self) -> None:
        """Compare the displays and make their rows, in the order of the file."""
        # Where no system is named all displays are taken to be from one: of two systems the start times
        # differ, and that only makes each count on its own.
        same: defaultdict[tuple[str | None, Cache], list[tuple[datetime, Shown]]] = defaultdict(list)
        for shown in self._shown:
            if taken := shown.out.origin.taken():
                same[shown.out.origin.system, shown.cache].append((taken, shown))
        for group in same.values():
            for before, after in pairwise(_in_time_order(group)):
                _compare(before, after)
        for shown in self._shown:
            row = {"cache": shown.cache.value, **shown.values, "reset_since_previous": shown.reset}
            shown.out.row(TABLE, shown.line, row, extra=shown.extra)
        self._shown = []


def _in_time_order(group: Sequence[tuple[datetime, Shown]]) -> list[Shown]:
    """By the clock, unless it was put forward or back: then only the order of the file can be right."""
    one_zone = len({shown.values.get("time_zone") for _, shown in group}) == 1
    return [shown for _, shown in (sorted(group, key=itemgetter(0)) if one_zone else group)]


def _compare(before: Shown, after: Shown) -> None:
    changed, same = [], set()
    for column, label in _MARKS.items():
        old, new = before.values.get(column), after.values.get(column)
        if old is not None and old == new:
            same.add(column)
        elif old is not None and new is not None:
            changed.append(f"{label} from {old} to {new}")
    fell = [
        f"{column} from {old} to {new}"
        for column in COUNTERS
        if (old := before.values.get(column)) is not None
        and (new := after.values.get(column)) is not None
        and new < old
    ]
    if changed or fell:
        after.reset = True
        what = "; ".join(changed or fell)
        told = f"the counters were reset after the display in line {before.line}: {what}"
        after.out.issue(Code.COUNTERS_RESET, told, after.line, table=TABLE)
    elif "reset_local" in same:
        after.reset = False
    if fell and same >= {"started_local", "reset_local"}:
        told = f"counters are lower than in line {before.line} without a reset: {'; '.join(fell)}"
        after.out.issue(Code.ARITHMETIC, told, after.line, table=TABLE)
