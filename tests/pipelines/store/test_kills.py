"""A writer that is killed at any instant leaves the store unchanged or with its whole change.

Seven jobs stop at each operation on files, by restoring the files before it. The program `killing.py` kills
forked processes with a signal: around the commit, and at random instants.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.pipelines.small_catalogue import use_small_catalogue
from tests.pipelines.store.forked import printed_by, program
from tests.pipelines.store.looking import view
from tests.pipelines.store.operations import different, files_at_operations, restore
from tests.pipelines.store.scene import Scene

Kills = list[dict[str, Any]]
JOBS = ("first", "second", "together", "grown", "remove", "compact", "expire")
AT_RANDOM = (("second", 32), ("first", 8))
LONGEST_S = 1200
"""On a very busy machine."""


def kill(place: Path, job: str, when: int | str) -> Kills:
    """Kill a job repeatedly."""
    folder = place / f"{job}-{when}"
    folder.mkdir()
    kills = printed_by(program("tests.pipelines.store.killing", folder, job, when), LONGEST_S)
    assert isinstance(kills, list)
    return kills


def faults(kills: Kills) -> str:
    """List the faults, one per line."""
    return "\n".join(f"killed at {kill['where']}: {fault}" for kill in kills for fault in kill["faults"])


@pytest.mark.deep
def test_writer_killed_around_its_commit_leaves_nothing_or_all(place: Path) -> None:
    """A killed job leaves the same files that a running job has before the same operation."""
    kills = kill(place, "second", "commit")
    assert faults(kills) == ""
    places = [kill["where"] for kill in kills]
    assert any(place.startswith("os.link /.stage/commit-") for place in places)
    assert any(place.startswith("os.rename /.zscope.duckdb.") for place in places)
    assert len(kills) == 3
    assert all(kill["killed"] for kill in kills)


@pytest.mark.deep
@pytest.mark.parametrize("job", JOBS)
def test_writer_killed_at_any_operation_on_files_leaves_nothing_or_all(
    place: Path, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files at each operation are restored, so the job runs once and not once for each operation."""
    use_small_catalogue(monkeypatch)
    scene = Scene(place, job)
    scene.prepare()
    scene.restart()
    before = view(scene.store)
    states = files_at_operations(scene.store, scene.run)
    after = view(scene.store)
    found = []
    for where, files in different(states):
        restore(scene.store, files)
        found += [f"killed at {where}: {fault}" for fault in scene.faults(before, after)]
    assert found == []
    places = [where for where, _ in states]
    assert any(place.startswith("os.link /.stage/commit-") for place in places)
    assert any(place.startswith("os.rename /.zscope.duckdb.") for place in places)
    assert any(place.startswith("os.link /data/") for place in places), "public files"
    assert any(place.startswith("os.rename /tables/..shown.json.") for place in places)
    if job == "first":
        created = ("os.mkdir ", "os.mkdir /data", "os.mkdir /commits")
        assert set(places) >= {*created, "os.rename /.zscope-store.json.N.beside"}


@pytest.mark.deep
def test_ingest_killed_at_random_instants_leaves_nothing_or_all(place: Path) -> None:
    kills = [each for job, times in AT_RANDOM for each in kill(place, job, times)]
    assert len(kills) == 40
    assert faults(kills) == ""
    killed = [kill for kill in kills if kill["killed"]]
    assert sum(not kill["committed"] for kill in killed) >= 10
    assert sum(kill["committed"] for kill in killed) >= 10
