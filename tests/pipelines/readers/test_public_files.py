"""The files below `tables` are the current rows of the store, for everything that reads Parquet."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tests.pipelines.iceberg.stopping import watched
from tests.pipelines.stores import EVERYTHING, dump_bytes, load

from zscope.pipelines import public_files
from zscope.pipelines.ingest.repair import repair_store
from zscope.pipelines.public_files import NO_MONTH, compare_all_next, shown_commit
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_all, check_store
from zscope.pipelines.store.folder import DamagedStoreError, Folder, existing_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.pipelines.store.commits import State

pytestmark = pytest.mark.usefixtures("loads_alone")

REPORT = Path("sample-data/reports/netstat.SYSA.2026-03-02.txt")
TABLE = "smf119_tcp_init"
NOT_THERE = "there is no such file system call"


@dataclass
class Site:
    """A store, its inputs, and the messages of its commands."""

    store: Path
    place: Path
    messages: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Folder:
        return existing_store(self.store)

    @property
    def tables(self) -> Path:
        return self.store / "tables"

    def load(self, name: str, content: bytes) -> None:
        path = self.place / name
        path.write_bytes(content)
        load(self.store, path, how=replace(EVERYTHING, notify=self.messages.append))

    def load_dump(self, seed: int, days: int = 2) -> None:
        self.load(f"{seed}.smf", dump_bytes(24, days, seed=seed, mix={"tcp-init": 1}))

    def change(self, change: Callable[[Folder, State], object] = lambda *_: None) -> None:
        folder = self.folder
        with changing(folder, Settings(), self.messages.append) as state:
            change(folder, state)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site without a store."""
    return Site(tmp_path / "store", tmp_path)


Found = tuple[int, int | None]
"""Number of rows, and a sum over all their values that does not depend on the order."""


def summed(rows: duckdb.DuckDBPyRelation, columns: list[str]) -> Found:
    values = ", ".join(f"CAST({name} AS VARCHAR)" for name in columns)
    found = rows.aggregate(f"count(*), sum(hash({values})::HUGEINT)").fetchone()
    assert found is not None
    return found


def as_seen(site: Site) -> dict[str, dict[str, Any]]:
    """Return what each reader finds in each public table, next to what the catalogue has."""
    import pandas as pd  # type: ignore[import-untyped]

    found: dict[str, dict[str, Any]] = {}
    with duckdb.connect(str(site.folder.catalogue), read_only=True) as connection:
        state = read_state(site.folder)
        tables = {file.table for file in state.files.values()} - {DIGEST_TABLE}
        assert {path.name for path in site.tables.iterdir() if path.is_dir()} == tables
        for table in sorted(tables):
            place = site.tables / table
            stored = connection.sql(f"FROM files.{table}")
            columns = stored.columns
            with_day = summed(stored, columns)
            public = connection.read_parquet(f"{place}/*/*.parquet", hive_partitioning=True)
            frame = pl.scan_parquet(place, hive_partitioning=True).collect().to_arrow()
            arrow = ds.dataset(place, partitioning="hive").to_table()
            assert public.columns == [*columns, "month"]
            assert set(frame.column_names) == set(arrow.column_names) == {*columns, "month"}
            months = f"count_if(month <> coalesce(strftime(day, '%Y-%m'), '{NO_MONTH}'))"
            found[table] = {
                "catalogue": with_day,
                "DuckDB": summed(public, columns),
                "polars": summed(connection.from_arrow(frame), columns),
                "pyarrow": summed(connection.from_arrow(arrow), columns),
                "pandas": len(pd.read_parquet(place)),
                "in another month": public.aggregate(months).fetchall(),
            }
    return found


def assert_everybody_reads_the_same(site: Site) -> None:
    for table, readers in as_seen(site).items():
        stored = readers["catalogue"]
        rows, _ = stored
        assert readers == {
            "catalogue": stored, "DuckDB": stored, "polars": stored, "pyarrow": stored, "pandas": rows,
            "in another month": [(0,)],
        }, table  # fmt: skip
    check_store(site.folder)
    assert shown_commit(site.folder) is not None


def test_all_readers_find_the_current_rows_after_each_change(site: Site) -> None:
    whole = REPORT.read_bytes()
    site.load("small.smf", dump_bytes(60, 40, seed=9, mix={"tcp-init": 1, "zert-detail": 1}))
    assert len({path.name for path in site.tables.glob("*/*")}) > 1, "rows of several months"
    assert_everybody_reads_the_same(site)
    site.load("large.smf", dump_bytes(120, 3, mix={"tcp-init": 1, "rmf-cpu": 1}))
    site.load(REPORT.name, whole[: len(whole) // 2])
    site.load("not-an-input", b"neither a dump nor a report")
    assert_everybody_reads_the_same(site)
    site.load(REPORT.name, whole)  # replaces the load of its first half
    assert_everybody_reads_the_same(site)
    site.change(compact)
    assert_everybody_reads_the_same(site)
    site.load_dump(5)
    assert {path.name[0] for path in (site.tables / TABLE).rglob("*.parquet")} == {"c", "2"}
    assert_everybody_reads_the_same(site)
    site.change(lambda folder, state: remove_load(folder, state, 1))
    assert_everybody_reads_the_same(site)
    site.change(lambda folder, state: expire(folder, state, date(2026, 3, 3)))
    assert_everybody_reads_the_same(site)
    site.change(lambda folder, state: expire(folder, state, date(2027, 1, 1)))
    left = {path.name for path in site.tables.iterdir() if path.is_dir()}
    assert left == {"input_issue"}, "the rest is of days before"
    assert not [text for text in site.messages if "tables" in text]


def rows_by_month(site: Site) -> dict[str, int]:
    """Return the rows of the table by month, as a reader finds them that lists and opens at once."""
    months = (site.tables / TABLE).glob("month=*")
    return {
        month.name: sum(pq.read_metadata(file).num_rows for file in month.glob("*.parquet"))
        for month in months
    }


@pytest.mark.parametrize("change", ["load", "compact", "remove", "expire"])
def test_a_month_has_its_old_or_its_new_rows_at_each_step_of_a_writer(site: Site, change: str) -> None:
    for seed in (4, 5, 6):
        site.load_dump(seed, days=40)
    before = rows_by_month(site)
    seen: list[dict[str, int]] = []

    def changed() -> None:
        if change == "load":
            site.load_dump(7, days=40)
        elif change == "compact":
            site.change(compact)
        elif change == "remove":
            site.change(lambda folder, state: remove_load(folder, state, 2))
        else:
            site.change(lambda folder, state: expire(folder, state, date(2026, 3, 20)))

    with watched(site.store, lambda _: seen.append(rows_by_month(site))):
        changed()
    after = rows_by_month(site)
    assert len(before) > 1
    assert (before == after) == (change == "compact")
    assert before in seen
    for found in seen:
        for month in before.keys() | after.keys():
            assert found.get(month) in {before.get(month), after.get(month)}
    assert_everybody_reads_the_same(site)


def test_readers_beside_a_writer_find_committed_rows_or_a_missing_file(site: Site) -> None:
    """A reader that listed files which a commit then replaces gets an error, and never wrong rows."""
    for seed in range(3):
        site.load_dump(seed)
    writer, committed = os.fork(), {72}
    if not writer:
        code = 70
        try:
            site.change(compact)
            for seed in range(3, 6):
                site.load_dump(seed)
                site.change(compact)
            code = 0
        finally:
            os._exit(code)
    committed |= {72 + 24 * more for more in range(4)}
    counts = []
    while os.waitpid(writer, os.WNOHANG) == (0, 0):
        try:
            [(rows,)] = duckdb.sql(
                f"SELECT count(*) FROM read_parquet('{site.tables}/{TABLE}/*/*.parquet')"
            ).fetchall()
        except duckdb.IOException as error:
            assert "No such file" in str(error) or "No files found" in str(error)  # noqa: PT017
            continue
        counts.append(rows)
    assert set(counts) <= committed
    assert counts == sorted(counts)
    assert_everybody_reads_the_same(site)


class KilledError(BaseException):
    """Takes the place of a signal."""


@pytest.mark.parametrize("step", ["exchange", "_mark", "update_public_files"])
def test_the_next_writer_completes_what_a_killed_one_left(
    site: Site, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    site.load_dump(4)
    before = shown_commit(site.folder)

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        module = "store.transaction" if step == "update_public_files" else "public_files"
        patched.setattr(f"zscope.pipelines.{module}.{step}", killed)
        with pytest.raises(KilledError):
            site.load_dump(5)
    assert shown_commit(site.folder) == before
    assert check_store(site.folder).public_commit == 1, "which is not the last, so nothing is compared"
    site.change()
    assert_everybody_reads_the_same(site)


def without_exchange(*_: object) -> None:
    raise OSError(errno.EINVAL, NOT_THERE)


def test_a_file_system_without_the_exchange_of_folders_has_no_public_files(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(public_files, "exchange", without_exchange)
        site.load_dump(4)
        assert not site.tables.exists()
        assert len(site.messages) == 1
        assert f"{site.tables}: the files to read directly are left out" in site.messages[0]
        assert NOT_THERE in site.messages[0]
        assert check_store(site.folder).public_commit is None
    site.load_dump(5)
    assert_everybody_reads_the_same(site)
    with monkeypatch.context() as patched:
        patched.setattr(public_files, "exchange", without_exchange)
        site.load_dump(6)
    assert not site.tables.exists(), "old rows would be worse than none"
    assert len(site.messages) == 2


def test_a_file_system_without_links_has_no_public_files(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def not_for_data(source: Path, target: Path) -> None:
        if Path(target).suffix == ".parquet":
            raise OSError(errno.EPERM, NOT_THERE)
        link(source, target)

    monkeypatch.setattr(os, "link", not_for_data)
    site.load_dump(4)
    assert not site.tables.exists()
    assert len(site.messages) == 1
    assert NOT_THERE in site.messages[0]


def test_a_change_touches_only_the_months_that_it_changes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.load("first.smf", dump_bytes(60, 40, seed=9))
    touched = []
    has = public_files._has

    def noted(place: Path, *arguments: Any) -> bool:  # noqa: ANN401
        touched.append(place.relative_to(site.tables).as_posix())
        return has(place, *arguments)

    monkeypatch.setattr(public_files, "_has", noted)
    site.change()
    assert touched == []
    site.load_dump(5, days=1)
    loaded_on = datetime.now(UTC).strftime("%Y-%m")
    assert touched == [f"issue/month={loaded_on}", f"{TABLE}/month=2026-03"]


def test_a_store_of_an_earlier_version_gets_its_public_files_with_the_next_change(site: Site) -> None:
    site.load_dump(4, days=40)
    shutil.rmtree(site.tables)
    assert check_store(site.folder).public_commit is None
    site.change()
    assert_everybody_reads_the_same(site)


def test_a_backup_of_the_commits_is_noticed(site: Site, tmp_path: Path) -> None:
    site.load_dump(4)
    shutil.copytree(site.store, tmp_path / "backup", ignore=shutil.ignore_patterns("tables"))
    site.load_dump(5)
    newer = site.tables.rename(tmp_path / "newer")
    shutil.rmtree(site.store)
    (tmp_path / "backup").rename(site.store)
    newer.rename(site.tables)
    site.load_dump(6)
    assert read_state(site.folder).number == 2
    assert_everybody_reads_the_same(site)


def test_files_of_others_stay(site: Site) -> None:
    site.load_dump(4, days=1)
    [month] = (site.tables / TABLE).iterdir()
    (month / "notes.txt").write_text("mine")
    (month / "mine").mkdir()
    site.load_dump(5, days=1)
    assert (month / "notes.txt").read_text() == "mine"
    assert (month / "mine").is_dir()
    site.change(lambda folder, state: expire(folder, state, date(2027, 1, 1)))
    assert sorted(path.name for path in month.iterdir()) == ["mine", "notes.txt"]


def test_a_folder_with_this_name_that_is_not_of_zscope_stays(site: Site) -> None:
    site.load_dump(4)
    shutil.rmtree(site.tables)
    site.tables.mkdir()
    (site.tables / "mine").write_text("mine")
    site.load_dump(5)
    assert [path.name for path in site.tables.iterdir()] == ["mine"]
    assert len(site.messages) == 1
    assert "the folder has other files" in site.messages[0]


def test_store_check_names_differences_and_rebuild_removes_them(site: Site) -> None:
    site.load_dump(4, days=40)
    first, second, *_ = sorted((site.tables / TABLE).rglob("*.parquet"))
    content = first.read_bytes()
    first.unlink()
    first.write_bytes(second.read_bytes())
    added = second.with_name("99-2026-03-02.parquet")
    second.rename(added)
    with pytest.raises(DamagedStoreError) as raised:
        check_store(site.folder)
    text = str(raised.value)
    assert f"tables/{first.relative_to(site.tables)}: has other content than " in text
    assert f"tables/{second.relative_to(site.tables)}: is missing" in text
    assert f"tables/{added.relative_to(site.tables)}: is not a current data file" in text
    added.unlink()
    compare_all_next(site.folder)
    site.change()
    assert first.read_bytes() == content
    assert_everybody_reads_the_same(site)


def test_a_copy_without_links_is_the_same(site: Site, tmp_path: Path) -> None:
    site.load_dump(4)
    copy = shutil.copytree(site.store, tmp_path / "copy")
    check_store(existing_store(copy))


def test_a_repair_from_a_backup_replaces_the_links_to_damaged_files(site: Site, tmp_path: Path) -> None:
    site.load_dump(4)
    backup = shutil.copytree(site.store, tmp_path / "backup")
    state = read_state(site.folder)
    damaged = next(file for file in state.files.values() if file.table == TABLE)
    path = site.folder.data / damaged.path
    with path.open("r+b") as file:
        file.write(b"XXXX")
    repair_store(site.store, Settings(), site.messages.append, backup=backup)
    assert_everybody_reads_the_same(site)


def test_a_damaged_file_is_an_error_for_every_reader_until_its_rows_are_restored(site: Site) -> None:
    """Programs would read wrong values from some of the damaged files, without an error."""
    site.load_dump(4)
    [damaged, *_] = (file for file in read_state(site.folder).files.values() if file.table == TABLE)
    path = site.folder.data / damaged.path
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    site.change(check_all)
    place = site.tables / TABLE
    with pytest.raises(duckdb.Error, match="magic bytes"):
        duckdb.read_parquet(f"{place}/*/*.parquet").fetchall()
    with pytest.raises(pl.exceptions.ComputeError):
        pl.scan_parquet(place).collect()
    with pytest.raises(ValueError, match="Parquet"):
        ds.dataset(place).to_table()
    with pytest.raises(DamagedStoreError, match="has other content; zscope store repair"):
        check_store(site.folder)
    repair_store(site.store, Settings(), site.messages.append)
    assert_everybody_reads_the_same(site)


def test_a_file_that_is_right_again_is_linked_again(site: Site) -> None:
    site.load_dump(4)
    [damaged, *_] = (file for file in read_state(site.folder).files.values() if file.table == TABLE)
    path = site.folder.data / damaged.path
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    site.change(check_all)
    path.write_bytes(content)
    site.change(check_all)
    assert_everybody_reads_the_same(site)


def test_a_missing_data_file_is_said(site: Site) -> None:
    site.load_dump(4)
    state = read_state(site.folder)
    lost = next(file for file in state.files.values() if file.table == TABLE)
    (site.folder.data / lost.path).unlink()
    compare_all_next(site.folder)
    site.change()
    assert len(site.messages) == 1
    assert "1 data files are missing" in site.messages[0]
    with pytest.raises(DamagedStoreError):
        check_store(site.folder)
