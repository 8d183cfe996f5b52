"""Tables of the curves and of both modes side by side."""

from __future__ import annotations

import pytest
from tests.pipelines.flood.conftest import plain, simulated

from zscope.pipelines.flood.figures import FIGURES, FloodFigures, compare
from zscope.pipelines.flood.parameters import FloodError, Mode
from zscope.pipelines.flood.rows import comparison_table, curve_table
from zscope.pipelines.flood.trace import Curve


def test_a_count_is_valid_until_it_changes() -> None:
    curve = Curve.of([1.0, 2.0, 2.0, 5.0], [4, 9, 2, 0])
    assert curve.counts.tolist() == [4, 2, 0]
    assert (curve.peak, curve.peak_at_s) == (4, 1)
    assert curve.integral(5) == 4 + 6
    assert curve.integral(3) == 4 + 2
    assert curve.time_at_least(3, 9) == 1
    assert curve.time_at_least(1, 9) == 4
    nothing = Curve.of([], [])
    assert (nothing.peak, nothing.peak_at_s, nothing.integral(3), nothing.time_at_least(1, 3)) == (0, 0, 0, 0)


def test_curves_of_both_modes_have_the_same_times() -> None:
    comparison = compare(plain(sessions=200, burst_s=0.1, workers=4, processors=4, flows=2, network_ms=3.0))
    table = curve_table(comparison.traces.values(), 10)
    rows = table.to_pylist()
    assert table.num_rows == 22
    by_mode = {mode: [row for row in rows if row["mode"] == mode] for mode in Mode}
    before, after = by_mode.values()
    assert [row["since_start_s"] for row in before] == [row["since_start_s"] for row in after]
    for part in (before, after):
        assert part[-1]["sessions_started"] == 200
        assert part[-1]["ecbs_in_use"] == 0
        started = [row["sessions_started"] for row in part]
        assert started == sorted(started)
    assert before[-1]["since_start_s"] == comparison.traces[Mode.BLOCKING].elapsed_s
    assert {row["basis"] for row in rows} == {"model"}


def test_the_number_of_samples_is_limited() -> None:
    for samples in (0, 10_001):
        with pytest.raises(FloodError, match="samples"):
            curve_table([simulated(sessions=2)], samples)


def test_there_is_a_row_for_each_figure() -> None:
    comparison = compare(plain(sessions=50))
    rows = {row["figure"]: row for row in comparison_table(comparison).to_pylist()}
    assert list(rows) == [figure.name for figure in FIGURES] == list(FloodFigures.__slots__)
    # One thread without network: PJ48040 changes nothing.
    assert rows["elapsed_s"]["blocking"] == rows["elapsed_s"]["non_blocking"] == 0.1
    assert rows["elapsed_s"]["change_pct"] == 0
    assert {row["basis"] for row in rows.values()} == {"model"}


def test_a_mode_that_was_not_simulated_has_no_figures() -> None:
    comparison = compare(plain(sessions=5), [Mode.BLOCKING])
    assert comparison.value("elapsed_s", Mode.NON_BLOCKING) is None
    assert comparison.change_pct("elapsed_s") is None
    assert list(comparison.traces) == [Mode.BLOCKING]
