"""A writer that is killed, at any instant, leaves the store as before its change or with all of it.

The killing is done by a program of its own (`killing.py`), which forks warm children. Here two of them run at
a time, and what they found is judged.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.pipelines.store.forked import printed_by, program

Kills = list[dict[str, Any]]
Wanted = tuple[str, int]
"""A job, and how many kills at random instants; 0: one at each operation on files."""

AT_RANDOM: tuple[Wanted, ...] = (("second", 45), ("second again", 45), ("first", 10))
EVERYWHERE = ("first", "second", "grown", "remove", "compact", "expire")
LONGEST_S = 1200
"""On the busiest machine."""
MOST_UNMET = 3
"""Operations that a job did once and did not do when it was to be killed there."""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder in memory, where there is one: thousands of small files come and go."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="zscope-kills-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def kills(place: Path) -> Iterator[Callable[[str, int], Kills]]:
    """All kills of a job; two jobs run at a time."""

    def killed(wanted: Wanted) -> Kills:
        job, times = wanted
        folder = place / f"{job.replace(' ', '-')}-{times}"
        folder.mkdir()
        numbers = (times,) if times else ()
        found = printed_by(
            program("tests.pipelines.store.killing", folder, job.split()[0], *numbers), LONGEST_S
        )
        assert isinstance(found, list)
        return found

    with ThreadPoolExecutor(2) as pool:
        all_of_them = (*AT_RANDOM, *((job, 0) for job in EVERYWHERE))
        futures: dict[Wanted, Future[Kills]] = {wanted: pool.submit(killed, wanted) for wanted in all_of_them}
        yield lambda job, times: futures[job, times].result()
        pool.shutdown(cancel_futures=True)


def faults(kills: Kills) -> str:
    """What is wrong, in lines that one can read."""
    return "\n".join(f"killed at {kill['where']}: {fault}" for kill in kills for fault in kill["faults"])


def test_an_ingest_killed_at_a_hundred_random_instants_leaves_nothing_or_all(
    kills: Callable[[str, int], Kills],
) -> None:
    found = [kill for wanted in AT_RANDOM for kill in kills(*wanted)]
    assert len(found) == 100
    assert faults(found) == ""
    killed = [kill for kill in found if kill["killed"]]
    before = [kill for kill in killed if not kill["committed"]]
    behind = [kill for kill in killed if kill["committed"]]
    assert len(before) >= 25
    assert len(behind) >= 25


@pytest.mark.parametrize("job", EVERYWHERE)
def test_a_writer_killed_at_any_operation_on_files_leaves_nothing_or_all(
    kills: Callable[[str, int], Kills], job: str
) -> None:
    found = kills(job, 0)
    assert faults(found) == ""
    places = [kill["where"] for kill in found]
    assert any(place.startswith("os.link /.stage/commit-") for place in places)
    assert any(place.startswith("os.rename /.zscope.duckdb.") for place in places)
    if job == "first":
        made = ("os.mkdir  (1)", "os.mkdir /data (1)", "os.mkdir /commits (1)")
        assert set(places) >= {*made, "os.rename /.zscope-store.json.N.beside (1)"}
    # Now and then one of several threads finds that another has made a folder already.
    assert sum(not kill["killed"] for kill in found) <= MOST_UNMET
