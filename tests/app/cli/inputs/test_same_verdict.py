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

pytestmark = pytest.mark.usefixtures("loads_alone")
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


def _commands(path: Path, folder: Path) -> dict[str, tuple[object, ...]]:
    commands: dict[str, tuple[object, ...]] = {
        "inventory": ("inventory", path),
        "ingest": ("ingest", path, "--store", folder / "store"),
    }
    return commands | {f"decode {table}": ("decode", path, "--table", table) for table in TABLES}


def _verdicts(run: Run, path: Path, folder: Path) -> list[tuple[str, bool, list[tuple[str, str]]]]:
    """Return for each command whether its exit code is that of a refused input, and refusals by file."""
    decisive = {code.value for code in REFUSALS} | {Code.NOT_AN_INPUT.value}
    verdicts = []
    for name, arguments in _commands(path, folder).items():
        issues = folder / f"{name}.json"
        result = run(*arguments, "--issues", issues, "-q")
        rows = json.loads(issues.read_text(encoding="utf-8") or "[]") if issues.exists() else []
        found = sorted((row["file"], row["code"]) for row in rows if row["code"] in decisive)
        verdicts.append((name, result.exit_code in {2, 8}, found))
    return verdicts


def _assert_same(run: Run, path: Path, folder: Path) -> list[tuple[str, str]]:
    """Compare the verdicts, of each file in a folder, and return the refusals."""
    verdicts = _verdicts(run, path, folder)
    _, refused, found = verdicts[0]
    assert all(each[1:] == (refused, found) for each in verdicts), verdicts
    return found


@pytest.mark.deep
@pytest.mark.parametrize("number", range(len(NO_RECORDS)))
def test_inputs_without_records(run: Run, tmp_path: Path, number: int) -> None:
    path = tmp_path / "input"
    path.write_bytes(NO_RECORDS[number])
    _assert_same(run, path, tmp_path)


@pytest.mark.parametrize("name", deep_except(["truncated", "rmf-title"], damaged_inputs()))
def test_damaged_inputs(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(damaged_inputs()[name].content())
    _assert_same(run, path, tmp_path)


def _folder(tmp_path: Path, files: dict[str, bytes]) -> Path:
    folder = tmp_path / "inputs"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_unusable_inputs_in_a_folder(run: Run, tmp_path: Path) -> None:
    """A folder can have files of others, so some verdicts differ from that on the file alone."""
    damaged = {name: each.content() for name, each in damaged_inputs().items()}
    files = damaged | {f"without-{number}": content for number, content in enumerate(NO_RECORDS)}
    found = _assert_same(run, _folder(tmp_path, files), tmp_path)
    refused = {Path(file).name for file, _ in found}
    assert len(refused) > len(NO_RECORDS) / 2
    assert "truncated" not in refused


def test_displays_in_envelopes(run: Run, tmp_path: Path) -> None:
    contents = {
        name: envelope(list(displays()[len(name) % len(displays())].lines))
        for name, envelope in ENVELOPES.items()
    }
    files = {
        name.replace("/", " "): text.encode() if isinstance(text, str) else text
        for name, text in contents.items()
    }
    assert _assert_same(run, _folder(tmp_path, files), tmp_path) == []


@pytest.mark.deep
def test_sample_data(run: Run, tmp_path: Path) -> None:
    files = {f"{path.parent.name}-{path.name}": path.read_bytes() for path in SAMPLES}
    assert len(files) == len(SAMPLES)
    _assert_same(run, _folder(tmp_path, files), tmp_path)


@pytest.mark.deep
def test_real_files(run: Run, tmp_path: Path, real_data: Path) -> None:
    for number, path in enumerate(sorted(each for each in real_data.rglob("*") if each.is_file())):
        (tmp_path / str(number)).mkdir()
        _assert_same(run, path, tmp_path / str(number))
