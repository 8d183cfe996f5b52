"""Bulk loads on a cluster give the store of a local load, also if workers are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from click.testing import CliRunner
from tests.pipelines.ingest.comparing import dump, records, stream, write
from tests.pipelines.ingest.in_turn import differences, everything_in, staged
from tests.pipelines.stores import EVERYTHING

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.main import program as zscope
from zscope.pipelines.ingest import ingest
from zscope.pipelines.ingest.parallel_load import BulkEngine, EngineError
from zscope.pipelines.ingest.spark_scheduler import SparkScheduler
from zscope.pipelines.ingest.tasks import DecodeTask
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder, make_store
from zscope.pipelines.store.transaction import write_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

Task = TypeVar("Task")
Result = TypeVar("Result")

NEVER = 10**12
SETTINGS = replace(Settings(summarise_from_rows=NEVER), lock_wait_s=1).merge(["Europe/Berlin"])
BERLIN = replace(EVERYTHING, settings=SETTINGS)
RANGE = 6_000
SAMPLES = Path("sample-data")
SMALL = ("--days", "1", "--connections-per-hour", "40", "--run-minutes", "8")

pytestmark = pytest.mark.usefixtures("spark")


def engine(range_bytes: int = RANGE) -> BulkEngine:
    return BulkEngine(SparkScheduler(), range_bytes)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small world: systems with dumps, reports and runs that belong together."""
    folder = tmp_path_factory.mktemp("world")
    command = [sys.executable, "-m", "zscope", "generate", "world", str(folder / "world"), *SMALL]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "world"


def check_same(folder: Path, calls: Sequence[Sequence[Path]], range_bytes: int = RANGE) -> None:
    """Load files in both ways, one call after the other, and compare the stores."""
    place = folder / "store"
    stores = []
    for chosen in (None, engine(range_bytes)):
        for paths in calls:
            ingest(place, paths, BERLIN, chosen)
        stores.append(everything_in(place))
        assert staged(place) == []
        place.rename(folder / f"store-{len(stores)}")
    assert differences(*stores) == []


def test_sample_data_twice(tmp_path: Path) -> None:
    check_same(tmp_path, [[SAMPLES], [SAMPLES]], 200_000)


def test_a_world(world: Path, tmp_path: Path) -> None:
    check_same(tmp_path, [[world]], 500_000)


def test_overlapping_and_repeated_files(tmp_path: Path) -> None:
    some = records()
    first = write(tmp_path / "in" / "first.smf", stream(some[:40]))
    overlap = write(tmp_path / "in" / "overlap.smf", stream(some[20:] + some[50:]))
    again = write(tmp_path / "in" / "again.smf", stream(some[:40]))
    check_same(tmp_path, [[first, overlap], [again, first]])


@dataclass(frozen=True)
class Misbehaving:
    """Does something in the first attempts of one task before the task itself."""

    function: Callable[[object, str], object]
    mark: Path
    act: Callable[[], None]
    always: bool = False

    def __call__(self, task: object, attempt: str) -> object:
        if isinstance(task, DecodeTask) and task.at == 3:
            done = self.function(task, attempt)
            if self.always or not self.mark.exists():
                self.mark.touch()
                self.act()
            return done
        return self.function(task, attempt)


class MisbehavingScheduler(SparkScheduler):
    """A cluster on which one task fails after it has written its rows."""

    def __init__(self, mark: Path, act: Callable[[], None], *, always: bool = False) -> None:
        super().__init__()
        self._mark, self._act, self._always = mark, act, always

    def run(self, label: str, function: Callable[[Task, str], Result], tasks: Sequence[Task]) -> list[Result]:
        wrapped = Misbehaving(function, self._mark, self._act, self._always)  # type: ignore[arg-type] # of any task
        return super().run(label, wrapped, tasks)  # type: ignore[arg-type]


def kill_worker() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_executor() -> None:
    """Kill the Java process that started this worker's parent."""
    parent = os.getppid()
    fields = Path(f"/proc/{parent}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    os.kill(int(fields[1]), signal.SIGKILL)


def fail() -> None:
    raise ValueError("the disk of this worker is broken")


@pytest.mark.parametrize("act", [kill_worker, kill_executor])
def test_after_a_kill_the_rows_are_exactly_right(
    tmp_path: Path, act: Callable[[], None], spark: SparkSession
) -> None:
    if act is kill_executor and not spark.sparkContext.master.startswith("local-cluster"):
        pytest.skip("ZSCOPE_SPARK_MASTER names no cluster")
    path = write(tmp_path / "in" / "one.smf", dump())
    store = tmp_path / "store"
    ingest(store, [path], BERLIN)
    expected = everything_in(store)
    store.rename(tmp_path / "local")
    scheduler = MisbehavingScheduler(tmp_path / "mark", act)
    ingest(store, [path], BERLIN, BulkEngine(scheduler, RANGE))
    assert (tmp_path / "mark").exists()
    assert differences(everything_in(store), expected) == []
    assert staged(store) == []


def test_a_task_that_fails_for_good_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    store = tmp_path / "store"
    ingest(store, [write(tmp_path / "in" / "before.smf", stream(records()[:9]))], BERLIN)
    before = everything_in(store), read_state(Folder(store)).number
    scheduler = MisbehavingScheduler(tmp_path / "mark", fail, always=True)
    path = write(tmp_path / "in" / "new.smf", dump())
    with pytest.raises(EngineError) as raised:
        ingest(store, [path], BERLIN, BulkEngine(scheduler, RANGE))
    assert str(raised.value) == (
        "Spark: decode failed: ValueError: the disk of this worker is broken; nothing was loaded"
    )
    assert differences(everything_in(store), before[0]) == []
    assert read_state(Folder(store)).number == before[1]
    # Another task can still write files when the job has failed: the next change deletes them.
    ingest(store, [write(tmp_path / "in" / "after.smf", stream(records()[9:12]))], BERLIN)
    assert staged(store) == []


def test_the_command_ends_with_12_if_a_task_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zscope.pipelines.ingest.spark_scheduler.version", lambda _: "0.0.0")
    path = write(tmp_path / "in" / "new.smf", dump())
    arguments = ["ingest", str(path), "--store", str(tmp_path / "store"), "--engine", "spark"]
    result = CliRunner().invoke(zscope, arguments, prog_name="zscope")
    assert result.exit_code == ExitCode.NOTHING
    assert "the driver 0.0.0; install the same version" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_second_load_waits_for_the_lock_of_the_store(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store")
    path = write(tmp_path / "in" / "one.smf", dump())
    arguments = ["ingest", str(path), "--store", str(store.path), "--engine", "spark", "--wait", "1"]
    with write_lock(store).held(print, 1):
        result = CliRunner().invoke(zscope, arguments, prog_name="zscope")
    assert result.exit_code == ExitCode.NOTHING
    assert "the store is being changed by process" in result.stderr
    assert CliRunner().invoke(zscope, arguments, prog_name="zscope").exit_code == ExitCode.OK
