"""A sample of the crash matrix, which `make crash-matrix` examines whole, and how calls are observed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.crash.file_calls import COMPILER, build, preloaded
from tests.pipelines.store.forked import CHECKOUT, printed_by, program

LONGEST_S = 1200
"""On a very busy machine."""
SAMPLE = (
    "ingest",
    "store compact@tables/",
    "store repair@/00000003-",
    "publish iceberg, first@version-hint.text",
    "watch@loaded/a.smf",
)
"""Where the matrix found holes: public files, loads that a repair removed, published tables, moved files."""
STATES = 4
OBSERVED = """
import json, os, sys
from pathlib import Path
from tests.crash.disk import RecordedDisk
from tests.crash.file_calls import NotDone, read_record, recorded, without

folder, record = Path(sys.argv[1]), Path(sys.argv[2])
disk = RecordedDisk.read(folder)

def replace(*, synced: bool) -> None:
    with (folder / "new").open("wb") as file:
        file.write(b"new")
        file.flush()
        if synced:
            os.fsync(file.fileno())
    (folder / "new").replace(folder / "name")

def contents_after_power_failures(*, synced: bool) -> None:
    recorded(folder, record, lambda: replace(synced=synced))
    disk.record(read_record(record, folder))
    disk.require_same()
    found = {"calls": [step.title for step in disk.steps], "contents": set()}
    for _, content in disk.power_failed():
        disk.write(content)
        found["contents"].add((folder / "name").read_text())
    print(json.dumps(found | {"contents": sorted(found["contents"])}))
"""
pytestmark = pytest.mark.skipif(
    COMPILER is None, reason="calls are observed by a library, which needs cc and Linux"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file."""
    place = tmp_path / "folder"
    place.mkdir()
    (place / "name").write_text("old")
    return place


def run(folder: Path, statements: str) -> subprocess.CompletedProcess[str]:
    """Run statements in a process whose calls in the folder are observed."""
    return subprocess.run(
        [sys.executable, "-c", OBSERVED + statements, folder, folder.with_name("record")],
        cwd=CHECKOUT, env=os.environ | preloaded(build(folder.parent)), text=True, capture_output=True,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize(("synced", "contents"), [(True, ["new", "old"]), (False, ["", "new", "old"])])
def test_content_that_was_not_synced_can_be_lost_under_its_new_name(
    folder: Path, contents: list[str], *, synced: bool
) -> None:
    ended = run(folder, f"contents_after_power_failures(synced={synced})")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["calls"] == ["create new", "write new", *(["sync new"] if synced else []), "rename name"]
    assert found["contents"] == contents


@pytest.mark.parametrize(
    ("at", "names"), [(1, ["name"]), (2, ["name", "new"]), (3, ["name", "new"]), (4, ["name"])]
)
def test_a_process_can_be_killed_before_a_call(folder: Path, at: int, names: list[str]) -> None:
    ended = run(folder, f"without(folder, NotDone({at}), lambda: replace(synced=False))")
    assert ended.returncode == (-signal.SIGKILL if at < 4 else 0), ended.stderr
    assert sorted(path.name for path in folder.iterdir()) == names
    assert (folder / "name").read_text() == ("old" if at < 4 else "new")


def test_a_call_can_fail(folder: Path) -> None:
    ended = run(folder, "without(folder, NotDone(3, 28), lambda: replace(synced=True))")
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert (folder / "name").read_text() == "old"


@pytest.mark.deep
def test_commands_leave_no_holes_where_they_are_stopped() -> None:
    command = program("tests.crash.matrix", *SAMPLE, "--states", STATES, "--not-done", 1, "--json")
    rows: list[dict[str, Any]] = printed_by(command, LONGEST_S)
    assert [row["command"] for row in rows] == [name.partition("@")[0] for name in SAMPLE]
    assert "\n".join(hole for row in rows for hole in row["holes"]) == ""
    for row in rows:
        assert row["calls"] > row["kills"] > 15
        assert row["power_failures"] > row["kills"]
        assert 0 < row["examined"] <= STATES
        assert row["not_done"] == 3
