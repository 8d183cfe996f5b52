"""Draw figures in a file without scripts: bars, ranges, shares, courses of time and strips of days, as SVG.

Places and lengths along the page are percentages, and all words are outside of the drawing, so a picture has
the width of the page and its words keep their size, on a telephone and on paper.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from zscope.app.figures.elements import add, add_text
from zscope.app.figures.figure_declarations import figure_words
from zscope.app.figures.written_values import shown
from zscope.app.shared.covered_days import (
    HEIGHTS,
    ONE_DAY,
    PICTURE_LEGEND,
    SIGNS,
    covered_systems,
    day_blocks,
)
from zscope.app.shared.plain_texts import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from zscope.app.figures.figure_declarations import ChartDeclaration
    from zscope.app.figures.figure_rows import FigureRows, Row

_MOST_BARS = 15
_SPARE = ("blue", "orange", "green", "purple", "sky", "red", "grey", "violet", "pink")
"""Colours of words that have none of their own, in this order."""
_LONGEST_NAME = 60
_COURSE_PX = 180
_TICKS = 5
_FULL = 100.0
_BAR_PX, _RANGE_PX, _MARK_PX = 14, 8, 3
_LEAST_DAYS, _MOST_DAYS = 31, 93
"""Days of a line with strips: the least for which it has room, and the most."""


def add_picture(parent: Element, found: FigureRows) -> None:
    """Add the picture of a figure, if its rows have anything to draw."""
    chart = found.figure.chart
    if chart is None:
        return
    rows = found.rows
    if chart.kind == "course":
        rows = tuple(row for row in rows if row[chart.time] is not None)
    elif chart.kind == "bars":
        rows = tuple(row for row in rows if _real(row[chart.value]))
    if not rows:
        return
    draw = _KINDS[chart.kind]
    figure = add(parent, "figure")
    caption = add(figure, "figcaption", chart.what)
    if chart.kind in {"bars", "ranges"} and len(rows) > _MOST_BARS:
        add_text(caption, f": the first {_MOST_BARS} rows of the table")
    draw(figure, chart, rows[:_MOST_BARS] if chart.kind in {"bars", "ranges"} else rows, found)


def _bars(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> None:
    largest = max((abs(_real(row[chart.value])) for row in rows), default=0.0)
    box = _box(figure, chart, [f"{_name(chart, row)} {shown(row[chart.value], chart.value)}" for row in rows])
    for row in rows:
        line = _line(box, _name(chart, row), shown(row[chart.value], chart.value))
        _part(line, 0, _percent(abs(_real(row[chart.value])), largest), _colour(chart, row), _BAR_PX)
    _legend(figure, _words(chart, rows))


def _ranges(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> None:
    known = [row for row in rows if row[chart.high] is not None]
    largest = max((_real(row[chart.high]) for row in known), default=0.0)
    box = _box(figure, chart, [f"{_name(chart, row)} {_range(chart, row)}" for row in rows])
    for row in rows:
        line = _line(box, _name(chart, row), _range(chart, row))
        if row[chart.high] is None:
            continue
        begin = _percent(_real(row[chart.low]), largest)
        _part(line, begin, _percent(_real(row[chart.high]), largest) - begin, _colour(chart, row), _RANGE_PX)
        if row[chart.value] is not None:
            place = _percent(_real(row[chart.value]), largest)
            add(line, "rect", x=f"{place:.2f}%", y=0, width=_MARK_PX, height=_BAR_PX, class_="mark",
                transform=f"translate(-{_MARK_PX / 2:g} 0)")  # fmt: skip
    _legend(figure, _words(chart, rows))


def _range(chart: ChartDeclaration, row: Row) -> str:
    """The least, the most and the estimate in words."""
    if row[chart.high] is None:
        return "not known"
    high = shown(row[chart.high], chart.high)
    text = f"{shown(row[chart.low], chart.low)} to {high}" if _real(row[chart.low]) else f"at most {high}"
    return text if row[chart.value] is None else f"{text}, estimate {shown(row[chart.value], chart.value)}"


def _shares(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> None:
    """One line for each name, divided by its series."""
    amounts: dict[str, dict[str, float]] = {}
    for row in rows:
        line = amounts.setdefault(_name(chart, row), {})
        if chart.group:
            word = shown(row[chart.group]) or "not known"
            line[word] = line.get(word, 0.0) + _real(row[chart.value])
        else:
            line.update({word: _real(row[column]) for word, column in chart.series.items()})
    words = _in_order(word for line in amounts.values() for word in line)
    colours = _colours(words)
    box = _box(figure, chart, [f"{name}: {_in_words(line)}" for name, line in amounts.items()])
    for name, line in amounts.items():
        whole = sum(line.values())
        drawing = _line(box, name, number_of(whole))
        begin = 0.0
        for word in words:
            width = _percent(line.get(word, 0.0), whole)
            _part(drawing, begin, width, colours[word], _BAR_PX)
            begin += width
    _legend(figure, colours)


def number_of(value: float) -> str:
    """Return a sum of counts."""
    return shown(int(value) if value == int(value) else value)


def _in_words(line: Mapping[str, float]) -> str:
    whole = sum(line.values())
    parts = [f"{word} {_percent(value, whole):.1f} %" for word, value in line.items() if value]
    return ", ".join(parts) or "none"


def _course(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    """Columns of series on each other; a time without a row stays empty."""
    step = timedelta(hours=1) if found.hourly else timedelta(days=1)
    begin, end = min(row[chart.time] for row in rows), max(row[chart.time] for row in rows) + step
    highest = max(sum(_real(row[column]) for column in chart.series.values()) for row in rows)
    top = _round_up(highest)
    words = [
        f"{_written(row[chart.time])}: {number_of(sum(_real(row[c]) for c in chart.series.values()))}"
        for row in rows
    ]
    box = add(figure, "div", class_="course", role="img", aria_label=_spoken(chart, words))
    scale = add(box, "svg", class_="scale", width=64, height=_COURSE_PX + 10, aria_hidden="true")
    plot = add(box, "svg", class_="plot", width="100%", height=_COURSE_PX + 10, aria_hidden="true")
    for part in (0.0, 0.5, 1.0):
        y = 5 + _COURSE_PX * (1 - part)
        add(plot, "line", x1="0", x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid")
        add(scale, "text", number_of(top * part), x=60, y=f"{y + 4:.1f}", text_anchor="end")
    whole = (end - begin) / step
    colours = _colours(list(chart.series))
    for row in rows:
        y = 5.0 + _COURSE_PX
        place = (row[chart.time] - begin) / step
        for word, column in chart.series.items():
            height = _COURSE_PX * _real(row[column]) / top if top else 0.0
            if height > 0:
                y -= height
                add(plot, "rect", x=f"{_FULL * (place + 0.1) / whole:.3f}%", y=f"{y:.2f}",
                    width=f"{_FULL * 0.8 / whole:.3f}%", height=f"{height:.2f}",
                    class_=f"fill-{colours[word]}")  # fmt: skip
    times = add(box, "svg", class_="times", width="100%", height=18, aria_hidden="true")
    for number, moment in enumerate(_ticks(begin, end, step)):
        x = _FULL * ((moment - begin) / step + 0.5) / whole
        anchor = "start" if x < 10 else "end" if x > 90 else "middle"
        add(times, "text", _written(moment), x=f"{x:.2f}%", y=13, text_anchor=anchor,
            class_="spare" if number % 2 else None)  # fmt: skip
    _legend(figure, colours)


def _ticks(begin: date, end: date, step: timedelta) -> list[date]:
    every = max(1, math.ceil((end - begin) / step / _TICKS))
    return [begin + number * every * step for number in range(math.ceil((end - begin) / step / every))]


def _written(time: date) -> str:
    return f"{time.astimezone(UTC):%m-%d %H:%M}" if isinstance(time, datetime) else time.isoformat()


def _round_up(value: float) -> float:
    """The next number with one digit that is not less, and at least 1.

    >>> _round_up(1234.0), _round_up(0.0)
    (2000.0, 1.0)
    """
    if value <= 1:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / size) * size


def _strips(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> None:
    """The days of each source of a system, one column each, and the sentences about them."""
    add(figure, "p", PICTURE_LEGEND, class_="legend")
    for system in covered_systems(rows):
        for begin, number in day_blocks(system.days, _MOST_DAYS):
            end = begin + number * ONE_DAY
            last = f" to {end - ONE_DAY}" if number > 1 else ""
            add(figure, "p", f"{system.system}, {begin}{last}", class_="strips")
            shares = [shown(source.covered_pct(begin, end), "covered_pct") for source in system.recorded]
            words = [f"{each.source} {pct} %" for each, pct in zip(system.recorded, shares, strict=True)]
            box = _box(figure, chart, [f"{system.system}, covered: {', '.join(words)}"])
            for source, pct in zip(system.recorded, shares, strict=True):
                drawing = _line(box, source.source, f"{pct} % covered")
                for day, state in source.states.items():
                    if begin <= day < end:
                        _day(drawing, (day - begin).days, max(number, _LEAST_DAYS), state)
        said = add(figure, "ul", class_="note")
        for sentence in system.sentences:
            add(said, "li", sentence)


def _day(drawing: Element, number: int, days: int, state: str) -> None:
    width = _FULL / days
    colour = f"fill-{figure_words().colours.get(state, _SPARE[0])}"
    if state not in HEIGHTS:
        add(drawing, "text", SIGNS.get(state, "?"), x=f"{(number + 0.5) * width:.2f}%", y=_BAR_PX - 3,
            text_anchor="middle", class_=f"sign {colour}")  # fmt: skip
    else:
        height = _BAR_PX * HEIGHTS[state]
        add(drawing, "rect", x=f"{(number + 0.07) * width:.2f}%", y=f"{(_BAR_PX - height) / 2:.1f}",
            width=f"{0.86 * width:.2f}%", height=f"{height:.1f}", class_=colour)  # fmt: skip


_KINDS: Mapping[str, Callable[[Element, ChartDeclaration, Sequence[Row], FigureRows], None]] = {
    "bars": _bars, "ranges": _ranges, "shares": _shares, "course": _course, "strips": _strips,
}  # fmt: skip


def _box(figure: Element, chart: ChartDeclaration, words: Sequence[str]) -> Element:
    return add(figure, "div", class_="bars", role="img", aria_label=_spoken(chart, words))


def _spoken(chart: ChartDeclaration, words: Sequence[str]) -> str:
    """What the picture shows, for those who cannot see it."""
    return f"{chart.what}: {'; '.join(words)}"


def _line(box: Element, name: str, amount: str) -> Element:
    """Add the line of a bar and return its drawing."""
    line = add(box, "div", class_="bar")
    add(line, "span", one_line(name, _LONGEST_NAME), class_="name")
    drawing = add(line, "svg", width="100%", height=_BAR_PX, aria_hidden="true")
    add(line, "span", amount, class_="amount")
    return drawing


def _part(drawing: Element, begin: float, width: float, colour: str, height: int) -> None:
    if width > 0:
        place = {"x": f"{begin:.3f}%", "y": f"{(_BAR_PX - height) / 2:g}"}
        add(drawing, "rect", **place, width=f"{width:.3f}%", height=height, class_=f"fill-{colour}")


def _legend(figure: Element, colours: Mapping[str, str]) -> None:
    if colours:
        legend = add(figure, "p", class_="legend")
        for word, colour in colours.items():
            item = add(legend, "span")
            add(item, "span", class_=f"dot back-{colour}")
            add_text(item, one_line(word, _LONGEST_NAME))


def _words(chart: ChartDeclaration, rows: Sequence[Row]) -> Mapping[str, str]:
    """The words of the colours of bars."""
    known = figure_words().colours
    words = _in_order(shown(row[chart.colour]) for row in rows) if chart.colour else []
    return {word: known[word] for word in words if word in known}


def _colour(chart: ChartDeclaration, row: Row) -> str:
    word = shown(row[chart.colour]) if chart.colour else ""
    return figure_words().colours.get(word, _SPARE[0])


def _colours(words: Sequence[str]) -> dict[str, str]:
    """The colour of each word; words without one of their own get those that are left."""
    known = figure_words().colours
    own = {known[word] for word in words if word in known}
    spare = [colour for colour in _SPARE if colour not in own] or list(_SPARE)
    without = [word for word in words if word not in known]
    return {word: known[word] if word in known else spare[without.index(word) % len(spare)] for word in words}


def _in_order(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _name(chart: ChartDeclaration, row: Row) -> str:
    return ", ".join(_word(name, row[name]) for name in chart.name)


def _word(column: str, value: object) -> str:
    text = shown(value, column) or "not known"
    return f"port {text}" if column == "server_port" else text


def _real(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else 0.0


def _percent(value: float, whole: float) -> float:
    return _FULL * value / whole if whole else 0.0
