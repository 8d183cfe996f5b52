"""`--unpack-limits`, the same setting of zscope.toml, and the issue of a file that exceeds a limit."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zscope.parsers.containers.budget import UnpackLimits

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
