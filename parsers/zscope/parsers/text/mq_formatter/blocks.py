"""Rows of the tables from the blocks of records that the formatter writes as lines of CSV or JSON objects."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom
from zscope.parsers.text.mq_formatter import values
from zscope.parsers.text.mq_formatter.layout import MqValueKind, plain
from zscope.parsers.text.report_rows import ReportSummary, quoted
from zscope.schemas import catalog
from zscope.schemas.arrow import table_schema
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime, tzinfo

    from zscope.parsers.text.mq_formatter.layout import MqItem, Structure
    from zscope.parsers.text.report_rows import FileRows, ReportRows

_DECODE: Mapping[MqValueKind, tuple[Callable[[str], int | str | None], str]] = {
    MqValueKind.NUMBER: (values.number, "a whole number"),
    MqValueKind.CIPHER: (values.cipher, "the number of a cipher suite"),
    MqValueKind.TEXT: (values.characters, "text"),
    MqValueKind.HEX: (values.digits, "hexadecimal digits"),
}
DURATION = "Interval_Duration"
"""In whole seconds; the interval of a task is the sum of two exact times instead, where they are printed."""
_INDEX = "Task_Index"
_GROUP = "QSG_Name"
MINIMUM = {"exit_min_us": "Exit_Time_Max_Date", "network_min_us": "Net_Time_Max_Date"}
_SLACK_US = values.MICROSECONDS
"""The formatter prints whole seconds of an interval."""
_LONGEST_DURATION = 9


@dataclass(frozen=True, slots=True)
class _MqColumn:
    name: str
    limits: tuple[int, int] | None
    """Lowest and highest value of a column of whole numbers."""

    def fitting(self, value: int | str | None) -> int | str | None:
        if self.limits and isinstance(value, int) and not self.limits[0] <= value <= self.limits[1]:
            raise ValueError(value)
        return value


@dataclass(slots=True)
class BlockRows:
    """Writes rows for the blocks of one file and counts them for its inventory."""

    sheet: FileRows
    zone: tzinfo | None
    """Zone of the workstation on which the formatter ran; None if unknown."""
    _zone_reported: bool = False
    _last: ReportSummary | None = None
    """The record of the block before; the blocks of one kind in a record count as one report."""

    def take(self, out: ReportRows, structure: Structure, line: int, texts: Mapping[str, str]) -> None:
        """Write the row of a block, given as texts by the names that the formatter uses."""
        by_name = {plain(name): text for name, text in texts.items()}
        row = _MqRow(out, structure, line, by_name, {plain(name): name for name in texts}, self.zone)
        row.put()
        if row.unplaced and not self._zone_reported:
            self._zone_reported = True
            remedy = "set the zone of the formatter with --formatter-zone, UTC if it ran with -g yes"
            text = f"times are stored as text in `extra` and their columns are null: {remedy}"
            out.issue(Code.NO_DATE, text, line, field=row.unplaced, table=structure.table)
        system, when = out.common["system"], out.common["written_local"]
        report = ReportSummary(f"MQ {structure.name}", out.origin.source.value, system, when, line)
        if self._last is None or replace(report, line=self._last.line) != self._last:
            self._last = report
            self.sheet.reports.append(report)


@dataclass(slots=True)
class _MqRow:
    """One row while it is built."""

    out: ReportRows
    structure: Structure
    line: int
    texts: dict[str, str]
    """The texts that no column has used yet, by names in the form in which they are compared."""
    labels: Mapping[str, str]
    """The same names as in the file."""
    zone: tzinfo | None
    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    """Names of times at which nothing happened."""
    unplaced: str = ""
    """Name of a time in an unknown zone."""

    def put(self) -> None:
        """Write the row; what no column uses is stored in `extra`."""
        written = self._written()
        system = values.characters(self._take("LPAR"))
        columns = columns_of(self.structure.table)
        for item in self.structure.items:
            if item.name == DURATION or (column := columns.get(plain(item.name))) is None:
                continue  # `_interval` uses it
            if item.kind is MqValueKind.MOMENT:
                self._moment(item, column)
            else:
                self._value(item, column)
        self._group()
        self._nothing_measured()
        if self.structure.task_type:
            self.values["task_type"] = self.structure.task_type
        self._interval()
        for name, text in self.texts.items():
            if values.is_value(text):
                self.extra[self.labels[name]] = text
        origin = self.out.origin
        # Texts are passed as values: a blank text is in the record, a null is not.
        self.out.common = {
            **self.values,
            "system": system or origin.system,
            "system_from": KnownFrom.REPORT.value
            if system
            else origin.system_from and origin.system_from.value,
            "written_local": written,
        }
        self.out.row(self.structure.table, self.line, {}, self.extra)

    def _take(self, name: str) -> str:
        return self.texts.pop(plain(name), "")

    def _written(self) -> datetime | None:
        day, time = self._take("Date"), self._take("Time")
        try:
            written = values.clock(day, time)
        except ValueError:
            written = None
        if written is None:
            self._issue(
                "Date", f"{quoted(f'{day} {time}')} is not a date and time such as 2026/03/02 08:30:00,000000"
            )
        return written

    def _value(self, item: MqItem, column: _MqColumn) -> None:
        parts = (item.once,) if item.once and plain(item.once) in self.texts else item.parts
        if plain(parts[-1]) not in self.texts:
            return
        texts = [self._take(part) for part in parts]
        expected = "seconds and microseconds"
        try:
            if item.kind is MqValueKind.SPAN:
                value: int | str | None = values.span(*texts)
            elif item.kind is MqValueKind.WORD:
                expected = "a word the formatter is known to print"
                value = _number_of(item.codes, texts[0])
            else:
                decode, expected = _DECODE[item.kind]
                value = decode(texts[0])
            self.values[column.name] = column.fitting(value)
        except ValueError:
            text = " ".join(texts)
            self._issue(item.name, f"{quoted(text)} is not {expected}")
            self.extra[item.name] = text

    def _moment(self, item: MqItem, column: _MqColumn) -> None:
        """Set the column of a time, if the zone of the formatter is known."""
        day, time = (self._take(part) for part in item.parts)
        try:
            printed = values.clock(day, time)
            if printed is None:
                self.missing.add(item.name)
                return
            if self.zone is not None:
                moment = values.moment(printed, self.zone)
                # The formatter converts also times of the system's clock, as if they were UTC.
                self.values[column.name] = moment.replace(tzinfo=None) if _is_local(column) else moment
                return
            self.unplaced = item.name
        except values.AmbiguousError as error:
            self._issue(item.name, str(error), Code.AMBIGUOUS_TIME)
        except values.SkippedError as error:
            self._issue(item.name, str(error))
        except (ValueError, OverflowError):
            self._issue(
                item.name, f"{quoted(f'{day} {time}')} is not a time such as 2026/03/02 08:30:00,000000"
            )
        self.extra[item.name] = f"{day} {time}"

    def _group(self) -> None:
        """Use the name of the group in the block, which older records have only there."""
        name = plain(_GROUP)
        group = values.characters(self.texts.get(name, ""))
        if group and self.values.get("queue_sharing_group") in {None, "", group}:
            self.values["queue_sharing_group"] = group
            del self.texts[name]

    def _nothing_measured(self) -> None:
        """Set a minimum to null if the maximum has no time: none was measured, and the formatter prints 0."""
        for column, when in MINIMUM.items():
            if when in self.missing:
                self.values[column] = None

    def _interval(self) -> None:
        """Set the interval: a task spends it in requests or waiting for them; others have whole seconds."""
        text = self.texts.get(plain(DURATION), "")
        seconds = int(text) if text.isdecimal() and len(text) <= _LONGEST_DURATION else None
        elapsed, wait = self.values.get("elapsed_us"), self.values.get("wait_us")
        if elapsed is None or wait is None:
            self.values["interval_us"] = None if seconds is None else seconds * values.MICROSECONDS
        else:
            self.values["interval_us"] = both = elapsed + wait
            if seconds is not None and abs(both - seconds * values.MICROSECONDS) > _SLACK_US:
                problem = f"elapsed and wait time add up to {both:,} us, but the interval is {seconds:,} s"
                self.out.issue(
                    Code.ARITHMETIC, problem, self.line, field=DURATION, table=self.structure.table
                )
                return
        if seconds is not None:
            del self.texts[plain(DURATION)]

    def _issue(self, name: str, problem: str, code: Code = Code.BAD_VALUE) -> None:
        message = f"{problem}; the column is null"
        self.out.issue(code, message, self.line, field=name, table=self.structure.table)


@cache
def columns_of(table: str) -> Mapping[str, _MqColumn]:
    """Return the columns of a table by the names that the formatter prints."""
    schema = table_schema(table)
    names = {label: field.column for field in report_table(table).fields for label in field.labels}
    if "section_no" in schema.names:
        names[_INDEX] = "section_no"
    return {plain(label): _MqColumn(name, _limits(schema.field(name).type)) for label, name in names.items()}


def _limits(arrow: pa.DataType) -> tuple[int, int] | None:
    if not pa.types.is_integer(arrow):
        return None
    if pa.types.is_signed_integer(arrow):
        return -(1 << arrow.bit_width - 1), (1 << arrow.bit_width - 1) - 1
    return 0, (1 << arrow.bit_width) - 1


def _is_local(column: _MqColumn) -> bool:
    return column.name.endswith("_local")


@cache
def _words(codes: str) -> Mapping[str, int]:
    table = catalog().codes[codes]
    return {plain(word): code for code, word in table.codes.items() if isinstance(code, int)}


def _number_of(codes: str, word: str) -> int | None:
    """Return the number of a word; None for the empty text that is printed for unknown numbers."""
    if not plain(word):
        return None
    if (number := _words(codes).get(plain(word))) is None:
        raise ValueError(word)
    return number
