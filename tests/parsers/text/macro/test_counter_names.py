"""Names of crypto counters in macro IFASMFCN, which is not published: all texts here are made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers import Code, inventory, read

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.parsers import Issue

ASSEMBLER = """\
         MACRO
         IFASMFCN
*        Numbers of crypto counters
SMF_CrypCtrs_kFirst       EQU   1              one
SMF_CrypCtrs_kGcm_256     EQU   X'20'          hexadecimal
SMF_NNPICtrs_kAdd         EQU   1              of another set
         MEND
"""
HEADER = """\
/* Numbers of crypto counters */
#define SMF_CrypCtrs_kFirst 1
#define SMF_CrypCtrs_kGcm_256 (32)
#define SMF_CrypCtrs_kLast 0xAC /* hexadecimal */
"""


def names_in(folder: Path, text: str) -> tuple[list[tuple[Any, ...]], list[Issue]]:
    path = folder / "ifasmfcn.txt"
    path.write_text(text)
    result = read(path, "counter_name")
    rows = result["counter_name"].select(["line_no", "counter_number", "counter_name"]).to_pylist()
    return [tuple(row.values()) for row in rows], list(result.issues)


def test_equates_are_names_by_number(tmp_path: Path) -> None:
    assert names_in(tmp_path, ASSEMBLER) == ([(4, 1, "First"), (5, 32, "Gcm_256")], [])


def test_definitions_of_the_header_are_the_same(tmp_path: Path) -> None:
    assert names_in(tmp_path, HEADER) == ([(2, 1, "First"), (3, 32, "Gcm_256"), (4, 172, "Last")], [])


def test_the_text_is_recognised_in_ebcdic_and_with_line_numbers(tmp_path: Path) -> None:
    lines = [f"{line:72}{number:08}" for number, line in enumerate(ASSEMBLER.splitlines(), 1)]
    path = tmp_path / "IFASMFCN"
    path.write_bytes("".join(f"{line:80}" for line in lines).encode("cp037"))
    rows = read(path, "counter_name")["counter_name"]["counter_name"].to_pylist()
    assert rows == ["First", "Gcm_256"]


def test_the_inventory_names_the_text(tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    path.write_text(ASSEMBLER)
    assert inventory(path).rows.select(["report", "source", "records"]).to_pylist() == [
        {"report": "IFASMFCN", "source": "text", "records": 1}
    ]


@pytest.mark.parametrize("number", ["65536", "1A", "X'10000'", "X'G'", "(1"])
def test_a_number_that_cannot_be_read_is_null_and_an_issue(tmp_path: Path, number: str) -> None:
    rows, (issue,) = names_in(tmp_path, ASSEMBLER.replace("X'20'", number))
    assert rows == [(4, 1, "First"), (5, None, "Gcm_256")]
    assert (issue.code, issue.line_no, issue.field) == (Code.BAD_VALUE, 5, "Number")


@pytest.mark.parametrize("number", ["0", "65535", "X'FFFF'", "00032"])
def test_the_least_and_the_greatest_number(tmp_path: Path, number: str) -> None:
    expected = 0xFFFF if "F" in number else int(number)
    assert names_in(tmp_path, ASSEMBLER.replace("X'20'", number)) == (
        [(4, 1, "First"), (5, expected, "Gcm_256")],
        [],
    )


@pytest.mark.parametrize(
    "line",
    [
        "SMF_CrypCtrx_kGcm_256     EQU   X'20'",
        "SM_CrypCtrs_kGcm_256      EQU   X'20'",
        "SMF_CrypCtrs_kGcm_256     EQV   X'20'",
        "SMF_CrypCtrs_kGcm_256     EQU",
        "SMF_CrypCtrs_kGcm_256",
        "SMF_CrypCtrs_kGcm_256     EQU   SMF_CrypCtrs_kFirst+1",
        "SMF_CrypCtrs_kGcm_256     EQU   *",
        "SMF_CrypCtrs_kGcm_256     EQU   -1",
        "#defne SMF_CrypCtrs_kGcm_256 32",
    ],
)
def test_a_damaged_line_is_an_issue(tmp_path: Path, line: str) -> None:
    text = ASSEMBLER.replace("SMF_CrypCtrs_kGcm_256     EQU   X'20'          hexadecimal", line)
    rows, (issue,) = names_in(tmp_path, text)
    assert rows == [(4, 1, "First")]
    assert (issue.code, issue.line_no) == (Code.UNKNOWN_LINE, 5)


def test_a_number_with_two_names_is_an_issue(tmp_path: Path) -> None:
    rows, (issue,) = names_in(tmp_path, ASSEMBLER.replace("X'20'", "1"))
    assert rows == [(4, 1, "First"), (5, 1, "Gcm_256")]
    assert (issue.code, issue.line_no) == (Code.REPORT_REPEATED, 5)
    assert "has another name in line 4" in issue.text


@given(
    st.dictionaries(
        st.integers(0, 0xFFFF), st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,30}", fullmatch=True), min_size=1
    )
)
def test_any_names_are_read_as_they_are_written(
    tmp_path_factory: pytest.TempPathFactory, names: dict[int, str]
) -> None:
    text = "".join(f"SMF_CrypCtrs_k{name} EQU {number}\n" for number, name in names.items())
    rows, issues = names_in(tmp_path_factory.getbasetemp(), text)
    assert ([row[1:] for row in rows], issues) == (list(names.items()), [])
