"""Small files share commits and data files; rows, loads and issues are the same as without that."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.dumps import records_in
from tests.pipelines.ingest.comparing import (
    dump,
    duplicates,
    kept,
    records,
    run,
    statuses,
    stream,
    write,
)
from tests.pipelines.ingest.in_turn import differences, everything_in
from tests.pipelines.stores import EVERYTHING, contents, dump_bytes, load, queried, rewrite_commits

from zscope.parsers import read
from zscope.parsers.options import ReadOptions
from zscope.pipelines.ingest.options_and_outcomes import FileStatus
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.parquet_files import parquet_tables

if TYPE_CHECKING:
    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome

pytestmark = pytest.mark.usefixtures("loads_alone")
MANY = 100
MOST_LOADS = "zscope.pipelines.ingest.commit_new_rows.MOST_LOADS"
LONGEST_S = "zscope.pipelines.ingest.commit_new_rows.LONGEST_S"
REPORTS = Path(__file__).resolve().parents[3] / "sample-data" / "reports"


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    return parquet_tables()


def parts_of(folder: Path, count: int) -> list[Path]:
    """Write the records of a dump of two days to so many files."""
    every = records_in(dump_bytes(3 * count, 2))
    each = len(every) // count
    return [
        write(folder / f"{number:03}.smf", stream(every[number * each : (number + 1) * each]))
        for number in range(count)
    ]


def one_by_one(store: Path, *paths: Path) -> list[str]:
    """Load files with one commit each, and return what became of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MOST_LOADS, 1)
        return statuses(load(store, *paths))


def test_many_small_files_are_few_commits_and_few_data_files(tmp_path: Path) -> None:
    store, paths = tmp_path / "store", parts_of(tmp_path / "parts", MANY)
    told: list[FileOutcome] = []
    report = load(store, *paths, how=replace(EVERYTHING, on_outcome=told.append))
    assert [outcome.file for outcome in told] == [str(path) for path in paths]
    assert statuses(report) == ["loaded"] * MANY
    folder = existing_store(store)
    state = read_state(folder)
    assert state.number < 5
    assert len(list(folder.data.rglob("*.parquet"))) < MANY
    assert sorted(state.loads) == list(range(1, MANY + 1))
    check_store(folder, deep=True)
    for path, loaded in list(zip(paths, report.loads, strict=True))[::25]:
        expected = {
            name: table for name, table in read(path).items() if "record_offset" in table.column_names
        }
        with open_reader(store) as connection:
            for name, table in expected.items():
                places = f"SELECT record_no, record_offset FROM {name} WHERE load_id = ? ORDER BY ALL"
                rows = zip(table["record_no"].to_pylist(), table["record_offset"].to_pylist(), strict=True)
                assert connection.execute(places, [loaded.load_id]).fetchall() == sorted(rows)


def test_a_commit_waits_for_further_files_a_limited_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, paths = tmp_path / "store", parts_of(tmp_path / "parts", 3)
    monkeypatch.setattr(LONGEST_S, 0.0)
    assert statuses(load(store, *paths)) == ["loaded"] * 3
    assert read_state(existing_store(store)).number == 3


def test_files_of_one_commit_are_compared_with_each_other(tmp_path: Path) -> None:
    """Overlapping, repeated, grown and packed dumps, and dumps that repeat their own records."""
    some = records()
    files = [
        ("a.smf", stream(some[:20])),
        ("overlaps.smf", stream(some[10:30])),
        ("repeats-itself.smf", stream([*some[25:40], *some[25:40]])),
        ("a-again.smf", stream(some[:20])),
        ("a-grown.smf", stream(some[:50])),
        ("a-packed.smf.gz", gzip.compress(stream(some[:20]))),
        ("all.smf", dump()),
    ]
    paths = [write(tmp_path / "inputs" / name, content) for name, content in files]
    apart, together = tmp_path / "apart", tmp_path / "together"
    report = load(together, *paths)
    assert one_by_one(apart, *paths) == statuses(report)
    assert statuses(report).count("repeated") == 2
    assert differences(everything_in(apart), everything_in(together)) == []
    assert read_state(existing_store(together)).number < read_state(existing_store(apart)).number
    assert sum(len(load.duplicates_of) for load in report.loads) > 0


@pytest.mark.deep
def test_a_removed_load_can_have_records_that_others_of_its_commit_omitted(tmp_path: Path) -> None:
    some = records()
    daily, weekly = (
        write(tmp_path / name, stream(part)) for name, part in (("daily", some[:40]), ("weekly", some[20:]))
    )
    store = tmp_path / "store"
    assert duplicates(load(store, daily, weekly)) == kept(some[20:40]) > 0
    assert read_state(existing_store(store)).number == 1
    assert run("loads", "remove", 1, "--store", store).exit_code == 4
    load(store, weekly, daily)
    clean = tmp_path / "clean"
    load(clean, write(tmp_path / "all", dump()))
    with open_reader(store) as one, open_reader(clean) as other:
        assert contents(one) == contents(other)
    check_store(existing_store(store), deep=True)


@pytest.mark.deep
def test_reports_of_one_commit_are_compared_by_row(tmp_path: Path) -> None:
    """Also a report that an earlier one has, up to its last line, and one that an earlier one begins."""
    apart, together = tmp_path / "apart", tmp_path / "together"
    reports = sorted(REPORTS.iterdir())
    for name in ("netstat.SYSA.2026-03-02.txt", "rmf-cpu.SYSB.txt"):
        text = next(path for path in reports if path.name == name).read_bytes()
        reports.append(write(tmp_path / "first" / name, text[:-40]))
        reports.append(write(tmp_path / "first" / f"again.{name}", b"\n\n" + text))
    one_by_one(apart, *reports)
    load(together, *reports)
    assert differences(everything_in(apart), everything_in(together)) == []
    assert read_state(existing_store(together)).number < read_state(existing_store(apart)).number


def test_a_damaged_file_between_small_ones_is_refused_alone(tmp_path: Path) -> None:
    store, parts = tmp_path / "store", parts_of(tmp_path / "parts", 60)[:6]
    whole = parts[2].read_bytes()
    parts[2].write_bytes(whole[: len(whole) // 2])
    parts[4].write_bytes(b"\x1f\x8b" + bytes(100))
    told: list[str] = []
    report = load(store, *parts, how=replace(EVERYTHING, on_outcome=lambda each: told.append(each.file)))
    assert statuses(report) == ["loaded", "loaded", "loaded", "loaded", "refused", "loaded"]
    assert told == [str(part) for part in parts]
    with open_reader(store) as connection:
        issues = connection.execute("SELECT DISTINCT load_id, file FROM issue").fetchall()
        refused = connection.execute("SELECT DISTINCT file FROM input_issue").fetchall()
    assert (3, str(parts[2])) in issues
    assert refused == [(str(parts[4]),)]
    apart = tmp_path / "apart"
    one_by_one(apart, *parts)
    assert differences(everything_in(apart), everything_in(store)) == []


def test_a_file_is_refused_alone_by_a_strict_load(tmp_path: Path) -> None:
    store, parts = tmp_path / "store", parts_of(tmp_path / "parts", 60)[:4]
    parts[1].write_bytes(parts[1].read_bytes()[:-9])
    strict = replace(EVERYTHING, read_options=ReadOptions(strict=True))
    report = load(store, *parts, how=strict)
    assert statuses(report)[1] == "refused"
    assert [load.load_id for load in report.loads] == list(range(1, len(report.loads) + 1))


@pytest.mark.deep
def test_an_interrupted_load_has_the_files_of_the_commits_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MOST_LOADS, 5)
    store, paths = tmp_path / "store", parts_of(tmp_path / "parts", 30)

    def stop(outcome: FileOutcome) -> None:
        if outcome.file == str(paths[12]):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(store, *paths, how=replace(EVERYTHING, on_outcome=stop))
    assert sorted(read_state(existing_store(store)).loads) == list(range(1, 16))
    assert statuses(load(store, *paths)) == ["repeated"] * 15 + ["loaded"] * 15
    clean = tmp_path / "clean"
    load(clean, *paths)
    assert differences(everything_in(clean), everything_in(store)) == []


@pytest.mark.deep
def test_files_are_merged_during_a_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load of any number of files has few data files in the store at any time."""
    monkeypatch.setattr(MOST_LOADS, 2)
    monkeypatch.setattr("zscope.pipelines.ingest.load.MERGE_FROM_FILES", 40)
    store, paths = tmp_path / "store", parts_of(tmp_path / "parts", 60)
    most = 0

    def count(_: FileOutcome) -> None:
        nonlocal most
        most = max(most, len(read_state(existing_store(store)).files))

    load(store, *paths, how=replace(EVERYTHING, on_outcome=count))
    assert 0 < most < 150
    clean = tmp_path / "clean"
    load(clean, *paths)
    assert differences(everything_in(clean), everything_in(store)) == []


@pytest.mark.deep
def test_a_large_file_is_committed_by_itself_and_after_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zscope.pipelines.ingest.decoding.FEW_ROWS_BYTES", 100_000)
    small, large = dump_bytes(20, 1, seed=1), dump_bytes(2_000, 2, seed=2)
    paths = [
        write(tmp_path / name, content)
        for name, content in (
            ("1", small),
            ("2", dump_bytes(20, 1, seed=3)),
            ("3", large),
            ("4", small + small),
        )
    ]
    store = tmp_path / "store"
    assert statuses(load(store, *paths)) == ["loaded"] * 4
    folder = existing_store(store)
    assert read_state(folder).number >= 3
    apart = tmp_path / "apart"
    one_by_one(apart, *paths)
    assert differences(everything_in(apart), everything_in(store)) == []


def test_a_commit_of_an_earlier_version_has_one_load(tmp_path: Path) -> None:
    def as_before(content: dict[str, object]) -> None:
        loads = content.pop("loads", [])
        assert isinstance(loads, list)
        content["load"] = loads[0] if loads else None

    store = tmp_path / "store"
    load(store, write(tmp_path / "1.smf", dump_bytes(20, 1)))
    before = everything_in(store)
    rewrite_commits(existing_store(store), as_before)
    assert differences(before, everything_in(store)) == []


def test_paths_that_do_not_exist_create_no_store(tmp_path: Path) -> None:
    """A mistyped path is no reason for a folder, an empty catalogue and the time that they take."""
    told: list[str] = []
    how = replace(EVERYTHING, on_outcome=lambda outcome: told.append(outcome.file))
    report = load(tmp_path / "store", tmp_path / "gone.smf", tmp_path / "no" / "folder", how=how)
    assert [outcome.status for outcome in report.outcomes] == [FileStatus.REFUSED] * 2
    assert [code for outcome in report.outcomes for code in outcome.counts] == ["unreadable"] * 2
    assert told == [outcome.file for outcome in report.outcomes]
    assert not (tmp_path / "store").exists()
    (tmp_path / "a.smf").write_bytes(dump_bytes(20, 1))
    load(tmp_path / "store", tmp_path / "gone.smf", tmp_path / "a.smf")
    again = load(tmp_path / "store", tmp_path / "gone.smf")
    assert [outcome.status for outcome in again.outcomes] == [FileStatus.REFUSED]
    assert queried(tmp_path / "store", "SELECT count(*) FROM input_issue") == [(1,)]
