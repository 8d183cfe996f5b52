"""Nothing leaves the machine: the dashboard connects to no other address, whoever connects to it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from zscope.app.dashboard.server.start import stay_on_this_machine

if TYPE_CHECKING:
    from pathlib import Path

WATCH = """
import os, sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            note(f"{event} {address}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
        host = host.decode() if isinstance(host, bytes) else host
        if host not in (None, "", "127.0.0.1", "::1", "localhost", "0.0.0.0"):
            note(f"{event} {host}")

def note(text):
    with open(os.environ["WATCHED"], "a") as out:
        out.write(text + "\\n")

note("watching")
sys.addaudithook(watch)
"""
"""Python imports this at its start, before anything of zscope."""


def handshake(port: int, origin: str) -> str:
    """Begin a websocket as a browser does from a page of some origin; return the first line of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
        connection.sendall(
            (
                f"GET /_stcore/stream HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: {origin}\r\n"
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            ).encode()
        )
        return connection.recv(4096).decode("latin-1").partition("\r\n")[0]


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server does not answer")


@pytest.mark.deep
@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_foreign_origin_causes_no_connection(address: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    watched = tmp_path / "watched"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "WATCHED": str(watched)}
    command = [
        sys.executable, "-m", "zscope", "dashboard", "--store", str(tmp_path / "store"), "--port", str(port),
        "--address", address,
    ]  # fmt: skip
    server = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        assert handshake(port, f"http://localhost:{port}").endswith("101 Switching Protocols")
        assert " 403" in handshake(port, "http://foreign.example")
    finally:
        server.terminate()
        server.wait(20)
    lines = watched.read_text(encoding="utf-8").splitlines()
    assert set(lines) == {"watching"}


def test_foreign_origins_are_refused_without_a_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit import net_util
    from streamlit.web.server.server_util import is_url_from_allowed_origins

    asked: list[object] = []
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    monkeypatch.setattr(net_util, "get_internal_ip", net_util.get_internal_ip)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda *given, **_: asked.append(given))
    monkeypatch.setattr(socket.socket, "connect", lambda _, given: asked.append(given))
    stay_on_this_machine()
    assert not is_url_from_allowed_origins("http://foreign.example")
    assert is_url_from_allowed_origins("http://localhost:8501")
    assert not asked
