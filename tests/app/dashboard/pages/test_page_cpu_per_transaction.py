"""The page about CPU time per transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, words
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard.drawing import number
from zscope.app.dashboard.pages.cpu_per_transaction import (
    FIGURES,
    MEASURES,
    WAYS,
    busiest,
    figures_of,
    tile_figures,
)
from zscope.app.figures.figure_rows import figure_rows

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "cpu_per_transaction"
WAY = f"{PAGE}_counted_by"


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_counting_has_its_own_numbers(way: str, drawn_page: Open, world: Path) -> None:
    [(transactions,)] = sql(
        world,
        f"SELECT sum(transactions) FROM cpu_per_transaction WHERE counted_by = '{way}' AND job_name IS NULL",
    )
    page = drawn_page(PAGE, world, {WAY: way})
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Transactions"] == number(transactions, 0)
    assert shown.keys() == tile_figures(way).keys()
    assert f"Counted by {way}" in words(page)


def test_each_figure_has_rows_of_one_way_of_counting(world: Path) -> None:
    data = data_of(world)
    systems = busiest(data, "connections ended")
    assert len(systems) > 1
    for measure in MEASURES:
        cards = [card for row in figures_of("connections ended", measure, systems) for card in row]
        for card in cards:
            found = figure_rows(data, card.declaration, {})
            assert found.rows or "system" in card.where, card
            assert {row.get("counted_by", "connections ended") for row in found.rows} <= {"connections ended"}


def test_it_draws_time_and_runs(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world)
    described = [chart.proto.alt for chart in page.get("vega_lite_chart")]
    assert sum("a line at the median" in words for words in described) > 1
    assert any("95 % interval" in words for words in described)
    assert page.button_group(key=f"{PAGE}_workload").options == ["CRR", "RR", "STR", "Other"]


def test_the_median_of_a_day_is_that_of_its_intervals(world: Path) -> None:
    [card] = [
        card
        for row in figures_of("connections ended", "CPU per transaction", ["SRV1"])
        for card in row
        if card.title
    ]
    found = figure_rows(data_of(world), card.declaration, {})
    assert found.rows
    for row in found.rows:
        assert row["low_cpu_us"] <= row["cpu_us"] <= row["high_cpu_us"]
    [(median,)] = sql(
        world,
        "SELECT median(1e6 * matched_cpu_s / coalesce(own_transactions, matched_connections)) FROM "
        "cpu_per_transaction WHERE counted_by = 'connections ended' AND job_name IS NULL AND "
        f"system = 'SRV1' AND (interval_start_utc + INTERVAL 1 HOUR)::DATE = '{found.rows[0]['time']}' "
        "AND coalesce(own_transactions, matched_connections) > 0",
    )
    assert found.rows[0]["cpu_us"] == pytest.approx(median)


def test_runs_are_drawn_with_their_intervals(world: Path) -> None:
    card = FIGURES[0][0].choices["RR"]
    shown = figure_rows(data_of(world), card.declaration, {}).rows
    expected = {
        (row["name"], row["role"]): row
        for row in data_of(world).metric("run_result", where="measure = 'cpu_per_tran'").to_pylist()
        if row["workload_kind"] == "RR"
    }
    assert len(shown) == len(expected) == 60
    for row in shown:
        assert row["value"] == expected[row["name"], row["role"]]["value"]
        assert row["low"] < row["value"] < row["high"]


def test_the_peak_interval_is_named(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world)
    shown = next(frame.value for frame in page.dataframe if "peak_start_utc" in frame.value.columns)
    assert {"CPU time", "handshakes"} <= set(shown["measure"])


def test_a_filter_without_effect_is_named(drawn_page: Open, world: Path) -> None:
    assert "Not filtered by role" in words(drawn_page(PAGE, world, {"role": "client"}))


@pytest.mark.deep
def test_a_period_without_runs_is_reported(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world, {"period": ["2026-03-09", "2026-03-09"]})
    assert "zscope runs propose" in words(page)


def test_an_empty_store_shows_what_to_load(drawn_page: Open, empty: Path) -> None:
    shown = words(drawn_page(PAGE, empty))
    for said in (
        "There is no CPU time",
        "There are no transactions",
        "There are no benchmark runs",
        "'70(1)'",
        "'119(2,11)'",
    ):
        assert said in shown


@pytest.mark.deep
def test_cpu_data_alone_has_no_transactions(drawn_page: Open, only_rmf: Path) -> None:
    shown = words(drawn_page(PAGE, only_rmf))
    assert "There are no transactions" in shown
    assert "There is no CPU time" not in shown


@pytest.mark.deep
def test_transactions_alone_have_no_cpu_time(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page(PAGE, only_zert)
    assert "There is no CPU time" in words(page)
    assert "'70(1)'" in words(page)
    assert page.metric[0].value == "n/a"


@pytest.mark.deep
def test_displays_have_neither_cpu_time_nor_transactions(drawn_page: Open, only_netstat: Path) -> None:
    shown = words(drawn_page(PAGE, only_netstat))
    assert "There are no transactions" in shown
    assert "There is no CPU time" in shown


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    shown = words(drawn_page(PAGE, hostile))
    assert MARKUP not in shown
    assert "<script>" not in shown
    assert "**yyyy" not in shown
