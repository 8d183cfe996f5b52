"""Charts over time: the period before at the times of the chosen one, changes, and a marked range."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard import over_time as module
from zscope.app.dashboard.over_time import changes, rows_before, show_marked
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.dashboard.conftest import Open

    from zscope.app.dashboard.page_data import PageData

DAY = timedelta(days=1)
BEGIN = datetime(2026, 3, 10, tzinfo=UTC)
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SIX_HOURS = timedelta(hours=6)


def handshakes(data: PageData) -> Any:  # noqa: ANN401 - a table of pyarrow
    return data.metric("handshake_mix", ["hour_utc"]).select(["hour_utc", "handshakes"])


def test_the_period_before_is_at_the_times_of_the_chosen_one(recorded: Path) -> None:
    chosen = data_of(recorded, Filters(begin=NOON, end=NOON + SIX_HOURS))
    before = rows_before(chosen, handshakes, "hour_utc")
    earlier = handshakes(data_of(recorded, Filters(begin=NOON - SIX_HOURS, end=NOON)))
    assert before is not None
    assert before["handshakes"].to_pylist() == earlier["handshakes"].to_pylist() != []
    assert before["hour_utc"].to_pylist() == [hour + SIX_HOURS for hour in earlier["hour_utc"].to_pylist()]


def test_days_before_chosen_days_are_days(world: Path) -> None:
    def by_day(data: PageData) -> Any:  # noqa: ANN401 - a table of pyarrow
        return data.metric("protocol_distribution", ["day"]).select(["day", "connections"])

    begin = BEGIN + 2 * DAY - timedelta(hours=1)  # the clocks of the world are an hour ahead of UTC
    first = BEGIN.date() + 2 * DAY
    chosen = Filters(begin=begin, end=begin + 2 * DAY, first_day=first, last_day=first + DAY)
    before = rows_before(data_of(world, chosen), by_day, "day")
    earlier = by_day(data_of(world, Filters(first_day=first - 2 * DAY, last_day=first - DAY)))
    assert before is not None
    assert before["connections"].to_pylist() == earlier["connections"].to_pylist() != []
    assert before["day"].to_pylist() == [day + 2 * DAY for day in earlier["day"].to_pylist()]


def test_a_range_of_an_axis_of_days_chooses_whole_days(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[tuple[date, date]] = []
    monkeypatch.setattr(module, "show_days", lambda *days: chosen.append(days))
    noon, midnight = NOON.timestamp() * 1000, (BEGIN + DAY).timestamp() * 1000
    show_marked({"x": [midnight, noon]}, days=True)
    assert chosen == [(NOON.date(), BEGIN.date())]


def test_all_days_and_the_first_days_have_no_period_before(world: Path) -> None:
    assert rows_before(data_of(world), handshakes, "hour_utc") is None
    first = Filters(begin=BEGIN - 900 * DAY, end=BEGIN - 899 * DAY)
    assert rows_before(data_of(world, first), handshakes, "hour_utc") is None


@pytest.mark.parametrize("name", ["cpu"])
def test_charts_show_the_period_before_and_have_a_range_to_mark(
    name: str, drawn_page: Open, recorded: Path
) -> None:
    page = drawn_page(name, recorded, {"period": ["2026-03-09T12:00", "2026-03-09T18:00"]})
    charts = [chart.proto.spec for chart in page.get("vega_lite_chart")]
    with_range = [chart for chart in charts if "zoomed" in chart]
    assert with_range
    assert any("period before" in chart for chart in with_range)
    assert all("zoomed" in {each["name"] for each in json.loads(chart)["params"]} for chart in with_range)
    whole = drawn_page(name, recorded).get("vega_lite_chart")
    assert not any("period before" in chart.proto.spec for chart in whole)


@pytest.mark.parametrize("name", ["handshakes", "ciphers"])
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
