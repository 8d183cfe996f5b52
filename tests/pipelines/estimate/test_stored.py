"""Estimates as rows that a store keeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from zscope.pipelines.estimate import stored
from zscope.pipelines.estimate.stored import cost_changes, cost_estimates
from zscope.pipelines.estimate.table import estimates

if TYPE_CHECKING:
    from zscope.pipelines.estimate.costs import SystemEstimate

START = datetime(2026, 3, 2)  # noqa: DTZ001 - local time


def intervals(system: str, seed: int, days: int = 8) -> pa.Table:
    """Return intervals in which a full handshake costs 1,000 us, a resumed one 300, a megabyte 2,000."""
    random = np.random.default_rng(seed)
    count = 96 * days
    full = random.poisson(9_000, count).astype(float)
    resumed = random.poisson(12_000, count).astype(float)
    mb = random.uniform(100, 900, count)
    cpu_s = 30 + (1000 * full + 300 * resumed + 2000 * mb) / 1e6 + random.normal(0, 0.1, count)
    return pa.table(
        {
            "system": pa.array([system] * count),
            "start_local": pa.array([START + number * timedelta(minutes=15) for number in range(count)]),
            "seconds": np.full(count, 900.0),
            "cpu_s": cpu_s,
            "full_handshakes": full,
            "resumed_handshakes": resumed,
            "tls_mb": mb,
            "tls_spaces_cpu_s": pa.nulls(count, pa.float64()),
            "busy_share": np.full(count, 0.3),
        }
    )


def test_each_system_has_its_estimate_and_the_time_of_its_data() -> None:
    rows = cost_estimates(pa.concat_tables([intervals("SYSB", 1), intervals("SYSA", 2)]), None)
    assert sorted(set(rows["system"].to_pylist())) == ["SYSA", "SYSB"]
    chosen = (pc.field("system") == "SYSA") & (pc.field("item") == "full handshake")
    [full] = rows.filter(chosen).to_pylist()
    assert full["unit"] == "us"
    assert full["value"] == pytest.approx(1000, rel=0.1)
    assert full["first_local"] == START
    assert full["last_local"] == START + timedelta(days=8) - timedelta(minutes=15)


def test_only_systems_with_other_intervals_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def counted(rows: pa.Table) -> dict[str, SystemEstimate]:
        computed.extend(rows["system"].unique().to_pylist())
        return estimates(rows)

    monkeypatch.setattr(stored, "estimates", counted)
    first, second = intervals("SYSA", 1), intervals("SYSB", 2)
    before = cost_estimates(pa.concat_tables([first, second]), None)
    assert computed == ["SYSA", "SYSB"]
    again = cost_estimates(pa.concat_tables([first, intervals("SYSB", 3)]), before)
    assert computed == ["SYSA", "SYSB", "SYSB"]
    of_first = pc.field("system") == "SYSA"
    assert again.filter(of_first).equals(before.filter(of_first))
    assert again.num_rows == before.num_rows
    assert not again.equals(before)


def test_no_intervals_no_rows() -> None:
    assert cost_estimates(intervals("SYSA", 1).slice(0, 0), None).num_rows == 0


def around_a_change(full_us: float) -> pa.Table:
    """Return eight days before and eight after a change, after which a full handshake costs `full_us`."""
    before, after = intervals("SYSA", 1), intervals("SYSA", 2)
    later = pc.add(after["start_local"], pa.scalar(timedelta(days=8)))
    after = after.set_column(1, "start_local", later)
    changed = pc.add(after["cpu_s"], pc.multiply(after["full_handshakes"], (full_us - 1000) / 1e6))
    after = after.set_column(after.schema.get_field_index("cpu_s"), "cpu_s", changed)
    rows = pa.concat_tables([before, after])
    moment = pa.scalar((START + timedelta(days=8)).replace(tzinfo=UTC), pa.timestamp("us", "UTC"))
    for name, value in (
        ("changed_utc", moment), ("changed", pa.scalar("AT-TLS policy")), ("change", pa.scalar("instance 1"))
    ):  # fmt: skip
        rows = rows.append_column(name, pa.repeat(value, len(rows)))
    return rows.append_column("is_after", pa.array(np.arange(len(rows)) >= len(before)))


def test_a_change_of_costs_is_seen_and_split() -> None:
    rows = around_a_change(700)
    found = {(row["item"], row["unit"]): row for row in cost_changes(rows, None).to_pylist()}
    full = found["full handshake", "us"]
    assert full["low"] <= -300 <= full["high"] < 0
    assert full["after"] - full["before"] == pytest.approx(full["value"])
    tls = found["TLS", "s/day"]
    assert tls["changed"] == "AT-TLS policy"
    assert tls["by_costs"] + tls["by_number"] + tls["by_mix"] == pytest.approx(tls["after"] - tls["before"])
    assert tls["by_costs"] < 10 * min(tls["by_number"], tls["by_mix"])
    same = cost_changes(rows, cost_changes(rows, None))
    assert same.num_rows == len(found)


def test_no_change_is_seen_where_there_is_none() -> None:
    found = {row["item"]: row for row in cost_changes(around_a_change(1000), None).to_pylist()}
    assert found["full handshake"]["low"] < 0 < found["full handshake"]["high"]


def test_a_change_without_enough_data_has_the_reason() -> None:
    rows = around_a_change(700)
    [row] = cost_changes(rows.slice(0, 96 * 8 + 20), None).to_pylist()
    assert (row["status"], row["item"], row["value"]) == ("refused", None, None)
    assert "20 intervals of 15 minutes can be used" in row["why"]
