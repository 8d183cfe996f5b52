"""The commands of the README and the handbook work as written."""

from __future__ import annotations

import re
import shlex
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from zscope.app.cli.main import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _pytest.mark import ParameterSet

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
WITH_COMMANDS = (README, *sorted((ROOT / "docs").glob("*.md")))
IN_ORDER = ("README.md", "index.md", "start.md")
"""Their commands need each other, or change the store: test_first_hour.py runs them."""


def _commands(pages: Iterable[Path] = WITH_COMMANDS) -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in pages]
    blocks = [b for text in texts for b in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    return [line for block in blocks for line in block.splitlines() if line.startswith("zscope ")]


SERVES = ("zscope dashboard", "zscope serve-metrics", "zscope watch")
"""Run until they are stopped; other tests start them."""


def test_there_are_commands_to_try() -> None:
    assert len(_commands()) >= 3


@pytest.fixture(scope="module")
def zscope(
    demo: tuple[Path, Result], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Result]]:
    """Run commands in a folder that looks like the checkout, with a store that contains the sample data."""
    folder = tmp_path_factory.mktemp("documents")
    for name in ("README.md", "docs", "sample-data"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(demo[0], folder / "store")

    def start(arguments: list[str], store: Path) -> Result:
        return CliRunner().invoke(program, arguments, env={"ZSCOPE_STORE": str(store)}, prog_name="zscope")

    @cache
    def store_of_reports() -> Path:
        """All loads are validated at once, so there is a store with few of them."""
        loaded = start(["ingest", "sample-data/reports"], folder / "reports")
        assert loaded.exit_code == 0, loaded.stderr
        return folder / "reports"

    @cache
    def result(command: str) -> Result:
        arguments = shlex.split(command, comments=True)[1:]
        return start(arguments, store_of_reports() if arguments == ["validate"] else folder / "store")

    def run(command: str) -> Result:
        # The deep tests are without the first command of a page, which others can need.
        result(FIRST_OF_PAGE[command])
        return result(command)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield run


def _first_of_page() -> dict[str, str]:
    """Return the commands that can be run, each with the first one of its page."""
    found: dict[str, str] = {}
    for page in WITH_COMMANDS:
        commands = [command for command in _commands([page]) if not command.startswith(SERVES)]
        if page.name not in IN_ORDER:
            found |= {command: commands[0] for command in commands if command not in found}
    return found


FIRST_OF_PAGE = _first_of_page()


def _commands_to_run() -> Iterator[ParameterSet]:
    """Return all commands; all but the first of each page are for deep tests."""
    for command, first in FIRST_OF_PAGE.items():
        yield pytest.param(command, marks=() if command == first else pytest.mark.deep)


@pytest.mark.parametrize("command", list(_commands_to_run()))
def test_command_works(command: str, zscope: Callable[[str], Result]) -> None:
    done = zscope(command)
    assert done.exit_code == 0, done.stderr
    assert done.output


def _scheduled() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in WITH_COMMANDS]
    blocks = "".join(
        block
        for text in texts
        for block in re.findall(r"^```(?:cron|ini)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    )
    return re.findall(r"(zscope (?:ingest|nightly|watch|dashboard|serve-metrics|store \w+) [^&|\n]*)", blocks)


@pytest.mark.parametrize("command", list(dict.fromkeys(_scheduled() + _commands())))
def test_command_has_valid_options(command: str) -> None:
    """The folders in scheduled commands do not exist here, but every option has to."""
    words = shlex.split(command, comments=True)[1:]
    assert CliRunner().invoke(program, [*words, "--help"]).exit_code == 0
    assert CliRunner().invoke(program, [*words, "--no-such-option", "--help"]).exit_code == 12


def test_there_are_scheduled_commands() -> None:
    assert len(_scheduled()) >= 3
