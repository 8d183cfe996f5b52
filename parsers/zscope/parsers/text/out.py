"""Where grammars put rows and issues: printed values become typed columns, what cannot be read an issue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.codecs import CODECS
from zscope.schemas.arrow import arrow_type, table_schema
from zscope.schemas.printed import PrintedFormat, report_table

if TYPE_CHECKING:
    from zscope.parsers.issues import Issues
    from zscope.parsers.text.codecs import TextCodec
    from zscope.parsers.text.report import Origin
    from zscope.schemas.printed import PrintedField

BATCH_ROWS = 10_000
_LONGEST_SHOWN = 60
NOTHING_PRINTED = frozenset({"", "N/A", "*", *("-" * count for count in range(1, 9))})
"""What stands where there is no value; in a column of text only the first two do."""


@dataclass(frozen=True, slots=True)
class Found:
    """One report that was read."""

    name: str
    """As people know it: NETSTAT CONN, RMF CPU Activity."""
    source: str
    system: str | None
    when_local: datetime | None
    line: int


@dataclass(slots=True)
class Sheet:
    """The rows of one file, table by table, until they are taken."""

    wanted: Mapping[str, tuple[str, ...] | None]
    """Tables to make with the columns asked for; None means all."""
    issues: Issues
    file: str
    found: list[Found] = field(default_factory=list)
    """The reports so far."""
    told: int = 0
    """How many issues there were so far."""
    _rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def wants(self, table: str) -> bool:
        """Whether rows of this table are of any use."""
        return table in self.wanted

    def tell(self, issue: Issue) -> None:
        """Hand an issue on."""
        self.told += 1
        self.issues.add(issue)

    def put(self, table: str, row: dict[str, Any]) -> None:
        """Keep a finished row."""
        self._rows.setdefault(table, []).append(row)

    def full(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The tables with enough rows for a batch."""
        for table in [name for name, rows in self._rows.items() if len(rows) >= BATCH_ROWS]:
            yield table, self._batch(table)

    def rest(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """All that is left."""
        for table in list(self._rows):
            yield table, self._batch(table)

    def _batch(self, table: str) -> pa.RecordBatch:
        schema = table_schema(table)
        if (columns := self.wanted[table]) is not None:
            schema = pa.schema([schema.field(name) for name in columns], schema.metadata)
        return pa.RecordBatch.from_pylist(self._rows.pop(table), schema)


@dataclass(slots=True)
class Out:
    """The sheet as one report sees it: what is true of all its rows is filled in."""

    sheet: Sheet
    origin: Origin
    lead: dict[str, Any] = field(default_factory=dict)
    """Columns at the front of the row that the grammar knows: stack, release, interval_start_local."""

    def wants(self, table: str) -> bool:
        """Whether rows of this table are of any use; issues are told in any case."""
        return self.sheet.wants(table)

    def found(self, name: str, line: int) -> None:
        """A report was recognised: it counts in the inventory, whatever its rows come to."""
        origin = self.origin
        when = self.lead.get("interval_start_local") or origin.taken()
        self.sheet.found.append(Found(name, origin.source.value, origin.system, when, line))

    def row(
        self,
        table: str,
        line: int,
        values: Mapping[str, Any],
        extra: Mapping[str, str] | None = None,
        lines: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """A row, from the texts the report prints; a value that is no text is taken as it is.

        A text without a value (blank, hyphens, N/A) is null. `extra` has the labels that no column is
        declared for. `lines` says where values stand that do not stand in the first line of the row.
        Returns the row, whether it is wanted or not: checks need it in any case.
        """
        origin = self.origin
        row: dict[str, Any] = {
            "file": self.sheet.file,
            "line_no": line,
            "source": origin.source.value,
            "system": origin.system,
            "system_from": origin.system_from.value if origin.system_from else None,
            "time_from": origin.time_from.value,
            "taken_local": origin.taken(),
            "run": origin.run,
            "taken_time": origin.clock.strftime("%H:%M:%S") if origin.clock else None,
            "extra": json.dumps(dict(extra), ensure_ascii=False) if extra else None,
            **self.lead,
        }
        columns = _columns(table)
        for name, value in values.items():
            column = columns[name]
            if isinstance(value, str):
                row[name] = self._decoded(table, column, value, (lines or {}).get(name, line))
            else:
                row[name] = value
        if self.sheet.wants(table):
            self.sheet.put(table, row)
        return row

    def value(self, table: str, column: str, text: str, line: int) -> Any:  # noqa: ANN401 - as declared
        """A printed value as its column has it, for a grammar that checks values before it makes the row."""
        return self._decoded(table, _columns(table)[column], text, line)

    def _decoded(self, table: str, column: _Column, value: str, line: int) -> Any:  # noqa: ANN401
        text = value.strip()
        codec, printed = column.codec, column.printed
        if codec is _TEXT:
            return None if text.upper() in {"", "N/A"} else text
        if text.upper() in NOTHING_PRINTED:
            return None
        try:
            return column.fitting(codec.decode(text))
        except ValueError:
            problem = f"{shown(text)} is not {codec.expects}; the column is null"
            self.issue(Code.BAD_VALUE, problem, line, field=printed.label or printed.column, table=table)
            return None

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
        """Tell what is wrong, and where: `line` and `column` count from 1."""
        self.sheet.tell(
            Issue(code, text, self.sheet.file, line_no=line, column_no=column, field=field, table=table)
        )

    def unknown(self, line: int, text: str, section: str = "") -> None:
        """A line that the grammar knows no meaning of: kept as an issue with its text."""
        self.sheet.tell(
            Issue(
                Code.UNKNOWN_LINE,
                f"the line {shown(text)} is not understood and was left out",
                self.sheet.file,
                line_no=line,
                section=section,
            )
        )


_TEXT = CODECS[PrintedFormat.TEXT]


@dataclass(frozen=True, slots=True)
class _Column:
    printed: PrintedField
    codec: TextCodec
    limit: int | None
    """The largest number the column can hold, where it holds whole numbers."""

    def fitting(self, value: Any) -> Any:  # noqa: ANN401 - as the codec gave it
        if self.limit is not None and value > self.limit:
            raise ValueError(value)
        return value


@cache
def _columns(table: str) -> dict[str, _Column]:
    return {
        field.column: _Column(field, CODECS[field.format], _limit(arrow_type(field)))
        for field in report_table(table).fields
    }


def _limit(arrow: pa.DataType) -> int | None:
    if not pa.types.is_integer(arrow):
        return None
    return int((1 << arrow.bit_width - pa.types.is_signed_integer(arrow)) - 1)


def shown(text: str) -> str:
    """A piece of a report as a message quotes it: printable and not too long.

    >>> shown("a" * 70)[:10], shown(chr(27))
    ("'aaaaaaaaa", "'\\\\x1b'")
    """
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")
