"""The page about everything at a glance."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest
from tests.app.conftest import Run, deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, html_texts, words
from tests.app.dashboard.page_helpers import data_of, lists_of
from tests.pipelines.metrics.statement_stores import SUBJECTS
from tests.pipelines.stores import plain_client

from zscope.app.dashboard.amounts import amount
from zscope.app.dashboard.drawing import plain
from zscope.app.dashboard.pages.overview.key_figures import unprotected
from zscope.app.dashboard.pages.overview.overview_page import FIGURES, STATEMENT_PAGES
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.report.report_page import STATEMENT_SECTIONS
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path


def _asked(store: Path, sql: str) -> tuple[Any, ...]:
    with plain_client(store) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        row = connection.execute(sql).fetchone()
    assert row is not None
    return row


def test_a_statement_of_every_subject_leads_to_its_evidence_on_a_page_and_in_the_report() -> None:
    assert STATEMENT_PAGES.keys() == STATEMENT_SECTIONS.keys() == {*SUBJECTS}


def test_big_numbers_are_those_of_the_metrics(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world)
    shown = {metric.label: metric.value for metric in page.metric}
    [resumed] = _asked(world, """
        SELECT 100 * sum(resumed_handshakes) / sum(full_handshakes + resumed_handshakes)
        FROM handshake_mix
    """)  # fmt: skip
    [tls13] = _asked(
        world,
        """
        SELECT 100 * sum(connections) FILTER (protocol = 'TLSv1.3') / sum(connections)
        FROM covered_tls_hour WHERE source = 'zERT summary' AND protocol ^@ 'TLS'
    """,
    )
    [unprotected] = _asked(
        world,
        "SELECT 100 * sum(unprotected_connections) / sum(connections) FROM tls_posture "
        "WHERE source = 'zERT summary'",
    )
    low, high = _asked(
        world,
        "SELECT sum(low_cpu_s_per_day), sum(high_cpu_s_per_day) FROM tls_price "
        "WHERE shared_by = 'system' AND part = 'TLS'",
    )
    [ends] = _asked(world, "SELECT min(not_after_utc) FROM certificate_inventory WHERE days_left >= 0")
    assert shown["Resumed"] == f"{resumed:.1f} %"
    assert shown["TLSv1.3"] == f"{tls13:.1f} %"
    assert shown["Unprotected"] == f"{unprotected:.1f} %"
    assert low == 0
    assert shown["TLS CPU cost, a day"] == f"≤ {amount(high, 's')}"
    assert shown["Next certificate"] == f"{ends:%Y-%m-%d}"


def test_its_sentences_are_those_of_the_command(drawn_page: Open, run: Run, world: Path) -> None:
    page = drawn_page("overview", world)
    said = json.loads(run("summary", "--store", world, "--json").stdout)
    assert {each["subject"] for each in said} == {*SUBJECTS}
    for each in said:
        assert plain(each["sentence"], 2000) in words(page)
    links = [link.proto.page for link in page.main.get("page_link")]
    of_figures = [card.page for row in FIGURES for card in row]
    assert links == [*of_figures, *[name for name, _ in STATEMENT_PAGES.values()]]


def test_its_sentences_and_links_follow_the_filters(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world, {"system": "CLI1", "port": "443"})
    bare, every = _asked(world, """
        SELECT sum(unprotected_connections)::BIGINT, sum(connections)::BIGINT
        FROM tls_posture WHERE system = 'CLI1' AND server_port = 443 AND source = 'zERT summary'
    """)  # fmt: skip
    assert f"{bare:,} of {every:,} connections" in words(page).replace("\\", "")
    for link in page.main.get("page_link"):
        assert parse_qs(link.proto.query_string).items() >= {"system": ["CLI1"], "port": ["443"]}.items()


def test_a_chosen_period_is_compared_with_the_one_before(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world, {"period": ["2026-03-09", "2026-03-09"]})
    assert "against 2026-03-02" in words(page).replace("\\", "")


def test_each_question_has_its_figure(drawn_page: Open, demo: tuple[Path, object]) -> None:
    page = drawn_page("overview", demo[0])
    every = [declared_figures()[card.figure] for row in FIGURES for card in row]
    shown = words(page)
    for figure in every:
        assert f"**{figure.question}**" in shown
        assert figure.chart is not None
        assert figure.chart.what in shown
    charts = [figure for figure in every if figure.chart and figure.chart.kind != "list"]
    trends = [chart for chart in page.get("vega_lite_chart") if chart.proto.alt.endswith(", over time")]
    assert len(page.get("vega_lite_chart")) == len(charts) + len(trends)
    assert len(trends) > 2
    rows = {figure.id: figure.chart.first for figure in every if figure.chart and figure not in charts}
    assert len(lists_of(page)) == sum(rows.values())
    assert "▼ marks changes: " in shown


def test_each_figure_says_what_it_rests_on(drawn_page: Open, demo: tuple[Path, object]) -> None:
    page, data = drawn_page("overview", demo[0]), data_of(demo[0])
    for card in (card for row in FIGURES for card in row):
        found = figure_rows(data, declared_figures()[card.figure], {})
        assert found.evidence is not None
        assert any(found.evidence.words in text for text in html_texts(page))


def test_the_rows_of_a_figure_come_with_their_command(open_page: Open, world: Path) -> None:
    page = open_page("overview", world, {"system": "SRV1"})
    page.session_state["price-by-job-more"] = True
    page.run()
    fine(page)
    command = next(code.value for code in page.code if "tls_price" in code.value)
    assert command.startswith("zscope metrics tls_price --where ")
    assert command.endswith("--system SRV1")


def test_filters_of_the_address_narrow_it(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world, {"system": "CLI1", "port": "443"})
    shown = {metric.label: metric.value for metric in page.metric}
    [resumed] = _asked(world, """
        SELECT 100 * sum(resumed_handshakes) / sum(full_handshakes + resumed_handshakes)
        FROM handshake_mix WHERE system = 'CLI1' AND server_port = 443
    """)  # fmt: skip
    assert shown["Resumed"] == f"{resumed:.1f} %"
    assert "Not filtered by port" in words(page)


def test_the_cost_of_systems_stays_where_a_port_is_chosen(drawn_page: Open, world: Path) -> None:
    """A port has no cost of its own in it: the tile keeps that of the systems, and the page says so."""
    page = drawn_page("overview", world, {"system": "CLI1", "port": "443"})
    [tile] = [metric for metric in page.metric if metric.label == "TLS CPU cost, a day"]
    [high] = _asked(
        world,
        "SELECT high_cpu_s_per_day FROM tls_price "
        "WHERE shared_by = 'system' AND part = 'TLS' AND system = 'CLI1'",
    )
    assert tile.value == f"≤ {amount(high, 's')}"
    assert "443" not in tile.help
    assert "Not filtered by port" in words(page)


def test_an_empty_store_shows_how_to_start(drawn_page: Open, empty: Path) -> None:
    page = drawn_page("overview", empty)
    for command in ("zscope ingest", "zscope demo", "zscope generate world"):
        assert command in page.code[0].value
    assert len(page.code[0].value.splitlines()) == 3
    assert not page.metric


@pytest.mark.deep
@pytest.mark.parametrize("store", ["only_rmf", *deep("only_netstat")])
def test_figures_without_data_name_what_they_need(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("overview", request.getfixturevalue(store))
    assert page.metric[0].value == "n/a"
    shown = words(page)
    for name in ("cost-by-day", "price-by-job"):
        assert declared_figures()[name].needs in shown


@pytest.mark.deep
def test_zert_alone_is_enough_for_the_shares(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page("overview", only_zert)
    known = {metric.label: metric.value != "n/a" for metric in page.metric}
    assert known == {
        "TLS CPU cost, a day": False, "Resumed": True, "TLSv1.3": True,
        "Unprotected": True, "Next certificate": True,
    }  # fmt: skip


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    page = drawn_page("overview", hostile, {"job": MARKUP})
    assert MARKUP not in words(page)


@pytest.mark.parametrize(("days", "hourly"), [(31, True), (32, False)])
def test_a_trend_has_hours_up_to_a_month(days: int, hourly: bool, world: Path) -> None:
    end = datetime(2026, 3, 18, tzinfo=UTC)
    figure = unprotected(data_of(world, Filters(begin=end - timedelta(days=days), end=end)))
    assert (len(figure.trend) > days) == hourly
    assert len(figure.trend) > 2
