"""The values of one display of cache statistics: convert them to column types and compare them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.gsksrvr.statistics_lines import CURRENT_TIME, TABLE
from zscope.parsers.text.report_rows import quoted
from zscope.schemas.reports import PrintedFormat, report_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.parsers.text.report_rows import ReportRows
    from zscope.schemas.reports import PrintedField

_STAMP = re.compile(r"(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)(?: ([^\W\d_][\w+:-]{2,9}))?$", re.ASCII)
"""All digits are required, and a zone of at least three characters: a shorter text was cut."""
_SIZE = re.compile(r"\d+M$", re.ASCII | re.IGNORECASE)
_EXPECTED = {
    PrintedFormat.TIME: "a time such as 2025/03/14 09:45:00 CET",
    PrintedFormat.MEGABYTES: "a number of megabytes such as 41M",
}


class Printed(NamedTuple):
    """A printed value and its line."""

    text: str
    line: int


Values = dict[str, Any]
"""Typed values by column; a value that cannot be read is None."""


def typed_values(out: ReportRows, printed: Mapping[str, Printed]) -> Values:
    """Return the values of the columns, and the time of the display with its zone."""
    values: Values = {}
    for field in report_table(TABLE).fields:
        if value := printed.get(field.column):
            if field.column == CURRENT_TIME:
                values |= _current_time(out, value)
            elif field.column.endswith("_success_pct") and values.get(_requested(field.column)) == 0:
                # A percentage of zero requests is meaningless.
                values[field.column] = None
            else:
                values[field.column] = _value(out, field, value)
    return values


def _requested(percentage: str) -> str:
    return percentage.removesuffix("success_pct") + "requested"


def _value(out: ReportRows, field: PrintedField, printed: Printed) -> Any:  # noqa: ANN401 - as declared
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


def _current_time(out: ReportRows, printed: Printed) -> Values:
    stamp = _STAMP.match(printed.text)
    try:
        current = CODECS[PrintedFormat.TIME].decode(stamp[1] if stamp else "")
    except ValueError:
        _bad(out, "Current time", printed, _EXPECTED[PrintedFormat.TIME])
        return {}
    return {CURRENT_TIME: current, "time_zone": stamp[2] if stamp else None}


def _bad(out: ReportRows, label: str, printed: Printed, expected: str) -> None:
    message = f"{quoted(printed.text)} is not {expected}; the column is null"
    out.issue(Code.BAD_VALUE, message, printed.line, field=label, table=TABLE)


_FAILED = {
    "add": ("failed_full",),
    "update": ("expired", "not_found", "not_authorized"),
    "retrieval": ("expired", "not_found", "not_authorized"),
}
COUNTERS = (
    *(
        f"{block}_{name}"
        for block, failed in _FAILED.items()
        for name in ("requested", "successful", *failed)
    ),
    "add_replaced",
)
"""Columns that only grow until a reset."""
_HALF_A_THOUSANDTH = 0.5 + 1e-6
"""Percentages are rounded to three decimals; the rest allows for floating point."""


def check(out: ReportRows, values: Values, printed: Mapping[str, Printed], *, complete: bool) -> None:
    """Report values that contradict each other.

    If the display is complete, they are used. If lines are missing, the remains of two blocks may look like
    one block, so all its values are removed.
    """
    for block in _FAILED:
        disagree = [wrong for wrong in (_sum(block, values), _share(block, values)) if wrong]
        for column, message in disagree:
            left_out = "" if complete else "; lines are missing, so the block is skipped"
            _report(out, f"{block}: {message}{left_out}", printed, column)
        if disagree and not complete:
            values.update({column: None for column in values if column.startswith(f"{block}_")})
    started, reset = values.get("started_local"), values.get("reset_local")
    if values.get("reset_count") == 0 and started and reset and started != reset:
        message = f"there was no reset since the start at {started}, but the reset time is {reset}"
        _report(out, message, printed, "reset_local")


def _sum(block: str, values: Values) -> tuple[str, str] | None:
    requested = values.get(f"{block}_requested")
    parts = [values.get(f"{block}_{name}") for name in ("successful", *_FAILED[block])]
    known = [part for part in parts if part is not None]
    if requested is None or len(known) < len(parts) or sum(known) == requested:
        return None
    message = f"successful and failed add up to {sum(known)}, but {requested} were requested"
    return f"{block}_requested", message


def _share(block: str, values: Values) -> tuple[str, str] | None:
    column = f"{block}_success_pct"
    printed = values.get(column)
    requested, successful = values.get(f"{block}_requested"), values.get(f"{block}_successful")
    if printed is None or successful is None or not requested:
        return None
    if abs(round(printed * 1000) - 100_000 * successful / requested) <= _HALF_A_THOUSANDTH:
        return None
    share = 100 * successful / requested
    return column, f"{printed:.3f} % is printed, but {successful} of {requested} are {share:.3f} %"


def _report(out: ReportRows, message: str, printed: Mapping[str, Printed], column: str) -> None:
    out.issue(Code.ARITHMETIC, message, printed[column].line, field=column, table=TABLE)
