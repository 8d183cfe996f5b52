"""The page about the TLS CPU cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, fine, words
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard.drawing import number, plain
from zscope.app.dashboard.pages.tls_price.tls_price_page import FIGURES, ROWS
from zscope.app.dashboard.pages.tls_price.what_if import priced_systems, what_if_sentence
from zscope.app.figures.drawn_values import falls_of, name_of
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.shared.filters import Filters
from zscope.app.shared.shown_statements import STATEMENT, shown_sql
from zscope.pipelines.estimate.what_if import PriceRange

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from zscope.app.figures.figure_rows import FigureRows

PAGE = "tls_price"


def tiles(page: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in page.metric}


def rows_of(store: Path, figure: str, filters: Filters | None = None) -> FigureRows:
    return figure_rows(data_of(store, filters), declared_figures()[figure], {})


def test_its_first_figures_are_the_total_the_trend_the_payers_and_why_it_moved(
    drawn_page: Open, world: Path
) -> None:
    page = drawn_page(PAGE, world)
    [(most,)] = sql(
        world,
        "SELECT sum(high_cpu_s_per_day) FROM tls_price WHERE shared_by = 'system' AND part = 'TLS'",
    )
    assert number(most, 0) in tiles(page)["All systems, a day"]
    text = words(page)
    for question in ("Is it getting worse?", "Why did it move?", "Who pays?", "What to change first?"):
        assert f"**{question}**" in text
    [first, *_] = data_of(world).found(STATEMENT, shown_sql("found")).to_pylist()
    assert plain(first["sentence"], 2000) in text


@pytest.mark.parametrize("by", ["Job", "Port", "Rule", "Client network"])
def test_one_switch_shows_who_pays(by: str, open_page: Open, world: Path) -> None:
    card = FIGURES[0][1].choices[by]
    found = figure_rows(data_of(world), card.declaration, {})
    assert found.rows
    for system in {row["system"] for row in found.rows}:
        assert sum(row["share_pct"] for row in found.rows if row["system"] == system) <= 100 + 1e-9
    page = open_page(PAGE, world, {"tls_price_by": by})
    drawn = [chart.proto.spec for chart in page.get("vega_lite_chart")]
    assert found.figure.chart is not None
    assert any(name_of(found.figure.chart, found.rows[0]) in spec for spec in drawn)


def test_counts_of_summaries_have_no_key_exchange(open_page: Open, world: Path) -> None:
    assert not rows_of(world, "price-by-key-exchange").rows
    page = open_page(PAGE, world, {"tls_price_by": "Key exchange"})
    assert "No cost has shares of this kind" in words(page)


def test_the_parts_of_a_change_add_up_to_it(world: Path) -> None:
    found = rows_of(world, "cost-change")
    assert found.figure.chart is not None
    falls = falls_of(found.figure.chart, found.rows)
    known = [row["value"] for row in found.rows if not row["is_total"]]
    [*_, last] = found.rows
    assert last["is_total"]
    if None in known:
        # Nothing is invented: what is open has its bounds, and so has the sum.
        assert [fall.is_open for fall in falls] == [row["value"] is None for row in found.rows]
        assert last["low"] <= sum(row["low"] for row in found.rows if not row["is_total"]) + 1e-6
    else:
        before = found.rows[0]["value"] if found.rows[0]["is_total"] else 0
        assert last["value"] == pytest.approx(before + sum(known))


def test_the_price_of_an_msu_adds_money(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world)
    assert "Money for these MSU" not in tiles(page)
    page.number_input(key="tls_price_per_msu").set_value(250.0).run()
    fine(page)
    [(msu,)] = sql(world, "SELECT sum(high_msu) FROM tls_price WHERE shared_by = 'system' AND part = 'TLS'")
    assert tiles(page)["Money for these MSU"].endswith(number(250 * msu, 0))


def test_sliders_show_what_other_numbers_of_handshakes_cost(open_page: Open, world: Path) -> None:
    first = priced_systems(data_of(world))[0]
    page = open_page(PAGE, world)
    assert "as today" in words(page) or "today at most" in words(page)
    page.slider(key="what_if_handshakes").set_value(200).run()
    fine(page)
    then = first.changed(2, 1)
    assert then.high > first.parts["TLS"].high
    assert plain(number(then.high, 1)) in words(page)
    assert f"{2 * first.handshakes:,.0f} a day" in words(page)


@pytest.mark.parametrize(
    ("status", "now", "then", "sentence"),
    [
        ("range", (None, 2, 9), (None, 4, 18), "4.0 to 18.0 CPU seconds a day; today 2.0 to 9.0."),
        ("range", (None, 0, 9), (None, 0, 18), "At most 18.0 CPU seconds a day; today at most 9.0."),
        (
            "conditional", (5, 2, 9), (10, 4, 18),
            "4.0 to 18.0 CPU seconds a day; 10.0 if the condition below is true, 5.0 more than today.",
        ),
        ("estimate", (5, 4, 6), (5, 4, 6), "5.0 CPU seconds a day (4.0 to 6.0), as today."),
    ],
)  # fmt: skip
def test_a_changed_price_has_both_ends_of_its_range(
    status: str, now: tuple[float, ...], then: tuple[float, ...], sentence: str
) -> None:
    assert what_if_sentence(status, PriceRange(*now), PriceRange(*then)) == sentence


def test_without_a_change_the_price_is_that_of_the_metric(world: Path) -> None:
    priced = priced_systems(data_of(world))
    assert priced
    for each in priced:
        today, unchanged = each.parts["TLS"], each.changed(1, 1, each.full_pct)
        assert unchanged.high == pytest.approx(today.high)
        assert unchanged.low == pytest.approx(today.low, abs=1e-9)


def test_all_advice_and_all_rows_can_be_opened(drawn_page: Open, demo: tuple[Path, object]) -> None:
    world = demo[0]
    text = words(drawn_page(PAGE, world))
    assert "Never add rows" in text or "never add them" in text
    for name, card in ROWS[0][0].choices.items():
        found = figure_rows(data_of(world), card.declaration, {})
        assert found.rows, name
    frames = [frame.value for frame in drawn_page(PAGE, world).dataframe]
    listed = next(rows for rows in frames if "card_operations_per_day" in rows)
    [(sentences,)] = sql(
        world, "SELECT list(sentence) FROM tls_price WHERE shared_by = 'system' AND part = 'TLS'"
    )
    assert {*sentences} <= {*listed["sentence"]}


def test_a_system_narrows_it(world: Path) -> None:
    rows = rows_of(world, "price-by-system", Filters(systems=("SRV1",))).rows
    assert {row["system"] for row in rows} == {"SRV1"}


def test_a_filter_that_a_figure_cannot_apply_is_named_and_leaves_its_rows(
    drawn_page: Open, world: Path
) -> None:
    every = rows_of(world, "price-by-system")
    of_port = rows_of(world, "price-by-system", Filters(ports=(443,)))
    assert of_port.rows == every.rows
    assert of_port.ignored == ("port",)
    text = words(drawn_page(PAGE, world, {"port": "443"}))
    assert "Not filtered by port" in text
    [price, *_] = data_of(world, Filters(ports=(443,))).found(STATEMENT, shown_sql("found")).to_pylist()
    assert plain(price["sentence"], 2000) in text


def test_changes_of_the_policy_are_listed(drawn_page: Open, world: Path) -> None:
    shown = [frame.value for frame in drawn_page(PAGE, world).dataframe if "sentence" in frame.value]
    [*changes] = sql(world, "SELECT sentence FROM tls_price_change WHERE coalesce(item, 'TLS') = 'TLS'")
    assert changes
    for [sentence] in changes:
        assert any(sentence in {*rows["sentence"]} for rows in shown)


@pytest.mark.deep
def test_without_a_price_the_page_names_what_to_load(drawn_page: Open, only_rmf: Path) -> None:
    page = drawn_page(PAGE, only_rmf)
    assert "What TLS costs is not known" in words(page)
    assert "--timezone" in words(page)
