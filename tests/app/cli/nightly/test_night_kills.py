"""A night that is killed at any instant is finished by the next one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.app.cli.nightly.nights import LOAD, MOVE, OTHER, SMALL, NightFolder, codes, step
from tests.pipelines.store.forked import printed_by, program

KILLS = 8
LONGEST_S = 1200
"""On a very busy machine."""


@pytest.mark.deep
def test_the_night_after_a_kill_equals_one_that_was_not_disturbed(place: Path) -> None:
    """Store, moved files, exports, report and exit code, after kills spread over the operations on files."""
    result = printed_by(program("tests.app.cli.nightly.killing_nights", place, KILLS), LONGEST_S)
    whole: dict[str, Any] = result["whole"]
    assert whole["code"] == 8
    assert whole["left"] == []
    assert whole["report"]["exit codes"] == {
        "load": 8,
        "files": 0,
        "validate": 0,
        "expire": 0,
        "check": 0,
        "publish": 0,
        "report": 0,
        "export": 0,
    }
    assert whole["report"]["load"]["loaded"] == 3
    assert sorted(whole["files"]["new"]) == ["notes.txt", "refused.smf"]
    assert len(whole["files"]["loaded"]) == 4
    assert len(whole["tables"]["smf119_zert_detail"]) > 0
    assert len(whole["series"]) > 5
    assert [row.partition(",")[0] for row in whole["page"]["loads"]] == ["4", "3", "2", "1"]
    kills = result["kills"]
    faults = [f"killed before {kill['where']}: {fault}" for kill in kills for fault in kill["faults"]]
    assert "\n".join(faults) == ""
    assert sum(kill["killed"] for kill in kills) >= KILLS - 2
    places = " ".join(kill["where"] for kill in kills)
    assert all(name in places for name in ("/store/", "/new/", "csv", "dated", "/store/nightly"))


def start(night: NightFolder) -> subprocess.Popen[bytes]:
    settings = str(night.path / "nightly.toml")
    command = [sys.executable, "-m", "zscope", "nightly", "--settings", settings, "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0)


@pytest.mark.deep
def test_processes_that_are_killed_while_they_validate(night: NightFolder) -> None:
    """Validation results are in the store once for each load, whenever the process ended."""
    night.settings(LOAD + MOVE + "[validate]\n")
    night.add("a.smf", SMALL)
    night.add("b.smf", OTHER)
    begun = time.monotonic()
    process = start(night)
    note = night.store / "nightly" / "unfinished.json"
    while not note.exists():
        assert time.monotonic() - begun < LONGEST_S
        time.sleep(0.02)
    for wait_s in (0.5, random.Random(1).uniform(1, 5)):
        time.sleep(wait_s)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert note.exists()
        process = start(night)
    errors = process.communicate()[1].decode()
    assert "was interrupted; continuing it" in errors
    report = json.loads((night.store / "nightly" / "last.json").read_bytes())
    assert report["exit_code"] == process.returncode
    assert report["continues_run_of_utc"]
    assert not note.exists()
    assert step(report, "load")["counts"]["loaded"] == 2
    assert codes(report)["validate"] in {0, 4}
    assert night.names("loaded") == ["a.smf", "b.smf"]
    assert step(report, "validate")["counts"]["expectations"] > 0
    again = night.night()
    assert step(again, "validate")["text"] == "there are no new rows to validate"
