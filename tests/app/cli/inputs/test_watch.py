"""`zscope watch`: which files are loaded, several in one load, errors of some, and a clean end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.stores import dump_bytes

from zscope.app.cli.commands.watch import EVERY_S, SETTLE_S, Watch, WatchedFolder
from zscope.app.cli.new_files import INCOMPLETE
from zscope.app.cli.stop_signal import StopSignal
from zscope.app.dashboard.page_data import StoreQueries
from zscope.app.dashboard.shell import NEW_DATA_CHECK_S
from zscope.pipelines.ingest import IngestOptions, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import read_commit, read_state
from zscope.pipelines.store.folder import existing_store, make_store
from zscope.pipelines.store.transaction import write_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.app.conftest import Run

SMALL, OTHER, THIRD = (dump_bytes(24, 1, seed=seed, mix={"tcp-init": 1}) for seed in (9, 10, 11))
AN_HOUR = 3600


class Inbox:
    """A folder in which files arrive."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, name: str, content: bytes, *, age_s: float = AN_HOUR) -> Path:
        """Add a file that was written some time ago, under its name at once."""
        written = self.path / f".{name}"
        written.write_bytes(content)
        then = time.time() - age_s
        os.utime(written, (then, then))
        return written.rename(self.path / name)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    """An empty folder."""
    path = tmp_path / "in"
    path.mkdir()
    return Inbox(path)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The folder of a new store."""
    return make_store(tmp_path / "store").path


@pytest.fixture
def stop() -> StopSignal:
    """A signal that did not come yet."""
    return StopSignal()


@pytest.fixture
def watch(inbox: Inbox, store: Path, stop: StopSignal) -> Watch:
    """What `zscope watch` does, which looks at the folder when a test says so."""
    options = IngestOptions(
        selection=row_selection(None), settings=Settings().merge(["+00:00"], lock_wait_s=0), listed=True
    )
    return Watch(WatchedFolder((inbox.path,), ("*",), INCOMPLETE, 60), store, options, stop, 1, quiet=False)


def loaded_files(store: Path) -> list[str]:
    """Return the names of the loaded files, in the order of their loads."""
    return [Path(load.file).name for load in read_state(existing_store(store)).live_loads]


def number_of_loads(store: Path) -> int:
    """Return the number of commits that load something."""
    folder = existing_store(store)
    commits = (read_commit(folder, number) for number in range(1, read_state(folder).number + 1))
    return sum(commit.kind == "load" for commit in commits)


def test_files_that_are_complete_at_the_same_time_are_one_load(
    watch: Watch, inbox: Inbox, store: Path
) -> None:
    inbox.add("a.smf", SMALL)
    inbox.add("b.smf", OTHER)
    watch.look()
    assert loaded_files(store) == ["a.smf", "b.smf"]
    assert number_of_loads(store) == 1
    before = read_state(existing_store(store)).number
    watch.look()
    assert read_state(existing_store(store)).number == before
    inbox.add("c.smf", THIRD)
    watch.look()
    assert loaded_files(store) == ["a.smf", "b.smf", "c.smf"]


def test_files_that_may_still_be_written_wait(watch: Watch, inbox: Inbox, store: Path) -> None:
    inbox.add("a.smf", SMALL, age_s=20)
    inbox.add("b.smf.part", OTHER)
    inbox.add(".c.smf", THIRD)
    watch.look()
    assert loaded_files(store) == []
    inbox.add("a.smf", SMALL)
    (inbox.path / "b.smf.part").rename(inbox.path / "b.smf")
    watch.look()
    assert loaded_files(store) == ["a.smf", "b.smf"]


def test_of_a_dump_that_has_grown_only_the_new_part_is_loaded(
    watch: Watch, inbox: Inbox, store: Path
) -> None:
    longer = dump_bytes(48, 1, seed=9, mix={"tcp-init": 1})
    begin = len(longer) // 2
    inbox.add("a.smf", longer[:begin])
    watch.look()
    inbox.add("a.smf", longer)
    watch.look()
    first, second = read_state(existing_store(store)).live_loads
    assert second.begun_at > first.begun_at == 0
    assert 0 < second.records < first.records + second.records


def test_a_refused_file_stops_no_other_and_is_read_again_after_a_change(
    watch: Watch, inbox: Inbox, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox.add("a.smf.gz", b"\x1f\x8bnot really")
    inbox.add("b.smf", SMALL)
    watch.look()
    assert loaded_files(store) == ["b.smf"]
    assert "a.smf.gz: refused" in capsys.readouterr().err
    assert list((store / "quarantine").iterdir())
    watch.look()
    assert capsys.readouterr().err == ""
    inbox.add("a.smf.gz", OTHER, age_s=AN_HOUR - 1)
    watch.look()
    assert loaded_files(store) == ["b.smf", "a.smf.gz"]
    assert watch.worst == 8


def test_while_the_store_cannot_be_changed_files_wait(
    watch: Watch, inbox: Inbox, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox.add("a.smf", SMALL)
    with write_lock(existing_store(store)).held(lambda _: None, 0):
        watch.look()
        assert "watch tries again" in capsys.readouterr().err
        watch.look()
        assert "watch tries again" not in capsys.readouterr().err
    assert loaded_files(store) == []
    watch.look()
    assert loaded_files(store) == ["a.smf"]


def test_files_that_are_in_the_store_are_moved(
    watch: Watch, inbox: Inbox, store: Path, tmp_path: Path
) -> None:
    watch.move_to = tmp_path / "loaded"
    inbox.add("a.smf", SMALL)
    inbox.add("b.smf.gz", b"\x1f\x8bnot really")
    watch.look()
    assert [path.name for path in watch.move_to.iterdir()] == ["a.smf"]
    assert [path.name for path in inbox.path.iterdir()] == ["b.smf.gz"]
    assert loaded_files(store) == ["a.smf"]


def test_after_a_signal_no_further_file_is_loaded(
    watch: Watch, inbox: Inbox, store: Path, stop: StopSignal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in (("a.smf", SMALL), ("b.smf", OTHER), ("c.smf", THIRD)):
        inbox.add(name, content)
    answers = iter([False, False, True])
    monkeypatch.setattr(watch, "_stops", lambda: next(answers))
    watch.look()
    assert loaded_files(store) == ["a.smf", "b.smf"]
    monkeypatch.undo()
    watch.look()
    assert loaded_files(store) == ["a.smf", "b.smf", "c.smf"]
    stop.is_set = True
    assert watch.run() == 0


def test_the_dashboard_sees_a_load_within_a_minute(watch: Watch, inbox: Inbox, store: Path) -> None:
    assert SETTLE_S + EVERY_S + NEW_DATA_CHECK_S <= 30, "the other half is for the load and the page"
    queries = StoreQueries(store)
    newest = "SELECT max(start_utc)::VARCHAR FROM smf119_tcp_init"
    seen: list[str] = []
    for name, seed, day in (("a.smf", 9, 1), ("b.smf", 10, 2)):
        version = queries.version()
        inbox.add(name, dump_bytes(24, day, seed=seed, mix={"tcp-init": 1}))
        watch.look()
        assert queries.version() != version
        seen += queries.rows(queries.version(), newest).column(0).to_pylist()
    assert seen == sorted(set(seen))


@pytest.fixture
def program(inbox: Inbox, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A running `zscope watch`."""
    words = ["--store", str(tmp_path / "store"), "--every", "1", "--settle", "1", "--timezone", "+00:00"]
    with subprocess.Popen(
        [sys.executable, "-m", "zscope", "watch", str(inbox.path), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("content", "said", "number", "code"),
    [
        (SMALL, "a.smf: loaded", signal.SIGTERM, 0),
        pytest.param(b"\x1f\x8bnot really", "a.smf: refused", signal.SIGINT, 8, marks=pytest.mark.deep),
    ],
)
def test_a_signal_ends_it_with_the_exit_code_of_the_loads(
    program: subprocess.Popen[str],
    inbox: Inbox,
    content: bytes,
    said: str,
    number: int,
    code: int,
    tmp_path: Path,
) -> None:
    inbox.add("a.smf", content)
    assert program.stderr is not None
    while said not in (line := program.stderr.readline()):
        assert line, "the process has ended"
    while "rows in" not in (line := program.stderr.readline()):
        assert line, "the process has ended"
    program.send_signal(number)
    out, messages = program.communicate(timeout=300)
    assert (program.returncode, out) == (code, "")
    assert messages.endswith("stopped\n")
    assert not (tmp_path / "store" / ".stage").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["missing"], "does not exist"),
        (["in", "--store", "in"], "is in the store"),
        (["in", "--move-to", "store"], "is in the store"),
        (["in", "--move-to", "in"], "no file would be loaded"),
        (["in", "--timezone", "Nowhere/Town"], "Nowhere/Town"),
        (["in", "--select", "nothing"], "nothing"),
    ],
)
def test_wrong_arguments_end_it_at_once(
    run: Run, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, arguments: list[str], problem: str
) -> None:
    monkeypatch.chdir(inbox.path.parent)
    stores = [] if "--store" in arguments else ["--store", "store"]
    result = run("watch", *arguments, *stores)
    assert result.exit_code == 12
    assert problem in result.stderr
    assert not (inbox.path.parent / "store" / "zscope-store.json").exists()


@pytest.mark.deep
def test_many_small_loads_leave_few_files_and_keep_memory(watch: Watch, inbox: Inbox, store: Path) -> None:
    """Each load of a store adds a file to each of its tables, which are merged in proportion."""
    watch.options = replace(watch.options, settings=replace(watch.options.settings, grace_s=0))
    recipe = {"zert-detail": 0.6, "tcp-term": 0.36, "rmf-cpu": 0.04}
    tables: set[str] = set()
    files: list[int] = []
    memory: list[int] = []
    for number in range(20):
        inbox.add(f"{number:02}.smf", dump_bytes(40, 1, seed=number, mix=recipe))
        watch.look()
        state = read_state(existing_store(store))
        tables |= {file.table for file in state.files.values()}
        files.append(len(state.files))
        memory.append(resident_bytes())
    assert number_of_loads(store) == 20
    assert len(tables) >= 5
    assert max(files) <= 12 * len(tables), files
    assert len(list(store.glob("data/**/*.parquet"))) <= 12 * len(tables)
    assert memory[-1] < 1.15 * memory[9], memory


def resident_bytes() -> int:
    """Return the memory of this process."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE")
