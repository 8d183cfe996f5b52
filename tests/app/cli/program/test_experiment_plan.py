"""`zscope experiment plan`: a schedule that the client can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zscope.app.cli.exits import ExitCode
from zscope.pipelines.experiment.schedule import parse_schedule

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.conftest import Run


def test_a_day_has_96_quarter_hours_and_the_file_is_a_schedule(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "schedule.jsonl"
    done = run("experiment", "plan", "--from", "2026-12-02T00:00+01:00", "--seed", 7, "-o", file)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "96 quarter hours, 2026-12-01 23:00 to 2026-12-02 22:59 UTC; seed 7\n"
    slots = parse_schedule(file.read_text().splitlines())
    assert len(slots) == 96


def test_the_same_command_prints_the_same(run: Run) -> None:
    first, again, other = (
        run("experiment", "plan", "--from", f"2026-12-0{day}T00:00Z", "--format", "csv").stdout
        for day in (2, 2, 3)
    )
    assert first == again
    orders = [[line.split(",")[1] for line in text.splitlines()[1:]] for text in (first, other)]
    assert orders[0] != orders[1]


@pytest.mark.parametrize("time", ["tomorrow", "2026-12-02T00:00", "2026-12-02T00:07Z"])
def test_a_wrong_start_is_refused(run: Run, time: str) -> None:
    done = run("experiment", "plan", "--from", time)
    assert (done.exit_code, done.stdout) == (ExitCode.NOTHING, "")
    assert "--from: " in done.stderr


def test_a_dump_is_no_schedule_and_no_log(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "dump.bin"
    file.write_bytes("ZECHO".encode("cp037"))
    ports = ("--target", "localhost", "--plain-port", 4400, "--tls-port", 4443)
    client = run("experiment", "client", "--schedule", file, *ports)
    assert client.exit_code == ExitCode.REFUSED
    assert (
        f"{file}: not text in UTF-8 (byte 0); use the file that zscope experiment plan wrote" in client.stderr
    )
    added = run("experiment", "add", file, "--system", "SYSA", "--store", tmp_path / "store")
    assert added.exit_code == ExitCode.REFUSED
    assert "not text in UTF-8 (byte 0); use the log that zscope experiment client wrote" in added.stderr
