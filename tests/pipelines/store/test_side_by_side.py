"""Several processes on one store: writers wait for each other, readers never wait."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from tests.pipelines.store.forked import CHECKOUT, printed_by, program
from tests.pipelines.store.sharing import CROWD, FIRST_KEPT, OLD, PATIENT, silent
from tests.pipelines.stores import (
    EVERYTHING,
    contents,
    counts,
    dump_bytes,
    leftovers,
    load,
    plain_client,
    rows_of,
)

from zscope.app.cli.main import program as zscope
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import State
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store, make_store
from zscope.pipelines.store.maintenance import expire
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHORT_S, LONG_S = 1, 60
LONGEST_S = 900
"""On a very busy machine."""
SHARING = "tests.pipelines.store.sharing"
MIX = {"tcp-init": 1, "tcp-term": 1}
LATER = datetime(2026, 3, 10, tzinfo=UTC)


def files_for_two(folder: Path) -> tuple[list[Path], list[Path]]:
    """Write small dumps for two writers: separate ones, common ones, overlapping ones, and old ones."""
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


@pytest.mark.deep
def test_reader_beside_an_ingest_always_sees_whole_commits(tmp_path: Path) -> None:
    store = tmp_path / "store"
    files = [tmp_path / f"{number}.smf" for number in range(12)]
    for number, path in enumerate(files):
        path.write_bytes(dump_bytes(12, 10, seed=number, mix=MIX, start=LATER))
    load(store, files[0])
    processes = [
        program(SHARING, role, store, SHORT_S, *rest) for role, rest in (("ingest", files[1:]), ("read", []))
    ]
    try:
        written, read = [printed_by(process, SHORT_S + LONGEST_S) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert written["loaded"] >= 1
    assert min(read["reader"], read["plain"]) >= 1, read
    assert leftovers(store) == []


@pytest.mark.deep
def test_two_ingests_maintenance_and_a_reader_work_on_one_store_for_a_minute(tmp_path: Path) -> None:
    store = tmp_path / "store"
    first, second = files_for_two(tmp_path)
    load(store, first[0])
    together = [
        program(SHARING, "ingest", store, LONG_S, *first),
        program(SHARING, "ingest", store, LONG_S, *second),
        program(SHARING, "keep", store, LONG_S),
        program(SHARING, "read", store, LONG_S),
    ]
    try:
        one, other, kept, read = [printed_by(process, LONG_S + LONGEST_S) for process in together]
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
    load(store, *every)  # restores removed loads, and records omitted because of them
    for each in (store, clean):
        folder = existing_store(each)
        with changing(folder, PATIENT, silent) as state:
            expire(folder, state, FIRST_KEPT)
        check_store(folder)
    assert counts(rows_of(store)) == counts(rows_of(clean))
    assert rows_of(store) == rows_of(clean)
    with plain_client(store) as connection:
        assert contents(connection) == rows_of(clean)
    assert leftovers(store) == []


def run(*arguments: object) -> Result:
    """Run the command line."""
    return CliRunner().invoke(zscope, [str(argument) for argument in arguments], prog_name="zscope")


@contextmanager
def holding(store: Path) -> Iterator[subprocess.Popen[str]]:
    """Lock the store by another process until its standard input is closed."""
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


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    return ("smf119_tcp_init", "smf119_tcp_term")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A small dump."""
    path = tmp_path / "dump.smf"
    path.write_bytes(dump_bytes(12, 1, mix=MIX))
    return path


@pytest.mark.deep
def test_second_writer_waits_up_to_its_limit_and_reports_it(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    with holding(store) as holder:
        started = time.monotonic()
        result = run("ingest", dump, "--store", store, "--wait", 1)
        assert time.monotonic() - started >= 1
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


@pytest.mark.deep
def test_second_writer_continues_when_the_first_has_finished(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    publish_catalogue(make_store(store), State())  # here, because it takes seconds in a new process
    with holding(store) as holder, subprocess.Popen(
        [sys.executable, "-c", "from zscope.app.cli.main import main; main()",
         "ingest", dump, "--store", store],
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as second:  # fmt: skip
        assert second.stderr is not None
        assert second.stderr.readline().startswith(f"waiting for process {holder.pid} on ")
        assert holder.stdin is not None
        holder.stdin.close()
        stderr = second.stderr.read()
        assert second.wait(LONGEST_S) == 0, stderr
    assert "the last writer" not in stderr
    assert counts(rows_of(store)) != {}


@pytest.mark.deep
def test_killed_writer_is_reported_once(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    with holding(store) as holder:
        holder.kill()
        holder.wait()
    message = f"the last writer of {store}, process {holder.pid} on "
    first = run("ingest", dump, "--store", store, "--wait", 0)
    assert first.exit_code == 0
    assert first.stderr.startswith(message)
    assert "was interrupted; its leftovers are deleted" in first.stderr
    second = run("ingest", dump, "--store", store, "--wait", 0)
    assert second.exit_code == 0
    assert message not in second.stderr


def test_reader_does_not_wait_for_a_writer(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    load(store, dump)
    before = rows_of(store)
    with holding(store):
        assert rows_of(store) == before
        with plain_client(store) as connection:
            assert contents(connection) == before


def test_dry_run_waits_for_a_writer(tmp_path: Path, dump: Path) -> None:
    store = tmp_path / "store"
    with holding(store):
        assert run("ingest", dump, "--store", store, "--dry-run", "--wait", 0).exit_code == 12


@pytest.mark.deep
@pytest.mark.parametrize("rounds", [10, 60])
def test_processes_can_create_one_store_at_the_same_time(tmp_path: Path, rounds: int) -> None:
    results = printed_by(program(SHARING, "crowd", tmp_path, rounds), LONGEST_S)
    assert results == [[[0] * CROWD, {}]] * rounds


@pytest.mark.deep
def test_first_ingests_at_the_same_time_all_load_their_files(tmp_path: Path) -> None:
    rounds = 4
    names = []
    for number in range(CROWD):
        path = tmp_path / f"{number}.smf"
        path.write_bytes(dump_bytes(12, 1, seed=number, mix=MIX))
        names.append(path)
    load(tmp_path / "clean", *names, how=replace(EVERYTHING, settings=PATIENT))
    expected = counts(rows_of(tmp_path / "clean"))
    results = printed_by(program(SHARING, "crowd", tmp_path, rounds, *names), LONGEST_S)
    assert results == [[[0] * CROWD, expected]] * rounds
