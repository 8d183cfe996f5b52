"""The page about CPU time per transaction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of

from zscope.app.dashboard.pages.cpu_per_transaction.cpu_per_transaction_queries import (
    by_system,
    over_time,
    totals,
    ways,
)
from zscope.app.dashboard.pages.cpu_per_transaction.panels import CollapsedDays, in_parts
from zscope.app.dashboard.time_axis import PIECE, in_pieces
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "cpu_per_transaction"
WAY = f"{PAGE}_counted_by"


@pytest.mark.deep
def test_each_way_of_counting_has_its_own_numbers(drawn_page: Open, world: Path) -> None:
    data = data_of(world)
    rows = data.metric(PAGE, None).to_pylist()
    assert len(ways(data)) == 4
    for way in ways(data):
        counted = [row for row in rows if row["counted_by"] == way and row["job_name"] is None]
        column = (
            "matched_connections" if way in {"connections ended", "zERT connections"} else "own_transactions"
        )
        known = [row for row in counted if row[column] is not None]
        transactions = sum(row[column] for row in known)
        expected = totals(data, way)
        assert expected["transactions"] == pytest.approx(sum(row["transactions"] for row in counted))
        assert expected["cpu_us"] == pytest.approx(1e6 * sum(row["cpu_s"] for row in known) / transactions)
    # The last way is one that the page shows only if it is chosen.
    page = drawn_page(PAGE, world, {WAY: way})
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Transactions"] == f"{expected['transactions']:,.0f}"
    assert f"Counted by {way}" in words(page)


def test_it_draws_time_and_runs(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world)
    described = [chart.proto.alt for chart in page.get("vega_lite_chart")]
    systems = by_system(data_of(world), "connections ended")["system"].unique().to_pylist()
    panels = [words for words in described if "over time: a line for the median" in words]
    assert len(panels) == len(systems) > 1
    assert "Times without a value" in described[len(panels)]
    assert "95 % interval" in described[-1]
    assert "95 % interval" in words(page)
    assert "synthetic" in words(page)
    assert page.button_group(key=f"{PAGE}_workload").options == ["CRR", "RR", "STR"]


@pytest.mark.deep
def test_zero_and_gap_are_not_the_same(recorded: Path) -> None:
    result = over_time(data_of(recorded, Filters(systems=("CLI2",))), "connections ended").rows
    by_status: dict[str, list[dict[str, Any]]] = {}
    for row in result.to_pylist():
        by_status.setdefault(row["status"], []).append(row)
    [gap] = by_status["gap"]
    assert gap["cpu_us_per_transaction"] is None
    assert gap["cpu_s"] is None
    assert gap["transactions"] > 0
    for row in by_status["no transactions"]:
        assert row["cpu_us_per_transaction"] is None
        assert row["cpu_s"] > 0
        assert row["transactions"] == 0


def test_a_line_breaks_off_where_rows_are_missing() -> None:
    start = datetime(2026, 3, 9, tzinfo=UTC)
    at = [start, start + timedelta(minutes=15), start + timedelta(minutes=45), None, start]
    table = pa.table({
        "system": ["A", "A", "A", "A", "B"],
        "at": pa.array(at, pa.timestamp("us", "UTC")),
        "ms": [900_000] * 5,
    })  # fmt: skip
    assert in_pieces(table, ("system",), "at", "ms")[PIECE].to_pylist() == [1, 1, 2, 3]
    assert in_pieces(table, ("system",), "at", timedelta(days=1))[PIECE].to_pylist() == [1, 1, 1, 2]


def test_days_without_data_take_no_room() -> None:
    days = CollapsedDays.of([at(9), at(9, 12), at(16), at(17)])
    assert days.hours == 72
    assert [days.place(at(9, 12)), days.place(at(16)), days.place(at(17, 6))] == [12, 24, 54]
    assert days.breaks() == [24]


def test_a_panel_has_the_median_and_the_range_of_each_part_of_a_day() -> None:
    values = [float(number) for number in range(1, 12)]
    moments = [at(9, 1, minutes) for minutes in range(11)] + [at(9, 2), at(16, 5)]
    rows = pa.table({
        "system": ["A"] * 13, "run": pa.array([None] * 13, pa.string()),
        "interval_start_utc": pa.array(moments, pa.timestamp("us", "UTC")),
        "cpu_us_per_transaction": [*values, 2500.0, None],
    })  # fmt: skip
    parts, _ = in_parts(rows, "interval_start_utc", "cpu_us_per_transaction", UTC)
    first, second = parts.to_pylist()
    assert (first["low"], first["middle"], first["high"], first["intervals"]) == (2, 6, 10, 11)
    assert (first["middle_in_words"], second["middle_in_words"]) == ("6 µs", "2.5 ms")


def test_a_panel_has_few_parts_and_breaks_off_between_them(world: Path) -> None:
    costs = over_time(data_of(world), "connections ended")
    parts, days = in_parts(costs.rows, costs.clock, "cpu_s", costs.zone)
    assert len(days.days) > 3
    for system in costs.systems:
        rows = [row for row in parts.to_pylist() if row["system"] == system]
        assert 0 < len(rows) <= 100 * len({row["run"] for row in rows})
        for before, after in pairwise(rows):
            if before[PIECE] == after[PIECE]:
                assert after["start_utc"] - before["start_utc"] <= timedelta(days=1)


def at(day: int, hour: int = 0, minute: int = 0) -> datetime:
    """Return a moment in March."""
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def test_runs_are_drawn_with_their_intervals(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world, {f"{PAGE}_workload": "RR"})
    shown = next(frame.value for frame in page.dataframe if "low" in frame.value.columns)
    expected = {
        (row["name"], row["role"]): row
        for row in data_of(world).metric("run_result", where="measure = 'cpu_per_tran'").to_pylist()
        if row["workload_kind"] == "RR"
    }
    assert len(shown) == len(expected) == 21
    for row in shown.to_dict("records"):
        assert row["value"] == expected[row["name"], row["role"]]["value"]
        assert row["low"] < row["value"] < row["high"]


@pytest.mark.deep
def test_widgets_and_filters_work(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world, {"system": "SRV1"})
    narrowed = by_system(data_of(world, Filters(systems=("SRV1",))), "connections ended")
    assert set(narrowed["system"].to_pylist()) == {"SRV1"}
    before = [metric.label for metric in page.metric]
    page.toggle(key=f"{PAGE}_ziip").set_value(True).run()
    fine(page)
    assert [metric.label for metric in page.metric] == [before[0], "zIIP time of the same", *before[1:]]
    page.button_group(key=f"{PAGE}_scale").set_value("linear").run()
    fine(page)


def test_a_filter_without_effect_is_named(drawn_page: Open, world: Path) -> None:
    assert "Not filtered by role" in words(drawn_page(PAGE, world, {"role": "client"}))


@pytest.mark.deep
def test_a_period_without_runs_is_reported(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world, {"period": ["2026-03-09", "2026-03-09"]})
    assert "No run started" in words(page)


def test_an_empty_store_shows_what_to_load(drawn_page: Open, empty: Path) -> None:
    shown = words(drawn_page(PAGE, empty))
    for said in (
        "There is no CPU time",
        "There are no transactions",
        "There are no benchmark runs",
        "'70(1)'",
        "'119(2,11)'",
    ):
        assert said in shown


@pytest.mark.deep
def test_cpu_data_alone_has_no_transactions(drawn_page: Open, only_rmf: Path) -> None:
    shown = words(drawn_page(PAGE, only_rmf))
    assert "There are no transactions" in shown
    assert "There is no CPU time" not in shown


@pytest.mark.deep
def test_transactions_alone_have_no_cpu_time(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page(PAGE, only_zert)
    assert "There is no CPU time" in words(page)
    assert "'70(1)'" in words(page)
    assert page.metric[0].value == "n/a"
    assert page.metric[1].value != "0"


def test_jobs_with_smf_30_are_a_table_of_their_own_and_in_no_total(drawn_page: Open, world: Path) -> None:
    data = data_of(world)
    jobs = data.metric(PAGE, ["job_name"], where="job_name IS NOT NULL")
    assert jobs.num_rows
    page = drawn_page(PAGE, world)
    frames = (frame.value for frame in page.dataframe if "job_name" in frame.value.columns)
    shown = next(frame for frame in frames if frame["job_name"].notna().all())
    assert set(shown["job_name"]) <= set(jobs["job_name"].to_pylist())
    way = ways(data)[0]
    whole = data.metric(PAGE, [], where=f"counted_by = '{way}' AND job_name IS NULL")
    assert totals(data, way)["transactions"] == pytest.approx(sum(whole["transactions"].to_pylist()))


def test_the_peak_interval_is_named(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world)
    shown = next(frame.value for frame in page.dataframe if "peak_start_utc" in frame.value.columns)
    assert {"CPU time", "handshakes"} <= set(shown["measure"])


@pytest.mark.deep
def test_displays_have_neither_cpu_time_nor_transactions(drawn_page: Open, only_netstat: Path) -> None:
    shown = words(drawn_page(PAGE, only_netstat))
    assert "There are no transactions" in shown
    assert "There is no CPU time" in shown


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    shown = words(drawn_page(PAGE, hostile))
    assert MARKUP not in shown
    assert "<script>" not in shown
    assert "**yyyy" not in shown
