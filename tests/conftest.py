"""What all tests share: hypothesis profiles, the store of the demo and the folder of real files."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import shutil
import signal
import tempfile
import tomllib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

# As the program does: threads of the linear algebra, which numpy starts, would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from _pytest.doctest import DoctestModule
from click.testing import CliRunner, Result
from hypothesis import settings
from tests.made_once import made_once
from tests.scheduling import ComputedOnce

if TYPE_CHECKING:
    from xdist.remote import Producer

# Always the same examples and no deadline: a slow or busy machine must not turn a test red.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=10)
# `make test-deep` runs the same property tests with more examples.
settings.register_profile("many", derandomize=True, deadline=None, max_examples=25)
# For hunting, by hand: pytest --hypothesis-profile=deep
settings.register_profile("deep", deadline=None, max_examples=5_000)
settings.load_profile("ci")

# In the background of a shell the suite begins with Ctrl-C ignored, and so would all programs it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHECKOUT = Path(__file__).resolve().parents[1]
COMPILED = CHECKOUT / "tests" / "__pycache__" / "compiled"
"""A mark beside the compiled modules of the tests: all have been imported once."""

LONG = [
    "test_crash_matrix.py", "test_night_kills.py", "test_statements_on_pages.py", "test_recorded_pages.py",
    "test_soak.py",
    "test_metric_cases.py", "test_grown_dumps.py", "test_screens_of_changes.py",
    "test_screens.py", "test_single_faults_of_records.py", "test_streams.py",
]  # fmt: skip
"""Files with the longest tests: they run first, so that no process is left with one of them at the end."""


EXPECTED_WITH_DUCKDB_2 = CHECKOUT / "tests" / "duckdb2.toml"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))
    if version("duckdb").startswith("2."):
        _expect_failures(items, tomllib.loads(EXPECTED_WITH_DUCKDB_2.read_text("utf-8"))["failures"])


def _expect_failures(items: list[pytest.Item], reasons: dict[str, str]) -> None:
    """Mark the tests whose names begin like this: they fail for the reason, and are errors if they pass."""
    for item in items:
        for name, reason in reasons.items():
            if item.nodeid.startswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ComputedOnce | None:
    return ComputedOnce(config, log) if config.getvalue("dist") == "loadfile" else None


class FilesWithExamples:
    """Search for doctests only in files that contain one: the search goes through all docstrings."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        collectors = yield
        if ">>> " in file_path.read_text(encoding="utf-8", errors="replace"):
            return collectors
        return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


def pytest_configure(config: pytest.Config) -> None:
    """Register it for the sources, too; the hooks of this file itself are called for tests only."""
    config.pluginmanager.register(FilesWithExamples())


@contextmanager
def _compiled_once() -> Iterator[None]:
    """In a new checkout, let one worker process collect first: the others read what it has compiled."""
    if COMPILED.exists() or "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    COMPILED.parent.mkdir(exist_ok=True)
    with COMPILED.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not COMPILED.exists():
            yield
            COMPILED.touch()
            return
    yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave tests out of garbage collection, also during their collection: it took a fifth of its time."""
    gc.disable()
    try:
        with _compiled_once():
            return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def commits_of_any_duration() -> Iterator[None]:
    """A load commits after ten seconds: on a slow machine, the tests would see more commits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("zscope.pipelines.ingest.commit_new_rows.LONGEST_S", 3600.0)
        yield


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory if possible, for thousands of small files."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="zscope-tests-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The store and the result of `zscope demo --full`; copy the store before changing it."""
    from tests.pipelines.small_catalogue import is_small

    from zscope.app.cli.main import program

    def make(folder: Path) -> None:
        assert not is_small(), "all tests share this store"
        result = CliRunner().invoke(
            program, ["demo", "--full", "--store", str(folder / "store")], prog_name="zscope"
        )
        outputs = {"stdout": result.stdout, "stderr": result.stderr, "exit_code": result.exit_code}
        (folder / "result.json").write_text(json.dumps(outputs), encoding="utf-8")

    folder = made_once(tmp_path_factory, "demo", make)
    outputs = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    stdout, stderr = outputs["stdout"].encode(), outputs["stderr"].encode()
    result = Result(CliRunner(), stdout, stderr, stdout + stderr, None, outputs["exit_code"], None)
    return folder / "store", result


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    """All tables; a module whose stores have rows of a few of them names these."""
    from zscope.pipelines.store.parquet_files import parquet_tables

    return parquet_tables()


@pytest.fixture(scope="module")
def small_catalogue(tables: tuple[str, ...]) -> Iterator[None]:
    """Stores of a module have a catalogue without metrics, which takes a quarter of the time."""
    from tests.pipelines.small_catalogue import use_small_catalogue

    with pytest.MonkeyPatch.context() as patch:
        use_small_catalogue(patch, tables=tables)
        yield


@pytest.fixture(scope="module")
def loads_alone(small_catalogue: None) -> Iterator[None]:  # noqa: ARG001 - it changes what is published
    """Loads of a module also store no rows of steps, which takes as long as loading the sample dump."""
    from zscope.pipelines.store import transaction

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transaction, "steps_to_store", lambda *_: ())
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of files from real systems; tests that use it are skipped where it is not there."""
    folder = Path(os.environ.get("ZSCOPE_REAL") or CHECKOUT.parent / "shared" / "real")
    if not folder.is_dir():
        pytest.skip(f"no real files: {folder} is not a folder (ZSCOPE_REAL names another one)")
    return folder


@pytest.fixture(scope="session")
def real_contents(real_data: Path) -> list[Path]:
    """The files from real systems, each content once: beside what TERSE packed lies what it unpacks to."""
    packed = {".PACK", ".SPACK"}
    return sorted(path for path in real_data.rglob("*") if path.is_file() and path.suffix not in packed)
