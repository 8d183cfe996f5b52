"""Rows of the tables from what the formatter told, whether that stood in a line of a CSV or in an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.issues import Code
from zscope.parsers.text.mq_formatter import values
from zscope.parsers.text.mq_formatter.layout import Kind, plain
from zscope.parsers.text.out import Found, shown
from zscope.parsers.text.report import Told
from zscope.schemas import catalog
from zscope.schemas.arrow import table_schema
from zscope.schemas.printed import report_table

if TYPE_CHECKING:
    from zscope.parsers.text.mq_formatter.layout import Item, Structure
    from zscope.parsers.text.out import Out, Sheet

_DECODE: Mapping[Kind, tuple[Callable[[str], int | str | None], str]] = {
    Kind.NUMBER: (values.number, "a whole number"),
    Kind.CIPHER: (values.cipher, "the number of a cipher suite"),
    Kind.TEXT: (values.characters, "text"),
    Kind.HEX: (values.digits, "hexadecimal digits"),
}
DURATION = "Interval_Duration"
"""In whole seconds, so no column has it: that of a task is the sum of two times which are exact."""
_GROUP = "QSG_Name"
MINIMUM = {"exit_min_us": "Exit_Time_Max_Date", "network_min_us": "Net_Time_Max_Date"}
_SLACK_US = values.MICROSECONDS
"""The formatter prints whole seconds of an interval."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    limits: tuple[int, int] | None
    """Of a column of whole numbers."""

    def fitting(self, value: int | str | None) -> int | str | None:
        if self.limits and isinstance(value, int) and not self.limits[0] <= value <= self.limits[1]:
            raise ValueError(value)
        return value


@dataclass(slots=True)
class Blocks:
    """Takes the blocks of one file and counts them for its inventory."""

    sheet: Sheet
    zone: tzinfo | None
    """Of the workstation the formatter ran on; None where nobody told."""
    _told_of_zone: bool = False
    _last: Found | None = None
    """Of the record the block before was in; the blocks of one kind in a record are one report."""

    def take(self, out: Out, structure: Structure, line: int, told: Mapping[str, str]) -> None:
        """Make a row of what the formatter told about a block, by the names it used."""
        by_name = {plain(name): text for name, text in told.items()}
        row = _Row(out, structure, line, by_name, {plain(name): name for name in told}, self.zone)
        row.put()
        if row.unplaced and not self._told_of_zone:
            self._told_of_zone = True
            zone = "tell by option in which zone the formatter wrote them, which is UTC if it ran with -g yes"
            text = f"moments are kept as texts in extra, their columns are null: {zone}"
            out.issue(Code.NO_DATE, text, line, field=row.unplaced, table=structure.table)
        system, when = out.lead["system"], out.lead["written_local"]
        found = Found(f"MQ {structure.name}", out.origin.source.value, system, when, line)
        if self._last is None or replace(found, line=self._last.line) != self._last:
            self._last = found
            self.sheet.found.append(found)


@dataclass(slots=True)
class _Row:
    """One row under way."""

    out: Out
    structure: Structure
    line: int
    told: dict[str, str]
    """What the formatter told, by names as they are compared; what a column takes is taken away."""
    labels: Mapping[str, str]
    """The same names as the file has them."""
    zone: tzinfo | None
    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    """Items that are moments at which nothing happened."""
    unplaced: str = ""
    """An item that is a moment in nobody knows which zone."""

    def put(self) -> None:
        """Make the row of it; what no column takes is kept beside them."""
        written = self._written()
        system = values.characters(self._take("LPAR"))
        columns = columns_of(self.structure.table)
        for item in self.structure.items:
            if item.name == DURATION or (column := columns.get(plain(item.name))) is None:
                continue
            if item.kind is Kind.MOMENT:
                self._moment(item, column)
            else:
                self._value(item, column)
        self._group()
        self._nothing_measured()
        if self.structure.task_type:
            self._task()
        for name, text in self.told.items():
            if values.says_something(text):
                self.extra[self.labels[name]] = text
        origin = self.out.origin
        # Texts are as they should be: a blank one is in the record, one that is null is not.
        self.out.lead = {
            **self.values,
            "system": system or origin.system,
            "system_from": Told.REPORT.value if system else origin.system_from and origin.system_from.value,
            "written_local": written,
        }
        self.out.row(self.structure.table, self.line, {}, self.extra)

    def _take(self, name: str) -> str:
        return self.told.pop(plain(name), "")

    def _written(self) -> datetime | None:
        day, time = self._take("Date"), self._take("Time")
        try:
            written = values.clock(day, time)
        except ValueError:
            written = None
        if written is None:
            self._issue(
                "Date", f"{shown(f'{day} {time}')} is no date and time such as 2026/03/02 08:30:00,000000"
            )
        return written

    def _value(self, item: Item, column: _Column) -> None:
        parts = (item.once,) if item.once and plain(item.once) in self.told else item.parts
        if plain(parts[-1]) not in self.told:
            return
        texts = [self._take(part) for part in parts]
        expected = "seconds and microseconds"
        try:
            if item.kind is Kind.SPAN:
                found: int | str | None = values.span(*texts)
            elif item.kind is Kind.WORD:
                expected = "a word the formatter is known to print"
                found = _number_of(item.codes, texts[0])
            else:
                decode, expected = _DECODE[item.kind]
                found = decode(texts[0])
            self.values[column.name] = column.fitting(found)
        except ValueError:
            text = " ".join(texts)
            self._issue(item.name, f"{shown(text)} is not {expected}")
            self.extra[item.name] = text

    def _moment(self, item: Item, column: _Column) -> None:
        """A moment, if it is known on which clock the formatter read it."""
        day, time = (self._take(part) for part in item.parts)
        try:
            printed = values.clock(day, time)
            if printed is None:
                self.missing.add(item.name)
                return
            if self.zone is not None:
                found = values.moment(printed, self.zone)
                # A time of the system's own clock went through the zone as if it were UTC.
                self.values[column.name] = found.replace(tzinfo=None) if _is_local(column) else found
                return
            self.unplaced = item.name
        except values.AmbiguousError as error:
            self._issue(item.name, str(error), Code.AMBIGUOUS_TIME)
        except values.SkippedError as error:
            self._issue(item.name, str(error))
        except (ValueError, OverflowError):
            self._issue(item.name, f"{shown(f'{day} {time}')} is no time such as 2026/03/02 08:30:00,000000")
        self.extra[item.name] = f"{day} {time}"

    def _group(self) -> None:
        """The block has the name of the group as well, and had it before the record itself did."""
        name = plain(_GROUP)
        group = values.characters(self.told.get(name, ""))
        if group and self.values.get("queue_sharing_group") in {None, "", group}:
            self.values["queue_sharing_group"] = group
            del self.told[name]

    def _nothing_measured(self) -> None:
        """The formatter prints 0 for the value that says that no minimum was measured."""
        for column, when in MINIMUM.items():
            if when in self.missing and self.values.get(column) == 0:
                self.values[column] = None

    def _task(self) -> None:
        """Every moment of a task is spent in a request or in waiting for one."""
        self.values["task_type"] = self.structure.task_type
        elapsed, wait = self.values.get("elapsed_us"), self.values.get("wait_us")
        interval = None if elapsed is None or wait is None else elapsed + wait
        self.values["interval_us"] = interval
        duration = self.told.get(plain(DURATION), "")
        if interval is None or not duration.isdigit() or len(duration) > 20:
            return
        if abs(interval - int(duration) * values.MICROSECONDS) <= _SLACK_US:
            del self.told[plain(DURATION)]
            return
        text = f"elapsed and wait time come to {interval:,} us, the interval has {int(duration):,} s"
        self.out.issue(Code.ARITHMETIC, text, self.line, field=DURATION, table=self.structure.table)

    def _issue(self, name: str, problem: str, code: Code = Code.BAD_VALUE) -> None:
        told = f"{problem}; the column is null"
        self.out.issue(code, told, self.line, field=name, table=self.structure.table)


@cache
def columns_of(table: str) -> Mapping[str, _Column]:
    """The columns of a table, by the names of what the formatter prints."""
    schema = table_schema(table)
    return {
        plain(label): _Column(field.column, _limits(schema.field(field.column).type))
        for field in report_table(table).fields
        for label in field.labels
    }


def _limits(arrow: pa.DataType) -> tuple[int, int] | None:
    if not pa.types.is_integer(arrow):
        return None
    if pa.types.is_signed_integer(arrow):
        return -(1 << arrow.bit_width - 1), (1 << arrow.bit_width - 1) - 1
    return 0, (1 << arrow.bit_width) - 1


def _is_local(column: _Column) -> bool:
    return column.name.endswith("_local")


@cache
def _words(codes: str) -> Mapping[str, int]:
    table = catalog().codes[codes]
    return {plain(word): code for code, word in table.codes.items() if isinstance(code, int)}


def _number_of(codes: str, word: str) -> int | None:
    """The number that a word stands for; the formatter prints none for numbers it does not know."""
    if not plain(word):
        return None
    if (found := _words(codes).get(plain(word))) is None:
        raise ValueError(word)
    return found
