"""What cache statistics print, as values of the columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.out import shown
from zscope.schemas.printed import PrintedFormat, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.schemas.printed import PrintedField

TABLE = "gsk_cache_stats"
CURRENT_TIME = "taken_local"
_STAMP = re.compile(r"(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)(?: ([^\W\d_][\w+:-]{2,9}))?$", re.ASCII)
"""All digits are required, and a zone of three characters: anything shorter has been cut."""
_SIZE = re.compile(r"\d+M$", re.ASCII | re.IGNORECASE)
_EXPECTED = {
    PrintedFormat.TIME: "a time such as 2025/03/14 09:45:00 CET",
    PrintedFormat.MEGABYTES: "a number of megabytes such as 41M",
}


class Printed(NamedTuple):
    """A value as it stands in the report."""

    text: str
    line: int


Values = dict[str, Any]
"""Typed values by column; what could not be read is None."""


def typed_values(out: Out, printed: Mapping[str, Printed]) -> Values:
    """The values of the columns, and the time of the display with its zone."""
    values: Values = {}
    for field in report_table(TABLE).fields:
        if found := printed.get(field.column):
            if field.column == CURRENT_TIME:
                values |= _current_time(out, found)
            elif field.column.endswith("_success_pct") and values.get(_requested(field.column)) == 0:
                # What is printed for a share of nothing is not a number that means anything.
                values[field.column] = None
            else:
                values[field.column] = _value(out, field, found)
    return values


def _requested(percentage: str) -> str:
    return percentage.removesuffix("success_pct") + "requested"


def _value(out: Out, field: PrintedField, printed: Printed) -> Any:  # noqa: ANN401 - as declared
    text = printed.text
    if field.format is PrintedFormat.TIME:
        stamp = _STAMP.match(text)
        text = stamp[1] if stamp else ""
    elif field.format is PrintedFormat.MEGABYTES and not _SIZE.match(text):
        text = ""
    if not text and printed.text.upper() != "N/A":
        _bad(out, field.label, printed, _EXPECTED[field.format])
        return None
    return out.value(TABLE, field.column, text, printed.line)


def _current_time(out: Out, printed: Printed) -> Values:
    stamp = _STAMP.match(printed.text)
    try:
        taken = CODECS[PrintedFormat.TIME].decode(stamp[1] if stamp else "")
    except ValueError:
        _bad(out, "Current time", printed, _EXPECTED[PrintedFormat.TIME])
        return {}
    return {CURRENT_TIME: taken, "time_zone": stamp[2] if stamp else None}


def _bad(out: Out, label: str, printed: Printed, expected: str) -> None:
    told = f"{shown(printed.text)} is not {expected}; the column is null"
    out.issue(Code.BAD_VALUE, told, printed.line, field=label, table=TABLE)
