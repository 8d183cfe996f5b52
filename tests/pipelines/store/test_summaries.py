"""Summaries: the same rows as without, for every metric; gone with the commit they are of."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.marking import deep_except

from zscope.pipelines.metrics import metric, metric_names, needed, summary_names
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.runs import FILE_NAME as RUNS
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue import has_summaries
from zscope.pipelines.store.change import changing
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.remove import remove_load

if TYPE_CHECKING:
    import duckdb

ALWAYS = Settings(summarise_from_rows=0)
COMMENTS = (
    "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() "
    "WHERE NOT internal AND schema_name = 'main' ORDER BY ALL"
)


def silent(text: str) -> None:
    """Fail on any message."""
    raise AssertionError(text)


def summarise(store: Path) -> None:
    with changing(existing_store(store), ALWAYS, silent):
        pass


def rows(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[object, ...]]:
    found = connection.execute(f"SELECT * FROM {name}").fetchall()
    return sorted((tuple(map(_comparable, row)) for row in found), key=repr)


def _comparable(value: object) -> object:
    # Sums of floats depend on the order of their parts.
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.fixture(scope="module")
def summarised(world_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world in a folder of its own, with summaries."""
    store = Path(shutil.copytree(world_store, tmp_path_factory.mktemp("summarised") / "store"))
    summarise(store)
    return store


@pytest.fixture
def changeable(sample_store: Path, tmp_path: Path) -> Path:
    """The sample in a folder of its own, with summaries, to be changed."""
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    summarise(store)
    with open_reader(store) as connection:
        assert has_summaries(connection)
    return store


SHORT = ("handshake_hour", "tls_hour", "handshake_mix", "cpu_per_transaction")


@pytest.mark.parametrize("name", deep_except(SHORT, [*summary_names(), *metric_names()]))
def test_metrics_are_equal_with_and_without_summaries(
    name: str, summarised: Path, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    with open_reader(summarised) as with_them:
        assert has_summaries(with_them)
        for sql in prepared(metric(name), summarised=True):
            with_them.execute(sql)
        assert rows(with_them, name) == rows(world_metrics, name)


def test_a_store_has_summaries_only_if_it_is_large(world_store: Path) -> None:
    with open_reader(world_store) as connection:
        assert not has_summaries(connection)


def test_views_read_the_summaries(summarised: Path) -> None:
    with open_reader(summarised) as connection:
        plan = str(connection.execute("EXPLAIN SELECT * FROM handshake_mix").fetchall())
    assert "handshake_hour" in plan
    assert "PARQUET" not in plan


def test_comments_are_equal_with_summaries(world_store: Path, summarised: Path) -> None:
    with open_reader(summarised) as with_them, open_reader(world_store) as without:
        assert with_them.execute(COMMENTS).fetchall() == without.execute(COMMENTS).fetchall()


def test_summaries_depend_on_data_only() -> None:
    assert all("run" not in needed(name) for name in summary_names())
    assert not any(metric(step).parameters for name in summary_names() for step in needed(name)
                   if step in {*metric_names(), *summary_names()})  # fmt: skip


def test_each_commit_replaces_the_summaries(changeable: Path) -> None:
    folder = existing_store(changeable)
    with open_reader(changeable) as connection:
        before = rows(connection, "handshake_hour")
        [[load]] = connection.execute("SELECT min(load_id) FROM smf119_zert_detail").fetchall()
    with changing(folder, Settings(), silent) as state:
        remove_load(folder, state, load)
    with open_reader(changeable) as connection:
        assert not has_summaries(connection)
        after = rows(connection, "handshake_hour")
        comments = connection.execute(COMMENTS).fetchall()
    summarise(changeable)
    with open_reader(changeable) as connection:
        assert has_summaries(connection)
        assert rows(connection, "handshake_hour") == after != before
        assert connection.execute(COMMENTS).fetchall() == comments


def test_new_runs_do_not_change_summaries(changeable: Path) -> None:
    (changeable / RUNS).write_text(
        '[[run]]\nname = "a"\nsystem = "SYSA"\nrole = "server"\n'
        "from = 2026-03-02T10:00:00Z\nto = 2026-03-02T11:00:00Z\n",
        encoding="utf-8",
    )
    with open_reader(changeable) as connection:
        assert has_summaries(connection)
        assert connection.execute("SELECT name, from_utc FROM run").fetchall() == [
            ("a", datetime.fromisoformat("2026-03-02T10:00:00Z"))
        ]


def test_small_store_has_no_summaries(sample_store: Path) -> None:
    with open_reader(sample_store) as connection:
        assert not has_summaries(connection)
        [[records]] = connection.execute("SELECT count(*) FROM smf119_zert_detail").fetchall()
    assert 0 < records < Settings().summarise_from_rows


def test_damaged_data_prevents_summaries_only(sample_store: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    for file in (store / "data" / "smf119_zert_detail").rglob("*.parquet"):
        file.write_bytes(b"PAR1 nothing PAR1")
    told: list[str] = []
    with changing(existing_store(store), ALWAYS, told.append):
        pass
    assert len(told) == 1
    assert "no summaries could be computed" in told[0]
    with open_reader(store) as connection:
        assert not has_summaries(connection)
        assert connection.execute("SELECT count(*) > 0 FROM rmf_cpu").fetchall() == [(True,)]
