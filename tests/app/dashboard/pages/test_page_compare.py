"""The page that compares two runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.dashboard.conftest import Open, fine, words
from tests.app.dashboard.page_helpers import data_of
from tests.marking import deep_except
from tests.sample_stores import WORLD

from zscope.app.dashboard.pages.compare import intervals, runs
from zscope.app.dashboard.tags import side_by_side

if TYPE_CHECKING:
    from pathlib import Path

PAIR = {"compare_a": "tls12-ecdhe-full", "compare_b": "tls13-full"}
ALIKE = {"compare_a": "rr-osh", "compare_b": "rr-osh-z31"}
HOSTILE_RUNS = """
[[run]]
name = "**bold**"
system = "SYSA"
role = "server"
from = 2026-03-02T02:00:00Z
to = 2026-03-02T03:00:00Z
workload = "CRR40(64B/8kB)"
[run.tags]
cipher = "[link](javascript:alert(1))"
[[run]]
name = "<script>x</script>"
system = "SYSA"
role = "server"
from = 2026-03-02T00:00:00Z
to = 2026-03-02T01:00:00Z
workload = "CRR40(64B/8kB)"
"""


def test_at_first_the_pair_that_differs_in_the_fewest_tags_is_compared(drawn_page: Open, world: Path) -> None:
    page = drawn_page("compare", world)
    baseline, candidate = (str(page.selectbox(key=key).value) for key in PAIR)
    tags = {
        run.name: {tag for tag in run.tags if not tag.startswith("note=")} for run in runs(data_of(world))
    }
    [key] = {tag.partition("=")[0] for tag in tags[baseline] ^ tags[candidate]}
    assert f"The runs differ in {key}: " in words(page).replace("\\", "")
    assert len(page.get("vega_lite_chart")) == 2


def _compared(store: Path, pair: dict[str, str], side: str) -> dict[str, dict[str, Any]]:
    where = f"baseline = '{pair['compare_a']}' AND candidate = '{pair['compare_b']}' AND role = '{side}'"
    return {row["measure"]: row for row in data_of(store).metric("run_comparison", where=where).to_pylist()}


def test_numbers_are_those_of_the_runs(drawn_page: Open, world: Path) -> None:
    cpu = _compared(world, PAIR, "both")["cpu_per_tran"]
    manifest = json.loads((WORLD / "manifest.json").read_text(encoding="utf-8"))
    before, after = (
        sum(side["cpu_us_per_transaction"] for side in run["sides"].values())
        for name in PAIR.values()
        for run in manifest["runs"]
        if run["name"] == name
    )
    assert cpu["change_pct"] == pytest.approx(100 * (after / before - 1), abs=0.05)
    sentences = drawn_page("compare", world, PAIR).dataframe[0].value["sentence"].tolist()
    assert sentences[0].startswith(
        f"tls13-full, both sides: CPU per transaction {cpu['change_pct']:.1f} % above tls12-ecdhe-full "
        f"(95 % interval: {cpu['low_pct']:+.1f} to {cpu['high_pct']:+.1f})"
    )


def test_a_change_that_runs_cannot_show_is_not_written_as_zero(drawn_page: Open, world: Path) -> None:
    small = [
        row for row in _compared(world, ALIKE, "both").values() if row["visibility"] == "no visible change"
    ]
    assert small
    sentences = drawn_page("compare", world, ALIKE).dataframe[0].value["sentence"].tolist()
    for row in small:
        assert row["sentence"] in sentences
        assert "no visible change; one below" in row["sentence"]
    assert not [each for each in sentences if re.search(r" -?0\.0+ %", each)]


def test_one_side_can_be_chosen(drawn_page: Open, world: Path) -> None:
    page = drawn_page("compare", world, PAIR | {"compare_side": "server"})
    said = page.dataframe[0].value["sentence"][0]
    assert said.startswith(
        "tls13-full, server: CPU per transaction as of tls12-ecdhe-full: no visible change"
    )
    drawn = page.dataframe[1].value
    assert drawn["side"].unique().tolist() == ["server SRV1"]


def test_other_measures_of_the_intervals_can_be_shown(drawn_page: Open, world: Path) -> None:
    page = drawn_page("compare", world, PAIR | {"compare_shown": "Latency"})
    assert page.button_group(key="compare_shown").value == "latency"
    assert "latency" in page.dataframe[1].value.columns


def test_unused_intervals_are_marked_with_the_reason(world: Path) -> None:
    data = data_of(world)
    began = {run.name: run.from_utc for run in runs(data) if run.name in PAIR.values()}
    result = intervals(data, began)
    assert result.num_rows == 32
    out = result.filter([used == "left out" for used in result["used"].to_pylist()]).to_pylist()
    assert {row["why"] for row in out} == {"ramp-up", "ramp-down"}
    assert {row["minutes"] for row in out} == {0.0, 7.0}


def test_different_tags_are_marked(drawn_page: Open, world: Path) -> None:
    page = drawn_page("compare", world, PAIR)
    tags = page.dataframe[2].value.set_index("tag")
    assert tags.loc["cipher"].tolist() == ["≠ differs", "C030", "1302"]
    assert tags.loc["client system"].tolist() == ["= same", "CLI1", "CLI1"]


def test_tags_of_one_side_only_are_marked() -> None:
    assert side_by_side(["a=1"], ["b=2"]).to_pylist() == [
        {"tag": "a", "compared": "… only on one side", "left": "1", "right": None},
        {"tag": "b", "compared": "… only on one side", "left": None, "right": "2"},
    ]


def test_runs_without_a_common_workload_are_not_compared(drawn_page: Open, world: Path) -> None:
    page = drawn_page("compare", world, {"compare_a": "tls13-full", "compare_b": "rr-osh"})
    assert "a side and the kind of workload in common" in words(page)
    assert "client of CRR" in words(page)


def test_a_run_is_not_compared_with_itself(open_page: Open, world: Path) -> None:
    page = open_page("compare", world, {"compare_a": "rr-osh", "compare_b": "rr-osh"})
    assert "choose two different runs" in words(page)
    page.selectbox(key="compare_b").set_value("rr-osd").run()
    fine(page)
    assert len(page.get("vega_lite_chart")) == 2


@pytest.mark.parametrize(
    "store", deep_except(["hostile"], ["empty", "only_rmf", "only_netstat", "only_zert", "hostile"])
)
def test_without_two_runs_the_page_shows_how_to_name_them(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("compare", request.getfixturevalue(store))
    assert "A comparison needs two benchmark runs" in words(page)
    assert "zscope runs propose" in words(page)
    assert "<script>" not in words(page)


@pytest.mark.deep
def test_names_of_runs_are_never_markup(open_page: Open, hostile: Path) -> None:
    file = hostile / "runs.toml"
    before = file.read_text(encoding="utf-8")
    file.write_text(before + HOSTILE_RUNS, encoding="utf-8")
    try:
        page = open_page("compare", hostile)
    finally:
        file.write_text(before, encoding="utf-8")
    assert "**bold**" not in words(page)
    assert "<script>" not in words(page)
    assert "script" in words(page)
