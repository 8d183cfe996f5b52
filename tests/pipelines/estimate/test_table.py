"""Intervals and estimates as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from tests.pipelines.estimate.measured import changed, replicates

from zscope.pipelines.estimate.costs import ITEMS, estimate_costs
from zscope.pipelines.estimate.table import cost_table, estimates, fit_table
from zscope.pipelines.metrics import declared

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import SystemIntervals


def as_table(system: str, intervals: SystemIntervals) -> pa.Table:
    spaces = intervals.tls_spaces_cpu_s
    return pa.table(
        {
            "system": [system] * len(intervals.seconds),
            "start_local": pa.array(intervals.start_local.astype("datetime64[us]")),
            "seconds": intervals.seconds,
            "cpu_s": intervals.cpu_s,
            "full_handshakes": np.rint(intervals.full).astype(np.int64),
            "resumed_handshakes": np.rint(intervals.resumed).astype(np.int64),
            "tls_mb": intervals.tls_mb,
            "tls_spaces_cpu_s": pa.nulls(len(intervals.seconds), pa.float64()) if spaces is None else spaces,
            "busy_share": intervals.busy_share,
        }
    )


@pytest.fixture(scope="module")
def systems() -> dict[str, SystemIntervals]:
    return {
        "SYSB": next(replicates(changed("AR 0.8"), 1)),
        "SYSA": next(replicates(changed("AR 0.8"), 1, seed=2, tls_share=0.1)),
        "SYSC": next(replicates(changed("at the limit"), 1)),
    }


def test_rows_are_the_estimates(systems: dict[str, SystemIntervals]) -> None:
    intervals = pa.concat_tables([as_table(system, one) for system, one in systems.items()])
    results = estimates(intervals.take(np.random.default_rng(1).permutation(len(intervals))))
    rows = cost_table(results).to_pylist()
    assert [row["system"] for row in rows[:: len(ITEMS)]] == ["SYSA", "SYSB", "SYSC"]
    for row in rows:
        cost = estimate_costs(systems[row["system"]]).cost(row["item"], row["unit"])
        assert (row["status"], row["why"]) == (cost.trusted.status, cost.trusted.why)
        assert [row["value"], row["low"], row["high"]] == pytest.approx([cost.value, cost.low, cost.high])


def test_fits(systems: dict[str, SystemIntervals]) -> None:
    rows = fit_table(estimates(pa.concat_tables([as_table(*item) for item in systems.items()]))).to_pylist()
    with_spaces, without, refused = rows
    assert [row["status"] for row in rows] == ["ok", "ok", "refused"]
    assert [row["intervals"] for row in rows] == [1344, 1344, 1344]
    assert with_spaces["spill"] == pytest.approx(1 / 9, rel=0.05)
    assert without["spill"] is None
    assert without["blocks"] == 14
    assert sum(without["memory"]) == pytest.approx(0.8, abs=0.15)
    assert 0 < without["effective_intervals"] < 600
    assert without["load_correlation"] == pytest.approx(0.5, abs=0.1)
    assert refused["memory"] is None


def test_the_step_has_the_columns_of_the_estimate() -> None:
    columns = {column.name for column in declared()["cost_interval"].columns}
    assert set(as_table("SYSA", next(replicates(changed("AR 0.8", days=1), 1))).column_names) <= columns


def test_no_intervals() -> None:
    empty = as_table("SYSA", next(replicates(changed("AR 0.8", days=1), 1))).slice(0, 0)
    assert estimates(empty) == {}
    assert cost_table({}).num_rows == fit_table({}).num_rows == 0
