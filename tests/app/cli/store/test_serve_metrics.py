"""`zscope serve-metrics`: addresses, formats, health, loads under way, and a clean end."""

from __future__ import annotations

import gzip
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.exposition.official_parsers import Families, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.app.conftest import Run

PROGRAM = [sys.executable, "-c", "from zscope.app.cli.main import main; main()"]
SCRAPE = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


class Served:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/metrics", self.address)
        assert match is not None, self.address
        self.port = int(match[1])

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=300)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(connection):
            connection.request(method, path, headers=names)
            response = connection.getresponse()
            return response, response.read()

    def values(self) -> Families:
        """Return the page when it has values."""
        for _ in range(60):
            text = self.get("/metrics")[1].decode()
            if "zscope_export_values_present 1\n" in text:
                return parsed(text)
        raise AssertionError("the page never had values")

    def stop(self, number: int) -> tuple[int, str]:
        """Send a signal and return the exit code and the messages."""
        self.process.send_signal(number)
        _, messages = self.process.communicate(timeout=300)
        return self.process.returncode, messages


@contextmanager
def served(store: Path, *arguments: str) -> Iterator[Served]:
    with subprocess.Popen(
        [*PROGRAM, "serve-metrics", "--port", "0", "--store", store, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Served(process)
        finally:
            process.kill()


def test_prometheus_gets_both_formats_with_the_values_of_the_export(run: Run, zoned_store: Path) -> None:
    result = run("export", "cpu_interval", "--format", "prometheus", "-o", "-", "-q", "--store", zoned_store)
    with served(zoned_store, "cpu_interval") as server:
        values = server.values()
        old, text = server.get("/metrics")
        new, other = server.get("/metrics", Accept=SCRAPE, Accept_Encoding="gzip")
        head, nothing = server.get("/metrics", "HEAD")
        stopped = server.stop(signal.SIGTERM)
    exported = parsed(result.stdout)
    assert exported
    assert {name: values[name] for name in exported} == exported
    assert old.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert new.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert new.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(other) == text
    assert (head.status, nothing, head.headers["Content-Length"]) == (200, b"", str(len(text)))
    assert stopped == (0, "stopped\n")


def test_a_missing_store_is_a_metric_and_the_server_runs(tmp_path: Path) -> None:
    with served(tmp_path / "none") as server:
        page, text = server.get("/metrics")
        healthy, words = server.get("/-/healthy")
        ready, reason = server.get("/-/ready")
        index, pages = server.get("/")
        unknown, _ = server.get("/nothing")
        code, messages = server.stop(signal.SIGINT)
    assert (page.status, healthy.status, ready.status, index.status, unknown.status) == (
        200,
        200,
        503,
        200,
        404,
    )
    assert b"zscope_export_store_up 0\n" in text
    assert words == b"zscope runs\n"
    assert b"there is no store" in reason
    assert b"/metrics" in pages
    assert code == 0
    assert messages.startswith(f"{tmp_path / 'none'}: there is no store; ")


def test_a_page_for_another_name_is_refused(tmp_path: Path) -> None:
    """Otherwise a web page could read it through a name that leads to this machine."""
    with served(tmp_path / "none") as server:
        statuses = {
            host: server.get("/metrics", Host=host)[0].status
            for host in ("localhost:1", "127.0.0.1", "evil.example")
        }
    assert statuses == {"localhost:1": 200, "127.0.0.1": 200, "evil.example": 421}


def test_it_listens_on_the_loopback_only(tmp_path: Path) -> None:
    with served(tmp_path / "none") as server, socket.socket() as other:
        other.bind(("127.0.0.2", server.port))  # fails if the server has all addresses


def test_a_port_in_use_is_an_error(run: Run, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = run("serve-metrics", "--port", port, "--store", tmp_path)
    assert result.exit_code == 12
    assert f"cannot listen on 127.0.0.1 port {port}: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tls_prise"], "there is no metric 'tls_prise'; did you mean tls_price"),
        (["best_practice_check"], "best_practice_check has no numeric columns"),
        (["--host", "no.such.host.invalid"], "cannot listen on no.such.host.invalid port 9887: "),
    ],
)
def test_invalid_arguments_are_refused(arguments: list[str], message: str, run: Run, tmp_path: Path) -> None:
    result = run("serve-metrics", *arguments, "--store", tmp_path)
    assert result.exit_code == 12
    assert message in result.stderr


def test_it_stops_while_requests_come_in(tmp_path: Path) -> None:
    stopping = threading.Event()

    def request() -> None:
        while not stopping.is_set():
            with suppress(OSError, HTTPException):  # after the end there is no server
                server.get("/-/healthy")

    with served(tmp_path / "none") as server, ThreadPoolExecutor(4) as clients:
        for _ in range(4):
            clients.submit(request)
        code, messages = server.stop(signal.SIGTERM)
        stopping.set()
    assert code == 0
    assert messages.endswith("stopped\n")
    assert "Traceback" not in messages
