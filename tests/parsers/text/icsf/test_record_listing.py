"""Listings of CSFSMFR. All texts are made up: of one subtype a layout is published, of the others none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers import Code, inventory, read

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.parsers import Issue

LISTING = """\
Subtype=0031 Made-Up Key Event
Written when a key is made up
in a test
2 Mar 2026 09:15:42.21
   TME... 0032D1F0 DTE... 0126061F SID... SYSA    SSI... 00000000 STY... 0031
   SYSNME SY1
   MKFLGS C0
          80 This system began it
          40 All systems followed
   KDSN.. NAME.OF.DATA.SET

Subtype=7ABC Made-Up Statistics
3 Mar 2026 00:15:00
   TME... 00000000 SID... SYSB    STY... 7ABC
   ENG... CPACF    CNT... 00012345
   JOB... MY JOB
   EMPTY.
"""


def rows_of(folder: Path, text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Issue]]:
    path = folder / "csfsmfr.txt"
    path.write_text(text)
    result = read(path, "icsf_record,icsf_value")
    return result["icsf_record"].to_pylist(), result["icsf_value"].to_pylist(), list(result.issues)


def pairs(values: list[dict[str, Any]]) -> list[tuple[int, str, str | None]]:
    return [(row["record_subtype"], row["value_key"], row["printed_value"]) for row in values]


def test_records_of_any_subtype_are_rows(tmp_path: Path) -> None:
    records, _, issues = rows_of(tmp_path, LISTING)
    names = (
        "line_no",
        "system",
        "system_from",
        "taken_local",
        "record_subtype",
        "title",
        "description",
        "value_count",
    )
    rows = [row | {"taken_local": str(row["taken_local"])} for row in records]
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, "SYSA", "report", "2026-03-02 09:15:42.210000", 0x31, "Made-Up Key Event",
         "Written when a key is made up in a test", 8),
        (12, "SYSB", "report", "2026-03-03 00:15:00", 0x7ABC, "Made-Up Statistics", None, 7),
    ]  # fmt: skip
    assert issues == []


def test_all_keys_are_kept_with_values_and_explanations(tmp_path: Path) -> None:
    _, values, _ = rows_of(tmp_path, LISTING)
    assert pairs(values) == [
        (0x31, "TME", "0032D1F0"), (0x31, "DTE", "0126061F"), (0x31, "SID", "SYSA"),
        (0x31, "SSI", "00000000"), (0x31, "STY", "0031"), (0x31, "SYSNME", "SY1"), (0x31, "MKFLGS", "C0"),
        (0x31, "KDSN", "NAME.OF.DATA.SET"), (0x7ABC, "TME", "00000000"), (0x7ABC, "SID", "SYSB"),
        (0x7ABC, "STY", "7ABC"), (0x7ABC, "ENG", "CPACF"),
        (0x7ABC, "CNT", "00012345"), (0x7ABC, "JOB", "MY JOB"), (0x7ABC, "EMPTY", None),
    ]  # fmt: skip
    explained = {row["value_key"]: row["explanation"] for row in values if row["explanation"]}
    assert explained == {"MKFLGS": "80 This system began it; 40 All systems followed"}
    places = [(row["record_line"], row["line_no"], row["value_no"]) for row in values]
    assert places[:7] == [(1, 5, n) for n in range(1, 6)] + [(1, 6, 6), (1, 7, 7)]
    assert {row["system"] for row in values if row["record_line"] == 12} == {"SYSB"}


def test_the_inventory_counts_the_records_of_each_system(tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    path.write_text(LISTING)
    assert inventory(path).rows.select(["report", "source", "records"]).to_pylist() == [
        {"report": "CSFSMFR", "source": "text", "records": 1},
        {"report": "CSFSMFR", "source": "text", "records": 1},
    ]


def test_a_listing_in_ebcdic_with_a_margin_of_one_blank(tmp_path: Path) -> None:
    path = tmp_path / "LIST"
    path.write_bytes("".join(f"{line:80}" for line in LISTING.splitlines()).encode("cp037"))
    assert read(path, "icsf_value")["icsf_value"].num_rows == 15


def test_a_record_without_values_is_an_issue(tmp_path: Path) -> None:
    records, values, issues = rows_of(tmp_path, LISTING[: LISTING.index("   TME")])
    assert ([row["value_count"] for row in records], values) == ([0], [])
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_CUT, 1)]


def test_a_subtype_that_contradicts_the_heading_is_an_issue(tmp_path: Path) -> None:
    _, _, (issue,) = rows_of(tmp_path, LISTING.replace("STY... 0031", "STY... 0032"))
    assert (issue.code, issue.line_no, issue.field) == (Code.BAD_VALUE, 5, "STY")


@pytest.mark.parametrize(
    "line", ["5 Agu 2020 16:40:42.21", "32 Aug 2020 16:40:42.21", "5 Aug 2020 26:40:42.21"]
)
def test_a_time_that_is_none_is_text_and_the_record_has_no_date(tmp_path: Path, line: str) -> None:
    (first, _), _, (issue,) = rows_of(tmp_path, LISTING.replace("2 Mar 2026 09:15:42.21", line))
    assert (first["taken_local"], first["time_from"]) == (None, "none")
    assert first["description"].endswith(line)
    assert issue.code is Code.NO_DATE


def test_a_line_that_is_neither_key_nor_explanation_is_an_issue(tmp_path: Path) -> None:
    records, values, (issue,) = rows_of(tmp_path, LISTING.replace("   SYSNME SY1", "   sysnme SY1"))
    assert (len(records), len(values)) == (2, 14)
    assert (issue.code, issue.line_no) == (Code.UNKNOWN_LINE, 6)


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[A-Z][A-Z0-9]{2,5}", fullmatch=True),
            st.from_regex(r"[A-Z0-9]([A-Z0-9.]{0,20}[A-Z0-9])?( [A-Z0-9]{1,5})?", fullmatch=True),
        ),
        min_size=1,
        max_size=8,
    ),
    st.integers(0, 0xFFFF),
)
def test_any_keys_are_read_as_they_are_written(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[str, str]], subtype: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    lines = [f"   {key:.<6} {value}" for key, value in written if key not in {"SID", "STY"}]
    text = "\n".join([f"Subtype={subtype:04X} Made up", "2 Mar 2026 09:15:42.21", *lines, "   LAST.. 1", ""])
    _, values, issues = rows_of(folder, text)
    expected = [(subtype, key, value) for key, value in written if key not in {"SID", "STY"}]
    assert (pairs(values), issues) == ([*expected, (subtype, "LAST", "1")], [])
