"""DISPLAY CRYPTO, whose layout is not published: read by column names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.gsksrvr.displays import read_display

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.gsksrvr.gsk_grammar import crypto_lines

if TYPE_CHECKING:
    from tests.parsers.text.reading import Row

TABLE = "gsk_crypto"
COLUMNS = ("algorithm", "hardware_bits", "software_bits")

DISPLAY = """\
GSK01009I Cryptographic status
Algorithm          Hardware    Software
AES                     256         256
ChaCha20                 --         256
RSA Sign               4096        8192
"""
ROWS = [("AES", 256, 256), ("ChaCha20", None, 256), ("RSA Sign", 4096, 8192)]


def _read(lines: list[str]) -> tuple[list[Row], list[Issue], list[str]]:
    return read_display(TABLE, lines)


def _values(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in COLUMNS) for row in rows]


@pytest.mark.parametrize(
    "text",
    [
        DISPLAY,
        DISPLAY.upper().replace("CHACHA", "ChaCha").replace("SIGN", "Sign"),
        DISPLAY.replace("GSK01009I Cryptographic status", "GSK01999I Algorithms there are 0319"),
        DISPLAY.replace("\n", "\n \n"),
        DISPLAY.replace("\nAES", "\n---------          --------    --------\nAES"),
        DISPLAY.replace(" --  ", "  -  "),
        DISPLAY.replace(" --  ", " ''  "),
        DISPLAY.replace(" --  ", "     "),
        DISPLAY.replace("      4096", "4096      "),
    ],
    ids=[
        "plain",
        "upper",
        "other-id",
        "blank-lines",
        "rule",
        "hyphen",
        "quotes",
        "nothing",
        "left-justified",
    ],
)
def test_display_in_any_form(text: str) -> None:
    rows, issues, result = _read(text.splitlines())
    assert _values(rows) == ROWS
    assert issues == []
    assert result == ["GSKSRVR CRYPTO"]


def test_columns_are_read_in_the_named_order() -> None:
    swapped = DISPLAY.replace("Hardware    Software", "Software    Hardware")
    assert _values(_read(swapped.splitlines())[0]) == [(name, soft, hard) for name, hard, soft in ROWS]
    one = ["GSK01009I Cryptographic status", "Algorithm     Software", "AES                256"]
    assert _values(_read(one)[0]) == [("AES", None, 256)]


def test_word_in_place_of_a_size_is_in_extra() -> None:
    rows, issues, _ = _read(DISPLAY.replace(" --  ", "Yes  ").splitlines())
    assert _values(rows) == ROWS
    assert json.loads(rows[1]["extra"]) == {"Hardware": "Yes"}
    assert issues == []


def test_row_with_wrong_columns_is_reported() -> None:
    lines = [*DISPLAY.splitlines(), "READY", "ECC  521  521  521"]
    rows, issues, _ = _read(lines)
    assert _values(rows) == ROWS
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, n) for n in (6, 7)]


def test_wrapped_number_is_not_used() -> None:
    rows, issues, _ = _read([*DISPLAY.splitlines(), "RSA Encrypt            4096        40", "96"])
    assert _values(rows) == ROWS
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.UNKNOWN_LINE, n) for n in (6, 7)]


def test_values_without_column_names_are_not_read() -> None:
    rows, issues, result = _read([line for line in DISPLAY.splitlines() if "Hardware" not in line])
    assert rows == []
    assert [(issue.code, issue.line_no, issue.column_no) for issue in issues] == [
        (Code.REPORT_UNREADABLE, 2, 1)
    ]
    assert result == ["GSKSRVR CRYPTO"]


def test_second_display_without_its_heading_is_skipped() -> None:
    rows, issues, _ = _read(DISPLAY.splitlines() + DISPLAY.splitlines()[1:])
    assert _values(rows) == ROWS
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_UNREADABLE, 6)]


ALGORITHM = st.from_regex(r"[A-Z][A-Za-z0-9-]{0,6}( [A-Z][a-z]{1,5})?", fullmatch=True)
SIZE = st.none() | st.integers(1, 99_999)
DISPLAYS = st.lists(
    st.fixed_dictionaries({"algorithm": ALGORITHM, "hardware_bits": SIZE, "software_bits": SIZE}),
    min_size=1,
    max_size=8,
)


@given(written=DISPLAYS)
def test_round_trip(written: list[Row]) -> None:
    rows, issues, _ = _read(crypto_lines(written))
    assert [{column: row[column] for column in COLUMNS} for row in rows] == written
    assert issues == []


@given(written=DISPLAYS, data=st.data())
def test_damage_is_never_wrong_data(written: list[Row], data: st.DataObject) -> None:
    lines = crypto_lines(written)
    at = data.draw(st.integers(0, len(lines) - 1))
    width = data.draw(st.integers(20, 45))
    damaged = data.draw(
        st.sampled_from(
            [
                lines[:at] + lines[at + 1 :],
                [line[cut : cut + width] for line in lines for cut in range(0, len(line), width)],
                [*lines[:at], "$ ls", "", *lines[at:]],
                [text.upper() for text in lines],
                [" " + text for text in lines],
                lines + lines[at:],
            ]
        )
    )
    rows, issues, _ = _read(damaged)
    sizes = [(row["algorithm"].upper(), row["hardware_bits"], row["software_bits"]) for row in written]
    for row in rows:
        assert (row["algorithm"].upper(), row["hardware_bits"], row["software_bits"]) in sizes or issues


@pytest.mark.parametrize("size", ["X56", "2 6", "2S6"])
def test_a_damaged_size_is_reported(size: str) -> None:
    rows, issues, _ = read_display("gsk_crypto", DISPLAY.replace(" 256 ", f" {size} ", 1).splitlines())
    assert rows[0]["hardware_bits"] is None
    assert [issue.code for issue in issues] == [Code.BAD_VALUE]


def test_a_heading_that_contains_the_next_line_is_reported() -> None:
    rows, issues, _ = read_display("gsk_crypto", DISPLAY.replace("\n", " ", 1).splitlines())
    assert rows == []
    assert [issue.code for issue in issues] == [Code.REPORT_UNREADABLE]
