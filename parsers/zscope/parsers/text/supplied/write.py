"""Writes rows of a supplied table as the CSV that its reader takes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.supplied.forms import RUN, SYSTEM, Form, forms_for
from zscope.parsers.text.supplied.series import TIME
from zscope.schemas.printed import PrintedField, PrintedFormat

_SECOND_US = 1_000_000


def supplied_lines(
    table: str, rows: Iterable[Mapping[str, Any]], offset: timedelta = timedelta(), separator: str = ","
) -> list[str]:
    """The lines of a file, the names of the columns first; times as a clock with this offset shows them.

    Columns that must be named come first, then others of which any row has a value.

    >>> from datetime import UTC
    >>> start, end = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 2, 10, tzinfo=UTC)
    >>> row = {"system": "SYSA", "start_utc": start, "end_utc": end, "transactions": 7, "workload": "RR1(1B)"}
    >>> supplied_lines("transaction_count", [row], timedelta(hours=1))[1]
    'SYSA,2026-03-02T10:00:00+01:00,2026-03-02T11:00:00+01:00,7,RR1(1B)'
    """
    kept = list(rows)
    form = next(form for form in forms_for().all if form.table.name == table)
    columns = _columns(form, kept)
    fields = {field.column: field for field in form.fields()}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=separator)
    writer.writerow([form.label(column) for column in columns])
    for row in kept:
        writer.writerow([_cell(row, column, fields.get(column), offset) for column in columns])
    return text.getvalue().splitlines()


def _columns(form: Form, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    every = (SYSTEM, RUN, *(field.column for field in form.fields()))
    return [name for name in every if name in form.needed or any(row.get(name) is not None for row in rows)]


def _cell(row: Mapping[str, Any], column: str, field: PrintedField | None, offset: timedelta) -> object:
    value = row.get(column)
    if column == TIME and value is None:
        return _seconds(row["since_start_us"])
    if isinstance(value, datetime):
        return value.astimezone(timezone(offset)).isoformat()
    if isinstance(value, float):
        return int(value) if value.is_integer() else repr(value)
    if value is None or field is None or field.format in {PrintedFormat.MADE, PrintedFormat.NUMBER}:
        return value
    return CODECS[field.format].encode(value)


def _seconds(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, _SECOND_US)
    return f"{seconds}.{rest:06}".rstrip("0").rstrip(".")
