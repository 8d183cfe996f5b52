"""Collect the rows and issues of report files: printed values become typed columns, invalid ones issues."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import single_lines
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.line_ledger import LineLedger, LineUse
from zscope.schemas.arrow import arrow_type, table_schema
from zscope.schemas.reports import PrintedFormat, report_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, time

    from zscope.parsers.issues import Issues
    from zscope.parsers.text.captured_report import Line, Origin, RowStretch
    from zscope.parsers.text.codecs import TextCodec
    from zscope.schemas.reports import PrintedField

BATCH_ROWS = 10_000
_LONGEST_QUOTE = 60
NO_VALUE = frozenset({"", "N/A", "*", *("-" * count for count in range(1, 9))})
"""Printed where there is no value."""
_NO_TEXT = frozenset({"", "N/A"})
"""Printed where there is no value of a text column."""


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """One report that was read, for the inventory."""

    name: str
    """The common name: NETSTAT CONN, RMF CPU Activity."""
    source: str
    system: str | None
    when_local: datetime | None
    line: int
    has_date: bool = True
    """Whether reports of this kind show when they were captured; a policy file does not."""
    first_utc: datetime | None = None
    """Earliest time of its rows, if the file has their offset from UTC."""
    last_utc: datetime | None = None


@dataclass(slots=True)
class _TableRows:
    """The rows of one table. What many rows share, such as file and system, is kept once."""

    own: list[dict[str, Any]] = field(default_factory=list)
    """The values of each row that it does not share."""
    _shared: list[Mapping[str, Any]] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    """How many rows have each of the shared values."""

    def add(self, rows: Iterable[dict[str, Any]], shared: Mapping[str, Any]) -> None:
        """Add rows that share some values. Their own values precede these."""
        before = len(self.own)
        self.own += rows
        self._shared.append(shared)
        self._counts.append(len(self.own) - before)

    def batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """Return the rows with their shared values."""
        own, shared = (set[str]().union(*rows) for rows in (self.own, self._shared))
        groups = np.repeat(np.arange(len(self._shared)), self._counts)
        arrays = []
        for name, arrow in zip(schema.names, schema.types, strict=True):
            if name not in own:
                arrays.append(pa.array([values.get(name) for values in self._shared], arrow).take(groups))
                continue
            column = [row.get(name) for row in self.own]
            if name in shared:
                column = [
                    value if name in row else self._shared[group].get(name)
                    for value, row, group in zip(column, self.own, groups, strict=True)
                ]
            arrays.append(pa.array(column, arrow))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


@dataclass(slots=True)
class FileRows:
    """The rows of one file by table, until they are returned as batches."""

    wanted: Mapping[str, tuple[str, ...] | None]
    """The requested tables with their columns; None means all columns."""
    issues: Issues
    file: str
    reports: list[ReportSummary] = field(default_factory=list)
    """The reports read so far."""
    issue_count: int = 0
    """The number of issues so far."""
    ledger: LineLedger = field(default_factory=LineLedger)
    """What became of each line."""
    _rows: dict[str, _TableRows] = field(default_factory=dict)
    _batches: list[tuple[str, pa.RecordBatch]] = field(default_factory=list)
    """Rows before those, which are complete batches."""

    def wants(self, table: str) -> bool:
        """Return whether rows of this table are requested."""
        return table in self.wanted

    def add_issue(self, issue: Issue) -> None:
        """Add an issue; the ledger notes it for its line."""
        self.issue_count += 1
        self.issues.add(issue)
        if issue.line_no is not None:
            self.ledger.take(issue.line_no, LineUse.ISSUE)

    def add_once(self, issue: Issue) -> None:
        """Add an issue that is the only one of its kind in the file."""
        self.issue_count += 1
        self.issues.add_once(issue)

    def add_rows(self, table: str, rows: Iterable[dict[str, Any]], shared: Mapping[str, Any]) -> None:
        """Add finished rows, and the values that they share."""
        self._rows.setdefault(table, _TableRows()).add(rows, shared)

    def add_columns(self, table: str, columns: Mapping[str, pa.Array], shared: Mapping[str, Any]) -> None:
        """Add many finished rows, given as columns and as values that all rows share."""
        if table in self._rows:
            self._batches.append((table, self._batch(table)))
        schema = self._schema(table)
        count = len(next(iter(columns.values())))
        arrays = [
            columns[item.name].cast(item.type)
            if item.name in columns
            else pa.repeat(pa.scalar(shared.get(item.name), item.type), count)
            for item in schema
        ]
        self._batches.append((table, pa.RecordBatch.from_arrays(arrays, schema=schema)))

    def full_batches(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the tables that have enough rows for a batch."""
        yield from self._complete()
        for table in [name for name, rows in self._rows.items() if len(rows.own) >= BATCH_ROWS]:
            yield table, self._batch(table)

    def remaining_batches(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the tables with the remaining rows."""
        yield from self._complete()
        for table in list(self._rows):
            yield table, self._batch(table)

    def _complete(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        complete, self._batches = self._batches, []
        yield from complete

    def _batch(self, table: str) -> pa.RecordBatch:
        return self._rows.pop(table).batch(self._schema(table))

    def _schema(self, table: str) -> pa.Schema:
        schema = table_schema(table)
        if (columns := self.wanted[table]) is not None:
            schema = pa.schema([schema.field(name) for name in columns], schema.metadata)
        return schema


@dataclass(slots=True)
class ReportRows:
    """Adds the rows and issues of one report to those of its file, with the values that all rows share."""

    sheet: FileRows
    origin: Origin
    common: dict[str, Any] = field(default_factory=dict)
    """Columns that all rows of the report share, such as stack, release and interval_start_local."""

    def wants(self, table: str) -> bool:
        """Return whether rows of this table are requested; issues are reported in any case."""
        return self.sheet.wants(table)

    def add_report(self, name: str, line: int, *, has_date: bool = True) -> None:
        """Count a report in the inventory, even if it gives no rows."""
        origin = self.origin
        when = self.common.get("interval_start_local") or origin.captured_at()
        summary = ReportSummary(name, origin.source.value, origin.system, when, line, has_date)
        self.sheet.reports.append(summary)

    def row(
        self,
        table: str,
        line: int,
        values: Mapping[str, Any],
        extra: Mapping[str, str] | None = None,
        lines: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Add a row of printed texts; the arguments are those of `typed`.

        It is returned without the values that it shares with other rows, even if its table is not requested,
        because checks need it.
        """
        row = self.typed(table, line, values, extra, lines)
        self.add_rows(table, [row])
        return row

    def typed(
        self,
        table: str,
        line: int,
        values: Mapping[str, Any],
        extra: Mapping[str, str] | None = None,
        lines: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Return a row of typed values from printed texts; other values are used unchanged.

        A text without a value (blank, hyphens, N/A) is null. `extra` contains labels without a column.
        `lines` has the lines of values that are not in the first line of the row.
        """
        row: dict[str, Any] = {"line_no": line, "extra": extra_text(extra)}
        self.used(line)
        if lines:
            for other in {*lines.values()}:
                self.used(other)
        columns = _columns(table)
        for name, value in values.items():
            if isinstance(value, str):
                try:
                    row[name] = columns[name].values[value.strip()]
                except ValueError:
                    self._report_invalid(table, columns[name], value, (lines or {}).get(name, line))
                    row[name] = None
            else:
                row[name] = value
        return row

    def add_rows(self, table: str, rows: Sequence[dict[str, Any]]) -> None:
        """Add rows of typed values, each with its line number, if their table is requested."""
        if rows and self.sheet.wants(table):
            self.sheet.add_rows(table, rows, self._shared())

    def rows(self, table: str, stretch: RowStretch, columns: Mapping[str, pa.Array]) -> None:
        """Add the rows of a stretch, which have the same number of lines, from columns of decoded values."""
        self.sheet.ledger.take_rows(stretch.no, stretch.last_no, LineUse.ROW)
        if self.sheet.wants(table):
            lines, count = stretch.last_no + 1 - stretch.no, len(next(iter(columns.values())))
            numbers = pa.array(range(stretch.no, stretch.last_no + 1, lines // count))
            self.sheet.add_columns(table, {"line_no": numbers, **columns}, self._shared())

    def _shared(self) -> dict[str, Any]:
        """Return the values that all rows of the report share."""
        origin = self.origin
        return {
            "file": self.sheet.file,
            "source": origin.source.value,
            "system": origin.system,
            "system_from": origin.system_from.value if origin.system_from else None,
            "time_from": origin.time_from.value,
            "taken_local": origin.captured_at(),
            "run": origin.run,
            "taken_time": _clock_text(origin.clock) if origin.clock else None,
            **self.common,
        }

    def value(self, table: str, column: str, text: str, line: int) -> Any:  # noqa: ANN401 - as declared
        """Return a printed value as its column has it, for grammars that check values before they make the
        row.
        """
        printed = _columns(table)[column]
        try:
            return printed.values[text.strip()]
        except ValueError:
            self._report_invalid(table, printed, text, line)
            return None

    def _report_invalid(self, table: str, column: _PrintedColumn, text: str, line: int) -> None:
        printed = column.printed
        problem = f"{quoted(text.strip())} is not {column.codec.expects}; the column is null"
        self.issue(Code.BAD_VALUE, problem, line, field=printed.label or printed.column, table=table)

    def issue(
        self,
        code: Code,
        text: str,
        line: int | None = None,
        column: int | None = None,
        *,
        field: str = "",
        table: str = "",
    ) -> None:
        """Add an issue; `line` and `column` count from 1."""
        self.sheet.add_issue(
            Issue(code, text, self.sheet.file, line_no=line, column_no=column, field=field, table=table)
        )

    def used(self, line: int) -> None:
        """Note that a line is read: its values are in a row, or in the heading of a report."""
        self.sheet.ledger.take(line, LineUse.ROW)

    def furniture(self, line: int) -> None:
        """Note that a line of a report is known and has no data: column headings, a rule, an end."""
        self.sheet.ledger.take(line, LineUse.FURNITURE)

    def skipped(self, lines: Iterable[Line]) -> None:
        """Note that an issue says of these lines that they are not read."""
        self.sheet.ledger.take_all((line.no for line in single_lines(lines)), LineUse.ISSUE)

    def add_unknown_line(self, line: int, text: str, section: str = "") -> None:
        """Add an issue about a line that the grammar does not know."""
        self.sheet.add_issue(
            Issue(
                Code.UNKNOWN_LINE,
                f"the line {quoted(text)} is not understood and was skipped",
                self.sheet.file,
                line_no=line,
                section=section,
            )
        )


def extra_text(extra: Mapping[str, str] | None) -> str | None:
    """Return the labels without a column as the column `extra` has them."""
    return json.dumps(dict(extra), ensure_ascii=False) if extra else None


@lru_cache(maxsize=64)
def _clock_text(clock: time) -> str:
    """Return a time of day as text; the rows of a report share it."""
    return clock.strftime("%H:%M:%S")


_VALUES_KEPT = 4096
"""So many values of a column are remembered."""


class ColumnValues(dict[str, Any]):
    """The values of the texts of one column, without blanks around them: figures such as 0.00 repeat. A text
    without a value raises ValueError.
    """

    def __init__(self, decode: Callable[[str], Any]) -> None:
        super().__init__()
        self._decode = decode

    def __missing__(self, text: str) -> Any:  # noqa: ANN401 - as declared
        """Decode a text, and remember its value."""
        value = self._decode(text)
        if len(self) >= _VALUES_KEPT:
            self.clear()
        self[text] = value
        return value


class _PrintedColumn(NamedTuple):
    printed: PrintedField
    codec: TextCodec
    decode: Callable[[str], Any]
    """Returns the value of a text without blanks around it; raises ValueError if it has none."""
    values: ColumnValues


def values_of(table: str, column: str) -> ColumnValues:
    """Return the values of the texts of a column."""
    return _columns(table)[column].values


@cache
def _columns(table: str) -> dict[str, _PrintedColumn]:
    return {field.column: _printed_column(field) for field in report_table(table).fields}


def _printed_column(printed: PrintedField) -> _PrintedColumn:
    codec, limit = CODECS[printed.format], _limit(arrow_type(printed))
    nothing = _NO_TEXT if printed.format is PrintedFormat.TEXT else NO_VALUE

    def decode(text: str) -> Any:  # noqa: ANN401 - as declared
        if text.upper() in nothing:
            return None
        value = codec.decode(text)
        if limit is not None and value > limit:
            raise ValueError(text)
        return value

    return _PrintedColumn(printed, codec, decode, ColumnValues(decode))


def decoded_columns(table: str, texts: Mapping[str, Sequence[str]]) -> dict[str, pa.Array] | None:
    """Return columns of printed texts as typed values, each distinct text decoded once; None if one is
    invalid.
    """
    decoded = {}
    for name, column in texts.items():
        printed = _columns(table)[name]
        try:
            values = {text: printed.decode(text) for text in {*column}}
        except ValueError:
            return None
        decoded[name] = pa.array([values[text] for text in column], arrow_type(printed.printed))
    return decoded


def _limit(arrow: pa.DataType) -> int | None:
    if not pa.types.is_integer(arrow):
        return None
    return int((1 << arrow.bit_width - pa.types.is_signed_integer(arrow)) - 1)


def quoted(text: str) -> str:
    """Return a piece of a report for an issue text: printable and not too long.

    >>> quoted("a" * 70)[:10], quoted(chr(27))
    ("'aaaaaaaaa", "'\\\\x1b'")
    """
    return repr(text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "...")
