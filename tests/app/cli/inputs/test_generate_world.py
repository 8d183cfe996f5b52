"""`zscope generate world`: the files it writes and replaces."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from click.testing import Result
from tests.app.cli.conftest import SAMPLE

from zscope.app.cli.commands import generate as command_module
from zscope.app.cli.commands import generate as made_folder
from zscope.samples import world as world_module

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Result]
TINY = ("--days", 1, "--connections-per-hour", 4, "--runs", "none")
SMALL = ("--days", 1, "--connections-per-hour", 8, "--runs", "few", "--run-minutes", 5)


def test_a_world_is_written(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "world"
    result = run("generate", "world", folder, *TINY, "--packing", "gzip", "--seed", 4)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "records of 4 systems" in result.stderr
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["synthetic"] is True
    assert manifest["seed"] == 4
    for name in manifest["files"]:
        assert (folder / name).stat().st_size > 0, name
        assert str(folder / name) in result.stderr


@pytest.mark.deep
def test_a_world_can_be_loaded(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "world"
    assert run("generate", "world", folder, *SMALL, "--packing", "gzip", "--seed", 4).exit_code == 0
    manifest = json.loads((folder / "manifest.json").read_text())
    loaded = run("ingest", folder, "--store", tmp_path / "store", "--timezone", manifest["zone"])
    assert loaded.exit_code == 0
    assert "refused" not in loaded.stderr
    question = "SELECT count(*) AS n FROM smf119_zert_detail"
    answer = run("sql", question, "--store", tmp_path / "store", "--format", "json")
    assert json.loads(answer.stdout) == [{"n": manifest["rows_by_table"]["smf119_zert_detail"]}]


@pytest.mark.deep
def test_every_option_reaches_the_manifest(run: Run, tmp_path: Path) -> None:
    costs = tmp_path / "cost.toml"
    costs.write_text("[server]\nmegabyte_us = 11\n")
    result = run(
        "generate", "world", tmp_path / "w", "--days", 2, "--start", "2026-06-01", "--seed", 9,
        "--connections-per-hour", 6, "--runs", "none", "--run-minutes", 7, "--correlated",
        "--resumed-share", 0.25, "--cost", costs, "--cost", "full_us=20000,noise=0", "--packing", "gzip",
    )  # fmt: skip
    assert result.exit_code == 0
    manifest = json.loads((tmp_path / "w" / "manifest.json").read_text())
    assert manifest["recipe"] == {
        "start": "2026-06-01T00:00:00+00:00", "seed": 9, "days": 2, "connections_per_hour": 6,
        "runs": "none", "run_minutes": 7, "recording": "connections",
        "resumed_share": 0.25, "correlated": True, "packing": "gzip",
    }  # fmt: skip
    assert manifest["runs"] == []
    assert manifest["cost_model"]["server"]["megabyte_us"] == 11
    assert manifest["cost_model"]["client"]["rsa_us"] == 20_000
    assert manifest["cost_model"]["noise"] == 0


@pytest.mark.deep
def test_a_world_replaces_an_earlier_one(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "world"
    assert run("generate", "world", folder, *TINY).exit_code == 0
    assert run("generate", "world", folder, *TINY, "--packing", "gzip").exit_code == 0
    assert {path.suffix for path in (folder / "smf").iterdir()} == {".gz"}


@pytest.mark.parametrize(
    "files", ['{"../kept.txt": 1}', '{"/etc/hosts": 1}', '{".": 1}', "{}", "7", '["manifest.json"]']
)
def test_other_folders_are_not_replaced(run: Run, tmp_path: Path, files: str) -> None:
    kept, folder = tmp_path / "kept.txt", tmp_path / "mine"
    folder.mkdir()
    kept.write_text("mine")
    (folder / "manifest.json").write_text(f'{{"files": {files}, "cost_model": {{"noise": 0}}}}')
    result = run("generate", "world", folder, *SMALL)
    assert result.exit_code == 12
    assert "contains files that are not a generated world" in result.stderr
    assert kept.read_text() == "mine"
    assert [path.name for path in folder.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cost", "fulll_us=1"), "'fulll_us' is not a cost"),
        (
            ("--cost", "nowhere.toml"),
            "costs 'nowhere.toml': cannot be read: No such file or directory; use a TOML file or name=value",
        ),
        (("--cost", ""), "costs '': cannot be read"),
        (("--start", "yesterday"), "'yesterday' is not a date or a time"),
        (("--days", 0), "--days"),
        (("--cost", "full_us=900000000"), "ask for fewer connections or lower costs"),
    ],
)
def test_invalid_options_are_refused(
    run: Run, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    result = run("generate", "world", tmp_path / "w", *SMALL, *arguments)
    assert result.exit_code == 12
    assert message in result.stderr


@pytest.mark.parametrize(
    ("place", "message"),
    [("README.md", "is a file"), ("README.md/world", "Not a directory"), ("", "not a generated world")],
)
def test_an_unusable_folder_is_an_error(run: Run, tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "README.md").write_text("mine")
    result = run("generate", "world", tmp_path / place, *SMALL)
    assert (result.exit_code, result.stdout) == (12, "")
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_options_before_a_subcommand_are_an_error(run: Run, tmp_path: Path) -> None:
    result = run("generate", "--seed", 3, "world", tmp_path / "w")
    assert result.exit_code == 12
    assert "write the options after world" in result.stderr
    assert not (tmp_path / "w").exists()


def test_a_target_is_required(run: Run) -> None:
    result = run("generate", "--seed", 3)
    assert result.exit_code == 12
    assert "Missing option '-o'" in result.stderr


def test_the_choices_are_those_of_the_generator() -> None:
    assert command_module.RUN_CHOICES == world_module.RUN_CHOICES
    assert command_module.RECORDINGS == world_module.RECORDINGS
    assert command_module.WORLD_PACKINGS == world_module.PACKINGS
    assert made_folder.MANIFEST == world_module.MANIFEST


@pytest.mark.deep
def test_the_sample_data_are_written_without_a_checkout(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    assert run("generate", "sample", folder).exit_code == 0
    written = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert len(written) > 20
    assert {name: (SAMPLE / name).read_bytes() for name in written} == written
    world = {path.relative_to(SAMPLE) for path in (SAMPLE / "world").rglob("*") if path.is_file()}
    assert world <= written.keys()
    again = run("generate", "sample", folder)
    assert again.exit_code == 12
    assert f"{folder} contains files" in again.stderr
