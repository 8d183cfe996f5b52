"""A load by a scheduler gives the store that a load in one process gives."""

from __future__ import annotations

import gzip
import io
import shutil
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.pipelines.ingest.comparing import (
    MIX,
    TABLES,
    TABLES_OF_REPORTS,
    Fresh,
    dump,
    records,
    statuses,
    stream,
    write,
)
from tests.pipelines.ingest.in_turn import InTurn, differences, everything_in
from tests.pipelines.stores import EVERYTHING, dump_bytes, leftovers

from zscope.parsers.options import ReadOptions
from zscope.pipelines.ingest import IngestOptions, ingest
from zscope.pipelines.ingest.parallel_load import BulkEngine, EngineError
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder

REPORTS = Path("sample-data/reports")
BERLIN = replace(EVERYTHING, settings=Settings().merge(["Europe/Berlin"]))
RANGE = 6_000
"""Bytes of a range: the dumps of these tests have about ten."""


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    return (*TABLES, *TABLES_OF_REPORTS)


def check_same(
    fresh: Fresh, *paths: Path, how: InTurn | None = None, options: IngestOptions = BERLIN
) -> InTurn:
    """Load files in both ways, one call for each group of files, and compare the stores."""
    scheduler = how or InTurn()
    store = fresh()
    alone = ingest(store, paths, options)
    expected = everything_in(store)
    store = fresh()
    together = ingest(store, paths, options, BulkEngine(scheduler, RANGE))
    assert differences(everything_in(store), expected) == []
    assert leftovers(store) == []
    assert [(each.file, each.status, each.note) for each in together.outcomes] == [
        (each.file, each.status, each.note) for each in alone.outcomes
    ]
    assert [each.counts for each in together.outcomes] == [each.counts for each in alone.outcomes]
    return scheduler


def packed(path: Path, content: bytes) -> Path:
    return write(path, gzip.compress(content, mtime=0))


@pytest.mark.deep
def test_a_dump_in_ranges_and_reports(fresh: Fresh, place: Path) -> None:
    one = write(place / "one.smf", dump())
    reports = sorted(REPORTS.glob("netstat*"))
    done = check_same(fresh, one, *reports)
    assert done.labels[0] == ("survey", 1 + len(reports))
    assert done.labels[1][0] == "decode"
    assert done.labels[1][1] > 5


@pytest.mark.deep
def test_repeated_packed_overlapping_and_growing_dumps(fresh: Fresh, place: Path) -> None:
    some = records()
    check_same(
        fresh,
        write(place / "begin.smf", stream(some[:20])),
        packed(place / "begin.smf.gz", stream(some[:20])),
        write(place / "grown.smf", stream(some[:40])),
        write(place / "again.smf", stream(some[:40])),
        write(place / "overlap.smf", stream(some[30:] + some[50:])),
    )


@pytest.mark.deep
def test_a_dump_that_continues_a_packed_one(fresh: Fresh, place: Path) -> None:
    some = records()
    check_same(
        fresh,
        packed(place / "part.smf.gz", stream(some[:20])),
        write(place / "whole.smf", stream(some)),
    )


@pytest.mark.deep
def test_a_second_load_of_the_same_and_more(fresh: Fresh, place: Path) -> None:
    some = records()
    first = write(place / "first.smf", stream(some[:30]))
    grown = write(place / "longer.smf", stream(some))
    stores = []
    for engine in (None, BulkEngine(InTurn(), RANGE)):
        store = fresh()
        ingest(store, [first], BERLIN, engine)
        report = ingest(store, [first, grown, grown], BERLIN, engine)
        assert statuses(report) == ["repeated", "loaded", "repeated"]
        assert report.loads[0].begun_at
        stores.append(everything_in(store))
    assert differences(*stores) == []


@pytest.mark.deep
def test_loads_have_the_same_numbers_after_files_without_data(fresh: Fresh, place: Path) -> None:
    folder = place / "mixed"
    folder.mkdir()
    write(folder / "a-readme.txt", b"nothing that zscope knows\n")
    write(folder / "b-broken.smf", b"\xff" * 500)
    packed(folder / "c-text.gz", b"no report either\n")
    write(folder / "d.smf", dump())
    write(folder / "e-empty.smf", b"")
    write(folder / "f.smf", stream(records()[:30] + records()[:5]))
    done = check_same(fresh, folder, place / "missing.smf")
    shutil.rmtree(folder)
    assert [label for label, _ in done.labels] == ["survey", "decode"]


@pytest.mark.deep
def test_archives_with_several_members(fresh: Fresh, place: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("one.smf", stream(records()[:25]))
        archive.writestr("text.txt", next(REPORTS.glob("netstat*")).read_bytes())
        archive.writestr("two.smf", stream(records()[20:]))
    check_same(fresh, write(place / "both.zip", out.getvalue()), write(place / "after.smf", dump()))


@pytest.mark.deep
def test_damaged_dumps_have_the_same_issues(fresh: Fresh, place: Path) -> None:
    some = records()
    damaged = bytearray(stream(some))
    for at in (5_000, 12_345, 23_456):
        damaged[at : at + 60] = b"\xff" * 60
    check_same(fresh, write(place / "damaged.smf", bytes(damaged)), write(place / "cut.smf", dump()[:-77]))


@pytest.mark.deep
@pytest.mark.parametrize("framing", ["bdw-spanned", "segments", "rdw-exclusive"])
def test_other_framings(fresh: Fresh, place: Path, framing: str) -> None:
    check_same(fresh, write(place / f"{framing}.smf", dump(framing)))


@pytest.mark.deep
def test_a_dump_over_the_end_of_daylight_saving_time_is_decoded_whole(fresh: Fresh, place: Path) -> None:
    begin = datetime(2026, 10, 24, 20, tzinfo=UTC)
    autumn = dump_bytes(100, seed=7, mix=MIX, start=begin, end=begin + timedelta(hours=8))
    done = check_same(fresh, write(place / "autumn.smf", autumn))
    assert done.labels[-1] == ("decode whole", 1)


@pytest.mark.deep
def test_a_strict_load_ends_at_the_same_issue(fresh: Fresh, place: Path) -> None:
    damaged = bytearray(dump())
    damaged[9_000:9_050] = b"\xff" * 50
    strict = replace(BERLIN, read_options=ReadOptions(strict=True, jobs=1))
    check_same(fresh, write(place / "strict.smf", bytes(damaged)), options=strict)


@pytest.mark.deep
def test_a_dry_run_stores_nothing(fresh: Fresh, place: Path) -> None:
    check_same(fresh, write(place / "dry.smf", dump()), options=replace(BERLIN, dry_run=True))


@pytest.mark.deep
def test_rows_of_other_attempts_do_not_count_and_are_deleted(fresh: Fresh, place: Path) -> None:
    check_same(fresh, write(place / "attempts.smf", dump()), how=InTurn(attempts=3))


@pytest.mark.deep
@pytest.mark.parametrize("step", ["survey", "decode"])
def test_a_step_that_fails_for_good_leaves_the_store_as_it_was(fresh: Fresh, place: Path, step: str) -> None:
    store = fresh()
    ingest(store, [write(place / "before.smf", stream(records()[:9]))], BERLIN)
    before = everything_in(store), read_state(Folder(store)).number
    with pytest.raises(EngineError, match=f"{step} failed"):
        ingest(store, [write(place / "new.smf", dump())], BERLIN, BulkEngine(InTurn(step), RANGE))
    assert differences(everything_in(store), before[0]) == []
    assert read_state(Folder(store)).number == before[1]
    assert leftovers(store) == []


def test_a_file_that_changes_between_the_steps_is_refused(fresh: Fresh, place: Path) -> None:
    path = write(place / "changing.smf", dump())
    scheduler = InTurn(before={"decode": lambda: path.write_bytes(stream(records()[:50]))})
    report = ingest(fresh(), [path], BERLIN, BulkEngine(scheduler, RANGE))
    assert statuses(report) == ["refused"]
    assert "changed while it was read" in report.outcomes[0].issues[0].text
