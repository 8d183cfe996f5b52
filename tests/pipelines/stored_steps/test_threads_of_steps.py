"""Several threads compute stored steps: the same rows in the same files as by one thread."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.sample_stores import summarise

from zscope.pipelines.metrics import stored_names
from zscope.pipelines.side_by_side import results_side_by_side
from zscope.pipelines.store import step_computation
from zscope.pipelines.store.commits import DayRows, read_state
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.step_computation import update_summaries
from zscope.pipelines.store.stored_steps import drop_summaries

WAIT_S = 30
"""More than a test needs."""


def test_names_that_need_nothing_of_each_other_run_at_once() -> None:
    both = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        places = results_side_by_side(pool, lambda _: both.wait(WAIT_S), {"one": ["a table"], "other": []})
    assert sorted(places) == [0, 1]


def test_a_name_waits_for_those_that_it_needs() -> None:
    done: list[str] = []
    begun = Event()

    def run(name: str) -> str:
        if name == "part":
            begun.wait(WAIT_S)
        if name == "other":
            begun.set()
        done.append(name)
        return name.upper()

    with ThreadPoolExecutor(2) as pool:
        results = results_side_by_side(pool, run, {"whole": ["part"], "part": [], "other": []})
    assert results == ["WHOLE", "PART", "OTHER"]
    assert done == ["other", "part", "whole"]


def test_the_first_error_is_raised_and_nothing_that_needs_it_runs() -> None:
    done: list[str] = []

    def run(name: str) -> None:
        if name == "part":
            raise ValueError(name)
        done.append(name)

    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match="part"):
        results_side_by_side(pool, run, {"whole": ["part"], "part": []})
    assert done == []


def stored_rows(store: Path, threads: int) -> dict[str, list[str]]:
    """Compute all stored steps of a store; return their rows by file."""
    folder = existing_store(store)
    state = read_state(folder)
    drop_summaries(folder, state)
    update_summaries(folder, state, 0, 1, stored_names(), everything=True, threads=threads)
    with duckdb.connect() as connection:
        return {
            path: sorted(map(repr, connection.execute(f"FROM '{store / path}'").fetchall()))
            for path in state.summaries
        }


@pytest.mark.deep
@pytest.mark.parametrize("at_once", [step_computation.ROWS_AT_ONCE, 1], ids=["at once", "by rounds"])
def test_several_threads_store_the_same_rows_in_the_same_files(
    at_once: int, sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_computation, "ROWS_AT_ONCE", at_once)
    one, several = (
        stored_rows(Path(shutil.copytree(sample_store, tmp_path / f"{threads}")), threads)
        for threads in (1, 4)
    )
    assert list(one) == list(several)
    assert one == several


@pytest.mark.deep
def test_a_step_that_fails_leaves_no_files_of_other_threads(
    sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    before = set((store / "summaries").rglob("*.parquet"))
    listed = read_state(existing_store(store)).summaries.keys()
    write = step_computation._Computation._write

    def fail_once(self: step_computation._Computation, step: str, days: dict[str, DayRows]) -> None:
        if step == "handshake_day":
            raise OSError(28, "No space left on device")
        write(self, step, days)

    monkeypatch.setattr(step_computation._Computation, "_write", fail_once)
    [text] = summarise(store)
    assert "No space left on device" in text
    assert set((store / "summaries").rglob("*.parquet")) == before
    assert read_state(existing_store(store)).summaries.keys() == listed


@pytest.mark.deep
def test_a_file_that_an_error_interrupts_is_deleted(
    sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    before = set((store / "summaries").rglob("*.parquet"))
    started: list[Path] = []

    def fail(*_: object) -> None:
        started.extend(set((store / "summaries").rglob("*.parquet")) - before)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    [text] = summarise(store)
    assert "No space left on device" in text
    assert started
    assert set((store / "summaries").rglob("*.parquet")) == before
