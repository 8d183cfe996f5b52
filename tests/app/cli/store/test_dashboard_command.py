"""`zscope dashboard`: the process that it starts, and errors before that."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zscope.app.shared.dashboard_server import MEMORY, SIGN_IN, STORE, THREADS, streamlit_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.app.conftest import Run

Call = tuple[str, list[str], dict[str, str]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What takes the place of the command."""
    calls: list[Call] = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call))
    return calls


@pytest.fixture
def port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def taken() -> Iterator[int]:
    """One that somebody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


def test_streamlit_starts_on_the_loopback_address(run: Run, started: list[Call], port: int) -> None:
    result = run("dashboard", "--store", "here", "--port", port, "--memory", "1GB", "--threads", 1)
    assert result.stdout == f"http://localhost:{port}/\n"
    assert "there is no store yet" in result.stderr
    [(interpreter, arguments, variables)] = started
    assert interpreter == sys.executable
    assert arguments[1:4] == ["-m", "zscope.app.dashboard.server.start", "run"]
    assert Path(arguments[4]).is_file()
    assert "--server.address=127.0.0.1" in arguments
    assert "--browser.gatherUsageStats=false" in arguments
    assert "--server.allowedHosts=localhost" in arguments
    settings = {name: variables[name] for name in (STORE, MEMORY, THREADS, SIGN_IN)}
    assert settings == {STORE: "here", MEMORY: "1GB", THREADS: "1", SIGN_IN: ""}


def test_streamlit_has_every_option() -> None:
    from streamlit import config

    known = set(config.get_config_options())
    options = streamlit_options("127.0.0.1", 1, ["a"], "b", Path("s.toml"), open_browser=False)
    assert {option.removeprefix("--").partition("=")[0] for option in options} <= known


def test_listening_on_other_addresses_prints_a_warning(run: Run, started: list[Call], port: int) -> None:
    result = run("dashboard", "--address", "0.0.0.0", "--port", port, "--host", "zscope.example.com")
    assert "Everyone who can reach 0.0.0.0" in result.stderr
    [(_, arguments, _)] = started
    assert "--server.address=0.0.0.0" in arguments
    assert "--server.allowedHosts=zscope.example.com" in arguments


def test_a_port_in_use_is_an_error(run: Run, started: list[Call], taken: int) -> None:
    result = run("dashboard", "--port", taken)
    assert result.exit_code == 12
    assert "choose another port with --port" in result.stderr
    assert not started


def test_an_invalid_address_is_an_error(run: Run, started: list[Call]) -> None:
    result = run("dashboard", "--address", "no such host.invalid")
    assert result.exit_code == 12
    assert "cannot listen on" in result.stderr
    assert not started


def test_a_file_is_not_a_store(run: Run, started: list[Call], tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    result = run("dashboard", "--store", tmp_path / "README.md")
    assert result.exit_code == 12
    assert "this is a file, not a store" in result.stderr
    assert not started


def test_memory_must_be_a_size(run: Run, started: list[Call]) -> None:
    result = run("dashboard", "--memory", "lots")
    assert result.exit_code == 12
    assert "use a size such as 2GB" in result.stderr
    assert not started


def test_sign_in_needs_a_settings_file(run: Run, started: list[Call], tmp_path: Path) -> None:
    result = run("dashboard", "--sign-in", tmp_path / "secrets.toml")
    assert result.exit_code == 12
    assert "does not exist" in result.stderr
    assert not started


def test_without_streamlit_the_message_explains_how_to_install_it(
    run: Run, started: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zscope.app.cli.commands.dashboard.find_spec", lambda _: None)
    result = run("dashboard")
    assert result.exit_code == 12
    assert "pip install 'zscope[dashboard]'" in result.stderr
    assert not started
