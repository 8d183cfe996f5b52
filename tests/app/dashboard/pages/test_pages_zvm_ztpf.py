"""The pages about RSCS links of z/VM and about floods on z/TPF."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, fine, words
from tests.app.dashboard.page_helpers import data_of

from zscope.app.dashboard.pages.ztpf_floods import curves
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.deep
def test_cost_of_each_case_is_shown(drawn_page: Open, systems: Path) -> None:
    assert len(drawn_page("zvm_links", systems).get("vega_lite_chart")) == 2
    rows = figure_rows(data_of(systems), declared_figures()["zvm-cost"], {}).rows
    combined = sum(row["cpu_per_tx"] for row in rows if row["run"] == "rscs-case-2A")
    assert round(combined, 3) == 0.257


@pytest.mark.deep
def test_two_cases_are_compared_as_in_the_published_tables(open_page: Open, systems: Path) -> None:
    page = open_page("zvm_links", systems)
    page.selectbox(key="zvm_from").set_value("rscs-case-1").run()
    page.selectbox(key="zvm_to").set_value("rscs-case-2A").run()
    fine(page)
    [result] = [frame.value for frame in page.dataframe if "delta" in frame.value.columns]
    by_measure = result.set_index("measure")
    assert round(by_measure.loc["TCPIP", "pct"], 1) == 218.2
    assert by_measure.loc["ETR", "delta"] == -10


def test_without_links_the_page_shows_what_to_load(drawn_page: Open, empty: Path) -> None:
    assert "It needs the reports FCX112 and FCX215" in words(drawn_page("zvm_links", empty))


def test_floods_are_figures_and_curves(drawn_page: Open, systems: Path) -> None:
    page = drawn_page("ztpf_floods", systems)
    assert len(page.get("vega_lite_chart")) >= 3
    rows = figure_rows(data_of(systems), declared_figures()["ztpf-floods"], {}).rows
    peaks = {row["series"]: row["peak_ecbs"] for row in rows}
    assert (peaks["ztpf-ecbs-before"], peaks["ztpf-ecbs-with"]) == (2500, 100)
    assert "ECBs in use" in words(page)
    [changes] = [
        frame.value for frame in page.dataframe if list(frame.value.columns[:2]) == ["series", "against"]
    ]
    assert changes.set_index("series")["against"].to_dict() == {
        "ztpf-ecbs-with": "ztpf-ecbs-before",
        "ztpf-starts-with": "ztpf-starts-before",
    }


def test_without_floods_the_page_shows_what_to_load(drawn_page: Open, empty: Path) -> None:
    assert "It needs samples of the ECBs in use" in words(drawn_page("ztpf_floods", empty))


def test_a_long_series_is_thinned_and_keeps_its_highest_sample(tmp_path: Path) -> None:
    lines = [
        "time,ecbs_in_use",
        *(f"{second},{5_000 if second == 7_777 else 60}" for second in range(20_000)),
    ]
    (tmp_path / "long.csv").write_text("\n".join(lines), encoding="utf-8")
    ingest(tmp_path / "store", [tmp_path / "long.csv"], IngestOptions(selection=row_selection(None)))
    data = data_of(tmp_path / "store")
    [(sessions, drawn)] = curves(data, data.metric("ztpf_flood"), "ecbs_in_use")
    assert sessions is None
    assert drawn.num_rows == 1_000
    peak = max(drawn.to_pylist(), key=lambda row: row["ecbs_in_use"])
    assert (peak["since_start_s"], peak["ecbs_in_use"]) == (7_777.0, 5_000.0)
