"""Charts over time: changes, and a marked range."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard import over_time as module
from zscope.app.dashboard.over_time import changes, show_marked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.dashboard.conftest import Open


DAY = timedelta(days=1)
BEGIN = datetime(2026, 3, 10, tzinfo=UTC)
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SIX_HOURS = timedelta(hours=6)


def test_a_range_of_an_axis_of_days_chooses_whole_days(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[tuple[date, date]] = []
    monkeypatch.setattr(module, "show_days", lambda *days: chosen.append(days))
    noon, midnight = NOON.timestamp() * 1000, (BEGIN + DAY).timestamp() * 1000
    show_marked({"x": [midnight, noon]}, days=True)
    assert chosen == [(NOON.date(), BEGIN.date())]


@pytest.mark.parametrize("name", ["handshakes", "ciphers", "cpu"])
def test_figures_over_time_have_a_range_to_mark(name: str, drawn_page: Open, recorded: Path) -> None:
    charts = [chart.proto.spec for chart in drawn_page(name, recorded).get("vega_lite_chart")]
    assert any("zoomed" in {each["name"] for each in json.loads(chart).get("params", ())} for chart in charts)


def test_loads_and_changes_of_a_time_are_listed(world: Path) -> None:
    [(first, last)] = sql(world, "SELECT min(started_utc), max(started_utc) FROM load")
    loads = changes(data_of(world), first - DAY, last + DAY).to_pylist()
    assert {row["kind"] for row in loads} == {"load"}
    assert "rows" in loads[0]["words"]
    assert not changes(data_of(world), first - 9000 * DAY, first - 8999 * DAY).num_rows
    known = sql(world, "SELECT changed_utc, changed FROM cost_change_point ORDER BY ALL")
    found = changes(data_of(world), BEGIN - 400 * DAY, BEGIN + 60 * DAY).to_pylist()
    assert sorted((row["moment"], row["kind"]) for row in found) == known


def test_a_marked_range_becomes_the_period(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[datetime, datetime]] = []
    monkeypatch.setattr(module, "show_between", lambda begin, end: shown.append((begin, end)))
    noon = datetime(2026, 3, 10, 12, tzinfo=UTC)
    show_marked({"hour_utc": [(noon + DAY).timestamp() * 1000, noon.timestamp() * 1000]})
    show_marked({})
    show_marked({"hour_utc": [noon.timestamp() * 1000] * 2})
    assert shown == [(noon, noon + DAY)]
