"""Draw figures on a screen, with Altair; names, amounts and colours are those of every other medium."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from zscope.app.dashboard.style import COLOURS, PUBLISHED, time_axis, time_title
from zscope.app.dashboard.time_axis import UNITS, drawn_at
from zscope.app.figures.drawn_values import (
    FULL,
    SHADES,
    amount_of,
    colour_of,
    colours_of,
    drawn_rows,
    dumbbells,
    estimate_of,
    falls_of,
    heat_lines,
    in_order,
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
    time_of,
    words_of_parts,
)
from zscope.app.figures.figure_declarations import figure_words
from zscope.app.shared.covered_days import HEIGHTS, ONE_DAY, SIGNS, covered_systems, day_blocks
from zscope.app.shared.plain_texts import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

    from zscope.app.dashboard.style import Chart
    from zscope.app.dashboard.time_axis import Span
    from zscope.app.figures.drawn_values import LinePoint
    from zscope.app.figures.figure_declarations import ChartDeclaration, ColourName
    from zscope.app.figures.figure_rows import FigureRows, Row
    from zscope.app.shared.covered_days import CoveredSystem

_ROW_PX, _TWO_LINES_PX, _STRIP_PX, _BELOW_PX = 22, 27, 16, 0
_MOST_DAYS = 10_000
_BETWEEN = " "
"""Begins the names of the places between two periods of days; each is longer by one."""
_STRIP_WIDTH = alt.RelativeBandSize(0.86)
_STRIP_COLUMNS = ("hours_with_loss", "hours_not_recorded", "hours_not_known", "loss")
_LABEL_PX: Mapping[Literal["left", "right"], int] = {"left": 190, "right": 190}
_LONGEST_NAME = 60
_CELL = 0.85
"""Height of a cell, as a part of the height of its line."""
_LINE_CHARACTERS, _LINES = 24, 2
_PIECES = re.compile(r"-?[^\s_-]+[_-]?\s*|\S\s*")
"""A longer name at the left is written in lines."""
_LEGEND_COLUMNS, _LEGEND_COLUMNS_OVER_TIME = 2, 3
_LEGEND_LINE_PX = 24
_AMOUNT_TIP = alt.Tooltip("amount:N", title="Amount")
_TIP = [alt.Tooltip("name:N", title="What"), _AMOUNT_TIP]
_TIME_TIP = [alt.Tooltip("when:N", title="When")]
_HOLLOW = 0.1
"""Opacity of the inside of a bar of which only the bounds are known."""
_GREY = COLOURS["grey"]
_POSSIBLE = 0.35
"""Opacity of what is between the least and the most."""


def chart_of(found: FigureRows) -> Chart | None:
    """Return the chart of a figure; None without a picture or without rows to draw."""
    chart = found.figure.chart
    rows = drawn_rows(found)
    if chart is None or not rows or chart.kind not in _KINDS:
        return None
    drawn = _KINDS[chart.kind](chart, rows, found)
    return _with_others(drawn, found) if chart.time and chart.kind != "lines" else drawn


def _with_others(drawn: Chart, found: FigureRows) -> Chart:
    """The chart with the other period as a dashed line at the same times."""
    points = [
        {
            "time": drawn_at(time).isoformat(),
            "when": time_of(time),
            "begin": amount,
            "amount": number_of(amount),
        }
        for time, amount in others_of(found)
    ]
    if not points:
        return drawn
    line = alt.Chart(alt.InlineData(tuple(points))).mark_line(
        color=_GREY, strokeDash=[4, 3], strokeWidth=1.5, point=alt.OverlayMarkDef(color=_GREY, size=16)
    )
    clock = clock_of(found)
    layered: Chart = alt.layer(
        drawn,
        line.encode(
            x=time_axis("time", time_title(clock), timeUnit=UNITS[clock], bandPosition=0.5),
            y=alt.Y("begin:Q"),
            tooltip=[*_TIME_TIP, alt.Tooltip("amount:N", title=found.compared_with)],
        ),
    )
    return layered


def _bars(chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> Chart:
    lines = [_line(chart, row) | {"begin": 0.0, "end": real(row[chart.value])} for row in rows]
    if chart.mark:
        lines = [line | {"estimate": row[chart.mark]} for line, row in zip(lines, rows, strict=True)]
    return _lines(_compared(chart, rows, lines, found))


def _compared(
    chart: ChartDeclaration, rows: Sequence[Row], lines: list[dict[str, Any]], found: FigureRows
) -> list[dict[str, Any]]:
    """The lines with the amounts of the other period, where there are any."""
    others = dict(others_of(found))
    return [
        line | ({"other": others[name], "there": number_of(others[name])} if name in others else {})
        for line, name in zip(lines, (name_of(chart, row) for row in rows), strict=True)
    ]


def _ranges(chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> Chart:
    lines = [
        _line(chart, row)
        | {
            "begin": real(row[chart.low]),
            "end": real(row[chart.high]),
            "estimate": estimate_of(chart, row),
        }
        for row in rows
    ]
    return _lines(_compared(chart, rows, lines, found), between=True)


def _waterfall(chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> Chart:
    """A bar for each part, which begins where the one above ends; an open one is hollow."""
    return _lines([
        {
            "name": one_line(name_of(chart, row), _LONGEST_NAME), "amount": fall.amount, "begin": fall.begin,
            "end": fall.end, "colour": COLOURS[fall.colour], "filled": _HOLLOW if fall.is_open else 1.0,
        }
        for row, fall in zip(rows, falls_of(chart, rows), strict=True)
    ])  # fmt: skip


def _dumbbell(chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> Chart:
    """A line for each row: what agrees as a pale bar, the published value hollow, and what was measured."""
    ends, drawn = dumbbells(chart, rows)
    lines = tuple(
        _line(chart, row) | asdict(each) | {"place": place}
        for place, (row, each) in enumerate(zip(rows, drawn, strict=True))
    )
    data = alt.InlineData(lines)
    named = alt.Chart(data).encode(y=_labels("left", [line["name"] for line in lines]))
    base = alt.Chart(data).encode(y=alt.Y("place:O", axis=None))
    x = alt.X("least:Q", scale=alt.Scale(domain=list(ends), nice=False, zero=False), title=None,
              axis=alt.Axis(tickCount=5, format=",.3~r", grid=True))  # fmt: skip
    own = alt.Color("colour:N", scale=None, legend=None)
    agrees = named.mark_bar(size=13, opacity=0.3, color=PUBLISHED).encode(x=x, x2=alt.X2("most:Q"))
    zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=COLOURS["grey"]).encode(x=alt.X("zero:Q"))
    published = base.transform_filter("isValid(datum.published)").mark_point(
        shape="diamond", size=70, strokeWidth=2, color=PUBLISHED, opacity=1
    ).encode(x=alt.X("published:Q"))  # fmt: skip
    measured = base.transform_filter("isValid(datum.value)")
    interval = measured.mark_rule(strokeWidth=2).encode(x=alt.X("begin:Q"), x2=alt.X2("end:Q"), color=own)
    values = measured.mark_point(filled=True, size=55, opacity=1).encode(x=alt.X("value:Q"), color=own)
    # Above everything else, so that the whole row can be clicked.
    whole = base.mark_rect(opacity=0).encode(tooltip=_TIP)
    words = [line["amount"] for line in lines]
    amounts = alt.Chart(data).mark_bar(opacity=0).encode(y=_labels("right", words), x=alt.value(0))
    height = alt.Step(_line_px([*(line["name"] for line in lines), *words]))
    layers: Chart = alt.layer(
        agrees, zero, published, interval, values, whole, amounts, height=height
    ).resolve_axis(y="independent")
    return layers


def _line(chart: ChartDeclaration, row: Row) -> dict[str, Any]:
    name = one_line(name_of(chart, row), _LONGEST_NAME)
    return {"name": name, "amount": amount_of(chart, row), "colour": COLOURS[colour_of(chart, row)]}


def _lines(lines: Sequence[Mapping[str, Any]], *, between: bool = False) -> Chart:
    """One line for each row: its name at the left, a bar, and its amount at the right."""
    placed = tuple({**line, "place": place} for place, line in enumerate(lines))
    least = min(0.0, *(line["begin"] for line in lines))
    most = max(max(line["end"], line.get("other", 0.0), line.get("estimate") or 0.0) for line in lines)
    x = alt.X("begin:Q", scale=alt.Scale(domain=[least, most or 1.0], nice=False), axis=None)
    base = alt.Chart(alt.InlineData(placed)).encode(y=_labels("left", [line["name"] for line in lines]))
    colour = {"color": alt.Color("colour:N", scale=None, legend=None)}
    bars = _possible(base, size=13) if between else base.mark_bar(size=13).encode(**colour)
    bars = bars.encode(x=x, x2=alt.X2("end:Q"), tooltip=_TIP)
    if any("filled" in line for line in lines):
        bars = bars.encode(
            fillOpacity=alt.FillOpacity("filled:Q", scale=None, legend=None),
            stroke=alt.Stroke("colour:N", scale=None, legend=None),
        )
    estimates = (
        base.transform_filter("isValid(datum.estimate)")
        .mark_tick(thickness=3, size=17)
        .encode(x=alt.X("estimate:Q"), tooltip=_TIP)
    )
    amounts = (
        alt.Chart(alt.InlineData(placed))
        .mark_bar(opacity=0)
        .encode(y=_labels("right", [line["amount"] for line in lines]), x=alt.value(0))
    )
    known = any(line.get("estimate") is not None for line in lines)
    marks = [estimates] if known else []
    if any("other" in line for line in lines):
        hollow = base.transform_filter("isValid(datum.other)").mark_point(color=_GREY, size=60, strokeWidth=2)
        tips = [alt.Tooltip("name:N", title="What"), alt.Tooltip("there:N", title="Other period")]
        marks.append(hollow.encode(x=alt.X("other:Q"), tooltip=tips))
    words = [line[beside] for line in lines for beside in ("name", "amount")]
    return _in_lines([bars, *marks, amounts], len(lines), words)


def _possible(base: alt.Chart, **mark: Any) -> alt.Chart:  # noqa: ANN401 - Altair's own
    """Return bars for ranges: a translucent fill with a solid outline."""
    chart: alt.Chart = base.mark_bar(fillOpacity=_POSSIBLE, strokeWidth=1, **mark).encode(
        fill=alt.Fill("colour:N", scale=None, legend=None),
        stroke=alt.Stroke("colour:N", scale=None, legend=None),
    )
    return chart


def _in_lines(layers: Sequence[alt.Chart], number: int, words: Iterable[str]) -> Chart:
    """Return a layered chart with `number` rows. Rows are taller if the label of any row wraps."""
    chart: Chart = alt.layer(
        *layers, height=_line_px(words) * number, padding={"bottom": _BELOW_PX},
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    ).resolve_axis(y="independent")  # fmt: skip
    return chart


def _line_px(words: Iterable[str]) -> int:
    return _TWO_LINES_PX if any(len(_in_two_lines(text)) > 1 for text in words) else _ROW_PX


def _labels(side: Literal["left", "right"], words: Sequence[str]) -> alt.Y:
    """The words of lines, in their order, at one side."""
    written = [_in_two_lines(text) for text in words]
    return alt.Y(
        "place:O",
        title=None,
        axis=alt.Axis(
            orient=side, labelExpr=f"({json.dumps(written)})[datum.value]",
            labelLimit=_LABEL_PX[side], labelFontSize=12, labelLineHeight=12, labelPadding=6,
            labelOverlap=False, labelFlush=False, ticks=False, domain=False, grid=False,
        ),
    )  # fmt: skip


def _in_two_lines(text: str) -> list[str]:
    """Break a text after a space, hyphen or underscore; an ellipsis stands for the rest.

    >>> _in_two_lines("TLSv1.2, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")
    ['TLSv1.2, TLS_ECDHE_RSA_', 'WITH_AES_256_GCM_SHA384']
    >>> _in_two_lines("significantly lower → -37.4 %")
    ['significantly lower →', '-37.4 %']
    >>> _in_two_lines("port 443"), _in_two_lines("")
    (['port 443'], [''])
    >>> _in_two_lines("one line of a text, another line of it, and one that no line has room for")
    ['one line of a text,', 'another line of it, and…']
    """
    lines = [""]
    for piece in _PIECES.findall(text):
        if lines[-1] and len(f"{lines[-1]}{piece}".rstrip()) > _LINE_CHARACTERS:
            lines.append("")
        lines[-1] += piece
    shown = [line.rstrip() for line in lines[:_LINES]]
    return [*shown[:-1], f"{shown[-1]}…"] if len(lines) > _LINES else shown


def _shares(chart: ChartDeclaration, rows: Sequence[Row], _: FigureRows) -> Chart:
    """One line for each name, divided by its words."""
    amounts = shares_of(chart, rows)
    colours = colours_of(in_order([word for line in amounts.values() for word in line]))
    pieces = []
    for place, (name, line) in enumerate(amounts.items()):
        begin, whole = 0.0, sum(line.values())
        for word in colours:
            end = begin + percent(line.get(word, 0.0), whole)
            if end > begin:
                amount = number_of(line[word])
                share = f"{percent(line[word], whole):.1f} %"
                pieces.append({
                    "place": place, "name": name, "word": word, "begin": begin, "end": end, "amount": amount,
                    "share": share,
                })  # fmt: skip
            begin = end
    names = [one_line(name, _LONGEST_NAME) for name in amounts]
    data = alt.InlineData(tuple(pieces))
    bars = (
        alt.Chart(data)
        .mark_bar(size=13)
        .encode(
            y=_labels("left", names),
            x=alt.X("begin:Q", scale=alt.Scale(domain=[0, FULL]), axis=None),
            x2=alt.X2("end:Q"),
            color=_legend(colours),
            tooltip=[
                alt.Tooltip("name:N", title="Of"),
                alt.Tooltip("word:N", title="What"),
                alt.Tooltip("amount:N", title="Number"),
                alt.Tooltip("share:N", title="Share"),
            ],
        )
    )
    sums = [number_of(sum(line.values())) for line in amounts.values()]
    totals = alt.Chart(data).mark_bar(opacity=0).encode(y=_labels("right", sums), x=alt.value(0))
    return _in_lines([bars, totals], len(amounts), [*names, *sums])


def _course(chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> Chart:
    """Columns of parts on each other."""
    colours = words_of_parts(chart, rows)
    pieces = [{**part._asdict(), **_when(part.time)} for part in parts_of(chart, rows)]
    columns = (
        _columns(pieces, found, FULL if chart.share else None)
        .mark_bar()
        .encode(
            color=_legend(colours, _LEGEND_COLUMNS_OVER_TIME),
            tooltip=[*_TIME_TIP, alt.Tooltip("word:N", title="What"), _AMOUNT_TIP],
        )
    )
    lines = -(-len(colours) // _LEGEND_COLUMNS_OVER_TIME)
    drawn: Chart = alt.layer(columns, height=chart.height + _LEGEND_LINE_PX * lines)
    return drawn


def _over_time_lines(chart: ChartDeclaration, _: Sequence[Row], found: FigureRows) -> Chart:
    """A line for each name with its points; the same lines of the other period are dashed."""
    lines = lines_of(found)
    colours = colours_of(list(lines))
    base = _of_lines(lines, found).encode(
        color=_legend(colours, _LEGEND_COLUMNS_OVER_TIME),
        tooltip=[alt.Tooltip("word:N", title="What"), *_TIME_TIP, _AMOUNT_TIP],
    )
    layers = [base.mark_line(strokeWidth=1.5), base.mark_point(filled=True, size=20, opacity=1)]
    if others := other_lines(found):
        tips = [alt.Tooltip("word:N", title="What"), *_TIME_TIP]
        layers.append(
            _of_lines(others, found)
            .mark_line(strokeDash=[4, 3], strokeWidth=1.5, color=_GREY)
            .encode(tooltip=[*tips, alt.Tooltip("amount:N", title=found.compared_with)])
        )
    rows = -(-len(colours) // _LEGEND_COLUMNS_OVER_TIME)
    drawn: Chart = alt.layer(*layers, height=chart.height + _LEGEND_LINE_PX * rows)
    return drawn


def _of_lines(lines: Mapping[str, Sequence[LinePoint]], found: FigureRows) -> alt.Chart:
    places = {name: place for place, name in enumerate(lines_of(found))}
    points = tuple(
        {
            **_when(point.time),
            "place": places[name],
            "word": name,
            "begin": 0.0,
            "end": point.value,
            "amount": point.amount,
            "piece": f"{name} {point.piece}",
        }
        for name, line in lines.items()
        for point in line
    )
    clock = clock_of(found)
    chart: alt.Chart = alt.Chart(alt.InlineData(points)).encode(
        x=time_axis("time", time_title(clock)),
        y=alt.Y("end:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=",.3~r")),
        detail=alt.Detail("piece:N"),
    )
    return chart


def _heat(chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> Chart:
    """A line for each name with a cell for each time, the darker the more; its sum and share at the right."""
    lines, most = heat_lines(chart, rows), max(real(row[chart.value]) for row in rows)
    names = [one_line(line.name, _LONGEST_NAME) for line in lines]
    sums = [line.amount for line in lines]
    cells = [
        _when(row[chart.time])
        | {"place": place, "name": line.name, "begin": 0, "end": real(row[chart.value])}
        | {"amount": amount_of(chart, row), "shade": shade_of(real(row[chart.value]), most) / SHADES}
        for place, line in enumerate(lines)
        for row in line.rows
    ]
    clock = clock_of(found)
    base = alt.Chart(alt.InlineData(tuple(cells)))
    drawn = base.mark_rect(color=COLOURS["blue"], height=alt.RelativeBandSize(_CELL)).encode(
        x=time_axis("time", time_title(clock), timeUnit=UNITS[clock]),
        y=_labels("left", names),
        opacity=alt.Opacity("shade:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        tooltip=[alt.Tooltip("name:N", title="What"), *_TIME_TIP, _AMOUNT_TIP],
    )
    totals = base.mark_bar(opacity=0).encode(y=_labels("right", sums), x=alt.value(0))
    height = alt.Step(_line_px([*names, *sums]))
    whole: Chart = alt.layer(drawn, totals, height=height).resolve_axis(y="independent")
    return whole


def _band(chart: ChartDeclaration, rows: Sequence[Row], found: FigureRows) -> Chart:
    """Columns from the least to the most, with a line at the estimate."""
    pieces = [
        _when(row[chart.time])
        | {
            "begin": real(row[chart.low]),
            "end": real(row[chart.high]),
            "estimate": estimate_of(chart, row),
            "amount": amount_of(chart, row),
            "colour": COLOURS[colour_of(chart, row)],
        }
        for row in rows
        if row[chart.high] is not None
    ]
    base = _columns(pieces, found)
    tips = [*_TIME_TIP, _AMOUNT_TIP]
    columns = _possible(base).encode(tooltip=tips)
    estimates = (
        base.transform_filter("isValid(datum.estimate)")
        .mark_bar(strokeWidth=3)
        .encode(
            y=alt.Y("estimate:Q"), y2=alt.Y2("estimate:Q"), stroke=alt.value(COLOURS["blue"]), tooltip=tips
        )
    )
    known = any(piece["estimate"] is not None for piece in pieces)
    drawn: Chart = alt.layer(columns, *([estimates] if known else []), height=chart.height)
    return drawn


def _strips(_: ChartDeclaration, rows: Sequence[Row], __: FigureRows) -> Chart:
    """The days of each source of each system, a bar or a sign for each day."""
    systems = covered_systems(rows)
    pieces = [
        {
            "what": f"{system.system} · {source.source}", "when": time_of(row["day"]), "state": row["state"],
            "colour": COLOURS[figure_words().colours.get(row["state"], "blue")],
            **{name: row[name] for name in _STRIP_COLUMNS},
        }
        for system in systems for source in system.recorded for row in source.rows
    ]  # fmt: skip
    label = "trim(datum.value) ? utcFormat(toDate(datum.value), '%d %b') : ''"
    base = alt.Chart(alt.InlineData(tuple(pieces))).encode(
        x=alt.X("when:O", title="Day (local)", scale=alt.Scale(domain=_days(systems)),
                axis=alt.Axis(orient="top", labelExpr=label, labelAngle=0, labelOverlap="greedy",
                              labelFlush=False, ticks=False)),
        y=alt.Y("what:N", title=None, sort=in_order([piece["what"] for piece in pieces]),
                axis=alt.Axis(labelLimit=_LABEL_PX["left"], labelOverlap=False, labelFlush=False,
                              ticks=False, domain=False)),
        color=alt.Color("colour:N", scale=None, legend=None),
        tooltip=[alt.Tooltip("what:N", title="Source"), *_TIME_TIP, alt.Tooltip("state:N", title="State"),
                 alt.Tooltip("hours_with_loss:Q", title="Hours lost or partial"),
                 alt.Tooltip("hours_not_recorded:Q", title="Hours not recorded"),
                 alt.Tooltip("hours_not_known:Q", title="Hours not known"),
                 alt.Tooltip("loss:N", title="Why")],
    )  # fmt: skip
    marks = [
        _of_state(base, state).mark_rect(height=alt.RelativeBandSize(height), width=_STRIP_WIDTH)
        for state, height in HEIGHTS.items()
    ]
    marks += [
        _of_state(base, state).mark_text(text=sign, fontSize=13, fontWeight="bold")
        for state, sign in SIGNS.items()
    ]
    drawn: Chart = alt.layer(*marks, height=alt.Step(_STRIP_PX))
    return drawn


def _of_state(base: alt.Chart, state: str) -> alt.Chart:
    chart: alt.Chart = base.transform_filter(alt.datum.state == state)
    return chart


def _days(systems: Sequence[CoveredSystem]) -> list[str]:
    """The days in order, with a place between two that are far apart."""
    days = sorted({day for system in systems for day in system.days})
    places: list[str] = []
    for number, (begin, length) in enumerate(day_blocks(days, _MOST_DAYS)):
        places += [_BETWEEN * number] if number else []
        places += [time_of(begin + index * ONE_DAY) for index in range(length)]
    return places


def clock_of(found: FigureRows) -> Span:
    """Return what a row of a figure over time is: an hour in UTC, or a local day."""
    return "hour_utc" if found.hourly else "day"


def _when(time: date) -> dict[str, Any]:
    return {"time": drawn_at(time).isoformat(), "when": time_of(time)}


def _columns(pieces: Sequence[Mapping[str, Any]], found: FigureRows, most: float | None = None) -> alt.Chart:
    """Columns over time, as wide as their hour or day."""
    clock = clock_of(found)
    written = "datum.label + ' %'" if most else "datum.label"
    chart: alt.Chart = alt.Chart(alt.InlineData(tuple(pieces))).encode(
        x=time_axis("time", time_title(clock), timeUnit=UNITS[clock], bandPosition=0.5),
        y=alt.Y("begin:Q", title=None, scale=alt.Scale(domainMax=most) if most else alt.Scale(),
                axis=alt.Axis(tickCount=4, format=",.3~r", labelExpr=written)),
        y2=alt.Y2("end:Q"),
    )  # fmt: skip
    return chart


def _legend(colours: Mapping[str, ColourName], columns: int = _LEGEND_COLUMNS) -> alt.Color:
    scale = alt.Scale(domain=list(colours), range=[COLOURS[name] for name in colours.values()])
    legend = alt.Legend(orient="bottom", title=None, columns=columns, labelLimit=0, offset=6)
    return alt.Color("word:N", scale=scale, legend=legend)


_KINDS: Mapping[str, Callable[[ChartDeclaration, Sequence[Row], FigureRows], Chart]] = {
    "bars": _bars, "ranges": _ranges, "shares": _shares, "course": _course, "lines": _over_time_lines,
    "heat": _heat, "band": _band, "waterfall": _waterfall, "dumbbell": _dumbbell, "strips": _strips,
}  # fmt: skip
"""A list is no chart: `figure_cards` draws it."""
