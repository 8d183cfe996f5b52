"""A query of a part reads less and returns the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from tests.marking import deep_except
from tests.pipelines.metric_world import database

from zscope.pipelines.metrics import MetricSelection, declared, metric, metric_names, needed, statement
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.store import open_reader
from zscope.schemas.catalogue_schemas import FILES, RAW

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

PERIOD = MetricSelection(
    begin=datetime(2026, 3, 10, 9, tzinfo=UTC), end=datetime(2026, 3, 10, 15, tzinfo=UTC)
)
SYSTEM = MetricSelection(systems=("SRV1",))
WITH_A_CLOCK = [name for name in metric_names() if metric(name).clock]
OF_SYSTEMS = [
    name
    for name in metric_names()
    if "system" in [column.name for column in metric(name).columns] and not metric(name).filters
]
"""Those whose rows a system chooses; where it is a parameter, it makes other rows."""


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> list[list[object]]:
    """The rows, with fractions as far as they do not depend on the order in which they were added up."""
    rows = [[_rounded(value) for value in row] for row in connection.execute(sql).fetchall()]
    return sorted(rows, key=repr)


def _rounded(value: object) -> object:
    """Round a fraction; leave out the schema, which only views of a store name in statements of evidence."""
    if isinstance(value, str):
        return value.replace(f" {RAW}.", " ")
    return float(f"{value:.9g}") if isinstance(value, float) else value


@dataclass
class Narrowed:
    """A connection with narrowed tables, and the steps over them that earlier tests have computed."""

    connection: duckdb.DuckDBPyConnection
    made: set[str] = field(default_factory=set)

    def answer(self, name: str, selection: MetricSelection) -> list[list[object]]:
        for text in prepared(metric(name), selection, made=self.made):
            self.connection.execute(text)
        self.made.update(needed(name), [name])
        return answer(self.connection, statement(metric(name), selection=selection))


NarrowedFor = Callable[[str, MetricSelection], Narrowed]


@pytest.fixture(scope="module")
def narrowed_for(world_store: Path) -> Iterator[NarrowedFor]:
    """Return a connection for a metric and a selection; metrics with the same narrowed tables share it."""
    found: dict[tuple[int, bool, bool], Narrowed] = {}
    with ExitStack() as stack:

        def one(name: str, selection: MetricSelection) -> Narrowed:
            steps = [declared()[step] for step in needed(name) if step in declared()]
            around = any(step.looks_around for step in steps)
            across = any(step.across_systems for step in steps)
            alike = (id(selection), "system" in metric(name).grain and not across, around)
            if alike not in found:
                found[alike] = Narrowed(stack.enter_context(open_reader(world_store)))
            return found[alike]

        yield one


@pytest.mark.parametrize("name", deep_except(WITH_A_CLOCK[::18], WITH_A_CLOCK))
def test_a_period_returns_the_rows_that_the_whole_has(
    name: str, narrowed_for: NarrowedFor, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    whole = answer(world_metrics, statement(metric(name), selection=PERIOD))
    assert narrowed_for(name, PERIOD).answer(name, PERIOD) == whole


@pytest.mark.parametrize("name", deep_except(OF_SYSTEMS[1::18], OF_SYSTEMS))
def test_a_system_returns_the_rows_that_the_whole_has(
    name: str, narrowed_for: NarrowedFor, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    whole = answer(world_metrics, statement(metric(name), selection=SYSTEM))
    assert narrowed_for(name, SYSTEM).answer(name, SYSTEM) == whole


def test_nothing_is_narrowed_without_a_selection() -> None:
    everything = MetricSelection(where="true")
    texts = [text for name in metric_names() for text in prepared(metric(name), everything)]
    assert texts
    assert not [text for text in texts if f" FROM {FILES}." in text]
    assert any(f" FROM {FILES}." in text for text in prepared(metric("handshake_mix"), SYSTEM))


OF_FILES = "store_check"
"""The metric that is about the files of a store: one with stored steps has more."""
WITHOUT_PREPARATION = ("cpu_interval", "handshake_mix", "tls_posture")


@pytest.mark.parametrize("name", WITHOUT_PREPARATION)
def test_preparation_does_not_change_the_rows(
    name: str, world_store: Path, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    compare_with_and_without_preparation(name, world_store, world_metrics)


# With stored steps DuckDB plans a metric in about a second, without them in up to half a minute.
@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name in metric_names() if name != OF_FILES])
def test_preparation_does_not_change_the_rows_where_steps_are_stored(
    name: str, summarised_store: Path, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    compare_with_and_without_preparation(name, summarised_store, world_metrics)


def compare_with_and_without_preparation(
    name: str, store: Path, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    query = statement(metric(name))
    with open_reader(store) as connection:
        # Most of the time of planning; no rows depend on it.
        connection.execute("SET disabled_optimizers = 'statistics_propagation,compressed_materialization'")
        views = answer(connection, query)
        for text in prepared(metric(name)):
            connection.execute(text)
        assert answer(connection, query) == views == answer(world_metrics, query)


def test_only_days_that_matter_are_read(world_store: Path) -> None:
    last_day = MetricSelection(begin=datetime(2026, 3, 17, 1, tzinfo=UTC))
    ends = (
        "SELECT DISTINCT strftime(day, '%m-%d') FROM smf119_zert_detail WHERE event_type IN (3, 4) ORDER BY 1"
    )
    with open_reader(world_store) as connection:
        assert connection.execute(ends).fetchall() == [("03-15",), ("03-17",)]
        for before in prepared(declared()["handshake_hour"], last_day):
            connection.execute(before)
        assert connection.execute(ends).fetchall() == [("03-17",)]


def test_all_days_are_read_to_judge_what_the_data_cover() -> None:
    last_day = MetricSelection(begin=datetime(2026, 3, 17, 1, tzinfo=UTC))
    narrowed = {
        text.split()[1] for text in prepared(metric("tls_posture"), last_day) if "FROM files." in text
    }
    assert not narrowed & {"smf119_zert_detail", "smf119_zert_summary"}


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
    step = declared()["handshake_hour"]
    query = statement(step, selection=PERIOD)
    with database("handshake_hour", {"smf119_zert_detail": connection_records}) as connection:
        whole = connection.execute(query).fetchall()
        connection.execute("CREATE SCHEMA files")
        connection.execute(
            "CREATE VIEW files.smf119_zert_detail AS SELECT * FROM memory.main.smf119_zert_detail"
        )
        for before in prepared(step, PERIOD):
            connection.execute(before)
        assert connection.execute(query).fetchall() == whole
    assert whole == []
