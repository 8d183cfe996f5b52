"""A writer that is killed at any instant leaves the store unchanged or with its whole change.

The program `killing.py` kills forked processes. `make test` kills one job at three instants around the
commit; the deep tests kill seven jobs at each operation on files, and 100 times at random instants.
"""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.store.forked import printed_by, program

if TYPE_CHECKING:
    from collections.abc import Iterator

Kills = list[dict[str, Any]]
EVERY = ("first", "second", "together", "grown", "remove", "compact", "expire")
AT_RANDOM = (("second", 45), ("second again", 45), ("first", 10))
LONGEST_S = 1200
"""On a very busy machine."""
MOST_UNMET = 3
"""Operations that a job did not repeat when it was to be killed there."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory if possible, for thousands of small files."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="zscope-kills-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


def kill(place: Path, job: str, when: int | str) -> Kills:
    """Kill a job repeatedly."""
    folder = place / f"{job.replace(' ', '-')}-{when}"
    folder.mkdir()
    name = job.removesuffix(" again")
    kills = printed_by(program("tests.pipelines.store.killing", folder, name, when), LONGEST_S)
    assert isinstance(kills, list)
    return kills


def faults(kills: Kills) -> str:
    """List the faults, one per line."""
    return "\n".join(f"killed at {kill['where']}: {fault}" for kill in kills for fault in kill["faults"])


@pytest.mark.deep
def test_writer_killed_around_its_commit_leaves_nothing_or_all(place: Path) -> None:
    kills = kill(place, "second", "few")
    assert faults(kills) == ""
    places = [kill["where"] for kill in kills]
    assert any(place.startswith("os.link /.stage/commit-") for place in places)
    assert any(place.startswith("os.rename /.zscope.duckdb.") for place in places)
    assert len(kills) == 3
    assert all(kill["killed"] for kill in kills)


@pytest.mark.deep
@pytest.mark.parametrize("job", EVERY)
def test_writer_killed_at_any_operation_on_files_leaves_nothing_or_all(place: Path, job: str) -> None:
    kills = kill(place, job, "every")
    assert faults(kills) == ""
    places = [kill["where"] for kill in kills]
    assert any(place.startswith("os.link /.stage/commit-") for place in places)
    assert any(place.startswith("os.rename /.zscope.duckdb.") for place in places)
    if job == "first":
        created = ("os.mkdir  (1)", "os.mkdir /data (1)", "os.mkdir /commits (1)")
        assert set(places) >= {*created, "os.rename /.zscope-store.json.N.beside (1)"}
    # Sometimes one of several threads finds that another has created a folder already.
    assert sum(not kill["killed"] for kill in kills) <= MOST_UNMET


@pytest.mark.deep
def test_ingest_killed_at_a_hundred_random_instants_leaves_nothing_or_all(place: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        each = [pool.submit(kill, place, job, times) for job, times in AT_RANDOM]
        kills = [kill for future in each for kill in future.result()]
    assert len(kills) == 100
    assert faults(kills) == ""
    killed = [kill for kill in kills if kill["killed"]]
    assert sum(not kill["committed"] for kill in killed) >= 25
    assert sum(kill["committed"] for kill in killed) >= 25
