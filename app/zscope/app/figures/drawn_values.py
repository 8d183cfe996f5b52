"""What the picture of a figure draws: names, amounts in words, shares and colours, the same on every medium.

The modules that draw a figure take all numbers and words from here, so a screen and a file cannot differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.app.figures.figure_declarations import figure_words
from zscope.app.shared.covered_days import covered_systems
from zscope.app.shared.written_values import shown, shown_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zscope.app.figures.figure_declarations import ChartDeclaration, ColourName
    from zscope.app.figures.figure_rows import FigureRows, Row
    from zscope.app.shared.covered_days import CoveredSystem

_SPARE: tuple[ColourName, ...] = (
    "blue", "orange", "green", "purple", "sky", "red", "grey", "violet", "pink",
)  # fmt: skip
"""Colours of words that have none of their own, in this order."""
_OF_ROWS = frozenset({"bars", "ranges", "list", "waterfall", "dumbbell"})
"""Kinds that draw a line for each row."""
_OVER_TIME = frozenset({"course", "lines", "band", "heat"})
FULL = 100.0
SHADES = 5
"""The shades of a heat, from few to many."""
_LONGEST_STEP = 1.5
"""A line breaks off where points are farther apart, in usual distances of the line."""
_ONLY_RANGE = frozenset({"conditional", "range"})
"""Statuses of rows of which only the range is certain."""
_MARGIN = 0.04
"""Part of an axis beyond its first and its last value."""


def drawn_rows(found: FigureRows) -> tuple[Row, ...]:
    """Return the rows that the picture draws, at most as many as its declaration says."""
    rows = _drawable(found)
    chart = found.figure.chart
    return rows[: chart.first] if chart is not None and chart.kind in _OF_ROWS else rows


def left_out(found: FigureRows) -> bool:
    """Whether the picture draws fewer rows than it could."""
    return len(drawn_rows(found)) < len(_drawable(found))


def _drawable(found: FigureRows) -> tuple[Row, ...]:
    chart = found.figure.chart
    if chart is None:
        return ()
    if chart.kind in _OVER_TIME:
        needed = (chart.time, chart.value) if chart.kind == "lines" else (chart.time,)
        return tuple(row for row in found.rows if all(row[name] is not None for name in needed))
    return tuple(row for row in found.rows if chart.kind != "bars" or real(row[chart.value]))


def row_at(found: FigureRows, place: int) -> Row:
    """Return the first row of the line at a place of the picture."""
    chart, rows = found.figure.chart, drawn_rows(found)
    assert chart is not None, "only figures with a picture have lines"
    if chart.kind == "heat":
        return heat_lines(chart, rows)[place].rows[0]
    if chart.kind in {"shares", "lines"}:
        name = list(shares_of(chart, rows) if chart.kind == "shares" else lines_of(found))[place]
        return next(row for row in rows if name_of(chart, row) == name)
    return rows[place]


def name_of(chart: ChartDeclaration, row: Row) -> str:
    """Return the name of a row: the values of its columns."""
    return ", ".join(_word(name, row[name]) for name in chart.name)


def _word(column: str, value: object) -> str:
    text = shown(value, column) or "not known"
    return f"port {text}" if column == "server_port" else text


def amount_of(chart: ChartDeclaration, row: Row) -> str:
    """Return the amount of a row in words: a value, or the least, the most and the estimate."""
    if chart.words:
        return shown(row[chart.words]) or "not known"
    if not chart.high:
        amount = shown(row[chart.value], chart.value) or "not known"
        mark = shown(row[chart.mark], chart.mark) if chart.mark else ""
        return f"{amount} (line: {mark})" if mark else amount
    if row[chart.high] is None:
        return "not known"
    low, high = shown(row[chart.low], chart.low), shown(row[chart.high], chart.high)
    estimate = shown(estimate_of(chart, row), chart.value)
    if low == high == estimate:
        return estimate
    text = shown_range(row[chart.low], row[chart.high], chart.high)
    return f"{text}, estimate {estimate}" if estimate else text


def estimate_of(chart: ChartDeclaration, row: Row) -> float | None:
    """Return the value within a range, or none if its status is `conditional` or `range`."""
    value = row[chart.value] if chart.value and row.get("status") not in _ONLY_RANGE else None
    return None if value is None else real(value)


def others_of(found: FigureRows) -> list[tuple[Any, float]]:
    """Return the amounts of the other period: by time, or by the name of a row that is drawn."""
    chart = found.figure.chart
    if chart is None or not chart.is_compared:
        return []
    if chart.kind == "lines":
        return [(point.time, point.value) for line in other_lines(found).values() for point in line]
    if chart.time:
        return sorted(
            (row[chart.time], amount) for row in found.others if (amount := _whole(chart, row)) is not None
        )
    names = {
        name_of(chart, row): amount for row in found.others if (amount := _whole(chart, row)) is not None
    }
    return [(name, names[name]) for row in drawn_rows(found) if (name := name_of(chart, row)) in names]


def not_compared(found: FigureRows) -> str:
    """Return why a figure does not show the other period, if one is chosen; often empty."""
    if not found.compared_with or others_of(found):
        return ""
    chart = found.figure.chart
    if chart is not None and chart.is_compared:
        return f"There are no such rows of the other period ({found.compared_with})."
    return f"Not compared with the other period ({found.compared_with})."


def _whole(chart: ChartDeclaration, row: Row) -> float | None:
    """The amount of a row that is compared: the sum of its series, its estimate, or the most."""
    if chart.series:
        return sum(real(row[column]) for column in chart.series.values())
    value = estimate_of(chart, row) if chart.high else row[chart.value]
    if value is None and chart.high:
        value = row[chart.high]
    return None if value is None else real(value)


def _compared_words(found: FigureRows) -> str:
    """Return what the other period had in words, for those who cannot see the picture; empty without one."""
    said = [
        f"{name if isinstance(name, str) else time_of(name)} {number_of(amount)}"
        for name, amount in others_of(found)
    ]
    return f" {found.compared_with}: {'; '.join(said)}." if said else ""


class Fall(NamedTuple):
    """A bar of a waterfall."""

    begin: float
    end: float
    colour: ColourName
    is_open: bool
    """Whether only the bounds are known."""
    amount: str


def falls_of(chart: ChartDeclaration, rows: Sequence[Row]) -> list[Fall]:
    """Return the bars of a waterfall: parts go on where the row above ends, an open one has its bounds."""
    falls: list[Fall] = []
    place = 0.0
    for row in rows:
        begin, is_open = 0.0 if row[chart.total] else place, row[chart.value] is None
        if is_open:
            ends = begin + real(row[chart.low]), begin + real(row[chart.high])
            falls.append(Fall(*ends, "grey", is_open, _part_words(chart, row)))
            continue
        place = begin + real(row[chart.value])
        colour: ColourName = "blue" if row[chart.total] else "red" if place > begin else "green"
        falls.append(Fall(min(begin, place), max(begin, place), colour, is_open, _part_words(chart, row)))
    return falls


def _part_words(chart: ChartDeclaration, row: Row) -> str:
    sign = "" if row[chart.total] else "+"
    low, value, high = (
        f"{sign if real(row[name]) > 0 else ''}{shown(row[name], name)}"
        for name in (chart.low, chart.value, chart.high)
    )
    if row[chart.high] is None:
        return value or "not visible"
    return f"{value or 'not visible'} ({low} to {high})"


def shares_of(chart: ChartDeclaration, rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the amount of each word for each name."""
    amounts: dict[str, dict[str, float]] = {}
    for row in rows:
        line = amounts.setdefault(name_of(chart, row), {})
        _add_parts(chart, row, line)
    return amounts


def answer_of(found: FigureRows) -> str:
    """Return the answer to the question of a figure: the declared one, or the shares of all its columns."""
    chart = found.figure.chart
    if found.answer or chart is None or not (chart.kind == "course" and chart.share):
        return found.answer
    sums: dict[str, float] = {}
    for line in columns_of(chart, drawn_rows(found)).values():
        for word, value in line.items():
            sums[word] = sums.get(word, 0.0) + value
    largest = dict(sorted(sums.items(), key=lambda each: -each[1]))
    return f"In all: {share_words(largest)}." if sums else ""


def share_words(line: Mapping[str, float]) -> str:
    """Return the shares of a line in words.

    >>> share_words({"full": 1.0, "resumed": 3.0, "failed": 0.0})
    'full 25.0 %, resumed 75.0 %'
    """
    whole = sum(line.values())
    parts = [f"{word} {shown(percent(value, whole), 'share_pct')} %" for word, value in line.items() if value]
    return ", ".join(parts) or "none"


def words_of(found: FigureRows) -> str:
    """Return what a picture shows, for those who cannot see it."""
    chart = found.figure.chart
    if chart is None:
        return ""
    rows = drawn_rows(found)
    if chart.kind == "shares":
        said = [f"{name}: {share_words(line)}" for name, line in shares_of(chart, rows).items()]
    elif chart.kind == "strips":
        said = [covered_words(system) for system in covered_systems(rows)]
    elif chart.kind == "waterfall":
        falls = zip(rows, falls_of(chart, rows), strict=True)
        said = [f"{name_of(chart, row)}: {fall.amount}" for row, fall in falls]
    elif chart.kind == "lines":
        said = [f"{name}: {_ends_in_words(line)}" for name, line in lines_of(found).items()]
    elif chart.time:
        said = _over_time_words(chart, rows)
    else:
        said = [f"{name_of(chart, row)}: {amount_of(chart, row)}" for row in rows]
    return f"{chart.what}: {'; '.join(said)}.{_compared_words(found)}"


def covered_words(system: CoveredSystem, begin: date = date.min, end: date = date.max) -> str:
    """Return the covered share of each source of a system in words, from one day to before another."""
    shares = [
        (each.source, shown(each.in_days(begin, end).covered_pct, "covered_pct")) for each in system.recorded
    ]
    return f"{system.system}: {', '.join(f'{source} {pct} %' for source, pct in shares)}"


class ColumnPart(NamedTuple):
    """A part of a column over time."""

    time: date
    word: str
    begin: float
    end: float
    amount: str


def words_of_parts(chart: ChartDeclaration, rows: Sequence[Row]) -> dict[str, ColourName]:
    """Return the words of the parts of columns over time, with their colours."""
    return colours_of(list(chart.series) or in_order([_group_of(chart, row) for row in rows]))


def parts_of(chart: ChartDeclaration, rows: Sequence[Row]) -> Iterator[ColumnPart]:
    """Return the parts of columns over time, one on another."""
    words = list(words_of_parts(chart, rows))
    for time, line in columns_of(chart, rows).items():
        begin, whole = 0.0, sum(line.values())
        for word in words:
            value = line.get(word, 0.0)
            end = begin + (percent(value, whole) if chart.share else value)
            share = f", {percent(value, whole):.1f} %" if chart.share else ""
            if value or chart.series:
                yield ColumnPart(time, word, begin, end, f"{number_of(value)}{share}")
            begin = end


def columns_of(chart: ChartDeclaration, rows: Sequence[Row]) -> dict[date, dict[str, float]]:
    """Return the amount of each word at each time."""
    columns: dict[date, dict[str, float]] = {}
    for row in rows:
        line = columns.setdefault(row[chart.time], {})
        _add_parts(chart, row, line)
    return columns


def _add_parts(chart: ChartDeclaration, row: Row, line: dict[str, float]) -> None:
    if chart.group:
        word = _group_of(chart, row)
        line[word] = line.get(word, 0.0) + real(row[chart.value])
    else:
        line.update({word: real(row[column]) for word, column in chart.series.items()})


def _over_time_words(chart: ChartDeclaration, rows: Sequence[Row]) -> list[str]:
    """Return what columns over time and heats show, in words."""
    if chart.kind == "heat":
        return [f"{line.name}: {line.amount}" for line in heat_lines(chart, rows)]
    if chart.high:
        return [f"{time_of(row[chart.time])}: {amount_of(chart, row)}" for row in rows]
    lines = columns_of(chart, rows).items()
    words = share_words if chart.share else _sum_in_words
    return [f"{time_of(time)}: {words(line)}" for time, line in lines]


def _ends_in_words(line: Sequence[LinePoint]) -> str:
    least, most = (end(line, key=lambda point: point.value) for end in (min, max))
    return f"{least.amount} to {most.amount} from {time_of(line[0].time)} to {time_of(line[-1].time)}"


def _sum_in_words(line: Mapping[str, float]) -> str:
    return number_of(sum(line.values()))


class LinePoint(NamedTuple):
    """A point of a line over time."""

    time: date
    value: float
    amount: str
    piece: int
    """Points of the same number follow each other at the usual distance of the line."""


def lines_of(found: FigureRows) -> dict[str, list[LinePoint]]:
    """Return the points of the lines with the most in all, by their name."""
    chart, rows = found.figure.chart, drawn_rows(found)
    assert chart is not None, "only figures with a picture have lines"
    sums: dict[str, float] = {}
    for row in rows:
        sums[name_of(chart, row)] = sums.get(name_of(chart, row), 0.0) + real(row[chart.value])
    names = sorted(sums, key=lambda name: (-sums[name], name))[: chart.first]
    return _points(chart, rows, sorted(names))


def other_lines(found: FigureRows) -> dict[str, list[LinePoint]]:
    """Return the points of the same lines in the other period, at the times of the chosen one."""
    chart = found.figure.chart
    assert chart is not None, "only figures with a picture have lines"
    named = _points(chart, found.others, [*lines_of(found)])
    return {name: line for name, line in named.items() if line}


def _points(chart: ChartDeclaration, rows: Sequence[Row], names: Sequence[str]) -> dict[str, list[LinePoint]]:
    lines: dict[str, list[LinePoint]] = {name: [] for name in names}
    named: dict[str, list[Row]] = {name: [] for name in names}
    for row in rows:
        if row[chart.time] is not None and row[chart.value] is not None and name_of(chart, row) in named:
            named[name_of(chart, row)].append(row)
    for name, of_name in named.items():
        of_name.sort(key=lambda row: row[chart.time])
        steps = [after[chart.time] - row[chart.time] for row, after in pairwise(of_name)]
        longest, piece = _LONGEST_STEP * median_low(steps or [timedelta()]), 0
        for place, row in enumerate(of_name):
            piece += place > 0 and steps[place - 1] > longest
            point = LinePoint(row[chart.time], real(row[chart.value]), amount_of(chart, row), piece)
            lines[name].append(point)
    return lines


def _group_of(chart: ChartDeclaration, row: Row) -> str:
    return shown(row[chart.group]) or "not known"


class HeatLine(NamedTuple):
    """A line of a heat."""

    name: str
    amount: str
    rows: list[Row]


def heat_lines(chart: ChartDeclaration, rows: Sequence[Row]) -> list[HeatLine]:
    """Return the lines of a heat, those with the most first, with their sum and its share of all."""
    named: dict[str, list[Row]] = {}
    for row in rows:
        named.setdefault(name_of(chart, row), []).append(row)
    sums = {name: sum(real(row[chart.value]) for row in of_name) for name, of_name in named.items()}
    lines = []
    for name in sorted(named, key=lambda name: (-sums[name], name))[: chart.first]:
        share = shown(percent(sums[name], real(named[name][0][chart.whole])), "share_pct")
        lines.append(HeatLine(name, f"{number_of(sums[name])} · {share} %", named[name]))
    return lines


def shade_of(value: float, most: float) -> int:
    """Return the shade of a value in a heat; 0 is none.

    >>> [shade_of(value, 100) for value in (0, 1, 20, 21, 100)]
    [0, 1, 1, 2, 5]
    """
    return math.ceil(SHADES * value / most) if most else 0


def number_of(value: float) -> str:
    """Return a sum of counts."""
    return shown(int(value) if value == int(value) else value)


@dataclass(frozen=True, slots=True)
class Dumbbell:
    """A published value and a measured one on the same axis, each with its range."""

    published: float | None
    least: float
    most: float
    """What agrees with the published value; where that is open, the end of the axis."""
    value: float | None
    begin: float
    end: float
    """The interval of the measured value."""


def dumbbells(chart: ChartDeclaration, rows: Sequence[Row]) -> tuple[tuple[float, float], list[Dumbbell]]:
    """Return the ends of the common axis, which contains zero, and what each row draws on it."""
    columns = (chart.published, chart.least, chart.most, chart.value, chart.low, chart.high)
    values = [row[name] for row in rows for name in columns if name]
    known = [0.0, *(chart.agrees or ()), *(float(value) for value in values if value is not None)]
    begin, end = min(known), max(known)
    margin = _MARGIN * (end - begin) or 1.0
    axis = (begin - margin, end + margin)

    def agreeing(row: Row) -> tuple[float, float]:
        ends = chart.agrees or (row[chart.least], row[chart.most])
        least, most = (end if known is None else float(known) for known, end in zip(ends, axis, strict=True))
        return least, most

    return axis, [
        Dumbbell(
            row[chart.published] if chart.published else None,
            *agreeing(row),
            row[chart.value],
            real(row[chart.value] if row[chart.low] is None else row[chart.low]),
            real(row[chart.value] if row[chart.high] is None else row[chart.high]),
        )
        for row in rows
    ]


def time_of(value: date) -> str:
    """Return the day or the hour of a row over time."""
    return f"{value.astimezone(UTC):%m-%d %H:%M}" if isinstance(value, datetime) else value.isoformat()


def tick_of(value: date) -> str:
    """Return the day or the hour at an axis, which has no place for the year.

    >>> tick_of(date(2026, 3, 9))
    '03-09'
    """
    return time_of(value) if isinstance(value, datetime) else f"{value:%m-%d}"


def step_of(found: FigureRows) -> timedelta:
    """Return the length of time of a row over time."""
    return timedelta(hours=1) if found.hourly else timedelta(days=1)


def words_below(chart: ChartDeclaration, rows: Sequence[Row]) -> dict[str, ColourName]:
    """Return the words that the colours of rows stand for."""
    known = figure_words().colours
    words = in_order([shown(row[chart.colour]) for row in rows]) if chart.colour else []
    return {word: known[word] for word in words if word in known}


def colour_of(chart: ChartDeclaration, row: Row) -> ColourName:
    """Return the colour of a row."""
    word = shown(row[chart.colour]) if chart.colour else ""
    return figure_words().colours.get(word, _SPARE[0])


def colours_of(words: Sequence[str]) -> dict[str, ColourName]:
    """Return the colour of each word; words without one of their own get those that are left."""
    known = figure_words().colours
    own = {known[word] for word in words if word in known}
    spare = [colour for colour in _SPARE if colour not in own] or list(_SPARE)
    without = [word for word in words if word not in known]
    return {word: known[word] if word in known else spare[without.index(word) % len(spare)] for word in words}


def in_order(words: Sequence[str]) -> list[str]:
    """Return each word once, in the order of its first place."""
    return list(dict.fromkeys(words))


def real(value: object) -> float:
    """Return a number to draw; what is not known or not finite has no length."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else 0.0


def percent(value: float, whole: float) -> float:
    """Return a share in percent; none of nothing."""
    return FULL * value / whole if whole else 0.0
