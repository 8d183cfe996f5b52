"""`--unpack-limits`, the same setting of zscope.toml, and the issue of a file that exceeds a limit."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.app.cli.nightly.nights import LOAD, SMALL, NightFolder, step
from tests.pipelines.ingest.in_turn import InTurn

from zscope.parsers import ReadOptions
from zscope.parsers.containers.budget import UnpackLimits
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.ingest.parallel_load import BulkEngine

if TYPE_CHECKING:
    from tests.app.conftest import Run

REPORT = Path(__file__).resolve().parents[4] / "sample-data/reports/netstat.SYSA.2026-03-02.txt"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "reports.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.write(REPORT, "netstat.SYSA.2026-03-02.txt")
    return file


@pytest.mark.deep
def test_a_refused_file_has_an_issue_in_the_store_and_is_loaded_with_a_higher_limit(
    run: Run, archive: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    refused = run("ingest", "--store", store, archive, "--unpack-limits", "bytes=1000")
    assert "contains more than 1,000 bytes" in refused.stderr
    issues = json.loads(run("issues", "--store", store, "--format", "json").stdout)
    [issue] = [each for each in issues if each["code"] == "unpack-limit"]
    assert issue["file"].startswith(str(archive))
    assert json.loads(run("loads", "--store", store, "--format", "json").stdout) == []
    assert run("ingest", "--store", store, archive).exit_code in {0, 4}
    [load] = json.loads(run("loads", "--store", store, "--format", "json").stdout)
    assert load["rows"] > 0


def test_the_limit_can_be_set_in_the_settings(run: Run, archive: Path, tmp_path: Path) -> None:
    settings = tmp_path / "zscope.toml"
    settings.write_text('[ingest]\nunpack_limits = "bytes=1000"\n', encoding="utf-8")
    command = ("ingest", "--store", tmp_path / "store", archive, "--settings", settings)
    assert "contains more than 1,000 bytes" in run(*command).stderr
    assert "contains more" not in run(*command, "--unpack-limits", "bytes=1GB").stderr


@pytest.mark.parametrize(
    "command",
    [("inventory",), ("decode", "--table", "smf119_tcp_init"), ("unpack", "-o", "-")],
    ids=lambda command: command[0],
)
def test_commands_without_a_store_have_the_limits(command: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    file = tmp_path / "dump.smf.gz"
    file.write_bytes(gzip.compress(SMALL))
    limited = run(*command, file, "--unpack-limits", "bytes=1000")
    assert "contains more than 1,000 bytes" in limited.stderr
    assert limited.exit_code == 8
    assert run(*command, file).exit_code == 0


def test_the_nightly_batch_has_the_limits_of_the_settings(tmp_path: Path) -> None:
    night = NightFolder(tmp_path)
    night.settings(LOAD)
    night.add("a.smf.gz", gzip.compress(SMALL))
    (tmp_path / "zscope.toml").write_text('[ingest]\nunpack_limits = "bytes=1000"\n', encoding="utf-8")
    load = step(night.night(), "load")
    assert load["counts"]["refused"] == 1
    assert "contains more than 1,000 bytes" in load["details"][0]


@pytest.mark.parametrize(("limits", "layers", "decoded"), [("nesting=1", 2, 0), ("nesting=9", 9, 1)])
def test_the_survey_of_a_bulk_load_has_the_limits(
    limits: str, layers: int, decoded: int, tmp_path: Path
) -> None:
    """A file that exceeds them is done with its survey; any other packed dump has a task of its own."""
    content = SMALL
    for _ in range(layers):
        content = gzip.compress(content)
    file = tmp_path / "dump.smf.gz"
    file.write_bytes(content)
    options = IngestOptions(selection=row_selection(None), read_options=ReadOptions(unpack_limits=limits))
    scheduler = InTurn()
    report = ingest(tmp_path / "store", [file], options, BulkEngine(scheduler))
    assert scheduler.labels == [("survey", 1), ("decode", decoded)]
    assert len(report.loads) == decoded


def test_a_wrong_limit_is_an_error(run: Run, archive: Path, tmp_path: Path) -> None:
    result = run("inventory", archive, "--unpack-limits", "depth=3")
    assert result.exit_code == 12
    assert "'depth=3' is not a limit such as bytes=2TB" in result.stderr
    settings = tmp_path / "zscope.toml"
    settings.write_text("[ingest]\nunpack_limits = 3\n", encoding="utf-8")
    result = run("ingest", archive, "--settings", settings)
    assert result.exit_code == 12
    assert 'ingest.unpack_limits: expected a text such as "ratio=1000,bytes=2TB", got 3' in result.stderr


def test_the_help_has_the_defaults(run: Run) -> None:
    text = "".join(run("ingest", "--help").stdout.split())
    match = re.search(r"Default:(bytes=[\w,=]+)\.", text)
    assert match is not None
    assert UnpackLimits.parse(match[1]) == UnpackLimits()
