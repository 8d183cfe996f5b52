"""`zscope generate systems`: the files it writes and replaces."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from click.testing import Result

from zscope.app.cli.commands import generate as made_folder
from zscope.samples.systems import systems_folder

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Result]


def test_the_files_are_written_and_replaced(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "systems"
    first = run("generate", "systems", folder)
    assert (first.exit_code, first.stdout) == (0, "")
    assert "files of 5 systems" in first.stderr
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["synthetic"] is True
    before = {name: (folder / name).read_bytes() for name in manifest["files"]}
    assert all(str(folder / name) in first.stderr for name in before)

    assert run("generate", "systems", folder, "--seed", 2).exit_code == 0
    changed = {name for name, content in before.items() if (folder / name).read_bytes() != content}
    assert "mq/round-trips.csv" in changed
    assert run("generate", "systems", folder).exit_code == 0
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_other_files_in_the_folder_are_not_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = run("generate", "systems", tmp_path)
    assert result.exit_code == 12
    assert "not a generated sample of other systems" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_manifest_has_the_name_that_the_command_looks_for() -> None:
    assert made_folder.MANIFEST == systems_folder.MANIFEST
