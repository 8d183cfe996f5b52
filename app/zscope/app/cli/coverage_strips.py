"""Lay out the coverage of days as strips of characters, one for each source of a system, with a sentence."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Row = dict[str, Any]

MARKS = {"complete": "#", "partial": "+", "lost": "x", "not known": "?", "not recorded": "-"}
"""The character of a day."""
LEGEND = "# complete   + partial   x lost   ? not known   - not recorded   (blank: no data of the system)"
_ORDER = ("119-1/2", "119-11", "119-12", "119-5", "70", "72", "30", "RMF", "GSKSRVR", "MQ")
_NAME_WIDTH = max(map(len, _ORDER)) + 2
_ONE_DAY = timedelta(days=1)
_MOST_DAYS_APART = 31
"""A longer time without data is left out of the strips."""


def strips(rows: Iterable[Row], width: int) -> list[str]:
    """Return the lines for a terminal; rows are those of the metric by system, source and day.

    >>> row = {"system": "SYSA", "source": "70", "day": date(2026, 3, 2), "state": "partial"}
    >>> row |= {"hours": 24, "covered_hours": 21.0, "hours_with_loss": 3}
    >>> row |= {"hours_not_recorded": 0, "hours_not_known": 0}
    >>> for line in strips([row | {"loss": "a gap in the intervals of a file"}], 100): print(line)
    SYSA, 1 day
    <BLANKLINE>
             2026-03-02
    70       +           87.5 %
    <BLANKLINE>
    3 hours of 70 are lost or partial, on 2026-03-02: a gap in the intervals of a file.
    <BLANKLINE>
    # complete   + partial   x lost   ? not known   - not recorded   (blank: no data of the system)
    """
    systems: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        systems[row["system"]].append(row)
    lines: list[str] = []
    for system, each in sorted(systems.items()):
        lines += [*_system(system, each, width), ""]
    return [*lines, *textwrap.wrap(LEGEND, width)] if lines else []


def _system(system: str, rows: Sequence[Row], width: int) -> Iterator[str]:
    """Yield the strips of one system and the sentences about it."""
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_source[row["source"]].append(row)
    sources = sorted(by_source, key=_ORDER.index)
    recorded = [name for name in sources if {row["state"] for row in by_source[name]} != {"not recorded"}]
    days = sorted({row["day"] for row in rows})
    yield f"{system}, {len(days):,} day{'s' * (len(days) != 1)}"
    yield ""
    for begin, number in _blocks(days, max(10, width - _NAME_WIDTH - 10)):
        yield f"{'':{_NAME_WIDTH}}{begin}"
        for source in recorded:
            marks = {row["day"]: MARKS[row["state"]] for row in by_source[source]}
            chosen = [row for row in by_source[source] if begin <= row["day"] < begin + number * _ONE_DAY]
            strip = "".join(marks.get(begin + index * _ONE_DAY, " ") for index in range(number))
            yield f"{source:{_NAME_WIDTH}}{strip:{max(number, 10)}}  {_covered_pct(chosen):.3g} %"
        yield ""
    for source in recorded:
        yield from textwrap.wrap(_sentence(source, by_source[source]), width)
    if absent := [source for source in sources if source not in recorded]:
        yield from textwrap.wrap(f"Not recorded: {', '.join(absent)}.", width)


def _blocks(days: Sequence[date], most: int) -> Iterator[tuple[date, int]]:
    """Yield first day and number of days of the strips: as many as fit, without long times without data."""
    begin = days[0]
    for day, after in pairwise([*days, None]):
        assert day is not None, "only the last one has no next day"
        number = (day - begin).days + 1
        if after is None or (after - day).days > _MOST_DAYS_APART or (after - begin).days >= most:
            yield begin, number
            begin = after or begin


def _covered_pct(rows: Sequence[Row]) -> float:
    hours = sum(row["hours"] for row in rows)
    return 100.0 * sum(row["covered_hours"] for row in rows) / hours if hours else 0.0


def _sentence(source: str, rows: Sequence[Row]) -> str:
    """Say what is missing of a source, and why."""
    parts = []
    if with_loss := [row for row in rows if row["hours_with_loss"]]:
        worst = max(with_loss, key=lambda row: (row["hours_with_loss"], row["day"]))
        lost = sum(row["hours_with_loss"] for row in with_loss)
        place = "on" if len(with_loss) == 1 else f"on {len(with_loss):,} days, most on"
        verb = "is" if lost == 1 else "are"
        parts.append(
            f"{_hours(lost)} of {source} {verb} lost or partial, {place} {worst['day']}: {worst['loss']}"
        )
    if absent := sum(row["hours_not_recorded"] for row in rows):
        parts.append(f"{_hours(absent)} of {source} {'is' if absent == 1 else 'are'} not recorded")
    if unknown := sum(row["hours_not_known"] for row in rows):
        parts.append(f"of {_hours(unknown)} of {source} nothing shows whether the data cover them")
    text = "; ".join(parts) or f"{source}: {_hours(sum(row['hours'] for row in rows))}, no sign of a loss"
    return f"{text[0].upper()}{text[1:]}."


def _hours(number: int) -> str:
    return f"{number:,} hour{'s' * (number != 1)}"
