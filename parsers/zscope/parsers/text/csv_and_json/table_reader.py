"""Read and write supplied tables: CSV and JSON.

A CSV has a line with the column names of a declared table, and lines with values. In JSON each object is a
row, with column names as keys, or with mapped paths. Columns can be in any order, and unknown ones are stored
in `extra`. Errors in a line or object are reported, and all others are read.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.coding import LONGEST_LINE
from zscope.parsers.text.csv_and_json.drafts import RULES, Draft
from zscope.parsers.text.csv_and_json.forms import (
    RUN,
    SYSTEM,
    SuppliedForm,
    cells,
    forms_for,
    has_data,
    without_last_separator,
)
from zscope.parsers.text.csv_and_json.series import TABLE, TIME, SeriesRule
from zscope.parsers.text.report_rows import ReportRows, ReportSummary
from zscope.parsers.text.spelling import misspelt, misspelt_text
from zscope.schemas.arrow import UTC, table_schema
from zscope.schemas.reports import PrintedField, PrintedFormat, plain_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import CapturedReport, Line, Origin
    from zscope.parsers.text.csv_and_json.drafts import Rule
    from zscope.parsers.text.csv_and_json.forms import SuppliedHeading
    from zscope.parsers.text.report_rows import FileRows


_PERIOD = "interval_start_local"


class RowMaker:
    """Writes the rows of one table from one list of lines or objects."""

    def __init__(self, out: ReportRows, form: SuppliedForm, rule: Rule | None, first_line: int) -> None:
        self._out = out
        self._form = form
        self._rule = rule
        self._first_line = first_line
        self._reports: dict[str | None, ReportSummary] = {}
        """The inventory entries by system."""
        self._spans: dict[str | None, tuple[datetime, datetime]] = {}
        """The first and last moments by system."""

    def take(
        self,
        line: int,
        texts: Mapping[str, str],
        extra: Mapping[str, str],
        separator: str,
        object_no: int | None = None,
    ) -> None:
        """Write a row from the texts of its columns, and report wrong values."""
        draft = Draft(self._out, self._form, line, texts, separator)
        draft.read()
        if self._rule:
            self._rule(draft)
        if not draft.good:
            return
        lead = {"run": draft.run, "object_no": object_no, **draft.computed, **self._period()}
        if texts.get(SYSTEM):
            lead |= {"system": draft.system, "system_from": KnownFrom.REPORT.value}
        self._out.common = lead
        row = self._out.row(self._form.table.name, line, draft.values, extra=extra)
        times = {**lead, **row}
        if draft.system not in self._reports:
            source, when = self._out.origin.source.value, times.get(_PERIOD)
            self._reports[draft.system] = ReportSummary(
                self._form.report, source, draft.system, when, self._first_line
            )
        moments = [*filter(None, map(times.get, _moments(self._form.table.name)))]
        if moments:
            moments += self._spans.get(draft.system, ())
            self._spans[draft.system] = min(moments), max(moments)

    def finish(self) -> None:
        """Add the list to the inventory."""
        for system, report in self._reports.items():
            first, last = self._spans.get(system, (None, None))
            self._out.sheet.reports.append(replace(report, first_utc=first, last_utc=last))

    def _period(self) -> dict[str, Any]:
        """Return the start of the period, which is not in the file, if the table has such a column."""
        if _PERIOD not in table_schema(self._form.table.name).names:
            return {}
        captured = self._out.origin.captured_at()
        return {_PERIOD: captured} if captured else {"time_from": KnownFrom.NOTHING.value}


@cache
def _moments(table: str) -> tuple[str, ...]:
    return tuple(
        field.name for field in table_schema(table) if pa.types.is_timestamp(field.type) and field.type == UTC
    )


class TableRules:
    """The rules of the supplied tables in one file."""

    def __init__(self, sheet: FileRows, options: ReadOptions) -> None:
        self._sheet = sheet
        self._samples = SeriesRule(sheet.file, options.time_format)

    def row_maker(self, origin: Origin, form: SuppliedForm, first_line: int) -> RowMaker:
        """Return the writer of rows for a list that begins in this line."""
        rule: Rule | None = RULES.get(form.table.name)
        if form.table.name == TABLE:
            self._samples.begin()
            rule = self._samples
        return RowMaker(ReportRows(self._sheet, origin), form, rule, first_line)


class SuppliedCsv:
    """Reads the supplied tables of one CSV file."""

    def __init__(self, sheet: FileRows, options: ReadOptions) -> None:
        self._sheet = sheet
        self._forms = forms_for(options.renamed_columns)
        self._rules = TableRules(sheet, options)

    def read(self, report: CapturedReport) -> None:
        """Read the lines from the column names to the next column names, or the end of the file."""
        first, *lines = report.lines
        heading = self._forms.heading(first.text)
        assert heading is not None, "a report of this family begins with the names of its columns"
        out = ReportRows(self._sheet, report.origin)
        if problem := _doubled(heading):
            out.issue(Code.REPORT_UNREADABLE, f"{problem}; the lines below are skipped", first.no, 1)
            out.skipped(lines)
            return
        out.furniture(first.no)
        if heading.others:
            _report_others(out, heading, first.no)
        _report_misspelt(out, heading, first.no)
        row_maker = self._rules.row_maker(report.origin, heading.form, first.no)
        filled = False
        for line in lines:
            if has_data(line.text):
                filled = True
                _take(row_maker, out, heading, line)
            else:
                out.furniture(line.no)
        if not filled:
            out.issue(Code.REPORT_CUT, "no line follows the column names", first.no)
        if not report.complete:
            message = f"no lines are read after line {lines[-1].no:,}; put the rest into another file"
            out.issue(Code.REPORT_CUT, message, lines[-1].no)
        row_maker.finish()

    def finish(self) -> None:
        """Write what is left at the end of the file."""


def _report_others(out: ReportRows, heading: SuppliedHeading, line: int) -> None:
    others = " and ".join(form.table.name for form in heading.others)
    table = heading.form.table.name
    message = f"the columns belong to {others}, too: put its rows into a separate file"
    out.issue(Code.OTHER_REPORT, f"{message}; the lines are read as {table}", line, table=table)


def _report_misspelt(out: ReportRows, heading: SuppliedHeading, line: int) -> None:
    known = heading.form.columns
    missing = {name: column for name, column in known.items() if column not in heading.columns}
    names = [plain_label(name) for name in heading.names]
    table = heading.form.table.name
    for at, column in misspelt(names, known, missing).items():
        text = misspelt_text(heading.names[at], heading.form.label(column))
        out.issue(Code.UNKNOWN_COLUMN, text, line, field=heading.names[at], table=table)


def _doubled(heading: SuppliedHeading) -> str | None:
    """Return the problem if two names mean one column, else None."""
    small = [name.lower() for name in heading.names if name]
    if doubled := sorted({name for name in small if small.count(name) > 1}):
        return f"the column {', '.join(doubled)} occurs twice"
    for column in heading.columns:
        if column and heading.columns.count(column) > 1:
            pairs = zip(heading.names, heading.columns, strict=True)
            names = " and ".join(name for name, meant in pairs if meant == column)
            label = heading.form.label(column)
            return f"{names} are both {label}: choose one with --map {label}=NAME"
    return None


def _take(row_maker: RowMaker, out: ReportRows, heading: SuppliedHeading, line: Line) -> None:
    values = without_last_separator(cells(line.text, heading.separator), len(heading.names))
    table = heading.form.table.name
    if len(line.text) >= LONGEST_LINE:
        message = f"the line has {LONGEST_LINE:,} characters or more; it is skipped"
        out.issue(Code.UNKNOWN_LINE, message, line.no, table=table)
        return
    if len(values) != len(heading.names):
        message = (
            f"the line has {len(values)} values, but {len(heading.names)} columns are named; it is skipped"
        )
        out.issue(Code.UNKNOWN_LINE, message, line.no, table=table)
        return
    texts, extra = dict[str, str](), dict[str, str]()
    for no, (name, column, value) in enumerate(zip(heading.names, heading.columns, values, strict=True), 1):
        if column:
            texts[column] = value
        elif value:
            extra[name.lower() or f"column {no}"] = value
    row_maker.take(line.no, texts, extra, heading.separator)


_SEPARATOR = ","
"""Numbers in JSON texts are read as in a CSV with commas."""
_MISSING = object()


class SuppliedObjects:
    """Reads the JSON objects of one file."""

    def __init__(self, sheet: FileRows, options: ReadOptions, origin: Origin) -> None:
        self._forms = forms_for(options.renamed_columns)
        self._rules = TableRules(sheet, options)
        self._origin = origin
        self._row_makers: dict[str, RowMaker] = {}
        self._number = 0

    def take(self, line: int, values: Mapping[str, Any]) -> bool:
        """Write the row of an object with the columns of a supplied table; return false for others."""
        self._number += 1
        for form in self._forms.all:
            paths = _paths(form, values)
            if form.is_recognised_by(tuple(paths)):
                texts = {column: _text(_at(values, path)) for column, path in paths.items()}
                left = _without(values, paths.values())
                extra = {key: _text(value) for key, value in left.items() if value not in (None, "")}
                self._row_maker(form, line).take(line, texts, extra, _SEPARATOR, self._number)
                return True
        return False

    def finish(self) -> None:
        """Write what is left at the end of the file."""
        for row_maker in self._row_makers.values():
            row_maker.finish()

    def _row_maker(self, form: SuppliedForm, line: int) -> RowMaker:
        name = form.table.name
        if name not in self._row_makers:
            self._row_makers[name] = self._rules.row_maker(self._origin, form, line)
        return self._row_makers[name]


def _paths(form: SuppliedForm, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of an object, with the key or path of each."""
    paths = {column: path for column, path in form.mapped.items() if _at(values, path) is not _MISSING}
    used = set(paths.values())
    for key in values:
        declared = form.columns.get(_plain(key))
        if declared and key not in used:
            paths.setdefault(declared, key)
    return paths


def _without(values: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """Return an object without the values at some paths."""
    left = dict(values)
    for path in paths:
        left = _pruned(left, [path] if path in values else path.split("."))
    return left


def _pruned(value: Any, steps: Sequence[str]) -> Any:  # noqa: ANN401 - as the object has it
    """Return a value without the part at a path and without empty parts; lists keep their length."""
    step, *others = steps
    if isinstance(value, list):
        at = int(step[:9])
        value = [*value[:at], _pruned(value[at], others) if others else None, *value[at + 1 :]]
        return value if any(value) else None
    if not isinstance(value, Mapping) or step not in value:
        # Another path contains this one.
        return value
    rest = _pruned(value[step], others) if others else None
    return {key: each if key != step else rest for key, each in value.items() if key != step or rest}


def _at(values: Mapping[str, Any], path: str) -> object:
    """Return the value at a path of keys separated by points; lists count from 0."""
    if path in values:
        return values[path]
    here: object = values
    for step in path.split("."):
        if isinstance(here, Mapping) and step in here:
            here = here[step]
        elif isinstance(here, list) and step.isascii() and step.isdigit() and int(step[:9]) < len(here):
            here = here[int(step[:9])]
        else:
            return _MISSING
    return here


@lru_cache(maxsize=1024)
def _plain(key: str) -> str:
    return plain_label(key)


def _text(value: object) -> str:
    """Return a value in the form of a CSV."""
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_SECOND_US = 1_000_000


def supplied_lines(
    table: str, rows: Iterable[Mapping[str, Any]], offset: timedelta = timedelta(), separator: str = ","
) -> list[str]:
    """Return the lines of a CSV with column names; times have this offset from UTC.

    Required columns come first, then others of which any row has a value.

    >>> from datetime import UTC
    >>> start, end = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 2, 10, tzinfo=UTC)
    >>> row = {"system": "SYSA", "start_utc": start, "end_utc": end, "transactions": 7, "workload": "RR1(1B)"}
    >>> supplied_lines("transaction_count", [row], timedelta(hours=1))[1]
    'SYSA,2026-03-02T10:00:00+01:00,2026-03-02T11:00:00+01:00,7,RR1(1B)'
    """
    all_rows = list(rows)
    form = next(form for form in forms_for().all if form.table.name == table)
    columns = _columns(form, all_rows)
    fields = {field.column: field for field in form.fields()}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=separator)
    writer.writerow([form.label(column) for column in columns])
    for row in all_rows:
        writer.writerow([_cell(row, column, fields.get(column), offset) for column in columns])
    return text.getvalue().splitlines()


def _columns(form: SuppliedForm, rows: Sequence[Mapping[str, Any]]) -> list[str]:
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
