"""Runs of generated dumps whose sources contradict each other: no comparison of them is distinguishable."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.dumps import generated, kind_of, records_in
from tests.pipelines.stores import EVERYTHING, load

from zscope.pipelines.metrics import metric
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue_file import has_summaries
from zscope.samples import CpuCost, Recipe, RecordKind, named_systems

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAYS = (datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC))
LENGTH = timedelta(hours=6)
SYSTEMS = named_systems("SYSA", utc_offset_minutes=0)
COST = CpuCost(base=0.0, full_us=2_000_000, abbreviated_us=2_000_000, megabyte_us=0)
"""All CPU time is that of the connections, and as much for each: runs differ by noise only."""
MIX = {RecordKind.ZERT_DETAIL: 0.5, RecordKind.TCP_TERM: 0.4, RecordKind.RMF_CPU: 0.1}


def dump(start: datetime, seed: int) -> list[bytes]:
    """Return the records of a run."""
    recipe = Recipe(
        records=3_000, start=start, end=start + LENGTH, systems=SYSTEMS, mix=MIX, seed=seed, cpu_cost=COST
    )
    return records_in(generated(recipe))


def compared(
    folder: Path, change: Callable[[list[bytes]], list[bytes]] = list, zone: str = ""
) -> dict[str, dict[str, Any]]:
    """Load two runs, the second one changed, and return their comparison by measure."""
    store = folder / "store"
    for number, start in enumerate(DAYS):
        records = dump(start, number)
        path = folder / f"{number}.smf"
        path.write_bytes(b"".join(change(records) if number else records))
        settings = Settings().merge([zone] if zone and number else [])
        load(store, path, how=replace(EVERYTHING, settings=settings))
    runs = [
        f'[[run]]\nname = "{name}"\nsystem = "SYSA"\nrole = "server"\n'
        f"from = {start.isoformat()}\nto = {(start + LENGTH).isoformat()}\n"
        for name, start in zip("ab", DAYS, strict=True)
    ]
    (store / "runs.toml").write_text("\n".join(runs), encoding="utf-8")
    with open_reader(store) as connection:
        for sql in prepared(metric("run_comparison"), summarised=has_summaries(connection)):
            connection.execute(sql)
        rows = connection.execute("SELECT * FROM run_comparison WHERE baseline = 'a'").to_arrow_table()
    return {row["measure"]: row for row in rows.to_pylist()}


def thinned(records: list[bytes]) -> list[bytes]:
    """Leave out nine of ten records 119-2."""
    connections = [record for record in records if kind_of(record) == (119, 2)]
    left_out = {id(record) for number, record in enumerate(connections) if number % 10}
    return [record for record in records if id(record) not in left_out]


def without_a_third_of_the_intervals(records: list[bytes]) -> list[bytes]:
    """Leave out every third record 70-1."""
    intervals = [record for record in records if kind_of(record) == (70, 1)]
    left_out = {id(record) for record in intervals[1::3]}
    return [record for record in records if id(record) not in left_out]


@pytest.mark.deep
def test_thinned_connections_are_refused(tmp_path: Path) -> None:
    rows = compared(tmp_path, thinned)
    row = rows["cpu_per_tran"]
    # The value is ten times too high.
    assert row["candidate_value"] > 5 * row["baseline_value"]
    assert row["status"] == "refused"
    assert "b: SMF 119-2 has " in row["remarks"]
    assert ", zERT " in row["remarks"]
    assert row["change_pct"] is None
    assert not any(row["distinguishable"] for row in rows.values())


@pytest.mark.deep
def test_a_clock_one_hour_off_is_refused(tmp_path: Path) -> None:
    rows = compared(tmp_path, zone="+01:00")
    assert {row["status"] for row in rows.values()} == {"refused"}
    assert (
        "b: records were written 60 minutes before their connections ended" in rows["cpu_per_tran"]["remarks"]
    )
    assert not any(row["distinguishable"] for row in rows.values())


@pytest.mark.deep
def test_missing_intervals_are_counted_and_named(tmp_path: Path) -> None:
    row = compared(tmp_path, without_a_third_of_the_intervals)["cpu_per_tran"]
    assert row["status"] == "warning"
    assert "b: 8 of 24 intervals left out (no CPU data" in row["remarks"]
    assert row["candidate_left_out"] == 8
    assert row["untrimmed_change_pct"] == pytest.approx(row["change_pct"], abs=5)
    assert row["distinguishable"] is False


@pytest.mark.deep
def test_runs_without_contradictions_are_compared(tmp_path: Path) -> None:
    row = compared(tmp_path)["cpu_per_tran"]
    assert row["status"] != "refused"
    assert row["low_pct"] < 0 < row["high_pct"]
    assert row["distinguishable"] is False
