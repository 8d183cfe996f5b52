"""The value of a cell as its column has it, or what is wrong with the cell."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.out import NOTHING_PRINTED, shown
from zscope.parsers.text.supplied.numbers import UnclearError, plain_decimal, plain_whole
from zscope.schemas.printed import PrintedField, PrintedFormat

_NOTHING = NOTHING_PRINTED | {"NULL", "NAN", "UNDEFINED"}
_NO_TEXT = {"", "N/A"}
_NUMBERS = (PrintedFormat.COUNT, PrintedFormat.NUMBER)


class BadCellError(ValueError):
    """A cell without the value it should have; the message says why."""


def value_of(printed: PrintedField, text: str, separator: str) -> Any:  # noqa: ANN401 - as declared
    """The value of a cell; None where it says that there is none."""
    if printed.format is PrintedFormat.TEXT:
        return None if text.upper() in _NO_TEXT else text
    if text.upper() in _NOTHING:
        return None
    try:
        value = CODECS[printed.format].decode(_plain(printed.format, text, separator))
    except UnclearError as error:
        raise BadCellError(str(error)) from error
    except ValueError as error:
        raise BadCellError(_why(printed.format, text)) from error
    if printed.format in _NUMBERS and value < 0:
        raise BadCellError(f"{shown(text)} is below 0")
    return value


def nothing_there(printed: PrintedField, label: str, text: str) -> str:
    """What is said of a cell without a value where there must be one."""
    if printed.format is PrintedFormat.TEXT:
        return f"no {label} is named"
    return _is_no(printed.format, text)


def _plain(form: PrintedFormat, text: str, separator: str) -> str:
    if form is PrintedFormat.NUMBER:
        return plain_decimal(text, separator)
    return plain_whole(text, separator) if form is PrintedFormat.COUNT else text


def _why(form: PrintedFormat, text: str) -> str:
    if form is PrintedFormat.MOMENT and _without_offset(text):
        example = CODECS[form].expects.partition("such as ")[2]
        return f"{shown(text)} has no offset from UTC: write it as {example}"
    return _is_no(form, text)


def _is_no(form: PrintedFormat, text: str) -> str:
    expected = CODECS[form].expects
    return f"{shown(text)} is no {expected.removeprefix('a ').removeprefix('an ')}"


def _without_offset(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        return False
