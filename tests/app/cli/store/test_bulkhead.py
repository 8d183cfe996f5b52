"""A file that stops a reader ends the reading of that file only, in every command."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from zscope.app.cli.main import program
from zscope.parsers import read
from zscope.parsers.smf.dump import Dump
from zscope.parsers.text.report_input import ReportInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
REPORTS = sorted((SAMPLE / "reports").glob("*.txt"))


class DefectError(Exception):
    """Stands for any mistake in a reader."""


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with good files around two whose readers fail."""
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(SAMPLE / "smf-sample.bin", folder / "a-good.smf")
    shutil.copy(SAMPLE / "systems" / "mq" / "MQA1.smf", folder / "b-bad.smf")
    shutil.copy(REPORTS[0], folder / f"c-bad-{REPORTS[0].name}")
    shutil.copy(REPORTS[1], folder / f"d-good-{REPORTS[1].name}")
    for reader in (Dump, ReportInput):
        for name in ("batches", "inventory"):
            monkeypatch.setattr(reader, name, failing(getattr(reader, name)))
    return folder


def failing(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which fails for the bad files; `batches` after its first rows."""

    def batches(self: Dump | ReportInput, *rest: object) -> Iterator[object]:
        rows = iter(method(self, *rest))
        yield from islice(rows, 1)
        if "bad" in self.summary.file:
            raise DefectError("of the reader")
        yield from rows

    def inventory(self: Dump | ReportInput) -> object:
        if "bad" in self.summary.file:
            raise DefectError("of the reader")
        return method(self)

    return batches if method.__name__ == "batches" else inventory


def run(*words: object) -> Result:
    return CliRunner().invoke(program, [str(word) for word in words], prog_name="zscope")


def test_ingest_loads_all_other_files(inputs: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    result = run("ingest", inputs, "--store", store, "--timezone", "UTC", "--format", "json")
    assert result.exit_code == 8, result.output
    status = {Path(row["file"]).name[:5]: row["status"] for row in json.loads(result.stdout)}
    assert status == {"a-goo": "loaded", "b-bad": "refused", "c-bad": "refused", "d-goo": "loaded"}
    assert "reader-failed" in result.stderr
    reports = [json.loads(path.read_text()) for path in (store / "quarantine").iterdir()]
    assert {Path(report["file"]).name[:5] for report in reports} == {"b-bad", "c-bad"}
    for report in reports:
        assert report["failure"]["error"].startswith("DefectError")
        assert any("test_bulkhead.py" in call for call in report["failure"]["calls"])
        assert report["reasons"][0]["code"] == "reader-failed"


@pytest.mark.deep
def test_refused_and_skipped_files_are_issues_of_the_store(inputs: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    (inputs / "notes.txt").write_text("nothing that zscope reads\n" * 20)
    assert run("ingest", inputs, "--store", store, "--timezone", "UTC", "-q").exit_code == 8
    rows = json.loads(run("issues", "--store", store, "--format", "json").stdout)
    without = {Path(row["file"]).name[:5]: row["code"] for row in rows if row["load_id"] is None}
    assert without == {"b-bad": "reader-failed", "c-bad": "reader-failed", "notes": "not-an-input"}
    commits = sorted((store / "commits").iterdir())
    assert run("ingest", inputs, "--store", store, "--timezone", "UTC", "-q").exit_code == 8
    assert sorted((store / "commits").iterdir()) == commits, "the same issues are not committed again"
    next(inputs.glob("b-bad*")).write_bytes(b"")
    (inputs / "notes.txt").write_bytes(REPORTS[2].read_bytes())
    assert run("ingest", inputs, "--store", store, "--timezone", "UTC", "-q").exit_code == 8
    rows = json.loads(run("issues", "--store", store, "--format", "json").stdout)
    without = {Path(row["file"]).name[:5]: row["code"] for row in rows if row["load_id"] is None}
    assert without == {"b-bad": "empty", "c-bad": "reader-failed"}, "the last attempt counts"


@pytest.mark.parametrize("command", [("decode", "-t", "smf119_tcp_term"), ("inventory",)])
def test_decode_and_inventory_read_all_other_files(inputs: Path, command: tuple[str, ...]) -> None:
    result = run(*command, inputs, "--format", "json")
    assert result.exit_code == 8, result.output
    assert "reader-failed" in result.stderr
    assert json.loads(result.stdout)


def test_python_programs_get_an_issue(inputs: Path) -> None:
    result = read(inputs, "smf119_tcp_term")
    assert sorted(Path(issue.file).name[:5] for issue in result.issues if issue.code == "reader-failed") == [
        "b-bad",
        "c-bad",
    ]
    assert result["smf119_tcp_term"].num_rows > 0
