"""Lines of labels and values."""

from __future__ import annotations

from time import process_time

import pytest
from tests.marking import deep_except

from zscope.parsers.issues import Code, Issues
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.netstat.all import _COMMON
from zscope.parsers.text.netstat.netstat_labels import NetstatRow, pairs_of
from zscope.parsers.text.report_rows import FileRows, ReportRows


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", []),
        ("  a  b  ", [("", "a  b")]),
        ("A:", [("A", "")]),
        ("A: B: c", [("A", "B: c")]),
        ("A:  B: c", [("A", ""), ("B", "c")]),
        ("A:  b  c   D d:", [("A", "b  c"), ("D d", "")]),
        ("x a b: c", [("x a b", "c")]),
        ("x  a b: c", [("", "x"), ("a b", "c")]),
        ("A : b", [("", "A : b")]),
        ("A:b", [("", "A:b")]),
        ("10.1.2.3..443  Port: 1", [("", "10.1.2.3..443"), ("Port", "1")]),
        ("Bytes in   = 12  13", [("Bytes in", "12  13")]),
        ("Bytes =12", [("", "Bytes =12")]),
        ("A: b = c", [("A", "b = c")]),
        ("A:\tb", [("A", "b")]),
    ],
)
def test_labels_of_a_line(text: str, pairs: list[tuple[str, str]]) -> None:
    assert pairs_of(text) == pairs


@pytest.mark.parametrize("piece", ["a ", "a  ", "a: ", "a:  ", "a:b", "a = ", "= ", ": ", " ", "a", "a:  b "])
@pytest.mark.parametrize("length", deep_except([20_000], [20_000, 100_000]))
def test_long_lines_take_linear_time(piece: str, length: int) -> None:
    line = piece * length
    begin = process_time()
    for text in (line, f"{line}:", f"{line}=", f"x: {line}"):
        pairs_of(text)
        _COMMON.match(text)
    assert process_time() - begin < 20


@pytest.mark.parametrize(
    ("label", "missing"), [("TTLSPzlicy", "TTLSPolicy"), ("YesTTLSRule", "TTLSRule"), ("Brand new", "")]
)
def test_an_unknown_label_beside_a_missing_known_one_is_reported(label: str, missing: str) -> None:
    out = ReportRows(FileRows({"netstat_all": None}, Issues(), "x"), Origin(ReportSource.TERMINAL))
    row = NetstatRow("netstat_all", 7)
    row.keep(label, "Yes")
    row.write(out)
    issues = [(issue.code, issue.line_no) for issue in out.sheet.issues]
    assert issues == ([(Code.UNKNOWN_COLUMN, 7)] if missing else [])
    assert all(f"{missing} is missing" in issue.text for issue in out.sheet.issues)
