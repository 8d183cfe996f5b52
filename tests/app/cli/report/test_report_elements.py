"""Tables and pictures of a report: hostile texts are texts, and every value has its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from tests.app.report_reading import ReportReader

from zscope.app.figures.elements import LONGEST, add, document, written
from zscope.app.figures.figure_declarations import ChartDeclaration, FigureDeclaration
from zscope.app.figures.figure_rows import FigureRows, plain_rows
from zscope.app.figures.static_pictures import add_picture
from zscope.app.report.report_tables import add_table

HOSTILE = (
    "\"><script>alert(1)</script></title></style>'<img src=x onerror=alert(1)> javascript:alert(1) &lt; "
    "\u202egnp.exe\u2066\u200f\x1b[31m\x00\r\n\ufeff" + "W" * 5000
)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
CHARTS = {
    "bars": ChartDeclaration(kind="bars", what="Bars", name=("text",), value="count", colour="text"),
    "ranges": ChartDeclaration(
        kind="ranges", what="Ranges", name=("text",), low="low", high="high", value="real"
    ),
    "shares": ChartDeclaration(kind="shares", what="Shares", name=("text",), group="text", value="count"),
    "course": ChartDeclaration(kind="course", what="Course", time="time", series={HOSTILE: "count"}),
}


def row(number: int, **changes: object) -> dict[str, Any]:
    values = {
        "text": HOSTILE,
        "count": number,
        "real": 10.0 * number,
        "low": 5.0 * number,
        "high": 20.0 * number,
        "time": NOON + timedelta(hours=number),
        "list": [HOSTILE, "b"],
        "empty": None,
    }
    return {**values, **changes}


def drawn(chart: ChartDeclaration, *rows: dict[str, Any]) -> ReportReader:
    """Draw a picture and its table on a page, and read the page."""
    figure = FigureDeclaration(
        id="part", title="Part", columns=("text",), order="text", query="x", chart=chart
    )
    root, body = document(HOSTILE, {}, "default-src 'none'", "")
    add_picture(body, FigureRows(figure=figure, rows=rows, count=len(rows), has_data=True, hourly=True))
    if rows:
        add_table(body, list(rows[0]), rows, data_part="part")
    return ReportReader(written(root))


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_hostile_texts_are_texts(chart: ChartDeclaration) -> None:
    read = drawn(chart, row(1), row(2), row(4))
    assert not read.tags & {"script", "img"}
    assert not [name for _, name, _ in read.attributes if name.startswith("on")]
    [first, *_] = read.tables["part"].rows
    assert first["Text"].text.startswith('"><script>alert(1)</script></title>')
    assert len(first["Text"].text) <= LONGEST
    assert "\u202e" not in read.text
    assert "\x1b" not in read.text
    assert "rect" in read.tags


def test_bars_are_as_long_as_their_numbers() -> None:
    read = drawn(CHARTS["bars"], row(1), row(2), row(4), row(0))
    widths = [value for tag, name, value in read.attributes if (tag, name) == ("rect", "width")]
    assert widths == ["25.000%", "50.000%", "100.000%"]


def test_a_range_begins_at_the_least_and_has_a_mark_at_the_estimate() -> None:
    read = drawn(CHARTS["ranges"], row(2), row(1, real=None), row(1, low=None, high=None, real=None))
    places = [value for tag, name, value in read.attributes if (tag, name) == ("rect", "x")]
    assert places == ["25.000%", "50.00%", "12.500%"]
    assert "10 to 40, estimate 20" in read.text
    assert "not known" in read.text


def test_times_without_a_row_stay_empty() -> None:
    read = drawn(CHARTS["course"], row(0, count=3), row(3, count=1), row(2, time=None))
    places = [value for tag, name, value in read.attributes if (tag, name) == ("rect", "x")]
    assert places == ["2.500%", "77.500%"]


def test_a_strip_has_a_mark_for_each_day_and_sentences() -> None:
    states = ["complete", "partial", "lost", "not known", "not recorded"]
    days = [
        {
            "system": HOSTILE, "source": "119-11", "day": NOON.date() + timedelta(days=number),
            "state": state, "loss": HOSTILE if state == "lost" else None, "hours": 24, "covered_hours": 6.0,
            "hours_with_loss": 24 * (state == "lost"), "hours_not_recorded": 0, "hours_not_known": 0,
        }
        for number, state in enumerate(states)
    ]  # fmt: skip
    read = drawn(ChartDeclaration(kind="strips", what="Strips"), *days)
    heights = [value for tag, name, value in read.attributes if (tag, name) == ("rect", "height")]
    assert heights == ["11.8", "5.9", "1.1"]
    assert "✕?" in read.text
    assert "25.0 % covered" in read.text
    assert "24 hours of 119-11 are lost or partial, on 2026-03-04: " in read.text
    assert not read.tags & {"script", "img"}


def test_without_anything_to_draw_there_is_no_picture() -> None:
    for chart in CHARTS.values():
        assert "figure" not in drawn(chart).tags
    assert "figure" not in drawn(CHARTS["bars"], row(0)).tags


def test_a_number_has_all_its_digits_and_a_missing_one_no_place() -> None:
    read = drawn(CHARTS["bars"], row(1, real=1 / 3))
    [line] = read.tables["part"].rows
    assert (line["Real"].text, line["Real"].value) == ("0.333", repr(1 / 3))
    assert (line["Empty"].text, line["Empty"].value) == ("", None)
    assert line["Local day, or hour (UTC)"].text == "2026-03-02 13:00:00"


def test_dates_without_end_are_texts() -> None:
    table = pa.table(
        {"day": pa.array([2**31 - 1], pa.date32()), "moment": pa.array([-(2**63) + 1], pa.timestamp("us"))}
    )
    assert plain_rows(table) == [{"day": "infinity", "moment": "-infinity"}]


def test_attributes_and_texts_are_cut_and_in_one_line() -> None:
    root, body = document("title", {}, "", "")
    add(body, "p", HOSTILE, aria_label=HOSTILE)
    page = written(root).decode()
    assert "W" * (LONGEST + 1) not in page
    assert "\r" not in page
