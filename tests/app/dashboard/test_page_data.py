"""Queries of the pages: cached for one version of the store, guarded, limited."""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.app.dashboard.page_helpers import data_of
from tests.sample_stores import SAMPLE

from zscope.app.dashboard import page_data as module
from zscope.app.dashboard.page_data import PageData, StoreQueries, TooManyRowsError
from zscope.app.shared.filters import Filters
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import metric, statement
from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.session import Session
from zscope.pipelines.store.sql_sandbox import QueryError

CHOSEN = Filters(
    begin=datetime(2026, 3, 9, tzinfo=UTC), end=datetime(2026, 3, 10, tzinfo=UTC), systems=("SRV1", "SRV2"),
    ports=(443,), roles=("server",),
)  # fmt: skip


def test_a_metric_is_narrowed_by_the_filters(recorded: Path) -> None:
    result = data_of(recorded, CHOSEN).metric("handshake_mix", ["system"])
    with open_reader(recorded) as connection:
        expected = connection.execute(
            "SELECT system, sum(handshakes)::BIGINT FROM handshake_mix "
            "WHERE hour_utc >= '2026-03-09 00:00:00Z' AND hour_utc < '2026-03-10 00:00:00Z' "
            "AND server_port = 443 AND system IN ('SRV1', 'SRV2') AND handshake_role LIKE 'server%' "
            "GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert list(zip(result["system"].to_pylist(), result["handshakes"].to_pylist(), strict=True)) == expected
    assert expected


def test_a_result_is_cached(world: Path) -> None:
    data = data_of(world)
    assert data.metric("handshake_mix", []) is data.metric("handshake_mix", [])
    assert data.metric("handshake_mix", []) is not data.metric("handshake_mix", ["system"])


def test_readers_who_ask_for_the_same_at_once_share_one_query(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = StoreQueries(world)
    original, ran, together = module._PooledSession.query, [], threading.Barrier(6)

    def slow(self: module._PooledSession, *arguments: object) -> object:
        ran.append(arguments)
        time.sleep(0.3)
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module._PooledSession, "query", slow)

    def ask(statement: str) -> object:
        together.wait()
        try:
            return queries.rows(queries.version(), statement)
        except QueryError as error:
            return type(error)

    with ThreadPoolExecutor(6) as readers:
        results = list(readers.map(ask, ["SELECT 42 AS answer"] * 6))
        assert all(result is results[0] for result in results)
        assert len(ran) == 1
        assert list(readers.map(ask, ["SELECT nothing"] * 6)) == [QueryError] * 6
    assert len(ran) == 2
    assert queries.rows(queries.version(), "SELECT 42 AS answer") is results[0]


def test_parameters_of_one_query_do_not_reach_the_next(world: Path) -> None:
    data = data_of(world)
    only = "target_pct = 77"
    assert data.metric("resumption_saving", where=only).num_rows == 0
    assert (
        data.metric("resumption_saving", where=only, settings=["SET VARIABLE target_pct = 77"]).num_rows > 0
    )
    assert data.metric("resumption_saving", where=only).num_rows == 0


def test_metrics_with_benchmark_runs_leave_those_without_as_they_are(
    demo: tuple[Path, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty figure queries both. Each step is computed once for either, not once for every query."""
    made: list[str] = []
    original = Session.run

    def noting(self: Session, text: str, *arguments: object, **others: object) -> object:
        if text.startswith("CREATE OR REPLACE TEMP TABLE"):
            made.append(text.splitlines()[0])
        return original(self, text, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "run", noting)
    queries = StoreQueries(demo[0])
    data = PageData(queries, queries.version(), Filters())
    with_runs = replace(data, filters=Filters(with_runs=True))
    counts = [
        each.metric("left_out_hour", where=f"system <> 'S{number}'").num_rows
        for number in range(3)
        for each in (data, with_runs)
    ]
    assert len(set(counts[::2])) == len(set(counts[1::2])) == 1
    assert counts[0] > counts[1] == 0
    assert max(made.count(text) for text in made) == 2


def test_the_period_is_passed_to_metrics_with_period_parameters(recorded: Path) -> None:
    noon = datetime(2026, 3, 9, 12, tzinfo=UTC)
    whole = data_of(recorded).metric("peak_load")["peak_start_utc"].to_pylist()
    part = data_of(recorded, Filters(end=noon)).metric("peak_load")["peak_start_utc"].to_pylist()
    assert max(whole) >= noon
    assert max(part) < noon


def test_new_data_has_another_version_and_another_result(only_zert: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(only_zert, tmp_path / "store"))
    queries = StoreQueries(store)
    before = queries.version()
    count = "SELECT count(*) AS n FROM rmf_cpu"
    assert queries.rows(before, count)["n"].to_pylist() == [0]
    assert queries.version() == before
    ingest(store, [SAMPLE / "reports" / "rmf-cpu.SYSB.txt"], IngestOptions(selection=row_selection(None)))
    after = queries.version()
    assert after != before
    assert queries.rows(after, count)["n"].to_pylist()[0] > 0


def test_statements_can_only_read_the_store(world: Path) -> None:
    data = data_of(world)
    for statement_ in ("SELECT * FROM read_text('/etc/hostname')", "CREATE TABLE zscope.x AS SELECT 1"):
        with pytest.raises(QueryError):
            data.rows(statement_)


def test_a_result_with_too_many_rows_is_refused(world: Path) -> None:
    with pytest.raises(TooManyRowsError, match="100,000 rows"):
        data_of(world).rows("SELECT * FROM range(200000)")


def test_the_least_recently_used_result_leaves_the_cache(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CACHE_BYTES", 3_000)
    data = data_of(world)
    first = data.rows("SELECT range AS a FROM range(200)")
    data.rows("SELECT range AS b FROM range(200)")
    again = data.rows("SELECT range AS a FROM range(200)")
    assert again is not first
    assert again.equals(first)


def test_cached_results_take_the_memory_of_their_rows(world: Path) -> None:
    data = data_of(world)
    columns = ", ".join(f"range AS c{number}" for number in range(20))
    data.rows(f"SELECT {columns} FROM range(1)")
    before = memory_kb("VmSize")
    for number in range(100):
        data.rows(f"SELECT {columns} FROM range({number}, {number + 1})")
    # DuckDB's batches have room for 65,536 rows each, which would be a gigabyte.
    assert memory_kb("VmSize") - before < 200_000


def memory_kb(name: str) -> int:
    """Return a figure about the memory of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [found] = [int(line.split()[1]) for line in lines if line.startswith(f"{name}:")]
    return found


def test_results_of_older_versions_leave_the_cache(only_zert: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(only_zert, tmp_path / "store"))
    queries = StoreQueries(store)
    first = queries.version()
    result = queries.rows(first, "SELECT 1 AS a")
    for number in range(2):
        runs = "".join(f'[[run]]\nname = "run {each}"\n' for each in range(number + 1))
        (store / "runs.toml").write_text(runs)  # another version, as after a load
        assert queries.rows(first, "SELECT 1 AS a") is result, "a page that is being drawn still needs it"
        queries.rows(queries.version(), "SELECT 1 AS a")
    assert queries.rows(first, "SELECT 1 AS a") is not result


def test_many_readers_get_their_own_results_at_the_same_time(world: Path) -> None:
    data = data_of(world)
    result: dict[int, list[int]] = {}

    def ask(number: int) -> None:
        result[number] = data.rows(f"SELECT {number} AS n, count(*) AS c FROM smf119_zert_detail")[
            "n"
        ].to_pylist()

    readers = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(60)
    assert result == {number: [number] for number in range(12)}


def test_a_statement_that_fails_leaves_the_others_alone(world: Path) -> None:
    data = data_of(world)
    for _ in range(6):
        with pytest.raises(QueryError):
            data.rows("SELECT nothing_of_the_kind")
    assert data.rows("SELECT 1 AS one")["one"].to_pylist() == [1]


def test_without_a_store_there_is_no_version(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        StoreQueries(tmp_path / "nowhere").version()


def test_the_same_numbers_as_the_command(world: Path) -> None:
    result = data_of(world).metric("protocol_distribution")
    with open_reader(world) as connection:
        expected = connection.execute(statement(metric("protocol_distribution"))).to_arrow_table()
    # Sums of shares of hours depend on the order of their rows, in the last digit.
    sums = ["covered_hours", "hours", "covered_pct"]
    assert result.drop_columns(sums).to_pylist() == expected.drop_columns(sums).to_pylist()
    for name in sums:
        wanted = expected[name].fill_null(-1).to_pylist()
        assert result[name].fill_null(-1).to_pylist() == pytest.approx(wanted, rel=1e-12)
