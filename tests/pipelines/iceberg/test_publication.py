"""What readers see after each kind of commit, now and at the snapshots before."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from pyiceberg.catalog import load_catalog
from tests.marking import deep_except
from tests.pipelines.iceberg.reading import (
    Contents,
    all_rows,
    by_hint,
    in_catalogue,
    in_store,
    read_by_catalogue,
    read_by_hint,
    read_by_polars,
    read_snapshots,
    snapshots_of,
    tables_in,
    with_rows,
)
from tests.pipelines.iceberg.scenes import CONNECTION, DETAIL, add_load, change, earlier_version
from tests.pipelines.store.older import make_older

from zscope.pipelines.iceberg.changes import WHOLE_TABLE
from zscope.pipelines.iceberg.publish import publish_iceberg
from zscope.pipelines.iceberg.published_folder import (
    Publication,
    PublicationError,
    TableStatus,
    default_target,
)
from zscope.pipelines.iceberg.published_table import KEPT_SNAPSHOTS
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store, make_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.parquet_files import parquet_schema, table_description
from zscope.pipelines.store.remove import remove_load
from zscope.schemas.arrow import column_comment


@dataclass
class Series:
    """A store that was changed and published in turns."""

    store: Path
    target: Path
    expected: dict[int, Contents]
    """What the store had, by the commit with which it was published."""
    kinds: dict[int, str]
    last: Publication

    def publish(self, kind: str) -> None:
        self.last = publish_iceberg(self.store)
        self.expected[self.last.commit] = in_store(self.store)
        self.kinds[self.last.commit] = kind


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Series:
    """Loads, a removal, a compaction and an expiry, each of them published; read it only."""
    store = tmp_path_factory.mktemp("series") / "store"
    add_load(store, [DETAIL, CONNECTION, "record_digest"])
    series = Series(store, default_target(store), {}, {}, publish_iceberg(store))
    series.publish("load")
    add_load(store, [CONNECTION, "netstat_conn"])
    series.publish("load")
    add_load(store, days=["2026-03-01"])
    series.publish("load")
    change(store, lambda folder, state: remove_load(folder, state, 1))
    series.publish("remove")
    add_load(store)
    series.publish("load")
    change(store, compact)
    series.publish("compact")
    change(store, lambda folder, state: expire(folder, state, date(2026, 3, 3)))
    series.publish("expire")
    return series


def test_pyiceberg_reads_the_rows_of_the_store(series: Series) -> None:
    rows = with_rows(in_store(series.store))
    assert rows.keys() == {DETAIL, CONNECTION, "netstat_conn"}
    assert with_rows(read_by_hint(series.target)) == rows
    assert with_rows(read_by_catalogue(series.target)) == rows


def test_polars_reads_the_rows_of_the_store(series: Series) -> None:
    assert with_rows(read_by_polars(series.target)) == with_rows(in_store(series.store))


def test_each_snapshot_has_the_rows_of_its_commit(series: Series) -> None:
    read = read_snapshots(series.target)
    assert read.keys() == series.expected.keys()
    for commit, contents in read.items():
        expected = {table: series.expected[commit].get(table, (0, 0)) for table in contents}
        assert contents == expected, f"at commit {commit}, {series.kinds[commit]}"


def test_each_commit_that_changes_a_table_has_a_snapshot(series: Series) -> None:
    metadata = by_hint(series.target, DETAIL).metadata
    summaries = [dict(each.summary.additional_properties) for each in metadata.snapshots if each.summary]
    kinds = [(int(summary["zscope.commit"]), summary["zscope.kind"]) for summary in summaries]
    assert kinds == [(1, WHOLE_TABLE), *((c, k) for c, k in series.kinds.items() if c not in {1, 2})]
    assert [each.summary.operation.value for each in metadata.snapshots if each.summary] == [
        "append", "append", "delete", "append", "replace", "overwrite",
    ]  # fmt: skip
    assert [summary.get("zscope.load") for summary in summaries] == [None, "3", "1", "4", None, None]


def test_totals_of_snapshots_are_those_of_the_commits(series: Series) -> None:
    state = read_state(existing_store(series.store))
    for table in tables_in(series.target):
        snapshot = by_hint(series.target, table).current_snapshot()
        assert snapshot is not None
        assert snapshot.summary is not None
        files = [file for file in state.files.values() if file.table == table]
        assert int(snapshot.summary["total-records"] or 0) == sum(file.rows for file in files)
        assert int(snapshot.summary["total-files-size"] or 0) == sum(file.bytes for file in files)
        assert int(snapshot.summary["total-data-files"] or 0) == len(files)


def test_sizes_and_places_are_those_of_the_files(series: Series) -> None:
    for task in by_hint(series.target, DETAIL).scan().plan_files():
        path = Path(task.file.file_path.removeprefix("file://"))
        assert path.is_relative_to(series.store / "data" / DETAIL)
        assert path.stat().st_size == task.file.file_size_in_bytes


def test_meanings_are_documented(series: Series) -> None:
    table = by_hint(series.target, DETAIL)
    docs = {field.name: field.doc for field in table.schema().fields}
    assert docs["cipher"] == column_comment(parquet_schema(DETAIL).field("cipher"))
    assert docs["load_id"] == "Number of the load that added the row; table load has its file."
    assert table.properties["comment"] == table_description(DETAIL)
    assert table.properties["gc.enabled"] == "false"


def test_internal_digests_are_not_published_and_named(series: Series) -> None:
    [digests] = series.last.with_status(TableStatus.INTERNAL)
    assert digests.table == "record_digest"
    assert "unsigned 64-bit" in (digests.note or "")
    assert "record_digest" not in tables_in(series.target)


def test_a_condition_on_the_time_opens_the_files_of_these_times_only(tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_load(store, days=[f"2026-03-0{day}" for day in range(1, 6)])
    publish_iceberg(store)
    table = by_hint(default_target(store), DETAIL)
    assert len(list(table.scan().plan_files())) == 5
    rows = table.scan("written_local >= '2026-03-04T00:00:00' and written_local < '2026-03-05T00:00:00'")
    assert len(list(rows.plan_files())) == 1
    whole = table.scan().to_arrow()
    day = [time for time in whole["written_local"].to_pylist() if time.date() == date(2026, 3, 4)]
    assert rows.to_arrow().num_rows == len(day) > 0
    frame = pl.scan_iceberg(table.metadata_location, reader_override="native")
    later = frame.filter(pl.col("written_local").dt.date() == date(2026, 3, 4))
    assert later.select(pl.len()).collect().item() == len(day)
    assert len(list(table.scan("load_id = 2").plan_files())) == 0


def test_a_publication_without_new_commits_writes_nothing(series: Series) -> None:
    before = {path: path.stat().st_mtime_ns for path in series.target.rglob("*") if path.name != ".lock"}
    again = publish_iceberg(series.store)
    assert (again.since, again.commit) == (series.last.commit, series.last.commit)
    assert not again.with_status(TableStatus.PUBLISHED)
    after = {path: path.stat().st_mtime_ns for path in series.target.rglob("*") if path.name != ".lock"}
    assert after == before


def test_the_store_is_unchanged(series: Series) -> None:
    check_store(existing_store(series.store))
    assert not list(series.store.rglob("*.avro"))


@pytest.mark.deep
def test_several_commits_are_published_at_once(tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_load(store)
    publish_iceberg(store)
    expected = {}
    for _ in range(3):
        add_load(store)
        expected[read_state(existing_store(store)).number] = in_store(store)
    done = publish_iceberg(store)
    assert {table.new_snapshots for table in done.with_status(TableStatus.PUBLISHED)} == {3}
    read = read_snapshots(default_target(store))
    assert {commit: read[commit] for commit in expected} == expected


def test_snapshots_that_nobody_can_read_are_not_written(tmp_path: Path) -> None:
    """Their files are deleted after the grace period, here at once."""
    store, settings = tmp_path / "store", Settings(grace_s=0)
    add_load(store)
    publish_iceberg(store, settings=settings)
    for _ in range(2):
        add_load(store)
    change(store, compact)
    publish_iceberg(store, settings=settings)
    target = default_target(store)
    [last] = snapshots_of(target, DETAIL)
    assert last == read_state(existing_store(store)).number
    assert read_by_hint(target) == in_store(store)
    snapshot = by_hint(target, DETAIL).current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary["zscope.commits"] == "3"


def test_old_metadata_is_deleted_after_the_grace_period(tmp_path: Path) -> None:
    store = tmp_path / "store"
    target = default_target(store)
    for _ in range(3):
        add_load(store)
        publish_iceberg(store)
    place = target / "zscope" / CONNECTION / "metadata"
    assert {f"v{number}.metadata.json" for number in (1, 2, 3)} <= {path.name for path in place.iterdir()}
    add_load(store)
    (place / "notes.txt").write_text("of a user")
    publish_iceberg(store, settings=Settings(grace_s=0))
    left = sorted(path.name for path in place.iterdir())
    assert [name for name in left if name.endswith(".metadata.json")] == ["v4.metadata.json"]
    assert sum(name.endswith(".avro") for name in left) == 2, "a manifest and the list of it"
    assert "notes.txt" in left
    assert read_by_hint(target) == in_store(store)


@pytest.mark.deep
def test_only_the_newest_snapshots_stay(tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_load(store)
    publish_iceberg(store)
    for _ in range(KEPT_SNAPSHOTS + 3):
        add_load(store)
        publish_iceberg(store)
    assert len(snapshots_of(default_target(store), CONNECTION)) == KEPT_SNAPSHOTS + 1


def test_a_new_column_is_null_in_older_files(tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_load(store)
    with earlier_version(store, DETAIL, "cipher"):
        publish_iceberg(store)
    target = default_target(store)
    before = by_hint(target, DETAIL)
    assert "cipher" not in before.schema().column_names
    add_load(store)
    publish_iceberg(store)
    after = by_hint(target, DETAIL)
    assert after.metadata.table_uuid == before.metadata.table_uuid, "the same table"
    ids = {field.name: field.field_id for field in before.schema().fields}
    assert {field.name: field.field_id for field in after.schema().fields if field.name in ids} == ids
    assert after.schema().find_field("cipher").field_id not in ids.values()
    expected = in_store(store)
    assert read_by_hint(target) == read_by_polars(target) == expected
    ciphers = all_rows(after).select(["load_id", "cipher"]).to_pylist()
    assert {row["load_id"] for row in ciphers if row["cipher"] is not None} == {2}
    assert {row["load_id"] for row in ciphers} == {1, 2}


@pytest.mark.deep
def test_files_with_unsigned_integers_are_not_published_until_they_are_compacted(tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_load(store)
    (store / "zscope.duckdb").touch()
    make_older(store)
    done = publish_iceberg(store)
    left_out = {table.table: table.note or "" for table in done.with_status(TableStatus.NOT_PUBLISHED)}
    assert left_out.keys() == {DETAIL, CONNECTION}
    assert "zscope store compact" in left_out[DETAIL]
    assert "uint64" in left_out[DETAIL] or "uint32" in left_out[DETAIL]
    change(store, compact)
    done = publish_iceberg(store)
    assert not done.with_status(TableStatus.NOT_PUBLISHED)
    assert read_by_hint(default_target(store)) == in_store(store)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A store with one load, published."""
    store = tmp_path / "store"
    add_load(store)
    publish_iceberg(store)
    return store


def test_everything_is_published_again_after_a_move(published: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "store"
    moved.parent.mkdir()
    published.rename(moved)
    default_target(published).rename(default_target(moved))
    done = publish_iceberg(moved)
    assert done.anew == f"the folder was {default_target(published)} before"
    target = default_target(moved)
    assert read_by_hint(target) == read_by_catalogue(target) == in_store(moved)
    assert {Path(task.file.file_path.removeprefix("file://")).exists()
            for task in by_hint(target, DETAIL).scan().plan_files()} == {True}  # fmt: skip


@pytest.mark.deep
def test_a_moved_store_can_be_published_to_the_same_folder(published: Path, tmp_path: Path) -> None:
    moved = published.rename(tmp_path / "moved")
    target = default_target(published)
    done = publish_iceberg(moved, target)
    assert done.anew == f"the store was {published} before"
    assert read_by_hint(target) == in_store(moved)


def test_a_folder_of_another_store_is_refused(published: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    add_load(other)
    with pytest.raises(PublicationError, match=f"contains the tables of another store, {published}"):
        publish_iceberg(other, default_target(published))


@pytest.mark.deep
def test_a_restored_store_is_published_again(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published, tmp_path / "backup")
    add_load(published)
    publish_iceberg(published)
    shutil.rmtree(published)
    (tmp_path / "backup").rename(published)
    add_load(published)
    done = publish_iceberg(published)
    assert done.anew == "the store was replaced or restored"
    assert read_by_hint(default_target(published)) == in_store(published)


LOST = ("folder", "metadata", "hint", "damaged", "manifest", "list", "catalogue", "mark", "everything")


@pytest.mark.parametrize("lost", deep_except(["folder", "manifest", "mark"], LOST))
def test_what_was_deleted_or_damaged_is_published_again(published: Path, lost: str) -> None:
    target = default_target(published)
    folder = target / "zscope" / DETAIL
    if lost == "folder":
        shutil.rmtree(folder)
    elif lost == "metadata":
        (folder / "metadata" / "v1.metadata.json").unlink()
    elif lost == "hint":
        (folder / "metadata" / "version-hint.text").unlink()
    elif lost == "damaged":
        (folder / "metadata" / "v1.metadata.json").write_text("{")
    elif lost == "manifest":
        next(folder.rglob("*-m0.avro")).write_bytes(b"Obj")
    elif lost == "list":
        next(folder.rglob("snap-*.avro")).unlink()
    elif lost == "catalogue":
        (target / "catalog.db").unlink()
    elif lost == "mark":
        (target / "zscope-iceberg.json").write_text("no longer JSON")
    else:
        shutil.rmtree(target)
    add_load(published)
    publish_iceberg(published)
    assert read_by_hint(target) == read_by_catalogue(target) == in_store(published)


@pytest.mark.deep
def test_a_table_whose_earlier_metadata_was_restored_is_published_again(
    published: Path, tmp_path: Path
) -> None:
    folder = default_target(published) / "zscope" / DETAIL
    shutil.copytree(folder, tmp_path / "backup")
    add_load(published)
    publish_iceberg(published)
    shutil.rmtree(folder)
    (tmp_path / "backup").rename(folder)
    add_load(published)
    publish_iceberg(published)
    assert read_by_hint(default_target(published)) == in_store(published)


@pytest.mark.deep
def test_what_a_client_committed_is_replaced(published: Path) -> None:
    """By a client with the right to write, which none should have."""
    target = default_target(published)
    catalogue = load_catalog("zscope", type="sql", uri=f"sqlite:///{target / 'catalog.db'}")
    catalogue.load_table(f"zscope.{DETAIL}").delete("load_id = 1")
    changed = catalogue.load_table(f"zscope.{DETAIL}")
    catalogue.close()
    assert all_rows(changed).num_rows == 0
    place = target / "zscope" / DETAIL / "metadata"
    shutil.copy(changed.metadata_location.removeprefix("file://"), place / "v2.metadata.json")
    (place / "version-hint.text").write_text("2")
    assert read_by_hint(target)[DETAIL][0] == 0
    publish_iceberg(published)
    assert read_by_hint(target) == read_by_catalogue(target) == in_store(published)


@pytest.mark.deep
def test_metadata_of_an_old_snapshot_can_be_damaged(published: Path) -> None:
    add_load(published)
    publish_iceberg(published)
    target = default_target(published)
    old = by_hint(target, DETAIL).metadata.snapshots[0]
    Path(old.manifest_list.removeprefix("file://")).write_bytes(b"Obj")
    add_load(published)
    publish_iceberg(published)
    assert read_by_hint(target) == read_by_catalogue(target) == in_store(published)


def test_a_table_without_rows_stays(published: Path) -> None:
    change(published, lambda folder, state: remove_load(folder, state, 1))
    publish_iceberg(published)
    target = default_target(published)
    assert read_by_hint(target)[DETAIL] == (0, 0)
    assert DETAIL in in_catalogue(target)
    assert by_hint(target, DETAIL).scan().to_arrow().num_rows == 0


def test_an_empty_store_can_be_published(tmp_path: Path) -> None:
    store = tmp_path / "store"
    make_store(store)
    assert publish_iceberg(store).commit == 0
    assert tables_in(default_target(store)) == []
    assert in_catalogue(default_target(store)) == {}
    add_load(store)
    publish_iceberg(store)
    assert with_rows(read_by_hint(default_target(store))) == with_rows(in_store(store))


NAMES = ("a space", "umlaut-ä", "plus+and(brackets)", "a'quote")


@pytest.mark.parametrize("name", deep_except(NAMES[:1], NAMES))
def test_names_of_folders_that_readers_understand(tmp_path: Path, name: str) -> None:
    store = tmp_path / name / "store"
    store.parent.mkdir()
    add_load(store)
    publish_iceberg(store)
    target = default_target(store)
    assert read_by_hint(target) == read_by_polars(target) == read_by_catalogue(target) == in_store(store)


@pytest.mark.parametrize("name", ["hash#tag", "per%20cent"])
def test_names_of_folders_that_readers_misread_are_refused(tmp_path: Path, name: str) -> None:
    store = tmp_path / name / "store"
    store.parent.mkdir()
    add_load(store)
    with pytest.raises(PublicationError, match="readers of Iceberg tables misread"):
        publish_iceberg(store, tmp_path / "target")
    assert not (tmp_path / "target").exists()


@pytest.mark.deep
def test_the_number_of_manifests_stays_small(tmp_path: Path) -> None:
    store = tmp_path / "store"
    days = [f"2026-03-{day:02}" for day in range(1, 21)]
    for _ in range(8):
        add_load(store, [CONNECTION], days, rows=1)
        publish_iceberg(store)
    table = by_hint(default_target(store), CONNECTION)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    counts = [(m.added_files_count or 0, m.existing_files_count or 0) for m in snapshot.manifests(table.io)]
    files = [added + existing for added, existing in counts]
    assert sum(files) == 160
    assert len(files) <= 3
    assert read_by_hint(default_target(store)) == in_store(store)
