"""Options before the name of a command, and --no-pager at every command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from zscope.app.cli.main import COMMANDS, program
from zscope.app.cli.option_places import with_options_behind

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("--no-pager inventory a", "inventory --no-pager a"),
        ("--csv --store s price --by week", "price --csv --store s --by week"),
        ("--store=s -o x.csv runs list", "runs list --store=s -o x.csv"),
        ("--csv runs", "runs --csv"),
        ("--store demo summary", "summary --store demo"),  # the folder has the name of a command
        ("--no-pager unpack a", "unpack --no-pager a"),
        # Not options of the command, or no command: click reports them.
        ("--explain x summary", "--explain x summary"),
        ("--no-pager", "--no-pager"),
        ("--no-pager nonsense", "--no-pager nonsense"),
        ("--version price", "--version price"),
    ],
)
def test_options_before_the_command_follow_its_name(typed: str, read: str) -> None:
    assert with_options_behind(program, click.Context(program), typed.split()) == read.split()


def test_an_option_before_the_command_has_its_effect(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "fields.csv"
    result = run("-o", rows, "fields", "handshake_type")
    assert result.exit_code == 0
    assert "handshake_type" in rows.read_text()
    assert "No such option '--nonsense'" in run("--nonsense", "fields").stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_accepts_no_pager(name: str, run: Run) -> None:
    assert run(name, "--no-pager", "--help").exit_code == 0
    assert run("--no-pager", name, "--help").exit_code == 0
