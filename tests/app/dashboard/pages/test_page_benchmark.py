"""The page about the benchmark."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of
from tests.sample_stores import WORLD

from zscope.app.dashboard.drawing import plain
from zscope.app.dashboard.pages.benchmark.benchmark_page import by_reason, documents_by_verdict
from zscope.app.dashboard.published import (
    ResultRow,
    filtered_results,
    has_no_number,
    published_results,
    result_panels,
)
from zscope.pipelines.benchmark.wording import plain_title

if TYPE_CHECKING:
    from pathlib import Path

RESULT = "tls31-tls13-vs-tls12-cpu"


def _rows(store: Path) -> list[ResultRow]:
    return filtered_results(published_results(data_of(store)), (), (), measured=False)


def test_every_published_result_is_compared(world: Path) -> None:
    rows = _rows(world)
    assert len(rows) == 126
    assert Counter(row["verdict"] for row in rows) == {
        "agrees": 15, "differs": 2, "direction only": 30, "not comparable": 8, "no data": 71,
    }  # fmt: skip


def test_each_result_is_drawn_once_or_listed(world: Path) -> None:
    rows = _rows(world)
    drawn = [one for panel in result_panels(rows) for one in panel.rows["id"].to_pylist()]
    assert len(drawn) == len(set(drawn))
    assert {row["id"] for row in rows} == {*drawn, *(row["id"] for row in rows if has_no_number(row))}


def test_units_never_share_an_axis(world: Path) -> None:
    unit_of = {row["id"]: row["measured_unit"] for row in _rows(world) if not has_no_number(row)}
    for panel in result_panels(_rows(world)):
        units = {unit_of.get(one, "words") for one in panel.rows["id"].to_pylist()}
        assert len(units) == 1, panel.title
        assert panel.title.startswith("Published value") == (units - {"pct", "words"} != set())


@pytest.mark.deep
def test_results_from_captures_are_drawn_with_the_published_ones(systems: Path) -> None:
    drawn = {
        row["id"]: (panel.title, row)
        for panel in result_panels(_rows(systems))
        for row in panel.rows.to_pylist()
    }
    change, row = drawn["mq-8k-ecdhe-rsa-rt"]
    assert change == drawn["rscs-t2-rscs"][0] == "Change (%)"
    assert row["published"] == 8.71
    assert row["agrees_from"] < row["value"] < row["agrees_to"]
    time, row = drawn["mq-8k-per-negotiation"]
    assert (time, row["published"], round(row["value"], 2)) == ("Published value (ms)", 3.6, 3.6)
    assert row["agrees_from"] is None
    assert drawn["mq-8k-interval"][0] == "Published value (messages)"
    assert drawn["ztpf-sharedssl-thread-cap"][0] == "Share (%)"


@pytest.mark.deep
def test_a_result_of_captures_has_its_measures(drawn_page: Open, systems: Path) -> None:
    page = drawn_page("benchmark", systems, {"benchmark_result": "mq-8k-per-negotiation"})
    assert (
        "Calculated again from the loaded captures: same result for the comparison" in page.success[0].value
    )
    assert "an absolute time, measured on another machine" in words(page)
    figures = next(table.value for table in page.dataframe if "part" in table.value.columns)
    assert figures["part"].tolist() == ["measure", "change", "check", "verdict"]


def test_all_values_are_within_the_axis(world: Path, systems: Path) -> None:
    for panel in (*result_panels(_rows(world)), *result_panels(_rows(systems))):
        least, most = panel.ends
        for name in ("published", "agrees_from", "agrees_to", "value", "low", "high"):
            known = [number for number in panel.rows[name].to_pylist() if number is not None]
            assert all(least <= number <= most for number in known), (panel.title, name)


def test_verdicts_are_counted_and_results_without_a_number_listed(drawn_page: Open, world: Path) -> None:
    page = drawn_page("benchmark", world, {"benchmark_view": "Charts"})
    assert "Published results 126" in words(page)
    assert "With a measurement 51" in words(page)
    counted = page.dataframe[0].value
    assert dict(zip(counted["verdict"], counted["results"], strict=True))["agrees"] == 15
    assert "Published without a number" in words(page)
    assert len(page.get("vega_lite_chart")) == 8


def test_documents_and_verdicts_are_a_grid(drawn_page: Open, world: Path) -> None:
    rows = _rows(world)
    counted = documents_by_verdict(rows).to_pylist()
    assert sum(row["results"] for row in counted) == len(rows)
    assert len(counted) == 5 * len({row["document"] for row in rows})
    assert len(drawn_page("benchmark", world).get("vega_lite_chart")) == 1


def test_what_differs_is_first_with_its_title(drawn_page: Open, world: Path) -> None:
    page = drawn_page("benchmark", world)
    assert "Differs from what was published: 2" in words(page)
    first = next(table.value for table in page.dataframe if "title" in table.value.columns)
    assert set(first["id"]) == {"perf32-icsf-sessionobj-cpu-client", "tls31-network-share"}
    assert plain_title(next(row for row in _rows(world) if row["id"] == RESULT)) == (
        "TLSv1.3 1302 costs 16 % more CPU per connection than TLSv1.2 C030"
    )


def test_every_result_without_a_comparison_has_a_reason(drawn_page: Open, world: Path) -> None:
    groups = by_reason(_rows(world))
    assert sum(map(len, groups.values())) == 8 + 71
    assert "Not compared: 79" in words(drawn_page("benchmark", world))
    labels = [expander.label for expander in drawn_page("benchmark", world).expander]
    for reason, of_reason in groups.items():
        assert f"{plain(reason, 300)}: {len(of_reason)}" in labels


def test_verdicts_of_the_address_narrow_it(open_page: Open, world: Path) -> None:
    page = open_page("benchmark", world, {"benchmark_verdict": ["differs"]})
    assert page.button_group(key="benchmark_verdict").value == ["differs"]
    tables = [table.value for table in page.dataframe if "agrees_from" in table.value.columns]
    assert [name for table in tables for name in table["id"]] == [
        "perf32-icsf-sessionobj-cpu-client",
        "tls31-network-share",
    ]
    page.button_group(key="benchmark_verdict").set_value(["no data"]).run()
    fine(page)
    page.toggle(key="benchmark_measured").set_value(True).run()
    fine(page)
    assert "No published result matches all filters" in words(page)


def test_documents_can_be_chosen(drawn_page: Open, world: Path) -> None:
    page = drawn_page("benchmark", world, {"benchmark_document": ["RSCS TCPNJE Encryption"]})
    assert [expander.label for expander in page.expander if " measured)" in expander.label] == [
        "**RSCS TCPNJE Encryption** (0 of 20 measured)"
    ]


def test_a_result_has_its_arithmetic_down_to_the_intervals(drawn_page: Open, world: Path) -> None:
    page = drawn_page("benchmark", world, {"benchmark_result": RESULT})
    assert "same result for client, server, both" in page.success[0].value
    intervals = next(table.value for table in page.dataframe if "counts" in table.value.columns)
    assert len(intervals) == 32
    assert intervals["counts"].sum() == 24
    changes = page.dataframe[1].value
    manifest = json.loads((WORLD / "manifest.json").read_text(encoding="utf-8"))
    sides = {run["name"]: run["sides"] for run in manifest["runs"]}
    before, after = (
        [sides[name][side]["cpu_us_per_transaction"] for side in ("client", "server")]
        for name in ("tls12-ecdhe-full", "tls13-full")
    )
    pairs = zip([*before, sum(before)], [*after, sum(after)], strict=True)
    expected = [pytest.approx(100 * (new / old - 1), abs=0.05) for old, new in pairs]
    measured = changes.set_index("role")["value"]
    assert [measured[role] for role in ("client", "server", "both")] == expected
    apart = measured["both"] - 16
    assert f"{abs(apart):.1f} points {'below' if apart < 0 else 'above'} the published figure" in words(
        page
    ).replace("\\", "")
    environment = page.dataframe[0].value.set_index("tag")
    assert environment.loc["os"].tolist() == ["≠ differs", "z/OS 3.1", "z/OS 3.2"]
    assert environment.loc["cpc", "compared"] == "= same"
    # One in the heading, which is about the store, and one next to the result.
    assert words(page).count("synthetic]") == 2
    unmeasured = drawn_page("benchmark", world, {"benchmark_result": "ztpf-memory"})
    assert words(unmeasured).count("synthetic]") == 1


@pytest.mark.deep
def test_a_conflict_leads_to_the_other_result(open_page: Open, world: Path) -> None:
    page = open_page("benchmark", world, {"benchmark_result": RESULT})
    assert "contradict each other" in page.warning[0].value
    page.button(key="benchmark-other-perf32-tls13-vs-tls12-cpu").click().run()
    fine(page)
    assert page.selectbox(key="benchmark_result").value == "perf32-tls13-vs-tls12-cpu"
    next(button for button in page.button if button.label == "All results").click().run()
    fine(page)
    assert page.selectbox(key="benchmark_result").value is None


def test_a_share_is_explained_from_the_displays(drawn_page: Open, world: Path) -> None:
    page = drawn_page("benchmark", world, {"benchmark_result": "tls31-sysplex-tickets-hit"})
    assert "same result for server." in page.success[0].value


def test_without_data_the_page_shows_the_commands(drawn_page: Open, empty: Path) -> None:
    page = drawn_page("benchmark", empty, {"benchmark_result": RESULT})
    assert "A measurement of this result needs" in words(page)
    assert "--tag version=TLSv1.2 --tag cipher=C030 --tag heappools64=on" in words(page)


@pytest.mark.parametrize("store", ["empty", *deep("only_rmf", "only_netstat", "only_zert")])
def test_without_runs_the_page_shows_how_to_name_them(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("benchmark", request.getfixturevalue(store))
    assert "zscope runs add" in words(page)
    assert "Published results 126" in words(page)


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    for query in ({}, {"benchmark_result": RESULT}):
        expected = words(drawn_page("benchmark", hostile, query))
        assert MARKUP not in expected
        assert "<script>" not in expected
