"""What README and manual tell people to type works as it stands."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
WITH_COMMANDS = (README, *sorted((ROOT / "docs").glob("*.md")))
GENERATED = ("cli.md", "data-dictionary.md")
"""Rendered from the code, with examples of files that nobody has."""
FOLDER = "DOCUMENTS_FOLDER"
"""Where the commands of the documents are run."""


def _commands() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in WITH_COMMANDS if page.name not in GENERATED]
    blocks = [b for text in texts for b in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    return [line for block in blocks for line in block.splitlines() if line.startswith("zscope ")]


SERVES = "zscope dashboard"
"""Does not end; in a browser it is tested elsewhere."""


def test_there_are_commands_to_try() -> None:
    assert len(_commands()) >= 3


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A store with the sample data, so that a command may ask before another one has loaded, and a folder
    that looks like the checkout, for what commands write.
    """
    folder = tmp_path_factory.mktemp("documents")
    environment = os.environ | {"ZSCOPE_STORE": str(folder / "store"), FOLDER: str(folder / "checkout")}
    (folder / "checkout").mkdir()
    for name in ("README.md", "docs", "sample-data"):
        (folder / "checkout" / name).symlink_to(ROOT / name)
    done = _run("zscope ingest sample-data", environment)
    assert done.returncode == 0, done.stderr
    return environment


def _run(command: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("zscope")
    arguments = [str(program), *shlex.split(command, comments=True)[1:]]
    return subprocess.run(
        arguments, cwd=environment[FOLDER], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", [command for command in _commands() if not command.startswith(SERVES)])
def test_command_works(command: str, environment: dict[str, str]) -> None:
    done = _run(command, environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout + done.stderr


def _scheduled() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in WITH_COMMANDS if page.name not in GENERATED]
    blocks = "".join(
        block
        for text in texts
        for block in re.findall(r"^```(?:cron|ini)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    )
    return re.findall(r"(zscope (?:ingest|dashboard|store \w+) [^&|\n]*)", blocks)


@pytest.mark.parametrize("command", _scheduled() + [c for c in _commands() if c.startswith(SERVES)])
def test_scheduled_command_is_understood(command: str, environment: dict[str, str]) -> None:
    """Its folders are not here, but every option it names has to be one."""
    assert _run(f"{command} --help", environment).returncode == 0
    assert _run(f"{command} --no-such-option --help", environment).returncode == 12


def test_there_are_scheduled_commands() -> None:
    assert len(_scheduled()) >= 3


def test_python_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted >= 3
    assert result.failed == 0


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "CONTRIBUTING.md",
        "schemas/README.md",
        *(f"docs/{path.name}" for path in WITH_COMMANDS[1:]),
    ],
)
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    missing = [
        target
        for target in targets
        if "://" not in target and not ((ROOT / document).parent / target).exists()
    ]
    assert missing == []
