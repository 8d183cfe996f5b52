"""A day of the experiment: real TLS on this machine, simulated records around it, and the result."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.app.experiment.simulated_stack import (
    FULL_S,
    LISTENER,
    MB_S,
    RESUMED_S,
    SYSTEM,
    Connection,
    dump,
    real_connections,
)
from tests.app.experiment.test_experiment_connections import FastClock, Listening, listening, target

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.main import program
from zscope.app.experiment.load_client import Limits, LoadClient, Server
from zscope.pipelines.experiment.arms import Arm
from zscope.pipelines.experiment.client_log import LogLine, log_text
from zscope.pipelines.experiment.schedule import draw

if TYPE_CHECKING:
    import socket
    import ssl
    from pathlib import Path

    from tests.app.conftest import Run

DAY = datetime(2026, 3, 4, tzinfo=UTC)
QUARTERS = 96


@dataclass(frozen=True)
class WatchedServer(Server):
    """A server that notes when each connection was opened, by its two ports; ports are used again."""

    clock: FastClock = field(default_factory=FastClock)
    opened: dict[tuple[int, int], list[datetime]] = field(default_factory=dict)

    def open(self, session: ssl.SSLSession | None = None, *, tls: bool) -> socket.socket:
        """Open a connection."""
        connection = super().open(session, tls=tls)
        ports = (connection.getpeername()[1], connection.getsockname()[1])
        self.opened.setdefault(ports, []).append(self.clock.at)
        return connection


@dataclass(frozen=True)
class Experiment:
    """What the client logged, and what the stack saw."""

    lines: list[LogLine]
    connections: list[Connection]


def run_day(listener: Listening) -> Experiment:
    """Follow the schedule of a day, with a clock that does not wait."""
    clock = FastClock(DAY)
    plain = target(listener)
    server = WatchedServer(
        plain.name, plain.tls_port, plain.plain_port, plain.context, plain.server_name, clock=clock
    )
    lines: list[LogLine] = []
    LoadClient(server, Limits(0.02, 0.002), clock, lines.append).follow(draw(DAY, QUARTERS, 5))
    until = time.monotonic() + 300
    while len(listener.served) < sum(line.connections for line in lines) and time.monotonic() < until:
        time.sleep(0.01)
    bulk_ends = {line.start_utc: line.end_utc for line in lines if line.arm.is_bulk}
    connections = []
    for served in listener.served:
        start = server.opened[served.port, served.remote_port].pop(0)
        quarter = max((begin for begin in bulk_ends if begin <= start), default=None)
        is_bulk = quarter is not None and start < bulk_ends[quarter]
        end = bulk_ends[quarter] if quarter is not None and is_bulk else start + timedelta(seconds=1)
        mb = (served.received_bytes + served.sent_bytes) / 1e6
        connections.append(
            Connection(
                start, end, served.port, served.remote_port, LISTENER, served.is_tls, served.is_resumed, mb
            )
        )
    return Experiment(lines, connections)


@pytest.fixture(scope="module")
def experiment() -> Iterator[Experiment]:
    """A day of test connections."""
    with listening() as listener:
        yield run_day(listener)


@pytest.fixture(scope="module")
def files(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dump of the day and the log of the client."""
    folder = tmp_path_factory.mktemp("experiment")
    rng = np.random.default_rng(3)
    connections = [*experiment.connections, *real_connections(DAY, QUARTERS, rng)]
    (folder / "day.smf").write_bytes(dump(connections, DAY, QUARTERS, rng))
    (folder / "log.jsonl").write_text("".join(f"{log_text(line)}\n" for line in experiment.lines))
    return folder


def start(*arguments: object) -> Result:
    """Start the program as a user does."""
    return CliRunner().invoke(program, [str(each) for each in arguments], prog_name="zscope")


@pytest.fixture(scope="module")
def store(files: Path) -> Path:
    """A store with the day and the log."""
    store = files / "store"
    loaded = start("ingest", files / "day.smf", "--store", store, "--timezone", "+00:00")
    assert loaded.exit_code == 0, loaded.stderr
    added = start("experiment", "add", files / "log.jsonl", "--system", SYSTEM, "--store", store)
    assert (added.exit_code, added.stderr.splitlines()[-1]) == (0, "96 quarter hours added, 0 already there")
    return store


def rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of JSON output."""
    parsed = json.loads(text)
    assert isinstance(parsed, list)
    return parsed


def test_the_log_of_the_client_agrees_with_the_records_and_the_result_with_the_truth(
    run: Run, store: Path, experiment: Experiment
) -> None:
    statement = """
        SELECT arm, sum(client_connections)::BIGINT AS connections, sum(client_full)::BIGINT AS client_full,
            sum(client_resumed)::BIGINT AS client_resumed, round(sum(test_plain))::BIGINT AS plain,
            round(sum(test_full))::BIGINT AS full, round(sum(test_resumed))::BIGINT AS resumed,
            sum(test_tls_mb + test_plain_mb) AS mb
        FROM experiment_interval GROUP BY arm
    """
    by_arm = {row["arm"]: row for row in rows(run("sql", statement, "--store", store, "--json").stdout)}
    assert set(by_arm) == set(map(str, Arm))
    for arm in Arm:
        logged = [line for line in experiment.lines if line.arm is arm]
        row = by_arm[arm]
        assert row["full"] == row["client_full"] == sum(line.full for line in logged)
        assert row["resumed"] == row["client_resumed"] == sum(line.resumed for line in logged)
        plain = row["connections"] - row["full"] - row["resumed"]
        assert row["plain"] == plain
        assert row["mb"] == pytest.approx(sum(line.bytes for line in logged) / 1e6, rel=0.01, abs=0.001)

    done = run("experiment", "result", "--store", store, "--json")
    assert done.exit_code == 0, done.stderr
    results = {row["item"]: row for row in rows(done.stdout)}
    for item, truth in (("full handshake", FULL_S), ("resumed handshake", RESUMED_S), ("megabyte", MB_S)):
        row = results[item]
        assert row["low"] <= 1e6 * truth <= row["high"], row
        assert row["status"] == "estimate"
        assert row["in_stack"] == pytest.approx(1e6 * truth, rel=0.3)
        assert abs(row["in_listener"]) < 0.1 * 1e6 * truth
    assert results["full handshake"]["kind"].startswith("TLSv1.3, TLS_AES_256_GCM_SHA384")
    assert results["TLS"]["status"] == "estimate"
    assert results["TLS"]["tested_pct"] == 100
    assert "application work is not in it" in done.stderr


def test_the_log_is_added_once_and_is_no_benchmark_run(run: Run, store: Path, files: Path) -> None:
    again = run("experiment", "add", files / "log.jsonl", "--system", SYSTEM, "--store", store)
    assert again.stderr.splitlines()[-1] == "0 quarter hours added, 96 already there"
    listed = rows(run("runs", "--store", store, "--json").stdout)
    assert len(listed) == QUARTERS
    assert {(row["role"], row["status"]) for row in listed} == {("tls-test", "test connections")}


def test_without_a_log_there_is_no_result(run: Run, dump: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run("ingest", dump, "--store", store)
    done = run("experiment", "result", "--store", store)
    assert (done.exit_code, done.stdout) == (ExitCode.NOTHING, "")
    assert "add the log with zscope experiment add" in done.stderr


def test_a_wrong_log_adds_nothing(run: Run, store: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("{}\n")
    done = run("experiment", "add", log, "--system", SYSTEM, "--store", store)
    assert done.exit_code == ExitCode.REFUSED
    assert "line 1: Object missing required field" in done.stderr
