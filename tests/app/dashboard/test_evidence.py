"""What stands below a figure is read from its rows, and its texts are never markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import fromstring

import pytest
import streamlit as st
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard import figure_lists
from zscope.app.figures.evidence import SIGNS, FigureEvidence, evidence_of
from zscope.app.figures.figure_declarations import ChartDeclaration, FigureDeclaration, declared_figures
from zscope.app.figures.figure_rows import FigureRows, figure_rows

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "\"><script>alert(1)</script>'<img src=x onerror=alert(1)>&lt;"


def test_every_kind_of_evidence_has_a_sign() -> None:
    assert set(SIGNS.values()) == {*"●◐○◇"}
    assert FigureEvidence(("counted",)).words == ""
    assert FigureEvidence(("counted",), ("GSKSRVR",)).words == "● counted · GSKSRVR"
    assert FigureEvidence(("range", "published"), ("a", "b"), (50.0, 50.0)).words == (
        "◐ range, ◇ published · a, b · 50 % of time"
    )


def test_details_that_cover_a_part_of_the_hours_say_so(world: Path) -> None:
    data = data_of(world)
    [covered] = data.metric("handshake_mix", [])["covered_pct"].to_pylist()
    assert 0 < covered < 50
    assert evidence_of(data, "handshake_mix", "") == FigureEvidence(
        ("counted",), ("zERT detail",), (covered, covered)
    )


def test_the_weakest_status_of_a_price_is_named(world: Path) -> None:
    statuses = {status for (status,) in sql(world, "SELECT DISTINCT status FROM tls_price")}
    known = statuses - {"not enough data"} or statuses
    assert {*evidence_of(data_of(world), "tls_price", "").kinds} == known


def test_a_figure_by_day_rests_on_the_days_that_it_shows(world: Path) -> None:
    """Too few hours of the whole time are no sign of the days that have enough."""
    data = data_of(world)
    days = data.found("tls_price_day", "SELECT status, covered_pct FROM found").to_pylist()
    known = [day for day in days if day["status"] != "not enough data"]
    assert known
    found = figure_rows(data, declared_figures()["cost-by-day"], {}).evidence
    assert found is not None
    assert {*found.kinds} == {day["status"] for day in known}
    covered = [day["covered_pct"] for day in known]
    assert found.covered_pct == (min(covered), max(covered))


def test_a_metric_with_published_results_says_so(world: Path) -> None:
    assert evidence_of(data_of(world), "benchmark", "").kinds == ("published",)
    assert evidence_of(data_of(world), "resumption_rate", "").kinds == ("counted",)


@pytest.mark.parametrize(
    "figure", [each for each in declared_figures().values() if each.metric], ids=lambda each: each.id
)
def test_every_figure_with_rows_rests_on_something(figure: FigureDeclaration, world: Path) -> None:
    found = figure_rows(data_of(world), figure, {})
    assert (found.evidence is not None) == bool(found.rows)


def test_lists_and_answers_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[str] = []
    monkeypatch.setattr(st, "html", bodies.append)
    row: dict[str, Any] = {"name": HOSTILE, "note": HOSTILE, "severity": HOSTILE, "count": 7}
    chart = ChartDeclaration(
        kind="list", what="Items", name=("name",), note="note", value="count", colour="severity"
    )
    figure = FigureDeclaration(id="x", title="X", columns=(), order="name", query="x", chart=chart)
    figure_lists.draw_list(FigureRows(figure=figure, rows=(row,), count=1, has_data=True))
    figure_lists.draw_texts(HOSTILE, HOSTILE)
    figure_lists.draw_texts()
    listed, texts = (fromstring(body) for body in bodies)
    assert [text for text in listed.itertext() if text.strip()] == [HOSTILE, "7", HOSTILE]
    assert [text for text in texts.itertext() if text.strip()] == [HOSTILE, HOSTILE]
    assert {each.tag for root in (listed, texts) for each in root.iter()} == {"ul", "li", "span", "div", "p"}
