"""A query of a part reads less and returns the same rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from tests.marking import deep_except
from tests.pipelines.metric_world import database

from zscope.pipelines.metrics import MetricSelection, metric, metric_names, statement
from zscope.pipelines.metrics.narrowing import narrowed, prepared
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

PERIOD = MetricSelection(
    begin=datetime(2026, 3, 10, 9, tzinfo=UTC), end=datetime(2026, 3, 10, 15, tzinfo=UTC)
)
SYSTEM = MetricSelection(systems=("SRV1",))
WITH_A_CLOCK = [name for name in metric_names() if metric(name).clock]
OF_SYSTEMS = [name for name in metric_names() if "system" in [c.name for c in metric(name).columns]]


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> list[list[object]]:
    """The rows, with fractions as far as they do not depend on the order in which they were added up."""
    rows = [[_rounded(value) for value in row] for row in connection.execute(sql).fetchall()]
    return sorted(rows, key=repr)


def _rounded(value: object) -> object:
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", deep_except(WITH_A_CLOCK[::18], WITH_A_CLOCK))
def test_a_period_returns_the_rows_that_the_whole_has(
    name: str, world_store: Path, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    same_answer(world_store, world_metrics, name, PERIOD)


@pytest.mark.parametrize("name", deep_except(OF_SYSTEMS[1::18], OF_SYSTEMS))
def test_a_system_returns_the_rows_that_the_whole_has(
    name: str, world_store: Path, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    same_answer(world_store, world_metrics, name, SYSTEM)


def same_answer(store: Path, whole: duckdb.DuckDBPyConnection, name: str, selection: MetricSelection) -> None:
    """Compare the selected rows over the whole store with those over narrowed tables, both prepared."""
    query = statement(metric(name), selection=selection)
    with open_reader(store) as connection:
        for text in prepared(metric(name), selection):
            connection.execute(text)
        assert answer(connection, query) == answer(whole, query)


def test_nothing_is_narrowed_without_a_selection() -> None:
    assert all(narrowed(metric(name), MetricSelection()) == [] for name in metric_names())


WITHOUT_PREPARATION = ("cpu_interval", "handshake_mix", "tls_posture")


# Without preparation DuckDB needs seconds to plan a metric that reads several layers of steps.
@pytest.mark.parametrize("name", deep_except(WITHOUT_PREPARATION, metric_names()))
def test_preparation_does_not_change_the_rows(
    name: str, world_store: Path, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    query = statement(metric(name))
    with open_reader(world_store) as connection:
        assert answer(connection, query) == answer(world_metrics, query)


def test_only_days_that_matter_are_read(world_store: Path) -> None:
    last_day = MetricSelection(begin=datetime(2026, 3, 17, 1, tzinfo=UTC))
    ends = (
        "SELECT DISTINCT strftime(day, '%m-%d') FROM smf119_zert_detail WHERE event_type IN (3, 4) ORDER BY 1"
    )
    with open_reader(world_store) as connection:
        assert connection.execute(ends).fetchall() == [("03-15",), ("03-17",)]
        for before in prepared(metric("tls_posture"), last_day):
            connection.execute(before)
        assert connection.execute(ends).fetchall() == [("03-17",)]


def test_the_earlier_state_of_a_connection_is_read() -> None:
    """Seen without its beginning, a change on a connection would look like another handshake."""
    began = {
        "event_type": 1, "day": date(2026, 3, 5), "written_local": datetime.fromisoformat("2026-03-05T10:00")
    }  # fmt: skip
    changed = {
        "event_type": 2, "day": date(2026, 3, 10),
        "written_local": datetime.fromisoformat("2026-03-10T10:00"),
        "written_utc": datetime(2026, 3, 10, 10, tzinfo=UTC),
    }  # fmt: skip
    connection_records = [
        event
        | {
            "system": "SRV1", "stack": "TCPIP", "connection_id": 7, "job_name": "LONG",
            "start_utc": datetime(2026, 3, 5, 10, tzinfo=UTC), "security_protocols_flags": 128,
            "handshake_type": 1, "session_id": "AA", "tls_version": 0x0304, "cipher": "1302",
        }
        for event in (began, changed)
    ]  # fmt: skip
    mix = metric("handshake_mix")
    query = statement(mix, [], PERIOD)
    with database("handshake_mix", {"smf119_zert_detail": connection_records}) as connection:
        whole = connection.execute(query).fetchall()
        connection.execute("CREATE SCHEMA files")
        connection.execute(
            "CREATE VIEW files.smf119_zert_detail AS SELECT * FROM memory.main.smf119_zert_detail"
        )
        for before in prepared(mix, PERIOD):
            connection.execute(before)
        assert connection.execute(query).fetchall() == whole
    assert whole[0][0] is None
