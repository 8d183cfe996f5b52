"""The repair of damaged files: from a backup, from the files that they were loaded from, or taken out."""

from __future__ import annotations

import gzip
import io
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.stores import EVERYTHING, Contents, dump_bytes, load, queried, rows_of

from zscope.app.cli.repairing import describe_repair
from zscope.pipelines.ingest import row_selection
from zscope.pipelines.ingest.options_and_outcomes import IngestOptions
from zscope.pipelines.ingest.repair import RepairResult, repair_store
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_all, check_store
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.maintenance import compact
from zscope.pipelines.store.parquet_files import parquet_tables
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("loads_alone")

TABLE = "smf119_zert_detail"
BERLIN = IngestOptions(selection=row_selection(None), settings=Settings().merge(["Europe/Berlin"]))


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    """All of them: the dumps have rows of many."""
    return parquet_tables()


def silent(_text: str) -> None:
    """Print nothing."""


@pytest.fixture(scope="module")
def kept(place: Path, loads_alone: None) -> Path:  # noqa: ARG001 - it changes what is published
    """A folder with an SMF dump, a gzip file and a ZIP archive, and the store that they were loaded into."""
    now = place / "now"
    now.mkdir()
    (now / "a.smf").write_bytes(dump_bytes(120, 2, seed=4))
    (now / "b.smf.gz").write_bytes(gzip.compress(dump_bytes(120, 2, seed=5)))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("c.smf", dump_bytes(120, 2, seed=6))
        packed.writestr("d.smf", dump_bytes(120, 2, seed=7))
    (now / "cd.zip").write_bytes(archive.getvalue())
    for name in ("a.smf", "b.smf.gz", "cd.zip"):
        load(now / "store", now / name, how=BERLIN)
    return now.rename(place / "kept")


@pytest.fixture
def store(place: Path, kept: Path) -> Path:
    """A copy of the store. The path is always the same, because each load has the path of its file."""
    now = place / "now"
    shutil.rmtree(now, ignore_errors=True)
    return Path(shutil.copytree(kept, now)) / "store"


@pytest.fixture
def whole(store: Path) -> Contents:
    """The rows of the store before anything happens to it."""
    return rows_of(store)


def damage(store: Path, table: str = TABLE, load_id: int = 1) -> Path:
    """Change a byte of the rows of a load; return the file."""
    folder = existing_store(store)
    files = read_state(folder).files.values()
    path = folder.data / next(file.path for file in files if file.table == table and load_id in file.loads)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0x10
    path.write_bytes(content)
    return path


def repair(store: Path, **options: object) -> RepairResult:
    """Repair a store."""
    return repair_store(store, Settings(), silent, **options)  # type: ignore[arg-type]


def content(store: Path) -> Contents:
    """Return the rows of a store, all of whose files have to be intact."""
    check_store(existing_store(store), deep=True)
    return rows_of(store)


def times(store: Path) -> list[tuple[object, ...]]:
    """Return the times of rows in UTC, which depend on the time zone."""
    return queried(store, f"SELECT min(written_utc), max(written_utc), count(*) FROM {TABLE}")


@pytest.mark.parametrize(
    ("load_id", "file"),
    [
        (3, "cd.zip"),
        *(
            pytest.param(number, file, marks=pytest.mark.deep)
            for number, file in ((1, "a.smf"), (2, "b.smf.gz"), (4, "cd.zip"))
        ),
    ],
)
def test_rows_are_loaded_again_from_their_file(load_id: int, file: str, store: Path) -> None:
    before, clocks = rows_of(store), times(store)
    damage(store, load_id=load_id)
    done = repair(store)
    # The members of the archive share files of the store.
    reloaded = {each.load_id: each for each in done.plan.reloaded}
    assert reloaded.keys() == ({3, 4} if file == "cd.zip" else {load_id})
    assert all(file in each.file for each in reloaded.values())
    [report] = done.reports
    assert {each.content_digest for each in report.loads} == {e.content_digest for e in reloaded.values()}
    assert done.plan.lost == ()
    assert content(store) == before
    assert times(store) == clocks
    statuses = queried(store, "SELECT status, count(*) FROM load GROUP BY status ORDER BY status")
    assert statuses == [("loaded", 4), ("removed", len(reloaded))]


@pytest.mark.deep
def test_digests_of_records_are_restored_with_their_load(store: Path) -> None:
    """So a later dump with the same records adds none of them."""
    before = rows_of(store)
    shutil.copytree(store, store.parent / "intact")
    damage(store, "record_digest")
    repair(store)
    assert content(store) == before
    (store.parent / "again.smf").write_bytes(dump_bytes(4, 1, seed=9) + dump_bytes(120, 2, seed=4))
    repaired, intact = (
        load(store.parent / name, store.parent / "again.smf", how=BERLIN).loads[0].duplicates
        for name in ("store", "intact")
    )
    assert repaired == intact > 100


def test_files_come_from_a_backup(store: Path) -> None:
    shutil.copytree(store, store.parent / "backup")
    (store.parent / "a.smf").unlink()
    before = rows_of(store)
    damaged = damage(store)
    gone = damage(store, "smf119_tcp_init")
    gone.unlink()
    done = repair(store, backup=store.parent / "backup")
    assert {existing_store(store).data / path for path in done.plan.from_backup} == {damaged, gone}
    assert (done.plan.reloaded, done.plan.lost, done.reports) == ((), (), ())
    assert content(store) == before
    assert not read_state(existing_store(store)).damaged


@pytest.mark.deep
def test_a_backup_with_other_content_is_not_used(store: Path) -> None:
    damaged = damage(store)
    shutil.copytree(store, store.parent / "backup")
    done = repair(store, backup=store.parent / "backup")
    assert done.plan.from_backup == ()
    assert [each.load_id for each in done.plan.reloaded] == [1]
    assert not (damaged.parent / "c.parquet").exists()


@pytest.mark.deep
def test_files_of_several_loads_need_all_of_them(store: Path) -> None:
    with changing(existing_store(store), Settings(), silent) as state:
        compact(existing_store(store), state)
    before = rows_of(store)
    damage(store)
    done = repair(store)
    assert [each.load_id for each in done.plan.reloaded] == [1, 2, 3, 4]
    assert content(store) == before


def gone(store: Path) -> None:
    (store.parent / "a.smf").unlink()


def changed(store: Path) -> None:
    path = store.parent / "a.smf"
    path.write_bytes(path.read_bytes()[:-4])


@pytest.mark.parametrize(
    ("how", "why"),
    [(gone, "the file of load 1 does not exist any more"), (changed, "has other content now")],
    ids=["gone", "changed"],
)
def test_what_cannot_be_restored_stays_until_it_is_taken_out(
    how: Callable[[Path], None], why: str, store: Path
) -> None:
    damaged = damage(store)
    lost_rows = next(
        file.rows for file in read_state(existing_store(store)).files.values() if damaged.match(file.path)
    )
    total = rows_of_other_tables = rows_of(store)
    how(store)
    done = repair(store)
    [lost] = done.plan.lost
    assert (lost.table, lost.rows, dict(lost.loads)) == (TABLE, lost_rows, {1: lost_rows})
    assert why in lost.why
    assert not done.taken_out
    assert lost.path in read_state(existing_store(store)).damaged
    done = repair(store, take_out=True)
    assert done.taken_out
    check_store(existing_store(store))
    after = rows_of(store)
    assert after[TABLE][0] == total[TABLE][0] - lost_rows
    assert {t: n for t, n in after.items() if t != TABLE} == {
        t: n for t, n in rows_of_other_tables.items() if t != TABLE
    }
    assert queried(store, "SELECT count(*) FROM load WHERE status = 'loaded'") == [(4,)]
    assert repair(store).plan.damaged == {}


def test_a_load_stays_while_another_damaged_file_has_rows_of_it(tmp_path: Path) -> None:
    """Loads 1 and 2 share a merged file, and the file of load 1 is gone; a second file has rows of load 2."""
    store = tmp_path / "store"
    (tmp_path / "a.smf").write_bytes(dump_bytes(40, 2, seed=4, mix={"tcp-init": 1}))
    (tmp_path / "b.smf").write_bytes(dump_bytes(40, 1, seed=5, mix={"tcp-init": 1, "zert-detail": 1}))
    for name in ("a.smf", "b.smf"):
        load(store, tmp_path / name)
    with changing(existing_store(store), Settings(), silent) as state:
        compact(existing_store(store), state)
    rows = rows_of(store)
    damage(store, "smf119_tcp_init")
    damage(store, TABLE, load_id=2)
    gone(store)
    done = repair(store)
    assert done.plan.reloaded == ()
    assert sorted(lost.table for lost in done.plan.lost) == ["smf119_tcp_init", TABLE]
    assert next(lost.why for lost in done.plan.lost if lost.table == TABLE).startswith(
        "a load has rows in smf119_tcp_init/month=2026-03/"
    )
    done = repair(store, take_out=True)
    assert [each.load_id for each in done.plan.reloaded] == [2]
    assert [lost.table for lost in done.plan.lost] == ["smf119_tcp_init"]
    check_store(existing_store(store))
    after = rows_of(store)
    assert after[TABLE] == rows[TABLE]
    of_loads = queried(store, "SELECT DISTINCT load_id FROM smf119_tcp_init")
    assert of_loads == [(3,)]  # those of load 1 are lost


def test_a_dry_run_changes_nothing(store: Path) -> None:
    damage(store)
    number = read_state(existing_store(store)).number
    done = repair(store, dry_run=True, take_out=True)
    assert [each.load_id for each in done.plan.reloaded] == [1]
    assert (done.reports, done.taken_out) == ((), False)
    assert read_state(existing_store(store)).number == number


def test_a_repair_without_damage_records_the_check(store: Path) -> None:
    done = repair(store)
    assert (done.plan.damaged, done.reports) == ({}, ())
    state = read_state(existing_store(store))
    assert state.checked.keys() == state.files.keys()


def test_loads_with_options_are_not_loaded_again(tmp_path: Path) -> None:
    """With other options the file has other rows."""
    (tmp_path / "a.smf").write_bytes(dump_bytes(120, 2))
    some = IngestOptions(selection=row_selection("119", ["SYSA"]))
    load(tmp_path / "store", tmp_path / "a.smf", how=some)
    damage(tmp_path / "store")
    [lost] = repair(tmp_path / "store").plan.lost
    assert lost.why.startswith("load 1 was loaded with a selection or options (")


def test_parts_of_a_file_that_has_grown_are_not_loaded_again(tmp_path: Path) -> None:
    whole = dump_bytes(120, 2, seed=4)
    file = tmp_path / "a.smf"
    file.write_bytes(whole)
    load(tmp_path / "store", file)
    file.write_bytes(whole + dump_bytes(40, 1, seed=8))
    load(tmp_path / "store", file)
    for number in (1, 2):
        damage(tmp_path / "store", load_id=number)
    lost = repair(tmp_path / "store").plan.lost
    assert [each.why for each in lost] == [
        f"load {number} has a part of a file that has grown" for number in (1, 2)
    ]


def test_rows_of_no_load_can_only_be_taken_out(store: Path) -> None:
    (store.parent / "empty.smf").write_bytes(b"")
    load(store, store.parent / "empty.smf")
    folder = existing_store(store)
    path = folder.data / next(f.path for f in read_state(folder).files.values() if f.table == "input_issue")
    path.write_bytes(path.read_bytes()[:-1])
    [lost] = repair(store).plan.lost
    assert (lost.table, lost.rows, lost.why) == ("input_issue", 1, "its rows are of no load")
    assert repair(store, take_out=True).taken_out
    assert queried(store, "SELECT count(*) FROM input_issue") == [(0,)]


@pytest.fixture
def interrupted(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose repair was interrupted after it had removed the first load."""
    damage(store)
    with monkeypatch.context() as patched:
        patched.setattr("zscope.pipelines.ingest.repair.ingest", None)
        with pytest.raises(TypeError):
            repair(store)
    check_store(existing_store(store))
    return store


@pytest.mark.parametrize("by", ["repair", pytest.param("load", marks=pytest.mark.deep)])
def test_a_repair_that_was_interrupted_before_loading_is_continued(
    whole: Contents, interrupted: Path, by: str
) -> None:
    if by == "load":
        load(interrupted, interrupted.parent / "a.smf", how=BERLIN)
    else:
        assert [load.load_id for load in repair(interrupted).plan.continued] == [1]
    assert content(interrupted) == whole
    assert repair(interrupted).plan.continued == ()


@pytest.mark.deep
def test_what_an_interrupted_repair_removed_is_named_if_it_cannot_be_loaded_again(interrupted: Path) -> None:
    (interrupted.parent / "a.smf").unlink()
    done = repair(interrupted)
    assert done.plan.continued == ()
    said = list(describe_repair(done, dry_run=False))
    assert len(said) == 1
    assert "load 1" in said[0]
    assert "removed by a repair that was interrupted" in said[0]
    assert "does not exist any more" in said[0]


def test_loads_that_omitted_records_name_the_new_load(store: Path) -> None:
    """The dumps begin with the same record: only the first has it."""
    state = read_state(existing_store(store))
    omitting = {load.load_id: load.duplicates_of for load in state.live_loads if 1 in load.duplicates_of}
    assert omitting
    damage(store)
    repair(store)
    state = read_state(existing_store(store))
    new = max(state.loads)
    assert not state.reopened
    for number, before in omitting.items():
        assert state.loads[number].duplicates_of == {(new if n == 1 else n): c for n, c in before.items()}


@pytest.mark.deep
def test_loads_that_omitted_records_are_incomplete_if_they_are_not_loaded_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    omitting = {
        load.load_id for load in read_state(existing_store(store)).live_loads if 1 in load.duplicates_of
    }
    damage(store)
    monkeypatch.setattr("zscope.pipelines.ingest.repair._load_again", lambda *_: ())
    repair(store)
    assert read_state(existing_store(store)).reopened == omitting
    repair(store)
    assert read_state(existing_store(store)).reopened == omitting


@pytest.mark.deep
def test_a_check_finds_nothing_after_a_repair(store: Path) -> None:
    damage(store)
    folder = existing_store(store)
    with changing(folder, Settings(), silent) as state:
        assert check_all(folder, state)
    repair(store)
    with changing(folder, Settings(), silent) as state:
        assert not check_all(folder, state)
        assert not state.damaged
    assert EVERYTHING.selection_key == BERLIN.selection_key
