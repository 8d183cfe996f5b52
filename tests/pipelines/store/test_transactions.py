"""Removing, compacting, expiring and checking: each is a commit, and none touches what it should not."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.stores import plain_client

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.commits import Commit, DataFile, State, read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import Folder, existing_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.parquet_files import data_tables
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    import duckdb

NO_GRACE = Settings(grace_s=0)


def silent(text: str) -> None:
    """Fail on any message."""
    raise AssertionError(text)


def counts(store: Path, where: str = "true") -> dict[str, int]:
    """Rows by table."""
    with open_reader(store) as connection:
        return {table: count(connection, table, where) for table in data_tables()}


def count(connection: duckdb.DuckDBPyConnection, table: str, where: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()
    assert row is not None
    return int(row[0])


def change(store: Path) -> tuple[Folder, State]:
    folder = existing_store(store)
    return folder, read_state(folder)


def files_on_disk(folder: Folder) -> set[str]:
    return {path.relative_to(folder.data).as_posix() for path in folder.data.rglob("*.parquet")}


@pytest.mark.deep
def test_removing_a_load_removes_only_its_rows(copied_store: Path) -> None:
    before, others = counts(copied_store), counts(copied_store, "load_id <> 4")
    folder = existing_store(copied_store)
    with changing(folder, NO_GRACE, silent) as state:
        removed = remove_load(folder, state, 4)
    assert removed.load.load_id == 4
    assert removed.reopened == ()
    after = counts(copied_store)
    assert after == others
    assert sum(before.values()) - sum(after.values()) == state.loads[4].rows > 0
    with open_reader(copied_store) as connection:
        assert connection.execute("SELECT status FROM load WHERE load_id = 4").fetchone() == ("removed",)
        assert connection.execute("SELECT count(*) FROM load_table WHERE load_id = 4").fetchone() == (0,)


@pytest.mark.deep
@pytest.mark.parametrize("load_id", [0, 7, 4])
def test_missing_load_cannot_be_removed(copied_store: Path, load_id: int) -> None:
    folder = existing_store(copied_store)
    with changing(folder, NO_GRACE, silent) as state:
        remove_load(folder, state, 4)
    with pytest.raises(StoreError, match=f"load {load_id}: "), changing(folder, NO_GRACE, silent) as state:
        remove_load(folder, state, load_id)


@pytest.mark.deep
def test_a_removed_file_can_be_loaded_again(copied_store: Path) -> None:
    before = counts(copied_store)
    folder = existing_store(copied_store)
    with changing(folder, NO_GRACE, silent) as state:
        file = remove_load(folder, state, 1).load.file
    assert counts(copied_store) != before
    report = ingest(copied_store, [file], IngestOptions(selection=row_selection(None)))
    assert [outcome.status.value for outcome in report.outcomes] == ["loaded"]
    assert counts(copied_store) == before


@pytest.mark.deep
def test_compacting_keeps_all_rows_in_fewer_files(copied_store: Path) -> None:
    shutil.copy(Path("sample-data/smf-sample.bin"), copied_store.parent / "part.smf")
    dump = (copied_store.parent / "part.smf").read_bytes()
    folder = existing_store(copied_store)
    with changing(folder, NO_GRACE, silent) as state:
        remove_load(folder, state, 1)
    first = copied_store.parent / "first.smf"
    first.write_bytes(dump[: len(dump) // 2])
    for path in (first, copied_store.parent / "part.smf"):
        ingest(copied_store, [path], IngestOptions(selection=row_selection(None)))
    before = counts(copied_store)
    each = [counts(copied_store, f"load_id = {load}") for load in (7, 8)]
    with changing(folder, NO_GRACE, silent) as state:
        done = compact(folder, state)
        assert done.before > done.after > 0
        tables = [(file.table, file.day) for file in state.files.values()]
        assert len(set(tables)) == len(tables)
    assert counts(copied_store) == before
    assert [counts(copied_store, f"load_id = {load}") for load in (7, 8)] == each
    check_store(folder)
    with changing(folder, NO_GRACE, silent) as state:
        assert compact(folder, state).before == 0
        remove_load(folder, state, 7)
    assert counts(copied_store) == each[1] | {
        table: before[table] for table in before if not table.startswith("smf")
    }


@pytest.mark.deep
def test_dropped_files_stay_for_the_grace_period(copied_store: Path) -> None:
    folder = existing_store(copied_store)
    with plain_client(folder.path) as old:
        with changing(folder, Settings(), silent) as state:
            remove_load(folder, state, 1)
        assert old.execute("SELECT count(*) FROM smf119_zert_detail").fetchone() == (980,)
        with changing(folder, Settings(), silent):
            pass
        assert old.execute("SELECT count(DISTINCT cipher) > 3 FROM smf119_zert_detail").fetchone() == (True,)
    with changing(folder, NO_GRACE, silent) as state:
        assert files_on_disk(folder) == set(state.files)


@pytest.mark.deep
def test_expiring_drops_whole_days(copied_store: Path) -> None:
    folder = existing_store(copied_store)
    before = counts(copied_store)
    with changing(folder, NO_GRACE, silent) as state:
        asked = expire(folder, state, date(2026, 3, 3), dry_run=True)
    assert counts(copied_store) == before
    with changing(folder, NO_GRACE, silent) as state:
        gone = expire(folder, state, date(2026, 3, 3))
        assert expire(folder, state, date(2026, 3, 3)).files == 0
    assert gone == asked
    assert gone.days == 1
    after = counts(copied_store)
    assert 0 < sum(after.values()) < sum(before.values())
    with open_reader(copied_store) as connection:
        assert count(connection, "smf119_zert_detail", "day = DATE '2026-03-02'") == 0
        assert count(connection, "issue", "true") > 0


def test_rows_without_a_day_never_expire(tmp_path: Path) -> None:
    capture = tmp_path / "capture.txt"
    text = Path("sample-data/reports/netstat.SYSA.2026-03-02.txt").read_text()
    capture.write_text(text)
    store = tmp_path / "store"
    ingest(store, [capture], IngestOptions(selection=row_selection(None)))
    folder = existing_store(store)
    with changing(folder, NO_GRACE, silent) as state:
        assert {file.day for file in state.files.values() if file.table.startswith("netstat")} == {None}
        expire(folder, state, datetime.now(UTC).date() + timedelta(days=1))
    assert counts(store)["netstat_conn"] > 0


@pytest.mark.parametrize("damage", ["gone", "cut", "changed"])
def test_check_finds_changed_files(copied_store: Path, damage: str) -> None:
    folder, state = change(copied_store)
    found = check_store(folder)
    assert (found.files, found.rows) == (len(state.files), sum(file.rows for file in state.files.values()))
    path = max((folder.data / name for name in state.files), key=lambda path: path.stat().st_size)
    content = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[:-100])
    else:
        content[len(content) // 3] ^= 0x55
        path.write_bytes(content)
    with pytest.raises(StoreError, match=path.name):
        check_store(folder)


def test_the_first_day_that_is_kept_stays(tmp_path: Path) -> None:
    days = ("2026-03-01", "2026-03-02", "2026-03-03")
    by_day = [DataFile(f"t/{day}.parquet", "t", day, 3, 30, {1: 3}, "abc", "def") for day in days]
    month = DataFile("t/m.parquet", "t", None, 6, 60, {1: 6}, "abc", "def", days=dict.fromkeys(days, 2))
    state = State()
    state.apply(Commit("load", adds=(*by_day, month)))
    gone = expire(Folder(tmp_path), state, date(2026, 3, 2), dry_run=True)
    assert (gone.files, gone.days, gone.rows, gone.bytes) == (2, 1, 5, 50)
