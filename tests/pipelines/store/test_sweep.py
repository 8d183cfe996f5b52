"""Sweeping takes what a killed writer left, whatever it was doing, and nothing that is somebody else's."""

from __future__ import annotations

import errno
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.pipelines.stores import dump_bytes, load

from zscope.pipelines.quality.quality_checks import Check, CheckKind, CheckSeverity
from zscope.pipelines.quality.slices import SliceSize, StoreSlice
from zscope.pipelines.quality.validation_results import (
    CheckResult,
    UnexpectedRows,
    ValidationRun,
    result_row,
    results_table,
)
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import commits, transaction
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import Commit, State, append, read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import Folder, StoreError, existing_store
from zscope.pipelines.store.lock import WriteLock
from zscope.pipelines.store.maintenance import compact, record_validation
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing, sweep

NO_GRACE = Settings(grace_s=0)
NETSTAT = Path("sample-data/reports/netstat.SYSA.2026-03-02.txt")


def silent(text: str) -> None:
    """Fail on any message."""
    raise AssertionError(text)


def files_on_disk(folder: Folder) -> set[str]:
    return {path.relative_to(folder.data).as_posix() for path in folder.data.rglob("*.parquet")}


def test_sweep_deletes_uncommitted_files_only(copied_store: Path) -> None:
    folder = existing_store(copied_store)
    before = files_on_disk(folder)
    left = folder.data / "smf70_cpu" / "day=2031-01-01"
    left.mkdir()
    (left / "00000099-1.parquet").write_bytes(b"half a file")
    (folder.stage / "load-9").mkdir(parents=True)
    left_over = [
        folder.path / ".zscope.duckdb.4711.beside",
        folder.commits / ".checkpoint-00000100.json.4711.beside",
    ]
    for path in left_over:
        path.write_bytes(b"half a file")
    assert sweep(folder, read_state(folder), 0) == 1
    assert files_on_disk(folder) == before
    assert not left.exists()
    assert not folder.stage.exists()
    assert not any(path.exists() for path in left_over)


def test_deleted_files_are_not_listed_for_ever(copied_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of years would look for hundreds of thousands of files at each load."""
    monkeypatch.setattr(commits, "CHECKPOINT_EVERY", 1)
    folder = existing_store(copied_store)
    with changing(folder, Settings(grace_s=3600), silent) as state:
        compact(folder, state)
    assert set(read_state(folder).dropped) & files_on_disk(folder)
    with changing(folder, NO_GRACE, silent) as state:
        assert not state.dropped
        append(folder, state, Commit("inputs"))
    assert not read_state(folder).dropped
    check_store(folder)


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "payroll.parquet",
        "smf70_cpu/day=2026-03-02/payroll.parquet",
        "smf70_cpu/day=2026-03-02/00000001-1.csv",
        "smf70_cpu/00000001-1.parquet",
        "2025/day=1/00000001-1.parquet",
    ],
)
def test_sweep_keeps_files_with_other_names(copied_store: Path, name: str) -> None:
    folder = existing_store(copied_store)
    mine = folder.data / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    assert sweep(folder, read_state(folder), 0) == 0
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("commits_first", "expected"),
    [(True, "what was committed is complete"), (False, "the current change was not committed")],
)
def test_message_for_an_error_says_whether_something_was_committed(
    copied_store: Path, monkeypatch: pytest.MonkeyPatch, *, commits_first: bool, expected: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def append_and_fail() -> None:
        with changing(folder, NO_GRACE, silent) as state:
            if not commits_first:
                fail()
            append(folder, state, Commit("inputs"))

    folder = existing_store(copied_store)
    before = read_state(folder).number
    publish_catalogue(folder, read_state(folder))  # of another folder until now
    monkeypatch.setattr(transaction, "publish_catalogue", fail)
    with pytest.raises(StoreError, match=expected):
        append_and_fail()
    assert read_state(folder).number == before + commits_first


def result_of_a_check(name: str) -> dict[str, object]:
    """A row of the table of validations."""
    check = Check(name, "smf70_cpu", CheckKind.RANGE, CheckSeverity.NOTE, "Nothing is expected.", "SELECT 1")
    run = ValidationRun("once", datetime.now(UTC), StoreSlice(), (1,))
    return result_row(run, CheckResult(check, 0), SliceSize(1, 1), UnexpectedRows())


@pytest.mark.deep
def test_sweep_recognises_files_of_all_kinds_of_commits(tmp_path: Path) -> None:
    """As if they had been killed just before their commits, so that nothing names their files."""
    store, data = tmp_path / "store", dump_bytes(60, 1, mix={"tcp-init": 1.0})
    first, second = tmp_path / "first.smf", tmp_path / "second.smf"
    first.write_bytes(data)
    second.write_bytes(dump_bytes(60, 1, seed=9, mix={"tcp-init": 1.0}) + data)
    cut = tmp_path / "cut.smf"
    cut.write_bytes(data[:-10])
    for each in (first, second, cut, NETSTAT):
        load(store, each)
    folder = existing_store(store)
    record_validation(store, results_table([result_of_a_check("a")]), NO_GRACE, silent)
    found = files_on_disk(folder)
    with changing(folder, NO_GRACE, silent) as state:
        compact(folder, state)
        found |= files_on_disk(folder)
        remove_load(folder, state, 1)
    found |= files_on_disk(folder)
    names = {path.rpartition("/")[2] for path in found}
    for kind in ("00000001-1.parquet", "00000002-1-kept.parquet", "00000003-issues.parquet", "c", "r", "v"):
        assert any(name.startswith(kind) for name in names), kind
    for path in found:
        place = folder.data / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    assert sweep(folder, State(), 0) == len(found)
    assert files_on_disk(folder) == set()


def test_a_writer_that_was_killed_is_noticed_once(tmp_path: Path) -> None:
    messages: list[str] = []
    lock = WriteLock(tmp_path / "lock", tmp_path, "the store")
    with lock.held(messages.append, 0) as was_interrupted:
        assert not was_interrupted
        left_by_a_killed_writer = lock.file.read_bytes()
    assert left_by_a_killed_writer
    assert lock.file.read_bytes() == b""
    lock.file.write_bytes(left_by_a_killed_writer)
    with lock.held(messages.append, 0) as was_interrupted:
        assert was_interrupted
    with lock.held(messages.append, 0) as was_interrupted:
        assert not was_interrupted
    assert len(messages) == 1
    assert "was interrupted; its leftovers are deleted" in messages[0]
