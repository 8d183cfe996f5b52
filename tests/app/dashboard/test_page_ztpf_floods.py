"""The page about floods on z/TPF."""

from __future__ import annotations

from pathlib import Path

from tests.app.dashboard.conftest import Open, words


def test_floods_are_figures_and_curves(open_page: Open, systems: Path) -> None:
    page = open_page("ztpf_floods", systems)
    assert len(page.get("vega_lite_chart")) >= 3
    [figures] = [frame.value for frame in page.dataframe if "ecb_seconds_per_session" in frame.value.columns]
    peaks = figures.set_index("series")["peak_ecbs"]
    assert (peaks["ztpf-ecbs-before"], peaks["ztpf-ecbs-with"]) == (2500, 100)
    assert "ECBs in use" in words(page)
    [changes] = [
        frame.value for frame in page.dataframe if list(frame.value.columns[:2]) == ["series", "against"]
    ]
    assert changes.set_index("series")["against"].to_dict() == {
        "ztpf-ecbs-with": "ztpf-ecbs-before",
        "ztpf-starts-with": "ztpf-starts-before",
    }


def test_without_data_it_says_what_would_bring_them(open_page: Open, empty: Path) -> None:
    assert "No flood of z/TPF" in words(open_page("ztpf_floods", empty))
