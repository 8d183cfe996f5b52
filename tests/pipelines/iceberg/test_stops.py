"""Publications that are stopped, that happen next to others, and that readers read from meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.marking import deep_except
from tests.pipelines.iceberg.reading import (
    Contents,
    by_hint,
    in_catalogue,
    in_store,
    read_by_catalogue,
    read_by_hint,
    snapshots_of,
    tables_in,
)
from tests.pipelines.iceberg.scenes import CONNECTION, DETAIL, add_load, change
from tests.pipelines.iceberg.stopping import StoppedError, stop_before, watched

from zscope.pipelines.iceberg.publish import publish_iceberg
from zscope.pipelines.iceberg.published_folder import default_target
from zscope.pipelines.iceberg.published_table import PublishedVersion
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.lock import StoreBusyError, WriteLock
from zscope.pipelines.store.remove import remove_load

CHECKOUT = Path(__file__).resolve().parents[3]
PLACES = (7, 14, 16, 28)
"""Before a version of a table, before the next, before its hint, before the catalogue."""


def pending(place: Path) -> Path:
    """A published store with two commits that are not: a load of a new table, and a removal."""
    store = place / "store"
    add_load(store)
    publish_iceberg(store)
    add_load(store, [CONNECTION, "netstat_conn"], ["2026-03-03"])
    change(store, lambda folder, state: remove_load(folder, state, 1))
    return store


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a store, to be copied."""
    return pending(tmp_path_factory.mktemp("pending"))


def again(prepared: Path, place: Path) -> Path:
    """Such a store at the same place as another before: what is published contains its path."""
    for folder in (prepared, default_target(prepared)):
        shutil.rmtree(place / folder.name, ignore_errors=True)
        shutil.copytree(folder, place / folder.name)
    return place / prepared.name


def published_by(store: Path) -> Contents:
    """Publish what is left to publish, and check what there is then."""
    publish_iceberg(store)
    target = default_target(store)
    for table in tables_in(target):
        place = target / "zscope" / table / "metadata"
        metadata = by_hint(target, table).metadata
        version = PublishedVersion.newest(place.parent, table)
        assert version.metadata == metadata, "the hint is the newest version"
        used = {f"v{version.number}.metadata.json", "version-hint.text", "unused.json"}
        for snapshot in metadata.snapshots:
            used.add(Path(snapshot.manifest_list).name)
            used |= {Path(each.manifest_path).name for each in snapshot.manifests(by_hint(target, table).io)}
        unused = json.loads((place / "unused.json").read_text())
        assert {path.name for path in place.iterdir()} == used | unused.keys()
    assert not list(target.rglob("*.beside"))
    return read_by_hint(target)


@pytest.mark.parametrize("number", PLACES)
def test_the_next_publication_completes_one_that_was_stopped(
    prepared: Path, tmp_path: Path, number: int
) -> None:
    store = prepared_elsewhere(prepared, tmp_path)
    target = default_target(store)
    with watched(target, stop_before(number)) as operations, suppress(StoppedError):
        publish_iceberg(store)
    assert len(operations) > number
    assert set(tables_in(target)) >= {DETAIL, CONNECTION}
    read_by_hint(target)
    read_by_catalogue(target)
    expected = {DETAIL: (0, 0)} | in_store(store)
    assert published_by(store) == expected
    assert read_by_catalogue(target) == expected
    assert snapshots_of(target, DETAIL).keys() == {1, 3}
    assert snapshots_of(target, CONNECTION).keys() == {1, 2, 3}
    assert snapshots_of(target, "netstat_conn").keys() == {2}
    check_store(existing_store(store))


def prepared_elsewhere(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the prepared store with what was published at its new place."""
    store = Path(shutil.copytree(prepared, tmp_path / "store"))
    commits = existing_store(store).commits
    later = [commits / "head", *sorted(commits.glob("*.json"))[1:]]
    aside = [path.rename(tmp_path / path.name) for path in later]
    publish_iceberg(store)
    for path, name in zip(aside, later, strict=True):
        path.rename(name)
    return store


def test_a_first_publication_that_was_stopped_is_completed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_load(store)
    target = default_target(store)
    with watched(target, stop_before(12)), pytest.raises(StoppedError):
        publish_iceberg(store)
    assert published_by(store) == in_store(store)
    assert read_by_catalogue(target) == in_store(store)
    assert {table: set(snapshots_of(target, table)) for table in tables_in(target)} == {
        DETAIL: {1},
        CONNECTION: {1},
    }


@pytest.mark.parametrize("number", deep_except([20], [5, 20, 30]))
def test_publishing_again_after_a_move_that_was_stopped_is_completed(
    prepared: Path, tmp_path: Path, number: int
) -> None:
    store = again(prepared, tmp_path)
    target = default_target(store)
    with watched(target, stop_before(number)), pytest.raises(StoppedError):
        publish_iceberg(store)
    assert published_by(store) == in_store(store)
    locations = {
        task.file.file_path
        for table in tables_in(target)
        for task in by_hint(target, table).scan().plan_files()
    }
    assert locations
    assert all(location.startswith(f"file://{store}/data/") for location in locations)


@pytest.mark.deep
def test_readers_see_a_complete_commit_at_every_moment(prepared: Path, tmp_path: Path) -> None:
    store = prepared_elsewhere(prepared, tmp_path)
    target = default_target(store)
    before = read_by_hint(target)
    seen = []

    def read(_: str) -> None:
        seen.append((read_by_hint(target, [CONNECTION]), list(in_catalogue(target))))

    with watched(target, read):
        publish_iceberg(store)
    after = in_store(store)
    versions = [contents[CONNECTION] for contents, _ in seen]
    assert versions[0] == before[CONNECTION]
    assert versions[-1] == after[CONNECTION]
    assert set(versions) == {before[CONNECTION], after[CONNECTION]}
    assert all({DETAIL, CONNECTION} <= set(tables) for _, tables in seen)


def test_a_load_during_a_publication_is_published_by_the_next(prepared: Path, tmp_path: Path) -> None:
    store = prepared_elsewhere(prepared, tmp_path)

    def load(operation: str) -> None:
        if operation.startswith("os.link .v1.metadata.json"):
            add_load(store)

    before = in_store(store)
    with watched(default_target(store), load):
        done = publish_iceberg(store)
    assert done.commit == 3
    assert read_by_hint(default_target(store)) == {DETAIL: (0, 0)} | before
    assert publish_iceberg(store).commit == 4
    assert read_by_hint(default_target(store)) == in_store(store)


def test_two_publications_at_once_say_who_publishes(prepared: Path, tmp_path: Path) -> None:
    store = prepared_elsewhere(prepared, tmp_path)
    target = default_target(store)
    lock = WriteLock(target / ".lock", target, "the folder of published tables")
    with (
        lock.held(lambda _: None, 0),
        pytest.raises(StoreBusyError, match=f"being changed by process {os.getpid()} on"),
    ):
        publish_iceberg(store, settings=Settings(lock_wait_s=0))


PUBLISH = """
import sys
from pathlib import Path
from zscope.pipelines.iceberg.publish import publish_iceberg
import zscope.pipelines.iceberg.published_table
print("ready", flush=True)
publish_iceberg(Path(sys.argv[1]))
"""


@pytest.mark.deep
def test_several_processes_publish_while_loads_are_committed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_load(store)
    publish_iceberg(store)
    running: list[subprocess.Popen[bytes]] = []
    for _ in range(3):
        running.append(subprocess.Popen([sys.executable, "-c", PUBLISH, store], cwd=CHECKOUT))
        for _ in range(4):
            add_load(store)
    assert [process.wait() for process in running] == [0] * 3
    publish_iceberg(store)
    target = default_target(store)
    assert read_by_hint(target) == read_by_catalogue(target) == in_store(store)
    last = read_state(existing_store(store)).number
    assert sorted(snapshots_of(target, CONNECTION)) == list(range(last - 10, last + 1))
