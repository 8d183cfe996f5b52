"""The end of a process: everything is written and deleted, although Python does not free its memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# The program is replaced by some code; `start` is that of the console script.
PROBE = """
import atexit, sys, threading, time
from zscope.app.cli import main

def program(prog_name):
    {code}

main.program.main = program
main.start()
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    probe = PROBE.format(code=code.replace("\n", "\n    "))
    return subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", [0, 4, 8, 12])
def test_exit_code_and_output_arrive(code: int) -> None:
    done = run(f"print('x' * 100_000); print('y', file=sys.stderr); sys.exit({code})")
    assert (done.returncode, len(done.stdout), done.stderr) == (code, 100_001, "y\n")


def test_a_message_instead_of_a_code_is_printed() -> None:
    """No command ends like this, but what it calls could."""
    done = run("sys.exit('no more')")
    assert (done.returncode, done.stderr) == (1, "no more\n")


def test_the_memory_is_not_freed() -> None:
    """Otherwise all the other tests would prove nothing."""
    code = "class Noisy:\n    def __del__(self): print('freed')\nmain.noisy = Noisy()\nsys.exit(0)"
    assert run(code).stdout == ""
    assert run(f"sys.setprofile(lambda *_: None)\n{code}").stdout == "freed\n"


def test_what_is_registered_for_the_end_runs() -> None:
    done = run("atexit.register(print, 'registered')\nsys.exit(4)")
    assert (done.returncode, done.stdout) == (4, "registered\n")


def test_other_threads_finish_their_work() -> None:
    code = "threading.Thread(target=lambda: (time.sleep(0.2), print('finished'))).start()\nsys.exit(8)"
    done = run(code)
    assert (done.returncode, done.stdout) == (8, "finished\n")


def test_output_that_cannot_be_written_is_an_error() -> None:
    probe = PROBE.format(code="print('late'); sys.exit(0)")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", probe], stdout=full, stderr=subprocess.PIPE, env=environment, check=False
        )
    assert done.returncode == 120, "the code with which Python ends if it cannot write"
    assert b"No space left on device" in done.stderr
