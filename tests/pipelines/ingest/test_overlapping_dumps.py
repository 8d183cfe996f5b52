"""Records that come in several dumps, or twice in one, are stored once, whatever is removed in between."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipelines.ingest.comparing import (
    Clean,
    Fresh,
    dump,
    duplicates,
    kept,
    named_again,
    records,
    run,
    statuses,
    stream,
    write,
)
from tests.pipelines.stores import load, rows_of

from zscope.pipelines.ingest import commit_new_rows, decoding
from zscope.pipelines.ingest.duplicates import remove_duplicates
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.duplicates import Duplicates, StoreBefore
    from zscope.pipelines.store.parquet_files import StagedFile


@pytest.mark.deep
@settings(max_examples=8)
@given(data=st.data())
def test_overlapping_dumps_in_any_order_with_one_removed_and_loaded_again(
    fresh: Fresh, clean: Clean, place: Path, data: st.DataObject
) -> None:
    every = records()
    at = st.integers(1, len(every) - 1)
    first_end, third_begin = data.draw(at), data.draw(at)
    second = (data.draw(st.integers(0, first_end)), data.draw(st.integers(third_begin, len(every))))
    parts = [every[:first_end], every[second[0] : max(second)], every[min(third_begin, second[1]) :]]
    paths = [write(place / f"part-{number}.smf", stream(part)) for number, part in enumerate(parts)]
    order = data.draw(st.sampled_from(list(permutations(paths))))
    store = fresh()
    reports = [load(store, path) for path in order]
    assert rows_of(store) == clean(dump())
    omitted = sum(duplicates(report) for report in reports)
    once = kept(every)
    # Of a file that has grown the first part is not read again, and of a repeated one nothing.
    grown = any(ld.begun_at for report in reports for ld in report.loads)
    different = [part for number, part in enumerate(parts) if part not in parts[:number]]
    assert grown or omitted == sum(map(kept, different)) - once
    with open_reader(store) as connection:
        stored = connection.execute("SELECT count(*), count(DISTINCT digest) FROM record_digest").fetchone()
    assert stored == (once, once)
    if data.draw(st.booleans()):
        assert run("store", "compact", "--store", store).exit_code == 0
        assert rows_of(store) == clean(dump())
    removed = data.draw(st.sampled_from([ld.load_id for report in reports for ld in report.loads]))
    assert run("loads", "remove", removed, "--store", store).exit_code in {0, 4}
    load(store, *order)
    assert rows_of(store) == clean(dump())


@pytest.mark.deep
def test_records_omitted_because_of_a_removed_load_can_be_loaded(
    fresh: Fresh, clean: Clean, place: Path
) -> None:
    some = records()
    daily = write(place / "daily.smf", stream(some[:40]))
    weekly = write(place / "weekly.smf", stream(some[20:]))
    store = fresh()
    load(store, daily)
    assert duplicates(load(store, weekly)) == kept(some[20:40]) > 0
    result = run("loads", "remove", 1, "--store", store)
    assert result.exit_code == 4
    assert named_again(result) == [str(weekly)]
    assert statuses(load(store, weekly)) == ["loaded"]
    assert rows_of(store) == clean(weekly.read_bytes())
    assert statuses(load(store, weekly)) == ["repeated"]
    assert statuses(load(store, daily)) == ["loaded"]
    assert rows_of(store) == clean(dump())


@pytest.mark.deep
@pytest.mark.parametrize("framing", ["rdw", "segments", "bdw"])
def test_dump_that_contains_itself_twice(fresh: Fresh, clean: Clean, place: Path, framing: str) -> None:
    data, store = dump(framing), fresh()
    path = write(place / "twice.smf", data + data)
    assert duplicates(load(store, path)) == kept(records())
    assert rows_of(store) == clean(data)
    load(store, write(path, data + data + data))
    assert rows_of(store) == clean(data)


def test_records_of_one_dump_are_compared_where_memory_can_be_written_to_disk(
    fresh: Fresh, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_in: list[Path] = []

    def compared(before: StoreBefore, staged: list[StagedFile], work: Path) -> Duplicates:
        (work / "spill").mkdir()  # as DuckDB does, which makes no folder above it
        written_in.append(work)
        return remove_duplicates(before, staged, work)

    monkeypatch.setattr(commit_new_rows, "remove_duplicates", compared)
    monkeypatch.setattr(decoding, "FEW_ROWS_BYTES", 0)  # rows of the dump are written as they are decoded
    store = fresh()
    load(store, write(place / "all.smf", dump()))
    assert written_in
    assert not any(work.exists() for work in written_in)
