"""Stores that the tests of several commands read; each is built once in a test session."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.made_once import made_once
from tests.pipelines.small_catalogue import is_small
from tests.sample_stores import summarise

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.quality import __main__ as validation_program
from zscope.pipelines.quality import validation_process
from zscope.pipelines.settings import Settings

if TYPE_CHECKING:
    from click.testing import Result

SAMPLE = Path(__file__).resolve().parents[3] / "sample-data"
DUMP = SAMPLE / "smf-sample.bin"


def _load(settings: Settings, store: Path) -> None:
    assert not is_small(), "all tests share this store"
    ingest(store, [DUMP], IngestOptions(selection=row_selection(None), settings=settings))


@pytest.fixture(scope="session")
def dump_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump, without a time zone; read it only."""
    return made_once(tmp_path_factory, "dump", partial(_load, Settings()))


@pytest.fixture(scope="session")
def utc_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump, whose local times are UTC; read it only."""
    return made_once(tmp_path_factory, "utc", partial(_load, Settings().merge(["+00:00"])))


@pytest.fixture(scope="session")
def zoned_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump, whose local times are one hour ahead of UTC; read it only.

    The rows of steps are stored, as in large stores, so that commands do not compute them again.
    """

    def make(store: Path) -> None:
        _load(Settings().merge(["+01:00"]), store)
        summarise(store)

    return made_once(tmp_path_factory, "zoned", make)


@pytest.fixture
def own_demo(demo: tuple[Path, Result], tmp_path: Path) -> Path:
    """A copy of the store of `zscope demo`."""
    return Path(shutil.copytree(demo[0], tmp_path / "store"))


@pytest.fixture(scope="module")
def validation_here() -> Iterator[None]:
    """Validate in this process, which imports the library once; it takes seconds in each process."""

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:  # noqa: ANN401
        assert command[:4] == [sys.executable, "-P", "-m", "zscope.pipelines.quality"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return subprocess.CompletedProcess(command, validation_program.main(command[4:]), b"", b"")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GX_ANALYTICS_ENABLED", "false")
        here = SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL, PIPE=subprocess.PIPE)
        patch.setattr(validation_process, "subprocess", here)
        yield
