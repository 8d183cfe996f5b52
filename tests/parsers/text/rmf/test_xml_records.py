"""Documents that were cut into records in the middle of words have the rows of the whole document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.parsers.text.rmf.test_rmf_xml import GOLDEN, XmlReading

from zscope.parsers import read
from zscope.parsers.text.rmf.xml_records import joined_records, record_width
from zscope.schemas.reports import report_tables

SAMPLES = Path("sample-data")
WORKLOAD = SAMPLES / "world" / "rmf" / "rmf-workload.SRV1.2026-03-09.xml"
CPU = SAMPLES / "reports" / "rmf-cpu.SYSA.xml"


def _lines_cut(text: str, width: int) -> str:
    return "".join(
        f"{line[at : at + width]}\n" for line in text.split("\n") for at in range(0, max(1, len(line)), width)
    )


def _lines_padded(text: str, width: int) -> str:
    return "".join(f"{line.ljust(width)}\n" for line in _lines_cut(text, width).splitlines())


def _one_line_cut(text: str, width: int) -> str:
    return _lines_cut(text.replace("\n", ""), width)


def _with_carriage_returns(text: str, width: int) -> str:
    return _lines_cut(text, width).replace("\n", "\r\n")


FORMS = (_lines_cut, _lines_padded, _one_line_cut, _with_carriage_returns)


def _tables(path: Path) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    result = read(path, tuple(report_tables()))
    tables = {
        name: [
            {key: row[key] for key in row if key not in {"file", "line_no"}}
            for row in result[name].to_pylist()
        ]
        for name in result
    }
    return tables, [issue.code for issue in result.issues]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [80, 133, 251])
@pytest.mark.parametrize("document", [WORKLOAD, CPU])
def test_a_document_in_records_has_the_same_rows(
    document: Path, width: int, form: Callable[[str, int], str], tmp_path: Path
) -> None:
    cut = tmp_path / document.name
    cut.write_text(form(document.read_text(encoding="utf-8"), width), encoding="utf-8", newline="")
    assert _tables(cut) == _tables(document)


@pytest.mark.parametrize("width", [80, 133, 251])
def test_a_real_document_in_records_has_the_same_rows(real_data: Path, width: int, tmp_path: Path) -> None:
    for document in sorted((real_data / "rmf").glob("*.xml")):
        cut = tmp_path / document.name
        cut.write_text(_lines_cut(document.read_text(encoding="utf-8"), width), encoding="utf-8")
        assert _tables(cut) == _tables(document)


@pytest.mark.parametrize("piece", [50, 1000, 1 << 20])
def test_lines_are_counted_and_pieces_can_end_anywhere(piece: int) -> None:
    cut = _lines_cut(GOLDEN, 60)
    assert cut != GOLDEN
    reading = XmlReading(cut.encode(), piece)
    assert reading.issues == []
    rows, expected = reading.rows("rmf_partition"), XmlReading(GOLDEN).rows("rmf_partition")
    lines = cut.split("\n")
    for row in rows:
        near = "".join(lines[max(0, row["line_no"] - 2) : row["line_no"] + 8])
        assert row["partition_name"] in near
    for row in (*rows, *expected):
        del row["line_no"]
    assert rows == expected


def test_whole_lines_are_unchanged() -> None:
    assert record_width(GOLDEN) is None
    assert "".join(joined_records(iter([GOLDEN[:100], GOLDEN[100:]]))) == GOLDEN


def test_as_many_line_ends_as_the_records_have() -> None:
    cut = _one_line_cut(GOLDEN, 80)
    joined = "".join(joined_records(iter([cut])))
    assert joined.replace("\n", "") == GOLDEN.replace("\n", "")
    assert joined.count("\n") == cut.count("\n")
