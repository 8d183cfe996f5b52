"""The parameters that reproduce the published figures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from zscope.pipelines.flood.figures import compare
from zscope.pipelines.flood.parameters import Flood, Order
from zscope.pipelines.flood.published import (
    GAIN,
    HIGH_WITH,
    PEAK_BEFORE,
    PUBLISHED_TESTS,
    PublishedTest,
    modelled_figures,
    published_figures,
)
from zscope.pipelines.flood.reproduce import NEAR_PCT, Reproduction, remarks, reproduce, sensitivity
from zscope.pipelines.flood.rows import figure_rows, parameter_rows, reproduction_table, sensitivity_rows
from zscope.schemas.published import published_tables

BY_NAME = {test.name: test for test in PUBLISHED_TESTS}
THROUGHPUT, ECB, BOTH = BY_NAME
EVERY_TEST = pytest.mark.parametrize(
    "name",
    [
        THROUGHPUT,
        pytest.param(ECB, marks=pytest.mark.deep),  # simulates 8000 sessions several times
        pytest.param(BOTH, marks=pytest.mark.deep),
    ],
)


@cache
def reproduction_of(name: str) -> Reproduction:
    test = BY_NAME[name]
    if name == THROUGHPUT:  # the gain of a long queue is that of a short one
        test = replace(test, flood=replace(test.flood, sessions=2000))
    return reproduce(test)


@EVERY_TEST
def test_the_figures_that_were_aimed_at_are_reproduced(name: str) -> None:
    reproduction = reproduction_of(name)
    assert reproduction.reached
    values = modelled_figures(reproduction.comparison)
    for aim in reproduction.test.aims:
        assert values[aim] == pytest.approx(published_figures()[aim].value, rel=NEAR_PCT / 100)


def test_the_published_gain_requires_waits_of_46_pct_of_the_processor_time() -> None:
    flood = reproduction_of(THROUGHPUT).flood
    assert flood.flows * flood.network_ms / flood.cpu_ms == pytest.approx(0.46, abs=0.002)


@pytest.mark.deep
def test_the_ecb_test_alone_is_reproduced_with_another_gain() -> None:
    reproduction = reproduction_of(ECB)
    assert reproduction.missed == [GAIN]
    assert (modelled_figures(reproduction.comparison)[GAIN] or 0) > 500
    assert reproduction.flood.connections == 2500


@pytest.mark.deep
def test_for_both_tests_the_peaks_agree_with_the_gain_and_the_duration_of_2_s_does_not() -> None:
    reproduction = reproduction_of(BOTH)
    values = modelled_figures(reproduction.comparison)
    assert values[GAIN] == pytest.approx(46, abs=3)
    assert (values[HIGH_WITH] or 0) > 10
    assert HIGH_WITH in reproduction.missed


@EVERY_TEST
def test_remarks_contain_the_numbers_of_the_reproduction(name: str) -> None:
    reproduction = reproduction_of(name)
    text = " ".join(remarks(reproduction))
    assert ("Not reproduced" in text) == bool(reproduction.missed)
    assert all(figure in text for figure in reproduction.missed)
    assert f"gain of a long queue is {'856' if name == ECB else '4'}" in text
    assert ("any number" in text) == (name == THROUGHPUT)
    assert ("requests requires a limit of connections" in text) == (name == ECB)
    assert ("was computed with 1,000 requests" in text) == (name == THROUGHPUT)


@EVERY_TEST
def test_rows_have_basis_and_difference(name: str) -> None:
    reproduction = reproduction_of(name)
    table = reproduction_table([*parameter_rows(reproduction), *figure_rows(reproduction)]).to_pylist()
    basis = {row["name"]: row["basis"] for row in table if row["part"] == "parameter"}
    assert basis["network_ms"] == "fitted"
    assert basis["flows"] == "assumed"
    assert basis["share"] == "published"
    assert basis["workers"] == ("published" if name == THROUGHPUT else "assumed")
    for row in table:
        if row["part"] == "figure":
            assert row["basis"] == "model"
            assert row["difference"] == pytest.approx(row["value"] - row["published"])
            assert row["difference_pct"] == pytest.approx(100 * row["difference"] / row["published"])


def test_parameters_marked_published_are_in_the_published_results() -> None:
    rows = {row["id"]: row for row in published_tables()["reference_result"].to_pylist()}
    system = BY_NAME[THROUGHPUT].flood
    assert {"daemons=1", "worker_threads=4", "cpus=4 dedicated I-streams"} <= set(
        rows["ztpf-sharedssl-throughput"]["environment"]
    )
    assert (system.daemons, system.workers, system.processors) == (1, 4, 4)
    assert rows["ztpf-sharedssl-thread-cap"]["high"] == 100 * system.share
    assert rows["ztpf-inetd-peak-ecbs"]["condition_tags"] == ["sessions=8000"]
    assert {BY_NAME[name].flood.sessions for name in (ECB, BOTH)} == {8000}


def test_sensitivity_changes_one_parameter_at_a_time() -> None:
    test: PublishedTest = BY_NAME[THROUGHPUT]
    flood = replace(test.solve(test.flood, {GAIN: 46.0}), sessions=400)
    unchanged, changes = sensitivity(flood)
    by_change = {(changed.parameter, changed.value): changed.figures for changed in changes}
    assert by_change["network_ms", "0.276"][GAIN] == pytest.approx(46 * 1.2, abs=0.5)
    assert by_change["cpu_ms", "0.8"][GAIN] == pytest.approx(46 / 0.8, abs=0.5)
    assert by_change["sessions", "480"][PEAK_BEFORE] == 480
    # 20 % of two flows are none; the nearest other number is text.
    assert {value for name, value in by_change if name == "flows"} == {"1", "3"}
    assert {value for name, value in by_change if name == "daemons"} == {"2"}
    assert ("ecb_in_queue", "no") in by_change
    never = {"burst_s", "connections", "client_ms", "background_per_s", "background_ms", "seed"}
    assert not never & {name for name, _ in by_change}
    reproduction = Reproduction(test, flood, reproduction_of(THROUGHPUT).comparison, 1)
    rows: list[dict[str, Any]] = list(sensitivity_rows(reproduction, unchanged, changes))
    [row] = [row for row in rows if (row["parameter"], row["set_to"]) == ("network_ms", "0.184")]
    assert row["change_pct"] == pytest.approx(-20, abs=0.5)
    assert row["change"] == pytest.approx(row["value"] - row["unchanged"])


def test_modes_that_are_not_simulated_again_give_the_same_figures() -> None:
    flood = Flood(sessions=300, burst_s=0.05, connections=100)
    _, changes = sensitivity(flood)
    changed = {(each.parameter, each.value): each.figures for each in changes}
    others: tuple[tuple[str, Any, str], ...] = (
        ("threshold", 0.1 * 1.2, "0.12"), ("order", Order.ARRIVAL, "arrival"), ("ecb_in_queue", False, "no"),
    )  # fmt: skip
    for name, value, shown in others:
        assert changed[name, shown] == modelled_figures(compare(replace(flood, **{name: value})))


def test_a_search_without_success_returns_the_nearest_result() -> None:
    # A solution that ignores its aims cannot reach them.
    test = BY_NAME[THROUGHPUT]
    fixed = replace(test.flood, sessions=200, network_ms=0.1)
    stubborn = replace(test, solve=lambda *_: fixed)
    reproduction = reproduce(stubborn)
    assert not reproduction.reached
    assert reproduction.missed == [GAIN]
    assert reproduction.difference_pct(GAIN) == pytest.approx(100 * (20 / 46 - 1), abs=1)
