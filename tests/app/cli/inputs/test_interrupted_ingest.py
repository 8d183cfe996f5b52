"""Ctrl-C during an ingest: the message says what was committed."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (True, "interrupted; 1 file was loaded and committed, the last is {file}; the same command loads"),
        pytest.param(
            False, "interrupted; no file was loaded, the store is unchanged", marks=pytest.mark.deep
        ),
    ],
)
def test_an_interrupted_ingest_says_what_was_committed(
    dump: Path, tmp_path: Path, first: bool, message: str
) -> None:
    """The last input is a pipe into which one byte comes, and nothing after it."""
    files = [str(dump)] if first else []
    command = [sys.executable, "-m", "zscope", "ingest", *files, "-", "--store", str(tmp_path / "store")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stdin is not None
        if first:
            while ": loaded" not in (line := process.stderr.readline()):
                assert line, "the process has ended"
        else:
            process.stdin.write("x")
            process.stdin.flush()
            while waiting_bytes(process.stdin.fileno()):
                assert process.poll() is None, "the process has ended"
                time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        end = process.stderr.read()
        assert process.wait(timeout=60) == 12
    assert message.format(file=dump) in end
    assert "output files are unchanged" not in end


def waiting_bytes(pipe: int) -> int:
    """Return how many bytes of a pipe nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
