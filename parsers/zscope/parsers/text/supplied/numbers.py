"""Numbers as people, spreadsheets and dashboards write them, brought to digits with a decimal point."""

from __future__ import annotations

import re
from decimal import Decimal

_SUFFIXES = {
    "K": 10**3, "k": 10**3, "M": 10**6, "Mil": 10**6, "G": 10**9, "B": 10**9, "Bil": 10**9, "T": 10**12,
    "Tri": 10**12,
}  # fmt: skip
"""Of panels of Grafana; a small m would be thousandths."""
_LONGEST = 40
_SUFFIXED = re.compile(r"(.*\d) ?([A-Za-z]+)", re.ASCII)
_WITH_BLANKS = re.compile(r"-?\d{1,3}(?:[ \xa0\u202f]\d{3})+(?:[.,]\d+)?", re.ASCII)
_WITH_COMMAS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_WITH_POINTS = re.compile(r"-?\d{1,3}(?:\.\d{3})+,\d+|-?\d{1,3}(?:\.\d{3}){2,}", re.ASCII)
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+", re.ASCII)
_EITHER = re.compile(r"-?[1-9]\d{0,2},\d{3}", re.ASCII)
"""A thousand and more, or one and something."""
_EXPONENT = re.compile(r"-?\d+(?:\.\d*)?[eE][+-]?\d{1,2}", re.ASCII)
_WHOLE = re.compile(r"(\d+)\.0+", re.ASCII)


class UnclearError(ValueError):
    """A number that can mean two; the message says which."""


def plain_number(text: str, separator: str) -> str:
    """A number as every program reads it; a text that is none stays as it is.

    A comma is a decimal one only where values are not separated by commas.

    >>> [plain_number(text, ",") for text in ("2.51 K", "1,480", "1 480", "-7", "many")]
    ['2510', '1480', '1480', '-7', 'many']
    >>> [plain_number(text, ";") for text in ("62,5", "1.480,5", "0,125", "1,234,567")]
    ['62.5', '1480.5', '0.125', '1234567']
    """
    if len(text) > _LONGEST:
        return text
    factor = 1
    if (suffixed := _SUFFIXED.fullmatch(text)) and suffixed[2] in _SUFFIXES:
        text, factor = suffixed[1], _SUFFIXES[suffixed[2]]
    digits = _digits(text, separator)
    return _whole_if_it_is(Decimal(digits) * factor) if factor > 1 and _is_plain(digits) else digits


def plain_whole(text: str, separator: str) -> str:
    """The same for a whole number, which some programs write with a zero behind the point.

    >>> plain_whole("4096.0", ","), plain_whole("2.51 K", ","), plain_whole("1e6", ",")
    ('4096', '2510', '1e6')
    """
    found = plain_number(text, separator)
    whole = _WHOLE.fullmatch(found)
    return whole[1] if whole else found


def plain_decimal(text: str, separator: str) -> str:
    """The same for any number, which some programs write with an exponent.

    >>> plain_decimal("1.5e-05", ",")
    '0.000015'
    """
    found = plain_number(text, separator)
    return f"{Decimal(found):f}" if _EXPONENT.fullmatch(found) and len(found) <= _LONGEST else found


def _digits(text: str, separator: str) -> str:
    if _WITH_BLANKS.fullmatch(text):
        text = re.sub(r"[ \xa0\u202f]", "", text)
        return text.replace(",", ".") if separator == ";" else text
    if separator == ";":
        if _EITHER.fullmatch(text):
            told = f"{text!r} can be {text.replace(',', '')} or {text.replace(',', '.')}"
            raise UnclearError(f"{told}: write it without a comma")
        if _DECIMAL_COMMA.fullmatch(text):
            return text.replace(",", ".")
        if _WITH_POINTS.fullmatch(text):
            return text.replace(".", "").replace(",", ".")
    return text.replace(",", "") if _WITH_COMMAS.fullmatch(text) else text


def _is_plain(digits: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d*)?", digits, re.ASCII) is not None


def _whole_if_it_is(value: Decimal) -> str:
    return str(int(value)) if value == value.to_integral_value() else f"{value:f}"
