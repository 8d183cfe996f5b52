"""The command that prints and installs completion scripts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

PLACES = {
    "bash": "bash-completion/completions/zscope",
    "zsh": "zsh/site-functions/_zscope",
    "fish": "fish/completions/zscope.fish",
}


@pytest.mark.parametrize("shell", PLACES)
def test_the_installed_script_is_the_printed_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    printed = run("completion", shell).stdout
    assert f"_ZSCOPE_COMPLETE={shell}_complete" in printed
    installed = run("completion", shell, "--install")
    assert installed.exit_code == 0
    assert installed.stdout == ""
    assert (tmp_path / PLACES[shell]).read_text(encoding="utf-8") == printed
    assert str(tmp_path / PLACES[shell]) in installed.stderr
    assert ("fpath" in installed.stderr) == (shell == "zsh")


def test_scripts_are_in_the_home_folder_by_default(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("completion", "bash", "--install").exit_code == 0
    assert (tmp_path / ".local" / "share" / PLACES["bash"]).is_file()


def test_another_shell_is_refused(run: Run) -> None:
    result = run("completion", "csh")
    assert result.exit_code == 12
    assert "csh" in result.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_with_the_script(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "zscope"
    script.write_text(run("completion", "bash").stdout, encoding="utf-8")
    asked = (
        'source "$1"; COMP_WORDS=(zscope metrics handshake_m); COMP_CWORD=2; '
        '_zscope_completion zscope; echo "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    answer = subprocess.run(
        ["bash", "--norc", "-c", asked, "bash", str(script)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert answer.stdout.split() == ["handshake_mix"]
