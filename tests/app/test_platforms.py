"""Stores on other systems than Linux: what differs is simulated, as macOS and Windows have it."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import importlib
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from zscope.app.dashboard.pages.workbench import reader_statements
from zscope.pipelines import public_files, unix_calls

FULL = 51
"""`F_FULLFSYNC` of macOS."""


def calls(monkeypatch: pytest.MonkeyPatch, *, supported: bool = True) -> list[str]:
    """Let this system have `F_FULLFSYNC`, and return the list of calls that flush."""
    made: list[str] = []

    def control(handle: int, command: int) -> int:
        assert command == FULL
        made.append("full")
        if not supported:
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        return handle

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", FULL, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda _: made.append("usual"))
    return made


@pytest.mark.parametrize(("supported", "expected"), [(True, ["full"]), (False, ["full", "usual"])])
def test_macos_flushes_the_cache_of_the_drive(
    monkeypatch: pytest.MonkeyPatch, *, supported: bool, expected: list[str]
) -> None:
    made = calls(monkeypatch, supported=supported)
    unix_calls.flush(1)
    assert made == expected


class MacLibrary:
    """The C library of macOS: `renamex_np` exchanges two folders, or renames to a free name."""

    def __init__(self) -> None:
        self.renamed: list[tuple[bytes, bytes, int]] = []

    def renamex_np(self, one: bytes, other: bytes, flags: int) -> int:
        self.renamed.append((one, other, flags))
        return 0


def test_macos_exchanges_folders_and_renames_to_free_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = MacLibrary()
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: library)
    unix_calls.exchange(tmp_path / "one", tmp_path / "other")
    unix_calls.rename_to_free_name(tmp_path / "one", tmp_path / "other")
    names = os.fsencode(tmp_path / "one"), os.fsencode(tmp_path / "other")
    assert library.renamed == [(*names, 2), (*names, 4)]


def test_a_system_without_the_exchange_is_an_error_of_the_file_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    with pytest.raises(OSError, match=os.strerror(errno.ENOSYS)) as raised:
        unix_calls.exchange(tmp_path / "one", tmp_path / "other")
    assert raised.value.errno in public_files._WITHOUT_LINKS


def test_the_workbench_works_where_the_memory_of_a_process_has_no_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refused)
    monkeypatch.setattr(sys, "platform", "darwin")
    reader_statements.limit_memory(1 << 30)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(ValueError, match="maximum limit"):
        reader_statements.limit_memory(1 << 30)


def test_a_system_without_locks_is_named_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.delitem(sys.modules, unix_calls.__name__)
    with pytest.raises(ImportError, match="on Windows use WSL or the container"):
        importlib.import_module(unix_calls.__name__)


def test_a_system_without_locks_is_named_by_the_program() -> None:
    without = "import sys; sys.modules['fcntl'] = None; from zscope.app.cli.main import start; start()"
    done = subprocess.run(
        [sys.executable, "-c", without, "--version"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 12
    assert done.stderr.startswith("Error: zscope needs the file locks of Linux or macOS. On Windows, run it")
