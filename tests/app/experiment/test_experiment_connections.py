"""Client and listener of the experiment, with a real TLS stack on this machine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from ssl import TLSVersion
from typing import TYPE_CHECKING

import pytest

from zscope.app.cli.exits import ExitCode
from zscope.app.experiment import echo_listener
from zscope.app.experiment.echo_listener import EchoListener, ListenerOptions, Served, tls_context
from zscope.app.experiment.load_client import (
    FAILURES_IN_A_ROW,
    MESSAGE,
    Limits,
    LoadClient,
    Server,
    client_context,
)
from zscope.pipelines.experiment.arms import Arm
from zscope.pipelines.experiment.client_log import LogError, LogLine, log_text, parse_log
from zscope.pipelines.experiment.schedule import Slot

if TYPE_CHECKING:
    from tests.app.conftest import Run

PEM = str(Path(__file__).with_name("listener.pem"))
"""Key and certificate of localhost, for tests only."""
START = datetime(2026, 12, 2, tzinfo=UTC)


@dataclass
class FastClock:
    """A clock that jumps to the end of each wait; work takes a millisecond."""

    at: datetime = START
    is_stopped: bool = False
    stop_at: datetime | None = None
    waits: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.at += timedelta(seconds=seconds)
        self.is_stopped = self.stop_at is not None and self.at >= self.stop_at


@dataclass
class Listening:
    """A listener on this machine, and what it served."""

    plain_port: int
    tls_port: int
    served: list[Served]


@contextmanager
def listening() -> Iterator[Listening]:
    """Run a listener in a thread."""
    served: list[Served] = []
    started: list[int] = []
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        listener = EchoListener(ListenerOptions("127.0.0.1", 0, 0, tls_context(PEM, PEM)), served.append)
        started.extend(await listener.start())
        ready.set()
        while not over.is_set():
            await asyncio.sleep(0.01)
        await listener.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(10)
    try:
        yield Listening(started[0], started[1], served)
    finally:
        over.set()
        thread.join()


@pytest.fixture
def listener() -> Iterator[Listening]:
    """A listener with and without TLS."""
    with listening() as running:
        yield running


def target(listener: Listening, version: TLSVersion = TLSVersion.TLSv1_3) -> Server:
    """Return the listener as the target of a client."""
    context = client_context(PEM, version, None, None)
    return Server("127.0.0.1", listener.tls_port, listener.plain_port, context, "localhost")


def slots(*arms: Arm, seconds: float = 10) -> list[Slot]:
    """Return a schedule of short intervals."""
    apart = timedelta(seconds=seconds)
    return [Slot(arm, START + apart * at, START + apart * at + apart * 0.9) for at, arm in enumerate(arms)]


def follow(client_target: Server, schedule: list[Slot], clock: FastClock, **limits: float) -> list[LogLine]:
    """Return the log of a client."""
    lines: list[LogLine] = []
    LoadClient(client_target, Limits(**limits), clock, lines.append).follow(schedule)
    return lines


@pytest.mark.parametrize("version", [TLSVersion.TLSv1_2, TLSVersion.TLSv1_3])
def test_the_client_does_what_the_arms_say_and_the_listener_saw_the_same(
    listener: Listening, version: TLSVersion
) -> None:
    lines = follow(target(listener, version), slots(*Arm), FastClock(), connections_per_s=2, mb_per_s=0.1)
    log = {line.arm: line for line in lines}
    assert list(log) == list(Arm)
    # Nine seconds at two a second; the first of the resumed arm has no session yet.
    assert [log[arm].connections for arm in (Arm.PLAIN, Arm.FULL, Arm.RESUMED)] == [18, 18, 18]
    assert (log[Arm.PLAIN].full, log[Arm.PLAIN].resumed) == (0, 0)
    assert (log[Arm.FULL].full, log[Arm.FULL].resumed) == (18, 0)
    assert (log[Arm.RESUMED].full, log[Arm.RESUMED].resumed) == (1, 17)
    assert log[Arm.FULL].bytes == 18 * 2 * len(MESSAGE)
    for arm, full in ((Arm.TLS_BYTES, 1), (Arm.PLAIN_BYTES, 0)):
        assert (log[arm].connections, log[arm].full) == (1, full)
        assert log[arm].bytes == pytest.approx(0.9e6, rel=0.1)
    assert log[Arm.NOTHING].connections == log[Arm.NOTHING].bytes == 0
    assert {line.failed for line in lines} == {0}
    assert {line.ended_early for line in lines} == {None}
    assert (
        log[Arm.FULL].tls_version == {TLSVersion.TLSv1_2: "TLSv1.2", TLSVersion.TLSv1_3: "TLSv1.3"}[version]
    )
    until = time.monotonic() + 300
    while len(listener.served) < sum(line.connections for line in lines) and time.monotonic() < until:
        time.sleep(0.01)
    seen = listener.served
    assert len(seen) == sum(line.connections for line in lines)
    assert sum(each.is_tls and not each.is_resumed for each in seen) == sum(line.full for line in lines)
    assert sum(each.is_resumed for each in seen) == sum(line.resumed for line in lines)
    assert sum(each.received_bytes + each.sent_bytes for each in seen) == sum(line.bytes for line in lines)
    assert {each.tls_version for each in seen if each.is_tls} == {log[Arm.FULL].tls_version}


def test_connections_are_never_faster_than_the_rate_nor_made_up_for(listener: Listening) -> None:
    clock = FastClock()
    [line] = follow(target(listener), slots(Arm.PLAIN), clock, connections_per_s=10)
    assert line.connections <= 90
    assert max(clock.waits) <= 0.1
    late = FastClock(START + timedelta(seconds=8))
    [line] = follow(target(listener), slots(Arm.PLAIN), late, connections_per_s=10)
    assert line.connections <= 10
    assert line.start_utc >= START + timedelta(seconds=8)


def test_no_connection_after_the_end_of_the_schedule(listener: Listening) -> None:
    assert follow(target(listener), slots(Arm.FULL), FastClock(START + timedelta(hours=1))) == []
    assert listener.served == []


def test_a_signal_ends_the_arm_and_the_rest_of_the_schedule(listener: Listening) -> None:
    clock = FastClock(stop_at=START + timedelta(seconds=15))
    lines = follow(target(listener), slots(Arm.PLAIN, Arm.FULL, Arm.PLAIN), clock, connections_per_s=1)
    assert [line.arm for line in lines] == [Arm.PLAIN, Arm.FULL]
    assert [line.ended_early for line in lines] == [None, "a signal of the user"]
    assert lines[1].connections < 9


def test_without_a_listener_the_client_gives_up_for_the_arm(listener: Listening) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = replace(target(listener), tls_port=unused.getsockname()[1])
        lines = follow(nowhere, slots(Arm.FULL, Arm.TLS_BYTES, Arm.PLAIN, seconds=60), FastClock())
    assert [(line.failed, line.connections) for line in lines[:2]] == [(FAILURES_IN_A_ROW, 0)] * 2
    assert all("10 failures in a row: " in (line.ended_early or "") for line in lines[:2])
    assert lines[2].connections > 0


def test_a_certificate_that_cannot_be_verified_is_refused(listener: Listening) -> None:
    stranger = replace(target(listener), context=client_context(None, TLSVersion.TLSv1_3, None, None))
    [line] = follow(stranger, slots(Arm.FULL), FastClock())
    assert (line.connections, line.failed) == (0, FAILURES_IN_A_ROW)
    assert "certificate verify failed" in (line.ended_early or "")
    other = replace(target(listener), server_name="production.example.com")
    [line] = follow(other, slots(Arm.FULL), FastClock())
    assert "Hostname mismatch" in (line.ended_early or "")


def test_above_the_limit_the_listener_closes_connections(
    listener: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(echo_listener, "MOST_CONNECTIONS", 1)
    address = ("127.0.0.1", listener.plain_port)
    with socket.create_connection(address, 5) as first, socket.create_connection(address, 5) as second:
        first.sendall(b"a")
        assert first.recv(1) == b"a"
        assert second.recv(1) == b""


def test_an_idle_connection_is_closed(listener: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echo_listener, "IDLE_S", 0.05)
    with socket.create_connection(("127.0.0.1", listener.plain_port), 5) as idle:
        assert idle.recv(1) == b""


def test_the_log_is_read_as_it_was_written(listener: Listening) -> None:
    lines = follow(target(listener), slots(Arm.FULL, Arm.NOTHING), FastClock(), connections_per_s=1)
    assert parse_log(log_text(line) for line in lines) == lines


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"full": -1}, "line 1: Expected `int` >= 0"),
        ({"arm": "all"}, "line 1: Invalid enum value 'all'"),
        ({"start_utc": "2026-12-02T00:00:00"}, "line 1: start_utc and end_utc need an offset"),
        ({"end_utc": "2026-12-01T00:00:00Z"}, "line 1: end_utc is not after start_utc"),
    ],
)
def test_a_wrong_log_is_refused_with_its_line(change: dict[str, object], problem: str) -> None:
    line = {
        "start_utc": "2026-12-02T00:00:00Z", "end_utc": "2026-12-02T00:14:00Z", "arm": "full",
        "connections": 1, "full": 1, "resumed": 0, "failed": 0, "bytes": 128, "target": "a",
        "tls_port": 1, "plain_port": 2,
    }  # fmt: skip
    assert len(parse_log([json.dumps(line)])) == 1
    with pytest.raises(LogError, match=problem):
        parse_log([json.dumps(line | change)])
    with pytest.raises(LogError, match="the log is empty"):
        parse_log([""])


def schedule_file(path: Path, start: datetime, *arms: Arm, seconds: float) -> Path:
    """Write a schedule that begins at a time of this machine."""
    lines = [
        {
            "arm": arm,
            "start_utc": (start + timedelta(seconds=seconds * at)).isoformat(),
            "end_utc": (start + timedelta(seconds=seconds * (at + 1))).isoformat(),
        }
        for at, arm in enumerate(arms)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def options(listener: Listening, schedule: Path) -> list[object]:
    """Return the options of a client that connects to the listener."""
    return [
        "experiment", "client", "--schedule", schedule, "--target", "127.0.0.1", "--server-name", "localhost",
        "--plain-port", listener.plain_port, "--tls-port", listener.tls_port, "--ca", PEM,
    ]  # fmt: skip


def test_the_command_appends_to_its_log_and_says_what_it_did(
    run: Run, listener: Listening, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("")
    # The client starts before the first interval, also on a busy machine.
    start = datetime.now(UTC) + timedelta(seconds=2)
    schedule = schedule_file(tmp_path / "s.jsonl", start, Arm.FULL, Arm.RESUMED, seconds=1)
    done = run(*options(listener, schedule), "--rate", 20, "-o", log)
    assert (done.exit_code, done.stdout) == (0, "")
    lines = parse_log(log.read_text().splitlines())
    assert [line.arm for line in lines] == [Arm.FULL, Arm.RESUMED]
    assert f"2 of 2 quarter hours: {sum(line.connections for line in lines)} connections" in done.stderr


def test_a_schedule_that_is_over_does_nothing(run: Run, listener: Listening, tmp_path: Path) -> None:
    schedule = schedule_file(tmp_path / "s.jsonl", START - timedelta(days=400), Arm.FULL, seconds=1)
    done = run(*options(listener, schedule))
    assert done.exit_code == ExitCode.NOTHING
    assert "the schedule is over since 2025-10-28 00:00:01 UTC" in done.stderr
    assert listener.served == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--rate", "51"], "0.01<=x<=50.0"),
        (["--mb", "11"], "0.01<=x<=10.0"),
        (["--key", PEM], "--certificate and --key belong together"),
        (["--ciphers", "none at all", "--tls-version", "TLSv1.2"], "the TLS settings cannot be used"),
        (["--plain-port", "7", "--tls-port", "7"], "--plain-port and --tls-port are the same"),
        (["--target", "no.such.host.invalid"], "has no address"),
    ],
)
def test_wrong_options_do_nothing(
    run: Run, listener: Listening, tmp_path: Path, words: list[str], problem: str
) -> None:
    schedule = schedule_file(tmp_path / "s.jsonl", datetime.now(UTC), Arm.FULL, seconds=60)
    done = run(*options(listener, schedule), *words)
    assert done.exit_code == ExitCode.NOTHING
    assert problem in done.stderr
    assert listener.served == []


def test_there_is_no_default_target(run: Run, tmp_path: Path) -> None:
    schedule = schedule_file(tmp_path / "s.jsonl", datetime.now(UTC), Arm.FULL, seconds=60)
    done = run("experiment", "client", "--schedule", schedule, "--plain-port", 1, "--tls-port", 2)
    assert done.exit_code == ExitCode.NOTHING
    assert "Missing option '--target'" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_both_programs_end_cleanly_after_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(str(free.getsockname()[1]))
    zscope = [sys.executable, "-m", "zscope", "experiment"]
    both = ["--plain-port", ports[0], "--tls-port", ports[1]]
    listen = subprocess.Popen(
        [*zscope, "listen", *both, "--certificate", PEM, "--key", PEM], stderr=subprocess.PIPE, text=True
    )
    assert listen.stderr is not None
    assert f"port {ports[1]} with TLS by Python" in listen.stderr.readline()
    log = tmp_path / "log.jsonl"
    schedule = schedule_file(tmp_path / "s.jsonl", datetime.now(UTC), Arm.FULL, Arm.FULL, seconds=300)
    words = ["--schedule", str(schedule), "--target", "127.0.0.1", "--server-name", "localhost", "--ca", PEM]
    client = subprocess.Popen(
        [*zscope, "client", *words, *both, "-o", str(log)], stderr=subprocess.PIPE, text=True
    )
    assert client.stderr is not None
    assert "target 127.0.0.1" in client.stderr.readline()
    time.sleep(2)
    os.kill(client.pid, number)
    assert "ended early: a signal of the user" in client.communicate(timeout=300)[1]
    assert client.returncode == ExitCode.WARNINGS
    [line] = parse_log(log.read_text().splitlines())
    assert line.full == line.connections > 0
    os.kill(listen.pid, number)
    assert f"{line.full} full and 0 resumed handshakes" in listen.communicate(timeout=300)[1]
    assert listen.returncode == ExitCode.OK


def test_the_listener_needs_nothing_but_python() -> None:
    """So that the one file runs on a system where zscope cannot be installed."""
    program = Path(echo_listener.__file__).read_text()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, "--help"], capture_output=True, text=True, check=True
    )
    assert "--plain-port" in done.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--at-tls", "--tls-port", "4400"], "--plain-port and --tls-port are the same"),
        ([], "use --certificate and --key, or --at-tls"),
        (["--at-tls", "--certificate", PEM, "--key", PEM], "use --certificate and --key, or --at-tls"),
        (["--certificate", PEM], "--certificate and --key belong together"),
        (["--certificate", __file__, "--key", __file__], "cannot be used"),
        (["--at-tls", "--address", "192.0.2.1"], "192.0.2.1"),
    ],
)
def test_a_listener_with_wrong_options_does_not_start(run: Run, words: list[str], problem: str) -> None:
    done = run("experiment", "listen", "--plain-port", 4400, "--tls-port", 4443, *words)
    assert (done.exit_code, done.stdout) == (ExitCode.NOTHING, "")
    assert problem in done.stderr
