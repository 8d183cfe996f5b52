"""Displays of the same cache statistics one after another: whether the counters were reset in between."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.gsksrvr.statistics_lines import TABLE
from zscope.parsers.text.gsksrvr.statistics_values import COUNTERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zscope.parsers.text.gsksrvr.gsk_heading import Cache
    from zscope.parsers.text.gsksrvr.statistics_values import Values
    from zscope.parsers.text.report_rows import ReportRows

_MARKS = {"started_local": "Start time", "reset_local": "Reset time", "reset_count": "Number of resets"}


@dataclass(slots=True)
class StatisticsDisplay:
    """The values of one display of cache statistics."""

    out: ReportRows
    line: int
    cache: Cache
    values: Values
    extra: dict[str, str]
    reset: bool | None = None


@dataclass(slots=True)
class DisplayHistory:
    """The displays of one file. Rows are written at the end, as files are not always in order of time."""

    _displays: list[StatisticsDisplay] = field(default_factory=list)

    def add(self, display: StatisticsDisplay) -> None:
        """Add a display."""
        self._displays.append(display)

    def finish(self) -> None:
        """Compare the displays and write their rows, in the order of the file."""
        # Displays without a system are compared with each other: those of two systems have different start
        # times and then count as reset.
        same: defaultdict[tuple[str | None, Cache], list[tuple[datetime, StatisticsDisplay]]] = defaultdict(
            list
        )
        for display in self._displays:
            if captured := display.out.origin.captured_at():
                same[display.out.origin.system, display.cache].append((captured, display))
        for group in same.values():
            for before, after in pairwise(_in_time_order(group)):
                _compare(before, after)
        for display in self._displays:
            row = {"cache": display.cache.value, **display.values, "reset_since_previous": display.reset}
            display.out.row(TABLE, display.line, row, extra=display.extra)
        self._displays = []


def _in_time_order(group: Sequence[tuple[datetime, StatisticsDisplay]]) -> list[StatisticsDisplay]:
    """Sort displays by time, unless their time zones differ: then keep the order of the file."""
    one_zone = len({display.values.get("time_zone") for _, display in group}) == 1
    return [display for _, display in (sorted(group, key=itemgetter(0)) if one_zone else group)]


def _compare(before: StatisticsDisplay, after: StatisticsDisplay) -> None:
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
        message = f"the counters were reset after the display in line {before.line}: {what}"
        after.out.issue(Code.COUNTERS_RESET, message, after.line, table=TABLE)
    elif "reset_local" in same:
        after.reset = False
    if fell and same >= {"started_local", "reset_local"}:
        message = f"counters are lower than in line {before.line} without a reset: {'; '.join(fell)}"
        after.out.issue(Code.ARITHMETIC, message, after.line, table=TABLE)
