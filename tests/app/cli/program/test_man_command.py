"""The command that prints and installs the manual page."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from zscope.app.cli.main import COMMANDS

Run = Callable[..., Result]


def test_the_page_has_the_help_of_every_command(run: Run) -> None:
    page = run("man").stdout
    assert page.startswith('.TH ZSCOPE 1 "" "zscope ')
    assert {name for name in COMMANDS if f'.SH "ZSCOPE {name.upper()}"' not in page} == set()
    requests = {line.split()[0] for line in page.splitlines() if re.match(r"[.']", line)}
    assert requests == {".TH", ".SH", ".nf", ".fi"}
    assert "\u2014" not in page


def test_the_installed_page_is_the_printed_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    installed = run("man", "--install")
    path = tmp_path / "man" / "man1" / "zscope.1"
    assert (installed.exit_code, installed.stdout) == (0, "")
    assert str(path) in installed.stderr
    assert path.read_text(encoding="utf-8") == run("man").stdout


def test_the_page_is_in_the_home_folder_by_default(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("man", "--install").exit_code == 0
    assert (tmp_path / ".local" / "share" / "man" / "man1" / "zscope.1").is_file()


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_a_formatter_shows_it_without_a_warning(run: Run) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww"],
        input=run("man").stdout,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "zscope ingest SMF.DUMP" in done.stdout
