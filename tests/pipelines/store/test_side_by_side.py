"""Several processes at work on one store: writers wait for each other, readers wait for nobody."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from tests.pipelines.store.forked import CHECKOUT, printed_by, program
from tests.pipelines.store.sharing import CROWD, FIRST_KEPT, OLD, PATIENT, silent
from tests.pipelines.stores import (
    CATALOGUE,
    EVERYTHING,
    contents,
    counts,
    dump_bytes,
    leftovers,
    load,
    rows_of,
)

from zscope.app.cli import program as zscope
from zscope.pipelines.store.change import changing
from zscope.pipelines.store.check import check
from zscope.pipelines.store.expire import expire
from zscope.pipelines.store.folder import existing_store

TOGETHER_S = 60
LONGEST_S = 900
"""On the busiest machine."""
SHARING = "tests.pipelines.store.sharing"
MIX = {"tcp-init": 1, "tcp-term": 1}
LATER = datetime(2026, 3, 10, tzinfo=UTC)


def files_for_two(folder: Path) -> tuple[list[Path], list[Path]]:
    """Small dumps in two sequences: own ones, common ones, such with records of the other, and old ones."""
    first, second = [], []
    for number in range(24):
        own = [dump_bytes(12, 10, seed=seed, mix=MIX, start=LATER) for seed in (number, 100 + number)]
        contents_by_name = {f"a-{number}": own[0], f"b-{number}": own[1] + own[0][: len(own[0]) // 2]}
        if number % 2:
            contents_by_name[f"common-{number}"] = dump_bytes(12, 10, seed=200 + number, mix=MIX, start=LATER)
        if number % 3 == 0:
            contents_by_name[f"a-{OLD}-{number}"] = dump_bytes(12, 1, seed=300 + number, mix=MIX)
        for name, content in contents_by_name.items():
            path = folder / f"{name}.smf"
            path.write_bytes(content)
            first += [path] if name[0] in "ac" else []
            second += [path] if name[0] in "bc" else []
    return first, second


def test_for_a_minute_two_ingests_a_keeper_and_a_reader_do_not_harm_each_other(tmp_path: Path) -> None:
    store = tmp_path / "store"
    first, second = files_for_two(tmp_path)
    load(store, first[0])
    together = [
        program(SHARING, "ingest", store, TOGETHER_S, *first),
        program(SHARING, "ingest", store, TOGETHER_S, *second),
        program(SHARING, "keep", store, TOGETHER_S),
        program(SHARING, "read", store, TOGETHER_S),
    ]
    try:
        one, other, kept, read = [printed_by(process, TOGETHER_S + LONGEST_S) for process in together]
    finally:
        for process in together:
            process.kill()
    for done in (one, other):
        assert done["loaded"] >= 3, done
    assert min(kept["compact"], kept["expire"], kept["remove"]) >= 1, kept
    assert min(read["reader"], read["plain"]) >= 5, read
    assert min(read["reader saw a new commit"], read["plain saw a new commit"]) >= 3, read

    every = list(dict.fromkeys([*first, *second]))
    clean = tmp_path / "clean"
    load(clean, *every)
    load(store, *every)  # what was removed meanwhile comes back, and what was left out because of it
    for each in (store, clean):
        folder = existing_store(each)
        with changing(folder, PATIENT, silent) as state:
            expire(folder, state, FIRST_KEPT)
        check(folder)
    assert counts(rows_of(store)) == counts(rows_of(clean))
    assert rows_of(store) == rows_of(clean)
    with duckdb.connect(str(store / CATALOGUE), read_only=True) as connection:
        assert contents(connection) == rows_of(clean)
    assert leftovers(store) == []


def run(*arguments: object) -> Result:
    """The program, as a user starts it."""
    return CliRunner().invoke(zscope, [str(argument) for argument in arguments], prog_name="zscope")


@contextmanager
def holding(store: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process keeps the store, until its standard input is closed."""
    with subprocess.Popen(
        [sys.executable, "-m", SHARING, "hold", str(store)],
        cwd=CHECKOUT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as holder:  # fmt: skip
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            yield holder
        finally:
            holder.kill()


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A small dump."""
    path = tmp_path / "dump.smf"
    path.write_bytes(dump_bytes(12, 1, mix=MIX))
    return path


def test_the_second_writer_waits_for_as_long_as_it_may_and_says_so(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    with holding(store) as holder:
        begin = time.monotonic()
        result = run("ingest", dump, "--store", store, "--wait", 1)
        assert time.monotonic() - begin >= 1
        assert result.exit_code == 12
        waiting, *_, error = result.stderr.splitlines()
        assert waiting.startswith(f"waiting for process {holder.pid} on ")
        assert error.startswith(f"Error: {store}: the store is being changed by process {holder.pid} on ")
        assert "within 1 second" in error
        for arguments in (("compact",), ("expire", "--keep", "400d"), ("rebuild",)):
            settings = tmp_path / "zscope.toml"
            settings.write_text("[ingest]\nlock_wait_s = 0\n")
            assert run("store", *arguments, "--store", store, "--settings", settings).exit_code == 12
    assert run("ingest", dump, "--store", store, "--wait", 0).exit_code == 0


def test_the_second_writer_goes_on_when_the_first_is_done(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    with holding(store) as holder, subprocess.Popen(
        [sys.executable, "-c", "from zscope.app.cli import main; main()", "ingest", dump, "--store", store],
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as second:  # fmt: skip
        assert second.stderr is not None
        assert second.stderr.readline().startswith(f"waiting for process {holder.pid} on ")
        assert holder.stdin is not None
        holder.stdin.close()
        said = second.stderr.read()
        assert second.wait(LONGEST_S) == 0, said
    assert "the last writer" not in said
    assert counts(rows_of(store)) != {}


def test_who_was_killed_while_it_held_the_store_is_told_once(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    with holding(store) as holder:
        holder.kill()
        holder.wait()
    told = f"the last writer of {store}, process {holder.pid} on "
    first = run("ingest", dump, "--store", store, "--wait", 0)
    assert first.exit_code == 0
    assert first.stderr.startswith(told)
    assert "ended before it was done; what it left is swept" in first.stderr
    second = run("ingest", dump, "--store", store, "--wait", 0)
    assert second.exit_code == 0
    assert told not in second.stderr


def test_a_reader_waits_for_nobody(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    load(store, dump)
    before = rows_of(store)
    with holding(store):
        assert rows_of(store) == before
        with duckdb.connect(str(store / CATALOGUE), read_only=True) as connection:
            assert contents(connection) == before


def test_a_dry_run_beside_a_writer_waits_like_any_other(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    with holding(store):
        assert run("ingest", dump, "--store", store, "--dry-run", "--wait", 0).exit_code == 12


def test_processes_that_make_one_new_store_together_all_succeed(tmp_path: Path) -> None:
    found = printed_by(program(SHARING, "crowd", tmp_path, 60), LONGEST_S)
    assert found == [[[0] * CROWD, {}]] * 60


def test_first_ingests_at_once_all_load_their_files(tmp_path: Path) -> None:
    names = []
    for number in range(CROWD):
        path = tmp_path / f"{number}.smf"
        path.write_bytes(dump_bytes(12, 1, seed=number, mix=MIX))
        names.append(path)
    load(tmp_path / "clean", *names, how=replace(EVERYTHING, settings=PATIENT))
    expected = counts(rows_of(tmp_path / "clean"))
    found = printed_by(program(SHARING, "crowd", tmp_path, 4, *names), LONGEST_S)
    assert found == [[[0] * CROWD, expected]] * 4
