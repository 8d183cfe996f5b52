"""Rows and lines that are taken in stretches are read as line by line, in good and in damaged texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.marking import deep_except
from tests.parsers.text.faults.displays_of_all_kinds import CAPTURES
from tests.parsers.text.faults.silent_losses import SAMPLE_DATA, content_of, name_of, text_inputs
from tests.parsers.text.faults.text_faults import cuts, line_faults

from zscope.parsers import ReadOptions
from zscope.parsers.api import reader_for
from zscope.parsers.inputs import members_of
from zscope.parsers.issues import InputError, Issues
from zscope.parsers.options import Selection
from zscope.parsers.text.input_lines import InputLines
from zscope.parsers.text.netstat.conn import conn_lines
from zscope.parsers.text.report_input import ReportInput
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from zscope.parsers.text.captured_report import Line, RowStretch
    from zscope.parsers.text.line_ledger import LineUse
    from zscope.parsers.text.report_family import PlainRow

_ROWS = [
    {
        "job_name": f"JOB{number % 7}",
        "connection_id": 0x1A0 + number,
        "local_ip": "10.1.2.3" if number % 3 else "2001:db8::7",
        "local_port": 443,
        "remote_ip": f"192.0.2.{number}" if number % 5 else None,
        "remote_port": 1024 + number if number % 5 else None,
        "state": "Establsh" if number % 5 else "UDP",
        "application_data": "EZAFTP0D" if number % 11 == 8 else None,
    }
    for number in range(60)
]
_DISPLAYS = {
    f"display/conn-{'long' if long else 'short'}": "\n".join(conn_lines(_ROWS, long=long, mapped=long)) + "\n"
    for long in (False, True)
}
INPUTS = {name_of(path): path for path in text_inputs(SAMPLE_DATA)}
NAMES = [*_DISPLAYS, *(f"capture/{name}" for name in CAPTURES), *INPUTS]


class _Everything(NamedTuple):
    """What was read of a file, with the use of each line."""

    rows: dict[str, list[dict[str, Any]]]
    issues: list[str]
    uses: list[LineUse]


def _everything(path: Path) -> Iterator[_Everything]:
    """Read all tables of the texts of a file."""
    issues = Issues()
    for member in members_of([path], issues):
        try:
            reader = reader_for(member, ReadOptions(), issues)
        except InputError as error:
            yield _Everything({}, [str(error.issue)], [])
            continue
        if not isinstance(reader, ReportInput) or reader.kind != "text":
            continue
        rows: dict[str, list[dict[str, Any]]] = {}
        for table, batch in reader.batches(Selection(dict.fromkeys(report_tables()))):
            rows.setdefault(table, []).extend(batch.to_pylist())
        uses = [reader.ledger.use_of(number) for number in range(1, reader.summary.lines + 1)]
        yield _Everything(rows, [str(issue) for issue in issues], uses)


def _take_no_rows(self: InputLines, form: PlainRow) -> None: ...


def _take_no_lines(self: InputLines, is_taken: Callable[[str], bool], most: int) -> list[Line]:  # noqa: ARG001
    return []


def _assert_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_stretches = list(_everything(path))
    with monkeypatch.context() as patch:
        patch.setattr(InputLines, "take_rows", _take_no_rows)
        patch.setattr(InputLines, "take_lines", _take_no_lines)
        line_by_line = list(_everything(path))
    assert in_stretches == line_by_line


def _text(name: str) -> str:
    if name in INPUTS:
        return content_of(INPUTS[name])
    return _DISPLAYS[name] if name in _DISPLAYS else CAPTURES[name.removeprefix("capture/")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("faults", deep_except([4], [4, 24]))
def test_texts_and_damaged_texts_are_read_alike(
    name: str, faults: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name.rpartition("/")[2].removesuffix(".gz")
    text = _text(name)
    damaged = [*cuts(text, faults // 4, name), *line_faults(text, faults, name)]
    for variant in (text, *(fault.applied(text) for fault in damaged)):
        path.write_text(variant, encoding="utf-8", newline="")
        _assert_same(path, monkeypatch)


def test_real_files_are_read_alike(real_contents: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for path in real_contents:
        _assert_same(path, monkeypatch)


@pytest.mark.parametrize("name", _DISPLAYS)
def test_nearly_all_rows_are_taken_in_stretches(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[RowStretch] = []
    take = InputLines.take_rows

    def noted(self: InputLines, form: PlainRow) -> RowStretch | None:
        stretch = take(self, form)
        taken.extend([stretch] if stretch else [])
        return stretch

    monkeypatch.setattr(InputLines, "take_rows", noted)
    path = tmp_path / "conn.txt"
    path.write_text(_DISPLAYS[name], encoding="utf-8")
    (reading,) = _everything(path)
    assert sum(stretch.last_no - stretch.no + 1 for stretch in taken) > 0.75 * len(reading.uses)
    assert [row["connection_id"] for row in reading.rows["netstat_conn"]] == [
        row["connection_id"] for row in _ROWS
    ]
