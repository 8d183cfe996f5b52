"""The TLS CPU cost from generated dumps, through the store to the metric."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.dumps import generated
from tests.pipelines.stores import load

from zscope.pipelines.estimate.estimate_rows import estimate_rows
from zscope.pipelines.ingest import IngestOptions, row_selection
from zscope.pipelines.metrics import declared
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.samples import Recipe, RecordKind, named_systems
from zscope.samples.dump.recipe import CpuCost

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

DAYS = 9
COST = CpuCost()
MIX = {RecordKind.ZERT_DETAIL: 0.94, RecordKind.RMF_CPU: 0.06}
pytestmark = pytest.mark.deep


def rows(connection: duckdb.DuckDBPyConnection, text: str) -> list[dict[str, Any]]:
    return list(connection.execute(text).to_arrow_table().to_pylist())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine days of a system whose connections have the costs of the recipe."""
    folder = tmp_path_factory.mktemp("generated")
    options = IngestOptions(selection=row_selection(None), settings=Settings().merge(["+00:00"]))
    systems = named_systems("SYSA", utc_offset_minutes=0)
    paths = []
    for day in range(DAYS):
        start = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=day)
        recipe = Recipe(
            records=3_500, seed=day, mix=MIX, start=start, end=start + timedelta(days=1), systems=systems
        )
        path = folder / f"{day}.smf"
        path.write_bytes(generated(recipe))
        paths.append(path)
    load(folder / "store", *paths, how=options)
    return folder / "store"


def test_the_costs_are_those_of_the_recipe(store: Path) -> None:
    """The recipe counts a whole connection in the interval of its end; the tolerance is for that."""
    with open_reader(store) as connection:
        found = {row["item"]: row for row in rows(connection, "FROM cost_estimate WHERE unit = 'us'")}
    assert COST.full_us < 1.05 * found["full handshake"]["high"] < 2 * COST.full_us
    assert found["full less resumed"]["status"] == "conditional"
    difference = COST.full_us - COST.abbreviated_us
    assert found["full less resumed"]["low"] <= difference <= found["full less resumed"]["high"]
    assert COST.megabyte_us < 1.05 * found["megabyte"]["high"] < 2 * COST.megabyte_us
    assert found["full handshake"]["status"] == "range"
    assert "load SMF 30 intervals" in found["full handshake"]["why"]


def test_the_price_is_what_the_connections_cost(store: Path) -> None:
    with open_reader(store) as connection:
        [true_s] = connection.execute(
            """
            SELECT sum(
                CASE handshake_type WHEN 1 THEN ? WHEN 2 THEN ? ELSE 0 END
                + if(security_protocols_flags & 128 > 0, ? * (in_bytes + out_bytes) / 1e6, 0)
            ) / 1e6 / ?
            FROM smf119_zert_detail WHERE event_type IN (3, 4)
            """,
            [COST.full_us, COST.abbreviated_us, COST.megabyte_us, DAYS],
        ).fetchone() or (0.0,)
        found = rows(connection, "FROM tls_price WHERE part = 'TLS'")
    [system] = [row for row in found if row["shared_by"] == "system"]
    assert system["cpu_s_per_day"] is None
    assert system["low_cpu_s_per_day"] < true_s < 1.05 * system["high_cpu_s_per_day"] < 2 * true_s
    for shared_by in ("job", "port"):
        shares = [row["share_pct"] for row in found if row["shared_by"] == shared_by]
        assert len(shares) > 3
        assert sum(shares) == pytest.approx(100)


def test_only_the_days_of_the_periods_are_read(tmp_path: Path) -> None:
    """From more days than an estimate uses: what the store computed equals what all intervals lead to."""
    systems = named_systems("SYSA", utc_offset_minutes=0)
    start = datetime(2026, 1, 5, tzinfo=UTC)
    end = start + timedelta(days=105)
    mix = {RecordKind.ZERT_DETAIL: 0.66, RecordKind.RMF_CPU: 0.34}
    path = tmp_path / "long.smf"
    path.write_bytes(generated(Recipe(records=30_000, mix=mix, systems=systems, start=start, end=end)))
    options = IngestOptions(selection=row_selection(None), settings=Settings().merge(["+00:00"]))
    load(tmp_path / "store", path, how=options)
    with open_reader(tmp_path / "store") as connection:
        stored = rows(connection, "FROM cost_estimate")
        intervals = connection.execute(declared()["cost_estimate"].sql).to_arrow_table()
        days = "SELECT count(DISTINCT start_local::DATE) AS days FROM cost_interval"
        assert rows(connection, days)[0]["days"] > 100
    computed = list(estimate_rows(intervals))
    assert stored[0]["days"] == computed[0]["days"] == 92
    for row, expected in zip(stored, computed, strict=True):
        assert row["why"] == expected["why"]
        found = [row["low"], row["high"]]
        assert found == pytest.approx([expected["low"], expected["high"]], rel=1e-6)
