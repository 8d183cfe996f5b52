"""A folder with one file of each kind of damage between good files."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.app.cli.inputs.damaged_inputs import REPORTS, damaged_inputs
from tests.pipelines.stores import dump_bytes, rows_of

if TYPE_CHECKING:
    from tests.app.conftest import Run

ZONE = ("--timezone", "+01:00")


def _good_files(folder: Path) -> list[Path]:
    """Write a dump and the sample reports, with names before, between and after those of damaged files."""
    folder.mkdir(exist_ok=True)
    (folder / "a.smf").write_bytes(dump_bytes(100, 1))
    paths = [folder / "a.smf"]
    for letter, report in zip("gmsyz", sorted(REPORTS.iterdir()), strict=True):
        paths.append(Path(shutil.copy(report, folder / f"{letter}-{report.name}")))
    return paths


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with good and damaged files."""
    folder = tmp_path / "in"
    _good_files(folder)
    for name, damaged in damaged_inputs().items():
        (folder / name).write_bytes(damaged.content())
    return folder


@pytest.mark.deep
def test_good_files_are_loaded_and_each_damaged_one_has_an_issue(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    result = run("ingest", folder, "--store", store, *ZONE, "--format", "json")
    assert result.exit_code == 8
    good = {path.name for path in _good_files(tmp_path / "good")}
    report = {Path(row["file"]).name: row for row in json.loads(result.stdout)}
    assert report.keys() == good | damaged_inputs().keys()
    assert {report[name]["status"] for name in good} == {"loaded"}
    issues = json.loads(run("issues", "--store", store, "--format", "json").stdout)
    codes = defaultdict(set)
    for issue in issues:
        codes[Path(issue["file"]).name].add(issue["code"])
    missing = {
        name: damaged.code.value
        for name, damaged in damaged_inputs().items()
        if damaged.code.value not in codes[name]
    }
    assert missing == {}

    run("ingest", tmp_path / "good", "--store", tmp_path / "clean", *ZONE)
    damaged = [row["load_id"] for name, row in report.items() if name not in good and row["load_id"]]
    assert run("loads", "remove", *damaged, "--store", store).exit_code == 4
    # Damaged copies of the reports were loaded first, and their rows not again from the good files.
    assert run("ingest", *(folder / name for name in good), "--store", store, *ZONE).exit_code in {0, 4}
    assert rows_of(store) == rows_of(tmp_path / "clean")
