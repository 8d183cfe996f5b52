"""Asking for a part reads less and answers the same."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.metric_world import database

from zscope.pipelines.metrics import Selection, metric, metric_names, statement
from zscope.pipelines.metrics.narrowing import narrowed, prepared
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

PERIOD = Selection(begin=datetime(2026, 3, 10, 9, tzinfo=UTC), end=datetime(2026, 3, 10, 15, tzinfo=UTC))
SYSTEM = Selection(systems=("SRV1",))
WITH_A_CLOCK = [name for name in metric_names() if metric(name).clock]
OF_SYSTEMS = [name for name in metric_names() if "system" in [c.name for c in metric(name).columns]]


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> list[list[object]]:
    """The rows, with fractions as far as they do not depend on the order in which they were added up."""
    rows = [[_rounded(value) for value in row] for row in connection.execute(sql).fetchall()]
    return sorted(rows, key=repr)


def _rounded(value: object) -> object:
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", WITH_A_CLOCK)
def test_a_period_gives_the_rows_that_the_whole_has_of_it(name: str, world_store: Path) -> None:
    same_answer(world_store, name, PERIOD)


@pytest.mark.parametrize("name", OF_SYSTEMS)
def test_a_system_gives_the_rows_that_the_whole_has_of_it(name: str, world_store: Path) -> None:
    same_answer(world_store, name, SYSTEM)


def same_answer(store: Path, name: str, selection: Selection) -> None:
    asked = statement(metric(name), selection=selection)
    with open_reader(store) as connection:
        whole = answer(connection, asked)
    with open_reader(store) as connection:
        for before in prepared(metric(name), selection):
            connection.execute(before)
        part = answer(connection, asked)
    assert part == whole


def test_nothing_is_narrowed_where_everything_is_asked_for() -> None:
    assert all(narrowed(metric(name), Selection()) == [] for name in metric_names())


@pytest.mark.parametrize("name", metric_names())
def test_prepared_a_metric_says_the_same(name: str, world_store: Path) -> None:
    same_answer(world_store, name, Selection())


def test_only_days_that_matter_are_read(world_store: Path) -> None:
    last_day = Selection(begin=datetime(2026, 3, 11, 1, tzinfo=UTC))
    ends = (
        "SELECT DISTINCT strftime(day, '%m-%d') FROM smf119_zert_detail WHERE event_type IN (3, 4) ORDER BY 1"
    )
    with open_reader(world_store) as connection:
        assert connection.execute(ends).fetchall() == [("03-09",), ("03-10",), ("03-11",)]
        for before in prepared(metric("tls_posture"), last_day):
            connection.execute(before)
        assert connection.execute(ends).fetchall() == [("03-10",), ("03-11",)]


def test_what_a_connection_was_like_long_before_is_not_left_out() -> None:
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
    asked = statement(mix, [], PERIOD)
    with database("handshake_mix", {"smf119_zert_detail": connection_records}) as connection:
        whole = connection.execute(asked).fetchall()
        connection.execute("CREATE SCHEMA files")
        connection.execute(
            "CREATE VIEW files.smf119_zert_detail AS SELECT * FROM memory.main.smf119_zert_detail"
        )
        for before in prepared(mix, PERIOD):
            connection.execute(before)
        assert connection.execute(asked).fetchall() == whole
    assert whole[0][0] is None
