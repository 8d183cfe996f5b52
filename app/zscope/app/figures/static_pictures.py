"""Draw figures in a file without scripts, as SVG.

Places and lengths along the page are percentages, and all words are outside of the drawing, so a picture has
the width of the page and its words keep their size, on a telephone and on paper.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from zscope.app.figures.drawn_values import (
    FULL,
    SHADES,
    LinePoint,
    amount_of,
    answer_of,
    colour_of,
    colours_of,
    covered_words,
    drawn_rows,
    dumbbells,
    estimate_of,
    falls_of,
    heat_lines,
    in_order,
    left_out,
    lines_of,
    name_of,
    number_of,
    other_lines,
    others_of,
    parts_of,
    percent,
    real,
    shade_of,
    shares_of,
    step_of,
    tick_of,
    words_below,
    words_of,
    words_of_parts,
)
from zscope.app.figures.elements import add, add_text
from zscope.app.figures.figure_declarations import figure_words
from zscope.app.shared.covered_days import (
    HEIGHTS,
    ONE_DAY,
    PICTURE_LEGEND,
    SIGNS,
    covered_systems,
    day_blocks,
)
from zscope.app.shared.plain_texts import one_line
from zscope.app.shared.written_values import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from xml.etree.ElementTree import Element

    from zscope.app.figures.figure_declarations import ChartDeclaration
    from zscope.app.figures.figure_rows import FigureRows, Row

_LONGEST_NAME = 60
_COURSE_PX = 180
_TICKS = 5
_MOST_HOURS = timedelta(days=2)
"""A longer time has labels of days, also where its columns are hours."""
_BAR_PX, _RANGE_PX, _MARK_PX, _LINE_PX, _DOT_PX = 14, 8, 3, 2, 4
_DIAMOND = "M0 -6 L6 0 L0 6 L-6 0 Z"
_LEAST_DAYS, _MOST_DAYS = 31, 93
"""Days of a line with strips: the least for which it has room, and the most."""


def add_picture(parent: Element, found: FigureRows) -> None:
    """Add the picture of a figure, if its rows have anything to draw."""
    chart = found.figure.chart
    if chart is None or not (rows := drawn_rows(found)):
        return
    figure = add(parent, "figure")
    caption = add(figure, "figcaption", chart.what)
    if left_out(found):
        add_text(caption, f" (first {len(rows)} of {found.count:,})")
    if said := answer_of(found):
        add(figure, "p", said)
    _KINDS[chart.kind](figure, chart, rows, found)
    if found.evidence and found.evidence.words:
        add(figure, "p", found.evidence.words, class_="evidence")


def _bars(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    others = dict(others_of(found))
    marks = [real(row[chart.mark]) for row in rows] if chart.mark else []
    largest = max(*(abs(real(row[chart.value])) for row in rows), *others.values(), *marks, 0.0)
    box = _box(figure, words_of(found))
    for row in rows:
        line = _line(box, name_of(chart, row), amount_of(chart, row))
        _part(line, 0, percent(abs(real(row[chart.value])), largest), colour_of(chart, row), _BAR_PX)
        _other(line, others.get(name_of(chart, row)), largest)
        if chart.mark and row[chart.mark] is not None:
            _mark(line, percent(real(row[chart.mark]), largest))
    _legend(figure, words_below(chart, rows))


def _mark(drawing: Element, place: float) -> None:
    """A line across a bar."""
    add(drawing, "rect", x=f"{place:.2f}%", y=0, width=_MARK_PX, height=_BAR_PX, class_="mark",
        transform=f"translate(-{_MARK_PX / 2:g} 0)")  # fmt: skip


def _other(drawing: Element, amount: float | None, largest: float) -> None:
    """A hollow mark at the amount of the other period."""
    if amount is not None:
        add(drawing, "circle", cx=f"{percent(amount, largest):.2f}%", cy=_BAR_PX / 2, r=4, class_="other")


def _ranges(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    others = dict(others_of(found))
    known = [row for row in rows if row[chart.high] is not None]
    largest = max(*(real(row[chart.high]) for row in known), *others.values(), 0.0, 0.0)
    box = _box(figure, words_of(found))
    for row in rows:
        line = _line(box, name_of(chart, row), amount_of(chart, row))
        _other(line, others.get(name_of(chart, row)), largest)
        if row[chart.high] is None:
            continue
        begin = percent(real(row[chart.low]), largest)
        width = percent(real(row[chart.high]), largest) - begin
        _part(line, begin, width, colour_of(chart, row), _RANGE_PX, kind="between")
        if (estimate := estimate_of(chart, row)) is not None:
            _mark(line, percent(real(estimate), largest))
    _legend(figure, words_below(chart, rows))


def _waterfall(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    """A bar for each part, which begins where the one above ends."""
    falls = falls_of(chart, rows)
    least, most = min(0.0, *(fall.begin for fall in falls)), max(0.0, *(fall.end for fall in falls))
    box = _box(figure, words_of(found))
    for row, fall in zip(rows, falls, strict=True):
        line = _line(box, name_of(chart, row), fall.amount)
        begin = percent(fall.begin - least, most - least)
        width = percent(fall.end - least, most - least) - begin
        _part(line, begin, width, fall.colour, _BAR_PX, kind="open" if fall.is_open else "fill")


def _shares(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    """One line for each name, divided by its series."""
    amounts = shares_of(chart, rows)
    words = in_order([word for line in amounts.values() for word in line])
    colours = colours_of(words)
    box = _box(figure, words_of(found))
    for name, line in amounts.items():
        whole = sum(line.values())
        drawing = _line(box, name, number_of(whole))
        begin = 0.0
        for word in words:
            width = percent(line.get(word, 0.0), whole)
            _part(drawing, begin, width, colours[word], _BAR_PX)
            begin += width
    _legend(figure, colours)


def _dumbbell(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    """A line for each row: what agrees as a pale bar, the published value hollow, and what was measured."""
    (first, last), drawn = dumbbells(chart, rows)

    def place(value: float) -> float:
        return percent(value - first, last - first)

    box = _box(figure, words_of(found))
    for row, each in zip(rows, drawn, strict=True):
        line = _line(box, name_of(chart, row), amount_of(chart, row))
        _part(line, place(each.least), place(each.most) - place(each.least), "published", _BAR_PX)
        add(line, "line", x1=f"{place(0):.3f}%", x2=f"{place(0):.3f}%", y1=0, y2=_BAR_PX, class_="grid")
        if each.published is not None:
            spot = add(line, "svg", x=f"{place(each.published):.3f}%", y=_BAR_PX / 2, overflow="visible")
            add(spot, "path", d=_DIAMOND, class_="published")
        if each.value is not None:
            colour = colour_of(chart, row)
            _part(line, place(each.begin), place(each.end) - place(each.begin), colour, _LINE_PX)
            add(line, "circle", cx=f"{place(each.value):.3f}%", cy=_BAR_PX / 2, r=_DOT_PX,
                class_=f"fill-{colour}")  # fmt: skip
    _legend(figure, words_below(chart, rows))


def _list(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> None:
    """One item for each row: its amount, its name, and a note below them."""
    listed = add(figure, "ul")
    for row in rows:
        item = add(listed, "li")
        add(item, "b", amount_of(chart, row))
        add_text(item, f" {name_of(chart, row)}")
        if chart.note and (note := shown(row[chart.note], chart.note)):
            add(item, "p", note, class_="note")


def _course(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    """Columns of parts on each other."""
    colours = words_of_parts(chart, rows)
    parts = parts_of(chart, rows)
    pieces = [_Piece(part.time, part.begin, part.end, f"fill-{colours[part.word]}") for part in parts]
    _over_time(figure, found, pieces)
    _legend(figure, colours)


def _lines(figure: Element, _: ChartDeclaration, __: Sequence[Row], found: FigureRows) -> None:
    """A line for each name; the same lines of the other period are dashed."""
    lines = lines_of(found)
    colours = colours_of(list(lines))
    drawn = [(f"stroke-{colours[name]}", line) for name, line in lines.items()]
    drawn += [("other", line) for line in other_lines(found).values()]
    _over_time(figure, found, [], drawn)
    _legend(figure, colours)


def _heat(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    """A line for each name with a cell for each time, the darker the more; its sum and share at the right."""
    step, most = step_of(found), max(real(row[chart.value]) for row in rows)
    begin, end = min(row[chart.time] for row in rows), max(row[chart.time] for row in rows) + step
    box = _box(figure, words_of(found))
    width = FULL * step / (end - begin)
    for name, amount, of_name in heat_lines(chart, rows):
        drawing = _line(box, name, amount)
        for row in of_name:
            if shade := shade_of(real(row[chart.value]), most):
                add(drawing, "rect", x=f"{(row[chart.time] - begin) / step * width:.3f}%", y=0,
                    width=f"{width:.3f}%", height=_BAR_PX, class_="fill-blue",
                    fill_opacity=f"{shade / SHADES:g}")  # fmt: skip
    _times(_line(box, "", ""), begin, end, step)


def _band(figure: Element, chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> None:
    """Columns from the least to the most, with a line at the estimate."""

    pieces = []
    for row in rows:
        time = row[chart.time]
        if row[chart.high] is not None:
            colour = _between(colour_of(chart, row))
            pieces.append(_Piece(time, real(row[chart.low]), real(row[chart.high]), colour))
        if (estimate := estimate_of(chart, row)) is not None:
            pieces.append(_Piece(time, real(estimate), real(estimate), "mark"))
    _over_time(figure, found, pieces)
    _legend(figure, words_below(chart, rows))


class _Piece(NamedTuple):
    """A part of a column; without a height it is a line."""

    time: date
    begin: float
    end: float
    kind: str


def _over_time(
    figure: Element,
    found: FigureRows,
    pieces: Sequence[_Piece],
    lines: Sequence[tuple[str, Sequence[LinePoint]]] = (),
) -> None:
    """Draw columns or lines over time; a time without a row stays empty."""
    chart, step = found.figure.chart, step_of(found)
    assert chart is not None, "only figures with a picture are drawn"
    moments = [row[chart.time] for row in drawn_rows(found)]
    begin, end = min(moments), max(moments) + step
    if pieces and (others := others_of(found)):
        lines = [("other", [LinePoint(time, amount, "", 0) for time, amount in others])]
    points = [point for _, line in lines for point in line]
    drawn = [*(piece.end for piece in pieces), *(point.value for point in points)]
    top = FULL if chart.share else _round_up(max(drawn, default=0.0))
    box = add(figure, "div", class_="course", role="img", aria_label=words_of(found))
    scale = add(box, "svg", class_="scale", width=64, height=_COURSE_PX + 10, aria_hidden="true")
    plot = add(box, "svg", class_="plot", width="100%", height=_COURSE_PX + 10, aria_hidden="true")
    unit = " %" if chart.share else ""
    for part in (0.0, 0.5, 1.0):
        y = 5 + _COURSE_PX * (1 - part)
        add(plot, "line", x1="0", x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid")
        add(scale, "text", f"{number_of(top * part)}{unit}", x=60, y=f"{y + 4:.1f}", text_anchor="end")
    whole = (end - begin) / step
    for piece in pieces:
        place = (piece.time - begin) / step
        height = max(_COURSE_PX * (piece.end - piece.begin) / top, _LINE_PX if piece.kind == "mark" else 0)
        if height > 0:
            y = 5.0 + _COURSE_PX * (1 - piece.begin / top) - height
            add(plot, "rect", x=f"{FULL * (place + 0.1) / whole:.3f}%", y=f"{y:.2f}",
                width=f"{FULL * 0.8 / whole:.3f}%", height=f"{height:.2f}", class_=piece.kind)  # fmt: skip
    for kind, line in lines:
        drawn_points = [
            (f"{FULL * ((point.time - begin) / step + 0.5) / whole:.3f}%",
             f"{5 + _COURSE_PX * (1 - point.value / top):.2f}", point.piece)
            for point in line
        ]  # fmt: skip
        for (x1, y1, before), (x2, y2, after) in pairwise(drawn_points):
            if before == after:
                add(plot, "line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)
        if kind != "other":
            for left, down, _ in drawn_points:
                add(plot, "circle", cx=left, cy=down, r=2, class_=kind.replace("stroke-", "fill-"))
    times = add(box, "svg", class_="times", width="100%", height=18, aria_hidden="true")
    _times(times, begin, end, step)


def _times(times: Element, begin: date, end: date, step: timedelta) -> None:
    """Write days or hours below the columns that begin with them."""
    whole = (end - begin) / step
    for number, (moment, words) in enumerate(_ticks(begin, end, step)):
        x = FULL * ((moment - begin) / step + 0.5) / whole
        anchor = "start" if x < 10 else "end" if x > 90 else "middle"
        add(times, "text", words, x=f"{x:.2f}%", y=13, text_anchor=anchor,
            class_="spare" if number % 2 else None)  # fmt: skip


def _ticks(begin: date, end: date, step: timedelta) -> list[tuple[date, str]]:
    """The labelled hours or days; many hours are labelled by the days that begin with them."""
    by_days = end - begin > _MOST_HOURS
    if isinstance(begin, datetime) and by_days:
        begin = (begin + ONE_DAY - step).replace(hour=0, minute=0, second=0, microsecond=0)
        step = ONE_DAY
    every = max(1, math.ceil((end - begin) / step / _TICKS))
    moments = [begin + number * every * step for number in range(math.ceil((end - begin) / step / every))]
    return [(moment, f"{moment:%m-%d}" if by_days else tick_of(moment)) for moment in moments]


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
            shares = [
                shown(source.in_days(begin, end).covered_pct, "covered_pct") for source in system.recorded
            ]
            box = _box(figure, f"{chart.what}: {covered_words(system, begin, end)}.")
            for source, pct in zip(system.recorded, shares, strict=True):
                drawing = _line(box, source.source, f"{pct} % covered")
                for day, state in source.states.items():
                    if begin <= day < end:
                        _day(drawing, (day - begin).days, max(number, _LEAST_DAYS), state)
        said = add(figure, "ul", class_="note")
        for sentence in system.sentences:
            add(said, "li", sentence)


def _day(drawing: Element, number: int, days: int, state: str) -> None:
    width = FULL / days
    colour = f"fill-{figure_words().colours.get(state, 'blue')}"
    if state not in HEIGHTS:
        add(drawing, "text", SIGNS.get(state, "?"), x=f"{(number + 0.5) * width:.2f}%", y=_BAR_PX - 3,
            text_anchor="middle", class_=f"sign {colour}")  # fmt: skip
    else:
        height = _BAR_PX * HEIGHTS[state]
        add(drawing, "rect", x=f"{(number + 0.07) * width:.2f}%", y=f"{(_BAR_PX - height) / 2:.1f}",
            width=f"{0.86 * width:.2f}%", height=f"{height:.1f}", class_=colour)  # fmt: skip


_KINDS: Mapping[str, Callable[[Element, ChartDeclaration, Sequence[Row], FigureRows], None]] = {
    "bars": _bars, "ranges": _ranges, "list": _list, "shares": _shares, "course": _course, "lines": _lines,
    "heat": _heat, "band": _band, "waterfall": _waterfall, "dumbbell": _dumbbell, "strips": _strips,
}  # fmt: skip


def _box(figure: Element, words: str) -> Element:
    return add(figure, "div", class_="bars", role="img", aria_label=words)


def _line(box: Element, name: str, amount: str) -> Element:
    """Add the line of a bar and return its drawing."""
    line = add(box, "div", class_="bar")
    add(line, "span", one_line(name, _LONGEST_NAME), class_="name")
    drawing = add(line, "svg", width="100%", height=_BAR_PX, aria_hidden="true")
    add(line, "span", amount, class_="amount")
    return drawing


def _part(
    drawing: Element, begin: float, width: float, colour: str, height: int, *, kind: str = "fill"
) -> None:
    if width > 0:
        place = {"x": f"{begin:.3f}%", "y": f"{(_BAR_PX - height) / 2:g}"}
        named = _between(colour) if kind == "between" else f"{kind}-{colour}"
        add(drawing, "rect", **place, width=f"{width:.3f}%", height=height, class_=named)


def _between(colour: str) -> str:
    """The class of what lies between the least and the most."""
    return f"fill-{colour} stroke-{colour} between"


def _legend(figure: Element, colours: Mapping[str, str]) -> None:
    if colours:
        legend = add(figure, "p", class_="legend")
        for word, colour in colours.items():
            item = add(legend, "span")
            add(item, "span", class_=f"dot back-{colour}")
            add_text(item, one_line(word, _LONGEST_NAME))
