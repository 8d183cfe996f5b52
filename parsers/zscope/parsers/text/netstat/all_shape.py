"""What the values of NETSTAT ALL look like where they are whole.

Most are printed with leading zeros to a fixed width: one with less has lost its end, and would be a wrong
number if it were taken.
"""

from __future__ import annotations

import re

from zscope.parsers.text.netstat.sockets import state_name
from zscope.schemas.model import Evidence
from zscope.schemas.printed import PrintedField, PrintedFormat, report_table

TABLE = "netstat_all"

_NAME = re.compile(r"[^ ]{1,8}")
_FIXED_COUNT = re.compile(r"\d{10}|\d{20}", re.ASCII)
_COUNT = re.compile(r"\d{10}|\d{20}|0|[1-9]\d*", re.ASCII)
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+", re.ASCII)
_FIXED_TRIP = re.compile(r"\d+\.\d{3}", re.ASCII)
_TRIP = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_ID = re.compile(r"[0-9A-Fa-f]{8}", re.ASCII)
_CLOCK = re.compile(r"\d\d:\d\d:\d\d", re.ASCII)
_DATE = re.compile(r"\d\d/\d\d/\d{4}", re.ASCII)
_WORD = re.compile(r"[^ ]+")

_BY_COLUMN = {"job_name": _NAME, "connection_id": _ID, "last_touched": _CLOCK, "state": _WORD}
_BY_LABEL = {"STARTDATE": _DATE, "STARTTIME": _CLOCK}


def _shape(key: str, printed: PrintedField, *, short: bool) -> re.Pattern[str] | None:
    if shape := _BY_LABEL.get(key) or _BY_COLUMN.get(printed.column):
        return shape
    if printed.evidence is not Evidence.PUBLIC_CODE:
        return None
    match printed.format:
        case PrintedFormat.COUNT:
            return _FIXED_COUNT if short else _COUNT
        case PrintedFormat.NUMBER:
            return _FIXED_TRIP if short else _TRIP
        case PrintedFormat.HEX:
            return _HEX
        case _:
            return None


_LABELS = report_table(TABLE).by_label()
COLUMNS = {key: printed.column for key, printed in _LABELS.items()}
"""The column of each label, as labels are compared."""
_SHORT = {key: _shape(key, printed, short=True) for key, printed in _LABELS.items()}
_LONG = {key: _shape(key, printed, short=False) for key, printed in _LABELS.items()}


def is_whole(key: str, value: str, *, short: bool) -> bool:
    """Whether a value can be whole. The widths of the long form are not known: less is asked of it.

    >>> is_whole("BYTESIN", "0000418220", short=True), is_whole("BYTESIN", "00004182", short=False)
    (True, False)
    """
    shape = (_SHORT if short else _LONG).get(key)
    return shape is None or shape.fullmatch(value) is not None


def can_be_wrapped(key: str, text: str) -> bool:
    """Whether a line with only this text can be the value of a label at the end of the line before."""
    if COLUMNS.get(key) == "state":
        return state_name(text) is not None
    shape = _LONG.get(key)
    return shape.fullmatch(text) is not None if shape else text.isascii() and text.isdigit()
