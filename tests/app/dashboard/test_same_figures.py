"""A figure is the same wherever it appears, or the page says why it differs: on pages, and in a report."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import pytest
from msgspec import structs
from tests.app.dashboard.conftest import html_texts
from tests.app.dashboard.page_helpers import data_of, sql
from tests.marking import deep_except

from zscope.app.dashboard.figure_charts import chart_of
from zscope.app.dashboard.pages.handshakes import BY_PLACE as HANDSHAKES_BY_PLACE
from zscope.app.dashboard.pages.posture.posture_page import BY_PLACE as PROTECTION_BY_PLACE
from zscope.app.dashboard.pages.posture.posture_page import QUANTUM_FIGURES
from zscope.app.dashboard.pages.ranking import RANKINGS
from zscope.app.figures.drawn_values import (
    amount_of,
    answer_of,
    drawn_rows,
    estimate_of,
    lines_of,
    name_of,
    not_compared,
    other_lines,
    others_of,
    row_at,
    words_of,
)
from zscope.app.figures.elements import LONGEST
from zscope.app.figures.figure_declarations import FigureDeclaration, declared_figures
from zscope.app.figures.figure_rows import FigureRows, figure_rows
from zscope.app.figures.static_pictures import add_picture
from zscope.app.report.report_sections import glance_figures
from zscope.app.shared.filters import PERIOD_BEFORE, Filters
from zscope.app.shared.plain_texts import one_line
from zscope.app.shared.written_values import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from streamlit.testing.v1 import AppTest
    from tests.app.dashboard.conftest import Open

    from zscope.app.figures.figure_declarations import ChartDeclaration
    from zscope.app.figures.figure_rows import Row

QUERIES: list[dict[str, str]] = [{}, {"system": "SRV1"}]


def tile(page: AppTest, start: str) -> str:
    """Return the value of the first tile whose label starts with a word."""
    return next(str(metric.value) for metric in page.metric if metric.label.startswith(start))


@pytest.mark.parametrize("query", deep_except(QUERIES[:1], QUERIES))
def test_the_resumption_rate_is_the_same_everywhere(
    drawn_page: Open, recorded: Path, query: dict[str, str]
) -> None:
    shown = {
        tile(drawn_page("overview", recorded, query), "Resumed"),
        tile(drawn_page("handshakes", recorded, query), "Resumed handshakes"),
        tile(drawn_page("resumption", recorded, query), "Resumed handshakes"),
    }
    assert len(shown) == 1
    assert "%" in shown.pop()


@pytest.mark.parametrize("query", deep_except(QUERIES[:1], QUERIES))
def test_the_unprotected_share_is_the_same(drawn_page: Open, recorded: Path, query: dict[str, str]) -> None:
    overview = tile(drawn_page("overview", recorded, query), "Unprotected")
    posture = drawn_page("posture", recorded, {**query, "posture_part": "Protection"})
    assert tile(posture, "Unprotected") == overview


def test_failed_handshakes_are_those_of_the_metric(drawn_page: Open, recorded: Path) -> None:
    [(failed, handshakes)] = sql(
        recorded, "SELECT sum(failed_handshakes), sum(handshakes) FROM handshake_mix"
    )
    assert tile(drawn_page("handshakes", recorded), "Failed") == f"{100 * failed / handshakes:.2f} %"


WITHOUT_ROWS = {"expectations-by-kind"}
"""Figures with rows only after `zscope validate`: the tests of their page draw them."""
FIGURES = [figure for figure in declared_figures().values() if figure.chart and figure.id not in WITHOUT_ROWS]
each_figure = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
DRAWN_ELSEWHERE = {"list"}
"""Kinds that are no charts on a screen: a list is text."""


@pytest.fixture
def shown_store(demo: tuple[Path, object]) -> Path:
    """The sample data, which has all kinds of records."""
    return demo[0]


def test_figures_of_pages_say_what_they_need() -> None:
    pages = [
        import_module(f"zscope.app.dashboard.pages.{name}")
        for name in ("overview.overview_page", "tls_price.tls_price_page", "ciphers", "handshakes", "policy",
                     "posture.posture_page", "resumption.resumption_page", "quality.quality_page", "workload",
                     "cpu.cpu_page")
    ]  # fmt: skip
    shown = {shown.figure for page in pages for row in page.FIGURES for card in row for shown in card.shown}
    shown |= {card.figure for row in QUANTUM_FIGURES for card in row}
    shown |= {card.figure for rows in RANKINGS.values() for row in rows for card in row}
    shown |= {*HANDSHAKES_BY_PLACE.values(), *PROTECTION_BY_PLACE.values()}
    shown |= {figure.id for figure in glance_figures()}
    assert len(shown) > 6
    for figure in (declared_figures()[name] for name in shown):
        assert figure.needs.endswith(".")
        assert figure.load.startswith("zscope ")


@cache
def rows_of(store: Path, figure: str) -> FigureRows:
    return figure_rows(data_of(store), declared_figures()[figure], {})


def ends(found: FigureRows) -> list[list[float]]:
    """Return the numbers that a picture draws, from the rows alone: one list for each mark or row."""
    chart = found.figure.chart
    assert chart is not None
    if chart.kind == "lines":
        return [[row[chart.value]] for row in found.rows if row[chart.value] is not None]
    if chart.group or chart.kind == "heat":
        return [[row[chart.value] or 0] for row in found.rows]
    if chart.kind == "dumbbell":
        return [
            [
                row[chart.value] if row[end] is None else row[end]
                for end in (chart.low, chart.value, chart.high)
            ]
            for row in found.rows[: chart.first]
        ]
    if chart.series:
        return [[row[column] or 0 for column in chart.series.values()] for row in found.rows]
    if chart.kind == "waterfall":
        return list(parts(chart, found.rows))
    columns = [chart.low, chart.high] if chart.high else [chart.value]
    rows = [[row[column] or 0 for column in columns] for row in found.rows]
    rows = [row for row in rows if row[-1] or chart.kind == "list"]
    return rows if chart.time else rows[: chart.first]


ANSWERED = {"cost-by-day": ("overview", "tls_price"), "resumption-reasons": ("handshakes", "resumption")}
"""Figures whose answer is said below their question, and the pages that they are on."""


@pytest.mark.parametrize("figure", ANSWERED)
def test_the_answer_of_a_figure_is_the_same_on_pages_and_in_the_report(
    figure: str, drawn_page: Open, world: Path
) -> None:
    found = rows_of(world, figure)
    answer = answer_of(found)
    assert re.search(r"\d", answer)
    for page in ANSWERED[figure]:
        assert answer in html_texts(drawn_page(page, world))
    body = Element("body")
    add_picture(body, found)
    assert answer in [each.text for each in body.iter("p")]


def test_the_first_declared_answer_with_a_row_is_said(world: Path) -> None:
    figure = declared_figures()["cost-by-day"]
    known, *others = figure.answer
    answers = [
        figure_rows(data_of(world), structs.replace(figure, answer=listed), {}).answer
        for listed in ((structs.replace(known, where="false"), *others), others[:1], ())
    ]
    assert answers[0] == answers[1] == rows_of(world, "cost-by-day").answer
    assert answers[0].startswith("AT-TLS policy of 2026-03-")
    assert answers[2] == ""


def test_a_range_without_width_is_written_once() -> None:
    [chart] = [figure.chart for figure in FIGURES if figure.id == "price-by-job"]
    assert chart is not None
    low, value, high = chart.low, chart.value, chart.high
    assert amount_of(chart, {low: -99.81, value: -99.8, high: -99.79}) == "-99.8"
    assert amount_of(chart, {low: 1.0, value: 2.0, high: 3.0}) == "1 to 3, estimate 2"
    assert amount_of(chart, {low: 0.0, value: None, high: 3.0}) == "at most 3"


@pytest.mark.parametrize(
    ("status", "amount", "estimate"),
    [("estimate", "1 to 3, estimate 2", 2.0), ("conditional", "1 to 3", None), ("range", "1 to 3", None)],
)
def test_only_a_value_with_a_narrow_range_is_called_an_estimate(
    status: str, amount: str, estimate: float | None
) -> None:
    [chart] = [figure.chart for figure in FIGURES if figure.id == "price-by-job"]
    assert chart is not None
    row = {chart.low: 1.0, chart.value: 2.0, chart.high: 3.0, "status": status}
    assert amount_of(chart, row) == amount
    assert estimate_of(chart, row) == estimate


def sum_by(found: FigureRows, column: str) -> list[int]:
    """Return the sums of the value of a picture by a column."""
    chart = found.figure.chart
    assert chart is not None
    places = {row[column] for row in found.rows}
    value = chart.value
    return [sum(row[value] or 0 for row in found.rows if value and row[column] == place) for place in places]


def parts(chart: ChartDeclaration, rows: Sequence[Row]) -> Iterator[list[float]]:
    """Return the ends of the bars of a waterfall: each begins at the sum of what is known above it."""
    for place, row in enumerate(rows):
        known = [above for above in rows[:place] if above[chart.value] is not None]
        total = max((number for number, above in enumerate(known) if above[chart.total]), default=0)
        begin = 0 if row[chart.total] else sum(above[chart.value] for above in known[total:])
        if row[chart.value] is None:
            yield [begin + row[chart.low], begin + row[chart.high]]
        else:
            yield sorted([begin, begin + row[chart.value]])


@each_figure
def test_a_screen_draws_the_numbers_of_the_rows(figure: FigureDeclaration, shown_store: Path) -> None:
    found, chart = rows_of(shown_store, figure.id), figure.chart
    assert chart is not None
    assert found.rows
    drawn = chart_of(found)
    assert (drawn is None) == (chart.kind in DRAWN_ELSEWHERE)
    if drawn is None:
        return
    if chart.kind == "strips":
        [days] = drawn.to_dict()["datasets"].values()
        assert sorted((day["what"], day["when"], day["state"]) for day in days) == sorted(
            (f"{row['system']} · {row['source']}", str(row["day"]), row["state"])
            for row in found.rows
            if any(
                (each["system"], each["source"]) == (row["system"], row["source"])
                and each["state"] != "not recorded"
                for each in found.rows
            )
        )
        return
    [marks] = [rows for rows in drawn.to_dict()["datasets"].values() if "begin" in rows[0]][:1]
    lengths = [mark["end"] - mark["begin"] for mark in marks]
    wanted = ends(found)
    if chart.kind == "shares":
        # The amounts are in the words of the marks; the lengths are shares of the sum of their line.
        amounts = [number for line in wanted for number in line if number]
        said = sorted(float(mark["amount"].replace(",", "")) for mark in marks)
        assert said == pytest.approx(sorted(amounts), rel=0.005), "three digits of what is no count"
        assert sum(lengths) == pytest.approx(100 * len({mark["name"] for mark in marks}))
    elif chart.share:
        amounts = [float(mark["amount"].rsplit(", ", 1)[0].replace(",", "")) for mark in marks]
        assert sorted(amounts) == sorted(number for line in wanted for number in line)
        assert sum(lengths) == pytest.approx(100 * len({mark["when"] for mark in marks}))
    elif chart.kind in {"heat", "lines"}:
        assert sorted(lengths) == sorted(number for line in wanted for number in line)
    elif chart.kind == "waterfall":
        assert [[mark["begin"], mark["end"]] for mark in marks] == [pytest.approx(line) for line in wanted]
    elif chart.kind == "dumbbell":
        ends_drawn = [[mark["begin"], mark["value"], mark["end"]] for mark in marks]
        measured = [row[chart.value] is not None for row in found.rows]
        lines = zip(wanted, measured, strict=False)
        assert ends_drawn == [line if is_known else [0, None, 0] for line, is_known in lines]
        for mark, row in zip(marks, found.rows, strict=False):
            if chart.published:
                assert mark["published"] == row[chart.published]
            for end, column in (("least", chart.least), ("most", chart.most)):
                assert not column or row[column] is None or mark[end] == row[column]
    elif chart.kind == "course":
        assert lengths == pytest.approx([number for line in wanted for number in line])
    else:
        assert [mark["end"] for mark in marks] == pytest.approx([line[-1] for line in wanted])
        assert [mark["begin"] for mark in marks] == pytest.approx(
            [line[0] if line[1:] else 0 for line in wanted]
        )


@each_figure
def test_a_report_draws_the_numbers_of_the_rows(figure: FigureDeclaration, shown_store: Path) -> None:
    found, chart = rows_of(shown_store, figure.id), figure.chart
    assert chart is not None
    body = Element("body")
    add_picture(body, found)
    said = " ".join(body.itertext()) + " ".join(each.get("aria-label", "") for each in body.iter())
    if chart.kind == "strips":
        assert all(row["source"] in said for row in found.rows if row["state"] == "complete")
        return
    wanted = ends(found)
    if chart.kind == "lines":
        heights = [float(each.get("cy", "")) for each in body.iter("circle")]
        assert len(heights) == len(wanted)
        # The higher a value, the nearer to the top, in proportion.
        values = sorted((line[0] for line in wanted), reverse=True)
        bottom = min(heights) + values[0] * (max(heights) - min(heights)) / (values[0] - values[-1])
        assert sorted(heights) == [
            pytest.approx(bottom - value * (bottom - min(heights)) / values[0], abs=0.05) for value in values
        ]
        assert all(shown(values[place], chart.value) in said for place in (0, -1))
    elif chart.kind == "heat" or chart.share or (chart.kind == "course" and chart.group):
        drawn = [number for line in wanted for number in line if number]
        assert len([rect for rect in body.iter("rect") if "fill-" in rect.get("class", "")]) == len(drawn)
        sums = sum_by(found, chart.time if chart.kind == "course" else chart.name[0])
        assert chart.share or all(
            shown(int(whole) if whole == int(whole) else whole) in said for whole in sums
        )
    elif chart.kind == "dumbbell":
        circles = [float(each.get("cx", "").rstrip("%")) for each in body.iter("circle")]
        values = [row[chart.value] for row in found.rows[: chart.first] if row[chart.value] is not None]
        assert len(circles) == len(values)
        # Places on the page are in the order of the values, and as far apart in proportion.
        (first, least), (last, most) = (end(zip(circles, values, strict=True)) for end in (min, max))
        for place, value in zip(circles, values, strict=True):
            share = (value - least) / ((most - least) or 1)
            assert place == pytest.approx(first + share * (last - first), abs=0.01)
        assert all(str(row[chart.words]) in said for row in found.rows[: chart.first] if chart.words)
    elif chart.kind == "shares":
        assert all(f"{word} " in said for word in chart.series) or chart.group
        widths = [float(rect.get("width", "").rstrip("%")) for rect in body.iter("rect")]
        assert len(widths) == len([number for line in wanted for number in line if number])
    elif chart.kind == "waterfall":
        for row in found.rows:
            assert shown(row[chart.high if row[chart.value] is None else chart.value], chart.value) in said
        begin, end = min(0, *(line[0] for line in wanted)), max(0, *(line[-1] for line in wanted))
        keys = ("x", "width")
        bars = [[float(rect.get(key, "").rstrip("%")) for key in keys] for rect in body.iter("rect")]
        places = [[low - begin, high - low] for low, high in wanted if high > low]
        assert bars == [
            pytest.approx([100 * place / (end - begin) for place in line], abs=0.001) for line in places
        ]
    else:
        column = chart.high or chart.value
        if any(isinstance(line[-1], str) for line in wanted):
            assert all(f"{line[-1]}" in said for line in wanted)
            return
        for line in wanted:
            whole = sum(line) if chart.series else line[-1]
            assert shown(int(whole) if whole == int(whole) else whole, column) in said
    if chart.kind == "bars":
        rects = [rect for rect in body.iter("rect") if rect.get("class") != "mark"]
        widths = [float(rect.get("width", "").rstrip("%")) for rect in rects]
        assert widths == pytest.approx([100 * line[0] / longest(found) for line in wanted], abs=0.001)


def longest(found: FigureRows) -> float:
    """Return the value at the end of the axis of bars."""
    chart = found.figure.chart
    assert chart is not None
    columns = [name for name in (chart.value, chart.mark) if name]
    return float(max(row[name] or 0 for row in drawn_rows(found) for name in columns))


@pytest.mark.parametrize("name", [figure.id for figure in FIGURES if figure.chart and figure.chart.mark])
def test_a_line_across_a_bar_is_at_its_value(name: str, shown_store: Path) -> None:
    found = rows_of(shown_store, name)
    chart, drawn = found.figure.chart, chart_of(found)
    assert chart is not None
    assert drawn is not None
    marks = [row[chart.mark] for row in drawn_rows(found)]
    [lines, *_] = (rows for rows in drawn.to_dict()["datasets"].values() if "estimate" in rows[0])
    assert [line["estimate"] for line in lines] == marks
    body = Element("body")
    add_picture(body, found)
    drawn_marks = [rect for rect in body.iter("rect") if rect.get("class") == "mark"]
    known = [mark for mark in marks if mark is not None]
    assert known
    assert [float(rect.get("x", "").rstrip("%")) for rect in drawn_marks] == pytest.approx(
        [100 * mark / longest(found) for mark in known], abs=0.005
    )
    assert all(f"(line: {shown(mark, chart.mark)})" in words_of(found) for mark in known)


FIRST = datetime(2026, 3, 11, 23, tzinfo=UTC)  # the clocks of the world are an hour ahead of UTC
CHOSEN = Filters(
    FIRST, FIRST + timedelta(days=2), first_day=date(2026, 3, 12), last_day=date(2026, 3, 13),
    compared_with=PERIOD_BEFORE,
)  # fmt: skip


@pytest.mark.parametrize("name", ["cost-by-day", "cpu-time-over-time", "ports"])
def test_both_draw_the_amounts_of_another_period(name: str, world: Path) -> None:
    found = figure_rows(data_of(world, CHOSEN), declared_figures()[name], {})
    before = figure_rows(data_of(world, CHOSEN.before()), declared_figures()[name], {})
    chart = found.figure.chart
    assert chart is not None
    assert found.compared_with == PERIOD_BEFORE
    if chart.time:
        columns = list(chart.series.values()) or [chart.high]
        wanted = [sum(row[column] or 0 for column in columns) for row in before.rows]
        assert chart.series or all(row[chart.value] is None for row in before.rows)
        assert [time for time, _ in others_of(found)] == [
            row[chart.time] + timedelta(days=2) for row in before.rows
        ]
    else:
        there = {name_of(chart, row): row[chart.value] for row in before.rows}
        wanted = [there[line] for row in drawn_rows(found) if (line := name_of(chart, row)) in there]
    assert wanted
    drawn = chart_of(found)
    assert drawn is not None
    sets = drawn.to_dict()["datasets"].values()
    key = "other" if any("other" in rows[0] for rows in sets) else "begin"
    lines = [[row[key] for row in rows if key in row] for rows in sets]
    assert any(line == pytest.approx(wanted) for line in lines if len(line) == len(wanted))
    body = Element("body")
    add_picture(body, found)
    marks = [each for each in body.iter() if each.get("class") == "other"]
    assert len(marks) == len(wanted) - (1 if chart.time else 0)
    assert f"{PERIOD_BEFORE}: " in words_of(found)
    assert all(shown(int(value) if value == int(value) else value) in words_of(found) for value in wanted)


def test_lines_have_the_same_line_of_another_period(world: Path) -> None:
    figure = declared_figures()["captured-over-time"]
    found = figure_rows(data_of(world, CHOSEN), figure, {})
    before = figure_rows(data_of(world, CHOSEN.before()), figure, {})
    wanted = {
        (f"{row['source']}, {row['system']}", row["time"] + timedelta(days=2), row["captured_pct"])
        for row in before.rows
        if row["captured_pct"] is not None
    }
    lines = other_lines(found)
    assert {(name, each.time, each.value) for name, line in lines.items() for each in line} == wanted
    body = Element("body")
    add_picture(body, found)
    pieces = {(name, each.piece) for name, line in lines.items() for each in line}
    dashed = [each for each in body.iter("line") if each.get("class") == "other"]
    assert len(dashed) == len(wanted) - len(pieces)
    drawn = chart_of(found)
    assert drawn is not None
    sets = drawn.to_dict()["datasets"].values()
    assert any(sorted(row["end"] for row in rows) == sorted(value for *_, value in wanted) for rows in sets)
    assert not not_compared(found)


def test_a_line_breaks_off_where_a_day_is_missing() -> None:
    figure = declared_figures()["captured-over-time"]
    days = [date(2026, 3, day) for day in (1, 2, 4)]
    rows = tuple({"source": "RMF", "system": "SYSA", "time": day, "captured_pct": 90.0} for day in days)
    found = FigureRows(figure=figure, rows=rows, count=3, has_data=True)
    assert [point.piece for point in lines_of(found)["RMF, SYSA"]] == [0, 0, 1]
    body = Element("body")
    add_picture(body, found)
    assert len([each for each in body.iter("line") if each.get("class", "").startswith("stroke-")]) == 1
    assert figure.chart is not None
    assert row_at(found, 0) == rows[0]
    few = structs.replace(figure, chart=structs.replace(figure.chart, first=1))
    more = (*rows, {"source": "RMF", "system": "SYSB", "time": days[0], "captured_pct": 1.0})
    assert [*lines_of(replace(found, figure=few, rows=more))] == ["RMF, SYSA"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("port-hours", "Not compared with the other period (period before)."),
        ("jobs", "Not compared with the other period (period before)."),
        ("ports", ""),
        ("price-by-system", ""),
    ],
)
def test_a_figure_says_that_it_does_not_show_the_other_period(name: str, words: str, world: Path) -> None:
    """A table and a heat do not; what the period does not narrow says that instead."""
    figure = declared_figures()[name]
    figure = structs.replace(figure, chart=None) if name == "jobs" else figure
    found = figure_rows(data_of(world, CHOSEN), figure, {})
    assert found.rows
    assert not_compared(found) == words
    assert bool(words) or found.compared_with or "period" in found.ignored
    assert not not_compared(replace(found, compared_with=""))


def test_a_figure_says_that_the_other_period_has_no_rows(world: Path) -> None:
    found = figure_rows(data_of(world, CHOSEN), declared_figures()["ports"], {})
    assert (
        not_compared(replace(found, others=()))
        == "There are no such rows of the other period (period before)."
    )


def test_without_a_choice_nothing_is_compared(world: Path) -> None:
    found = figure_rows(data_of(world, replace(CHOSEN, compared_with="")), declared_figures()["ports"], {})
    assert found.rows
    assert not others_of(found)


@each_figure
def test_both_say_the_same_to_those_who_cannot_see_it(figure: FigureDeclaration, shown_store: Path) -> None:
    found, chart = rows_of(shown_store, figure.id), figure.chart
    assert chart is not None
    body = Element("body")
    add_picture(body, found)
    labels = [each.get("aria-label", "") for each in body.iter() if each.get("role") == "img"]
    if chart.kind == "strips":
        systems = [label.removeprefix(f"{chart.what}: ").removesuffix(".") for label in labels]
        assert f"{chart.what}: {'; '.join(systems)}." == words_of(found)
    else:
        assert labels == [one_line(words_of(found), LONGEST)] * (chart.kind != "list")
