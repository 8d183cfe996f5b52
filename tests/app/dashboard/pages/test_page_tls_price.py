"""The page about the price of TLS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, fine, words
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard.drawing import number, plain
from zscope.app.dashboard.pages.tls_price import advice, priced_systems, prices, shares, what_if_sentence
from zscope.app.shared.filters import Filters
from zscope.app.shared.shown_statements import STATEMENT, shown_sql
from zscope.pipelines.estimate.what_if import PriceRange

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.app.dashboard.pages.tls_price import SharedBy

PAGE = "tls_price"


def test_each_system_has_the_sentence_of_the_metric(drawn_page: Open, world: Path) -> None:
    text = words(drawn_page(PAGE, world))
    sentences = sql(
        world,
        "SELECT sentence, why FROM tls_price WHERE shared_by = 'system' AND part = 'TLS' ORDER BY system",
    )
    assert len(sentences) == 4
    for sentence, why in sentences:
        assert plain(sentence, 2000) in text
        assert plain(why, 2000) in text
    assert len(drawn_page(PAGE, world).get("vega_lite_chart")) == 5


@pytest.mark.parametrize("by", ["job", "port", "rule", "client network"])
def test_shares_are_those_of_the_metric(by: SharedBy, open_page: Open, world: Path) -> None:
    rows = shares(data_of(world), by).to_pylist()
    assert rows
    for system in {row["system"] for row in rows}:
        assert sum(row["share_pct"] for row in rows if row["system"] == system) <= 100 + 1e-9
    page = open_page(PAGE, world, {"tls_price_by": by.capitalize()})
    assert f"by {by}" in str(page.get("vega_lite_chart")[3].proto)


def test_counts_of_summaries_have_no_key_exchange(open_page: Open, world: Path) -> None:
    assert shares(data_of(world), "key exchange").num_rows == 0
    page = open_page(PAGE, world, {"tls_price_by": "Key exchange"})
    assert "No price has shares of this kind" in words(page)


def test_the_price_of_an_msu_adds_money(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world)
    page.number_input(key="tls_price_per_msu").set_value(250.0).run()
    fine(page)
    priced = prices(data_of(world), 250.0).to_pylist()
    with_msu = [row for row in priced if row["high_msu"]]
    assert with_msu
    for row in with_msu:
        assert row["high_price"] == pytest.approx(250 * row["high_msu"])
    assert all(row["high_price"] is None for row in prices(data_of(world)).to_pylist())


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


@pytest.mark.deep
def test_advice_is_one_list_that_states_its_basis(open_page: Open, world: Path) -> None:
    text = words(open_page(PAGE, world, {"tls_advice_of": "Rule"}))
    assert "published is at most what IBM measured" in text
    assert "Never add rows" in text
    for shared_by in ("system", "rule", "port"):
        rows = advice(data_of(world), shared_by).to_pylist()
        assert {row["shared_by"] for row in rows} == {shared_by}
    listed = advice(data_of(world), "all").to_pylist()
    assert {row["shared_by"] for row in listed} == {"system", "rule"}
    assert {row["basis"] for row in listed} >= {"estimate", "published"}


def test_a_system_narrows_it(world: Path) -> None:
    assert set(prices(data_of(world, Filters(systems=("SRV1",))))["system"].to_pylist()) == {"SRV1"}


def test_a_port_has_a_share_of_a_price(open_page: Open, world: Path) -> None:
    text = words(open_page(PAGE, world, {"port": "443"}))
    shares_of_port = sql(
        world,
        "SELECT sentence FROM tls_price WHERE shared_by = 'port' AND server_port = 443 AND part = 'TLS' "
        "ORDER BY high_cpu_s_per_day DESC",
    )
    assert shares_of_port
    for [sentence] in shares_of_port:
        assert plain(sentence, 2000) in text
    assert "What TLS costs is not known" not in text
    [price, *_] = data_of(world, Filters(ports=(443,))).found(STATEMENT, shown_sql("found")).to_pylist()
    assert price["sentence"].startswith(f"{shares_of_port[0][0]}; ")


def test_a_port_of_a_job_has_no_share(open_page: Open, world: Path) -> None:
    [job] = sql(world, "SELECT min(job_name) FROM tls_price WHERE shared_by = 'job'")[0]
    text = words(open_page(PAGE, world, {"port": "443", "job": str(job)}))
    assert "a job or a port has a share of it" in text


def test_changes_of_the_policy_are_stated(drawn_page: Open, world: Path) -> None:
    text = words(drawn_page(PAGE, world))
    [*changes] = sql(world, "SELECT sentence FROM tls_price_change WHERE coalesce(item, 'TLS') = 'TLS'")
    assert changes
    for [sentence] in changes:
        assert sentence in text


@pytest.mark.deep
def test_without_a_price_the_page_names_what_to_load(drawn_page: Open, only_rmf: Path) -> None:
    page = drawn_page(PAGE, only_rmf)
    assert "What TLS costs is not known" in words(page)
    assert "--timezone" in words(page)
