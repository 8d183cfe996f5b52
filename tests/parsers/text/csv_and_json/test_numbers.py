"""Numbers as users, spreadsheets and dashboards write them, and ambiguous ones."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers.text.csv_and_json.drafts import UnclearError, plain_decimal, plain_number, plain_whole


@pytest.mark.parametrize(
    ("text", "separator", "plain"),
    [
        ("1480", ",", "1480"),
        ("1,480", ",", "1480"),
        ("1,234,567.5", ",", "1234567.5"),
        ("1,234,567.5", ";", "1234567.5"),
        ("1,234,567", ";", "1234567"),
        ("1 480", ",", "1480"),
        ("1\u202f480", ";", "1480"),
        ("1 480,5", ";", "1480.5"),
        ("62,5", ";", "62.5"),
        ("1480,500", ";", "1480.500"),
        ("0,480", ";", "0.480"),
        ("1.480,5", ";", "1480.5"),
        ("1.234.567", ";", "1234567"),
        ("1.480", ";", "1.480"),
        ("2.51 K", ",", "2510"),
        ("2.51K", "\t", "2510"),
        ("2,51 K", ";", "2510"),
        ("1.5 Mil", ",", "1500000"),
        ("0.0125 k", ",", "12.5000"),
        ("-7", ",", "-7"),
    ],
)
def test_a_number_has_one_meaning(text: str, separator: str, plain: str) -> None:
    assert plain_number(text, separator) == plain


@pytest.mark.parametrize(
    "text", ["", "many", "12 m", "2.51 Q", "62,5", "1,48", "1 48", "12,34,567", "1.2.3", "--", "K", "9" * 50]
)
def test_other_text_than_numbers_is_unchanged(text: str) -> None:
    assert plain_number(text, ",") == text


def test_an_ambiguous_number_is_refused() -> None:
    with pytest.raises(UnclearError, match=r"'1,480' can mean 1480 or 1\.480: write it without a comma"):
        plain_number("1,480", ";")
    with pytest.raises(UnclearError):
        plain_number("1,480 K", ";")


def test_programs_write_whole_numbers_with_a_point_and_small_ones_with_an_exponent() -> None:
    assert (plain_whole("4096.0", ","), plain_whole("4096.5", ",")) == ("4096", "4096.5")
    assert (plain_decimal("1.5e-05", ","), plain_decimal("2E3", ",")) == ("0.000015", "2000")
    assert plain_whole("1e6", ",") == "1e6"


@given(st.text(max_size=50), st.sampled_from(",;\t"))
def test_any_text_is_read_without_an_exception(text: str, separator: str) -> None:
    for plain in (plain_number, plain_whole, plain_decimal):
        with suppress(UnclearError):
            assert isinstance(plain(text, separator), str)


@given(st.floats(0, 1e15), st.sampled_from(",;\t"))
def test_numbers_printed_by_python_are_unchanged(value: float, separator: str) -> None:
    assert float(plain_decimal(repr(value), separator)) == value
