"""Differences on a terminal: real processes on a pseudo terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

ZSCOPE = [sys.executable, "-m", "zscope"]


def on_terminal(*arguments: object, columns: int = 80, lines: int = 40) -> tuple[int, str]:
    """Exit code and everything that appears on a terminal of some size; with 0 lines it does not say it."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [*ZSCOPE, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": str(columns), "LINES": str(lines), "TERM": "xterm"},
    )
    os.close(theirs)
    pieces = []
    while piece := _read(ours):
        pieces.append(piece)
    os.close(ours)
    return running.wait(), b"".join(pieces).decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """The end of a terminal shows as an error on Linux and as no bytes elsewhere."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""


def test_rows_are_a_table_or_records_of_the_width() -> None:
    code, screen = on_terminal("fields", "handshake", "--no-pager", columns=90)
    lines = screen.splitlines()
    assert code == 0
    assert max(map(len, lines[:-1])) <= 90
    below = " ".join(lines[-2:])
    assert re.search(r"\d+ more columns \(\w+, .*\): --all-columns shows all, -o FILE writes all$", below)


@pytest.mark.deep
def test_a_long_table_is_shown_with_the_pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    monkeypatch.setenv("PAGER", f"tee {seen}")
    assert on_terminal("fields", "handshake")[0] == 0
    assert "handshake_type" in seen.read_text()
    seen.unlink()
    assert "handshake_type" in on_terminal("fields", "handshake", "--no-pager")[1]
    assert on_terminal("fields", "fields_that_no_table_has")[0] == 0
    assert not seen.exists(), "a short table needs no pager"
    assert "handshake_type" in on_terminal("fields", "handshake", lines=0)[1]
    assert not seen.exists(), "a terminal without a size has no reader"


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_binary_formats_are_refused_on_a_terminal(form: str) -> None:
    code, screen = on_terminal("fields", "--format", form)
    assert code == 12
    assert f"{form} cannot be shown on a terminal" in screen


def test_records_are_refused_on_a_terminal(dump: Path) -> None:
    code, screen = on_terminal("unpack", dump, "-o", "-")
    assert code == 12
    assert "records cannot be shown on a terminal" in screen
    assert on_terminal("generate", "-o", "-")[0] == 12


@pytest.mark.deep
def test_a_progress_bar_disappears(dump: Path, tmp_path: Path) -> None:
    code, screen = on_terminal("decode", dump, "-t", "smf_record", "-o", tmp_path / "rows.csv", columns=200)
    assert code == 0
    assert "\x1b[?25l" in screen, "the bar hides the cursor while it is drawn"
    assert screen.rstrip().endswith("1,356 bytes")
    assert "\x1b[?25l" not in on_terminal("decode", dump, "-t", "smf_record", "-q", columns=200)[1]


def test_text_of_records_cannot_control_the_terminal(dump: Path) -> None:
    """Byte 27 in EBCDIC is an escape character."""
    data = dump.read_bytes()
    dump.write_bytes(data.replace("WEB".encode("cp037"), b"\x27\xad\x40"))
    _, screen = on_terminal("decode", dump, "-t", "smf119_zert_detail", "-c", "job_name", "-q")
    assert "\x1b" not in screen
    assert "\\x1b[" in screen


def test_texts_of_others_cannot_control_the_terminal(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a\x1b[31m.bin", b"no records")
    store = tmp_path / "store"
    for command in ("inventory", "ingest"):
        where = () if command == "inventory" else ("--store", store)
        code, screen = on_terminal(command, tmp_path / "a.zip", *where, columns=400)
        assert code == 0
        assert "a\x1b[31m.bin" not in screen
        assert rf"note: {tmp_path}/a.zip/a\x1b[31m.bin: skipped" in screen
    code, screen = on_terminal("sql", "SELECT error(chr(27) || '[31mX' || chr(7))", "--store", store)
    assert code == 12
    assert screen == "Error: Invalid Input Error: X\\x07\n"
