"""The commands of the first hour and of an upgrade, in the order of their page, as a new user types them."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.handbook import HANDBOOK, blocks, section

from zscope.app.cli.commands.demo import DEMO_STORE
from zscope.app.cli.main import program

ROOT = HANDBOOK.parent
CAPTURES = Path(__file__).with_name("captures")
"""Displays as a person copies them from a terminal: with prompts, margins and missing lines."""
SERVES = "zscope dashboard"
DEMO = "zscope demo"
EXPECTED = {"zscope inventory": (0, 4), "zscope ingest": (0, 4), "zscope check": (0, 8)}
WITH_ROWS = ("zscope sql", "zscope metrics", "zscope check", "zscope loads", "zscope inventory captured --q")


@dataclass(frozen=True, slots=True)
class Shell:
    """A terminal in a folder that has no file of the project."""

    folder: Path

    def run(self, command: str) -> Result:
        words = shlex.split(command)
        assert words[0] == "zscope"
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in [name for name in os.environ if name.startswith("ZSCOPE_")]:
                patch.delenv(name)
            return CliRunner().invoke(program, words[1:], prog_name="zscope")


def commands(text: str) -> list[str]:
    lines = "".join(blocks(text, "sh")).splitlines()
    return [line for line in lines if not line.startswith(SERVES)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A folder with captures: a dump, and displays that were copied by hand."""
    user = Shell(tmp_path_factory.mktemp("first-hour"))
    captured = user.folder / "captured"
    captured.mkdir()
    for display in CAPTURES.iterdir():
        (captured / display.name).write_bytes(display.read_bytes())
    made = user.run("zscope generate -o captured/smf-2026-03-02.bin --records 20000")
    assert made.exit_code == 0, made.stderr
    return user


@pytest.mark.deep
def test_the_first_hour(shell: Shell, demo: tuple[Path, Result]) -> None:
    store, answer = demo
    shutil.copytree(store, shell.folder / DEMO_STORE)
    typed = commands(section("start.md", "The first hour"))
    assert len(typed) > 15
    assert DEMO in typed
    answers = {}
    for command in typed:
        done = answer if command == DEMO else shell.run(command)
        assert "Traceback" not in done.stderr
        # 4: something of the captures should be read. 8: there are findings of high severity.
        expected = EXPECTED.get(" ".join(command.split()[:2]), (0,))
        assert done.exit_code in expected, f"{command}: {done.exit_code}\n{done.stderr}"
        if command.startswith(WITH_ROWS):
            assert len(done.stdout.splitlines()) > 1, f"{command} has no rows"
        answers[command] = done
    loads = shell.run('zscope sql "SELECT file, issues FROM load ORDER BY file"').stdout
    assert loads.count("captured/") == 4
    assert "CPU seconds a day for TLS" in answers["zscope summary"].stdout
    assert "no-time-zone" not in answers["zscope issues"].stdout
    assert "no-date" not in answers["zscope issues"].stdout


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_first_pages_have_commands_of_the_first_hour(page: str) -> None:
    typed = commands((ROOT / page).read_text(encoding="utf-8"))
    assert len(typed) >= 3
    assert set(typed) <= set(commands(section("start.md", "The first hour")))


@pytest.mark.deep
@pytest.mark.parametrize("table", ["netstat_conn", "gsk_cache_stats", "tls_rule"])
def test_displays_copied_by_hand_have_system_and_time(shell: Shell, table: str) -> None:
    done = shell.run(f"zscope decode captured --table {table} --columns system,taken_local --format csv")
    rows = done.stdout.splitlines()[1:]
    assert rows
    assert all(row.startswith("SYSA,2026-03-02T14:") for row in rows)


@pytest.mark.deep
def test_a_display_without_a_name_says_what_to_do(tmp_path: Path) -> None:
    other = Shell(tmp_path)
    (tmp_path / "copied.txt").write_bytes((CAPTURES / "SYSA-pasearch.txt").read_bytes())
    loaded = other.run("zscope ingest copied.txt")
    assert "neither the system nor its time zone is known" in loaded.stderr
    assert "or with --system: zscope loads remove 1" in loaded.stderr


@pytest.mark.deep
def test_the_commands_of_an_upgrade(shell: Shell) -> None:
    assert shell.run("zscope ingest captured/SYSA-pasearch.txt --timezone +01:00").exit_code == 0
    typed = commands(section("start.md", "Upgrade"))
    assert len(typed) == 3
    for command in typed:
        done = shell.run(command)
        assert done.exit_code == 0, done.stderr
