"""A night that is killed while it validates, in a process of its own, is finished by the next one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from tests.app.cli.nightly.nights import LOAD, MOVE, OTHER, SMALL, NightFolder, codes, step

LONGEST_S = 1200
"""On a very busy machine."""


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
