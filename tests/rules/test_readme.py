"""What README and manual tell people to type works as it stands."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
WITH_COMMANDS = (README, ROOT / "docs" / "inputs.md")


def _commands() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in WITH_COMMANDS]
    blocks = [b for text in texts for b in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    return [line for block in blocks for line in block.splitlines() if line.startswith("zscope ")]


def test_there_are_commands_to_try() -> None:
    assert len(_commands()) >= 3


@pytest.mark.parametrize("command", _commands())
def test_command_works(command: str) -> None:
    program = Path(sys.executable).with_name("zscope")
    done = subprocess.run(
        [program, *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_python_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted >= 3
    assert result.failed == 0


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "schemas/README.md", "docs/inputs.md"])
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    missing = [
        target
        for target in targets
        if "://" not in target and not ((ROOT / document).parent / target).exists()
    ]
    assert missing == []
