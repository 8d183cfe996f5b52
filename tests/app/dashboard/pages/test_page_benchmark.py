"""The page about the benchmark."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of, lists_of
from tests.sample_stores import WORLD

from zscope.app.dashboard.pages.benchmark.benchmark_page import FIGURES, HEADLINE
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows

if TYPE_CHECKING:
    from pathlib import Path

RESULT = "tls31-tls13-vs-tls12-cpu"


def _results(store: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data_of(store).metric("benchmark").to_pylist()
    return rows


def _drawn(store: Path) -> list[str]:
    """The results in the figures of the page that have an axis."""
    figures = [declared_figures()[card.figure] for row in FIGURES for card in row]
    return [
        row["id"]
        for figure in figures
        if figure.id.startswith("results-")
        for row in figure_rows(data_of(store), figure, {}).rows
    ]


def test_each_measured_result_is_in_one_figure(world: Path, systems: Path) -> None:
    for store in (world, systems):
        measured = [row["id"] for row in _results(store) if row["measured"]]
        assert len(measured) > 40
        assert sorted(_drawn(store)) == sorted(measured)


def test_the_headline_has_the_numbers_of_the_verdicts(drawn_page: Open, world: Path) -> None:
    rows = _results(world)
    verdicts = Counter(row["verdict"] for row in rows)
    matching = sum(row["direction_matches"] == "agrees" for row in rows)
    [[name, number, note]] = lists_of(drawn_page("benchmark", world))
    said = f"{number} {name} {note}"
    assert f"126 published results: {verdicts['agrees']} agree, {verdicts['differs']} differ" in said
    assert f"of {verdicts['direction only']} without a figure {matching} point the same way" in said
    assert "proves the arithmetic, not the published figure" in said


def test_what_differs_is_first_and_the_farthest_of_it(world: Path) -> None:
    assert [card.figure for card in HEADLINE[0]][:2] == ["benchmark-headline", "differing"]
    rows = figure_rows(data_of(world), declared_figures()["differing"], {}).rows
    assert {row["id"] for row in rows} == {
        row["id"] for row in _results(world) if row["verdict"] == "differs"
    }
    distances = [abs(row["distance"]) for row in rows]
    assert distances == sorted(distances, reverse=True)
    assert min(distances) > 1


def test_figures_of_documents_are_in_their_order(systems: Path) -> None:
    places = {row["id"]: row["place"] for row in _results(systems)}
    for document in ("mq", "rscs", "ztpf"):
        rows = figure_rows(data_of(systems), declared_figures()[f"results-{document}"], {}).rows
        assert [places[row["id"]] for row in rows] == sorted(places[row["id"]] for row in rows)
        assert rows


def test_a_click_on_a_result_opens_it(open_page: Open, world: Path) -> None:
    page = open_page("benchmark", world)
    page.session_state["benchmark-picked"] = RESULT
    page.run()
    fine(page)
    assert page.selectbox(key="benchmark_result").value == RESULT
    assert "same result for client, server, both" in page.success[0].value


@pytest.mark.deep
def test_a_result_of_captures_has_its_measures(drawn_page: Open, systems: Path) -> None:
    page = drawn_page("benchmark", systems, {"benchmark_result": "mq-8k-per-negotiation"})
    assert (
        "Calculated again from the loaded captures: same result for the comparison" in page.success[0].value
    )
    assert "an absolute time, measured on another machine" in words(page)
    figures = next(table.value for table in page.dataframe if "part" in table.value.columns)
    assert figures["part"].tolist() == ["measure", "change", "check", "verdict"]


def test_verdicts_and_documents_of_the_address_narrow_it(open_page: Open, world: Path) -> None:
    page = open_page("benchmark", world, {"benchmark_verdict": ["no data"]})
    assert page.button_group(key="benchmark_verdict").value == ["no data"]
    [listed] = [frame.value for frame in page.dataframe if "why" in frame.value.columns]
    assert set(listed["verdict"]) == {"no data"}
    page.multiselect(key="benchmark_document").set_value(["RSCS TCPNJE Encryption"]).run()
    fine(page)
    [listed] = [frame.value for frame in page.dataframe if "why" in frame.value.columns]
    assert len(listed) == 20


def test_every_result_without_a_comparison_has_a_reason(drawn_page: Open, world: Path) -> None:
    page = drawn_page("benchmark", world)
    [listed] = [frame.value for frame in page.dataframe if "why" in frame.value.columns]
    open_ = [row["id"] for row in _results(world) if row["verdict"] in ("not comparable", "no data")]
    assert sorted(listed["id"]) == sorted(open_)
    assert all(listed["why"])


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
    assert environment.loc["os"].tolist() == ["= same", "z/OS 3.1", "z/OS 3.1, z/OS 3.2"]
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
    assert "There is no measurement yet" in words(page)


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    for query in ({}, {"benchmark_result": RESULT}):
        expected = words(drawn_page("benchmark", hostile, query))
        assert MARKUP not in expected
        assert "<script>" not in expected
