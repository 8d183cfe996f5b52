"""The runs of a store: changed under its lock, and always as runs.toml has them, whoever wrote it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.stores import plain_client

from zscope.pipelines.runs import FILE_NAME, Run
from zscope.pipelines.runs.edit import RunsChangeError, add_runs, import_runs, remove_runs, with_runs
from zscope.pipelines.runs.read import parse_runs, proposed_runs
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.folder import Folder, make_store
from zscope.pipelines.store.lock import StoreBusyError
from zscope.pipelines.store.transaction import changing, write_lock

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

START = datetime(2026, 3, 2, 1, tzinfo=UTC)


def a_run(name: str, workload: str | None = None) -> Run:
    return Run(name, "SYSA", "client", START, START + timedelta(hours=2), workload)


def quiet(text: str) -> None:
    raise AssertionError(text)


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without data, but with a catalogue."""
    folder = make_store(tmp_path_factory.mktemp("runs") / "store")
    with changing(folder, Settings(), quiet):
        pass
    return folder.path


@pytest.fixture
def folder(empty_store: Path, tmp_path: Path) -> Folder:
    return Folder(Path(shutil.copytree(empty_store, tmp_path / "store")))


def names(open_store: Callable[[Path], duckdb.DuckDBPyConnection], path: Path) -> list[str]:
    with open_store(path) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM run ORDER BY name").fetchall()]


def of_catalogue(path: Path) -> duckdb.DuckDBPyConnection:
    return plain_client(path)


def test_runs_come_into_the_catalogue_and_go_from_it(folder: Folder) -> None:
    add_runs(folder, Settings(), quiet, [a_run("a"), a_run("b")])
    assert names(of_catalogue, folder.path) == ["a", "b"]
    assert remove_runs(folder, Settings(), quiet, "a") == 1
    assert names(of_catalogue, folder.path) == ["b"]


def test_edited_file_is_visible_immediately(folder: Folder) -> None:
    add_runs(folder, Settings(), quiet, [a_run("a")])
    file = folder.path / FILE_NAME
    file.write_text(file.read_text(encoding="utf-8").replace('"a"', '"by hand"'), encoding="utf-8")
    assert names(open_reader, folder.path) == ["by hand"]
    file.unlink()
    assert names(open_reader, folder.path) == []


@pytest.mark.deep
def test_invalid_file_does_not_affect_the_store(folder: Folder) -> None:
    (folder.path / FILE_NAME).write_text("[[run", encoding="utf-8")
    with open_reader(folder.path) as connection:
        counted = connection.execute("SELECT (SELECT count(*) FROM run), count(*) FROM cipher").fetchone()
    assert counted is not None
    assert counted[0] == 0 < counted[1]
    with pytest.raises(RunsChangeError, match=r"runs\.toml: the file is not TOML: .* correct it first"):
        add_runs(folder, Settings(), quiet, [a_run("a")])
    assert (folder.path / FILE_NAME).read_text(encoding="utf-8") == "[[run"


def test_a_file_that_is_no_utf_8_is_left_alone(folder: Folder) -> None:
    (folder.path / FILE_NAME).write_bytes(b"# \xff")
    with pytest.raises(RunsChangeError, match=r"is not UTF-8 text \(byte 2\); correct it first"):
        add_runs(folder, Settings(), quiet, [a_run("a")])
    assert (folder.path / FILE_NAME).read_bytes() == b"# \xff"


def test_several_runs_are_added_completely_or_not_at_all(folder: Folder) -> None:
    add_runs(folder, Settings(), quiet, [a_run("a")])
    with pytest.raises(RunsChangeError, match=r"a \(client on SYSA\) exists already"):
        add_runs(folder, Settings(), quiet, [a_run("b"), a_run("a")])
    assert names(of_catalogue, folder.path) == ["a"]


@pytest.mark.deep
def test_removing_a_missing_run_names_the_others(folder: Folder) -> None:
    with pytest.raises(RunsChangeError, match="there is no run 'x'; there are no runs"):
        remove_runs(folder, Settings(), quiet, "x")
    add_runs(folder, Settings(), quiet, [a_run("a"), a_run("b")])
    with pytest.raises(RunsChangeError, match="there is no run 'x'; the runs are a, b"):
        remove_runs(folder, Settings(), quiet, "x")


def test_runs_are_not_changed_while_another_has_the_store(folder: Folder) -> None:
    told: list[str] = []
    with write_lock(folder).held(quiet, 0), pytest.raises(StoreBusyError):
        add_runs(folder, Settings(lock_wait_s=0), told.append, [a_run("a")])
    assert not (folder.path / FILE_NAME).exists()


def test_link_to_a_file_is_followed(folder: Folder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "shared.toml"
    elsewhere.write_text("# of the whole team\n", encoding="utf-8")
    (folder.path / FILE_NAME).symlink_to(elsewhere)
    add_runs(folder, Settings(), quiet, [a_run("a")])
    assert (folder.path / FILE_NAME).is_symlink()
    assert elsewhere.read_text(encoding="utf-8").startswith("# of the whole team\n\n[[run]]")


@pytest.mark.deep
def test_runs_of_another_file_are_imported_once(folder: Folder) -> None:
    other = parse_runs(with_runs("", [a_run("a"), a_run("b")]))
    add_runs(folder, Settings(), quiet, [a_run("a")])
    assert import_runs(folder, Settings(), quiet, other) == 1
    assert import_runs(folder, Settings(), quiet, other) == 0
    assert names(of_catalogue, folder.path) == ["a", "b"]


def test_changed_run_is_not_imported(folder: Folder) -> None:
    add_runs(folder, Settings(), quiet, [a_run("a")])
    other = parse_runs(with_runs("", [a_run("b"), a_run("a", "RR1(4kB)")]))
    with pytest.raises(RunsChangeError, match="exists already with other values"):
        import_runs(folder, Settings(), quiet, other)
    assert names(of_catalogue, folder.path) == ["a"]


def test_size_of_a_kb_is_imported_into_an_empty_file(folder: Folder) -> None:
    text = f"kb_bytes = 1024\n{with_runs('', [a_run('a', 'RR1(4kB)')])}"
    assert import_runs(folder, Settings(), quiet, parse_runs(text)) == 1
    with of_catalogue(folder.path) as connection:
        assert connection.execute("SELECT client_bytes FROM run").fetchall() == [(4096,)]
    with pytest.raises(RunsChangeError, match="kb_bytes is 1024 here and 1000 in the other file"):
        import_runs(folder, Settings(), quiet, parse_runs(with_runs("", [a_run("b", "RR1(4kB)")])))


def test_proposals_become_runs_unless_they_exist() -> None:
    row = {
        "name": "TLSv1.3-1302-full-20260309-0100", "system": "SYSA", "role": "client", "from_utc": START,
        "to_utc": START + timedelta(minutes=5), "connections_per_s": 1234.56, "in_bytes_each": 8000.4,
        "out_bytes_each": 64.0, "tags": ["cipher=1302", "version=TLSv1.3"], "known_as": None,
    }  # fmt: skip
    (run,) = proposed_runs([row, row | {"known_as": "a"}])
    assert run.tags == ("cipher=1302", "version=TLSv1.3")
    assert (
        run.note
        == "Proposed from zERT: 1,234.6 connections per second, 8,000 bytes in and 64 out per connection."
    )
    assert parse_runs(with_runs("", [run])).runs == (run,)
