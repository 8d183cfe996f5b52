"""What readers see while a writer works on the store, and after it was killed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.stores import CATALOGUE, EVERYTHING, dump_bytes, load

from zscope.pipelines.store import catalogue_version, open_reader
from zscope.pipelines.store.catalogue_file import shown_by
from zscope.pipelines.store.checksums import last_commit
from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, IngestOptions

OF_A_KILLED_WRITER = (
    '{"pid": 1, "host": "lpar", "since": "2026-03-01 02:00:00 UTC", "command": "zscope ingest"}'
)


@pytest.fixture
def dumps(tmp_path: Path) -> list[Path]:
    """Three small dumps with different records."""
    paths = [tmp_path / f"{number}.smf" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_bytes(dump_bytes(12, 1, seed=number))
    return paths


@pytest.fixture
def store(tmp_path: Path, dumps: list[Path]) -> Path:
    """A store with the first dump."""
    load(tmp_path / "store", dumps[0])
    return tmp_path / "store"


def loads(store: Path) -> list[int]:
    """Return the loads that a reader sees."""
    with open_reader(store) as connection:
        return [number for (number,) in connection.execute("SELECT load_id FROM load ORDER BY 1").fetchall()]


def after_each_commit(look: Callable[[], None]) -> IngestOptions:
    """Return options to load everything and look at the store after each file, while it is locked."""

    def committed(_: FileOutcome) -> None:
        look()

    return replace(EVERYTHING, on_outcome=committed)


def test_readers_use_the_published_catalogue_while_a_writer_works(
    store: Path, dumps: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zscope.pipelines.ingest.commit_new_rows.MOST_LOADS", 1)
    before = catalogue_version(store)
    commits: list[int] = []

    def look() -> None:
        commits.append(last_commit(existing_store(store)))
        assert loads(store) == [1]
        with open_reader(store) as connection:
            # Not an updated copy, which takes seconds in a large store.
            [file] = connection.execute(
                "SELECT path FROM duckdb_databases() WHERE database_name = 'zscope'"
            ).fetchall()
        assert file == (str(store / CATALOGUE),)
        assert catalogue_version(store) == before, "what was cached before is still valid"

    load(store, *dumps[1:], how=after_each_commit(look))
    assert commits == sorted(set(commits))
    assert len(commits) == 2
    assert loads(store) == [1, 2, 3]
    assert catalogue_version(store) != before


@pytest.mark.deep
def test_readers_see_what_a_killed_writer_committed(store: Path, dumps: list[Path], tmp_path: Path) -> None:
    shutil.copy(store / CATALOGUE, tmp_path / "earlier")
    before = catalogue_version(store)
    load(store, dumps[1])
    shutil.copy(tmp_path / "earlier", store / CATALOGUE)
    (store / ".lock").write_text(OF_A_KILLED_WRITER)
    assert loads(store) == [1, 2]
    assert catalogue_version(store) != before

    seen: list[list[int]] = []
    load(store, dumps[2], how=after_each_commit(lambda: seen.append(loads(store))))
    assert seen == [[1, 2]], "the next writer publishes it before its own commits"
    assert loads(store) == [1, 2, 3]


@pytest.mark.deep
def test_readers_of_another_version_update_a_copy_while_a_writer_works(
    store: Path, dumps: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[int]] = []

    def look() -> None:
        with monkeypatch.context() as patched:
            patched.setattr("zscope.pipelines.store.catalogue_file.digest_of_declarations", lambda: "other")
            seen.append(loads(store))

    load(store, dumps[1], how=after_each_commit(look))
    assert seen == [[1, 2]]
    assert shown_by(existing_store(store))[0] == last_commit(existing_store(store))
