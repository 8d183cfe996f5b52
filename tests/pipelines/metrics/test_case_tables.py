"""The rows of cases as small tables: the three forms, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from tests.pipelines.metrics.case_tables import CaseError, read_cell, read_rows

TYPES = {"system": "VARCHAR", "bytes": "BIGINT", "why": "VARCHAR", "tags": "VARCHAR[]"}
IN_LINES = """
# The first row has no reason.
system  bytes  why                tags
SYSA    100    -                  ["a", "b c"]  # a comment
SYSB    NULL   "- two  blanks #"  -
"""
IN_COLUMNS = """
system:  SYSA           SYSB
bytes:   100            NULL
# Comments are between lines, too.
why:     -              "- two  blanks #"
tags:    ["a", "b c"]  -
"""
IN_PAIRS = """
system: SYSA  bytes: 100
tags: ["a", "b c"]

system: SYSB  bytes: NULL  why: "- two  blanks #"
"""
ROWS = [
    {"system": "SYSA", "bytes": 100, "tags": ["a", "b c"]},
    {"system": "SYSB", "bytes": None, "why": "- two  blanks #"},
]


@pytest.mark.parametrize("text", [IN_LINES, IN_COLUMNS, IN_PAIRS])
def test_rows_are_the_same_in_each_form(text: str) -> None:
    assert read_rows(text, TYPES) == ROWS


def test_an_empty_text_has_no_rows_and_a_dash_is_a_row_without_columns() -> None:
    assert read_rows("", TYPES) == []
    assert read_rows("system: -", TYPES) == read_rows("system\n-", TYPES) == [{}]


@pytest.mark.parametrize(
    ("cell", "kind", "value"),
    [
        ("NULL", "DOUBLE", None),
        ('"NULL"', "VARCHAR", "NULL"),
        ("-1", "INTEGER", -1),
        ("1e-6", "DOUBLE", 1e-6),
        ("false", "BOOLEAN", False),
        ("2026-03-02", "DATE", date(2026, 3, 2)),
        ("2026-03-02T10:00", "TIMESTAMP", datetime(2026, 3, 2, 10)),  # noqa: DTZ001 - a local time
        ("2026-03-02T10:00Z", "TIMESTAMP WITH TIME ZONE", datetime(2026, 3, 2, 10, tzinfo=UTC)),
        ("{ a = 1 }", "MAP(VARCHAR, BIGINT)", {"a": 1}),
    ],
)
def test_a_cell_has_the_type_of_its_column(cell: str, kind: str, value: object) -> None:
    assert read_cell(cell, kind) == value
    assert type(read_cell(cell, kind)) is type(value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("system\n\nSYSA", "there is no column SYSA"),
        ("job\nA", "there is no column job"),
        ("system  bytes\nSYSA", "1 cells for 2 columns"),
        ("system  bytes\nSYSA 1", "1 cells for 2 columns"),
        ("bytes\nten", "ten is no BIGINT"),
        ("system  system\nA  B", "a column is named twice"),
        ("system:  A  B\nbytes:  1", "the columns have different numbers of rows"),
        ("system:  A  B\nbytes  1  2", "a colon is missing after the column bytes"),
        ("system: A  bytes 1", "not a column, a colon, a blank and a value: bytes 1"),
    ],
)
def test_what_is_no_table_is_refused(text: str, problem: str) -> None:
    with pytest.raises(CaseError, match=problem):
        read_rows(text, TYPES)


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("2026-03-02T10:00", "TIMESTAMP WITH TIME ZONE"),
        ("2026-03-02T10:00Z", "TIMESTAMP"),
        ("yes", "BOOLEAN"),
        ("1.5", "BIGINT"),
        ('"open', "VARCHAR"),
    ],
)
def test_a_cell_of_another_type_is_refused(cell: str, kind: str) -> None:
    with pytest.raises(CaseError, match=f"is no {kind}"):
        read_cell(cell, kind)
