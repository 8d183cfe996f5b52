"""The verdicts of `inventory`, `decode` and `ingest` are equal: recognised, refused or passed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.app.cli.inputs.damaged_inputs import damaged_inputs
from tests.marking import deep_except
from tests.parsers.text.envelopes import CHECKOUT, ENVELOPES, displays

from zscope.parsers.issues import REFUSALS, Code

if TYPE_CHECKING:
    from tests.app.conftest import Run

NO_RECORDS = (
    b"", b"\n", b"{}", b"[]", b"null", b"Dear all,\n", b'{"cmd-response": ""}', b'{"a": 1}\n{"a": 2}\n',
    b"<a/>", b"<?xml version='1.0'?>\n<ddsml><postprocessor/></ddsml>",
    b"<!DOCTYPE html>\n<html><p>Hello</p></html>",
    b"a,b,c\n1,2,3\n", bytes(range(256)) * 9, b"\x1b[1mHello\x1b[0m\n" * 9, b"Hello\0\0\0\0\n" * 9,
    b'{"cmd-response": "IEE136I LOCAL: TIME=09.45.02"}', b"VM TCP/IP Netstat Level 720\n\nActive\n",
    b"EZD0101I NETSTAT CS V2R5 TCPIP\nEND OF THE REPORT\n", b"PK\x03\x04damaged", b"\x1f\x8bdamaged",
)  # fmt: skip
"""Contents without a record or a row."""
SAMPLES = sorted(
    path
    for folder in ("reports", "world", "systems")
    for path in (CHECKOUT / "sample-data" / folder).rglob("*")
    if path.is_file() and path.stat().st_size < 300_000
)
TABLES = ("netstat_conn", "smf70_cpu")
"""Tables of displays and of records: a table must not decide what the input is."""


def _verdict(issues: Path, code: int) -> tuple[bool, list[str]]:
    """Return whether the exit code is that of a refused input, and the codes of refusal."""
    rows = json.loads(issues.read_text(encoding="utf-8") or "[]") if issues.exists() else []
    decisive = {code.value for code in REFUSALS} | {Code.NOT_AN_INPUT.value}
    return code in {2, 8}, sorted(row["code"] for row in rows if row["code"] in decisive)


def _assert_same(run: Run, path: Path, folder: Path) -> None:
    verdicts = {}
    commands = {"inventory": ("inventory", path), "ingest": ("ingest", path, "--store", folder / "store")}
    commands |= {f"decode {table}": ("decode", path, "--table", table) for table in TABLES}
    for name, arguments in commands.items():
        issues = folder / f"{name}.json"
        result = run(*arguments, "--issues", issues, "-q")
        verdicts[name] = _verdict(issues, result.exit_code)
    assert len(set(map(str, verdicts.values()))) == 1, (path, verdicts)


@pytest.mark.deep
@pytest.mark.parametrize("number", range(len(NO_RECORDS)))
@pytest.mark.parametrize("in_folder", [False, True])
def test_inputs_without_records(run: Run, tmp_path: Path, number: int, in_folder: bool) -> None:
    path = tmp_path / "inputs" / "input"
    path.parent.mkdir()
    path.write_bytes(NO_RECORDS[number])
    _assert_same(run, path.parent if in_folder else path, tmp_path)


@pytest.mark.parametrize("name", deep_except(["truncated", "rmf-title"], damaged_inputs()))
def test_damaged_inputs(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "inputs" / name
    path.parent.mkdir()
    path.write_bytes(damaged_inputs()[name][1])
    _assert_same(run, path, tmp_path)
    (tmp_path / "folder").mkdir()
    _assert_same(run, path.parent, tmp_path / "folder")


@pytest.mark.deep
@pytest.mark.parametrize("name", ENVELOPES)
def test_displays_in_envelopes(run: Run, tmp_path: Path, name: str) -> None:
    content = ENVELOPES[name](list(displays()[len(name) % len(displays())].lines))
    path = tmp_path / "input"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    _assert_same(run, path, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_sample_data(run: Run, tmp_path: Path, path: Path) -> None:
    _assert_same(run, path, tmp_path)


@pytest.mark.deep
def test_real_files(run: Run, tmp_path: Path, real_data: Path) -> None:
    for number, path in enumerate(sorted(each for each in real_data.rglob("*") if each.is_file())):
        (tmp_path / str(number)).mkdir()
        _assert_same(run, path, tmp_path / str(number))
