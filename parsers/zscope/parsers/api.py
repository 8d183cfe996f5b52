"""The functions that programs call: `read`, `scan`, `inventory` and `unpack`.

All take paths of files or folders, or `-` for standard input, and the same `ReadOptions`. The first bytes of
a file decide which reader it gets.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import pyarrow as pa

from zscope.parsers.containers.compressed import unread_packing
from zscope.parsers.containers.streams import ARCHIVES, UNPACKED_CHUNK, foreign_terse
from zscope.parsers.file_range import FileRange
from zscope.parsers.inputs import INVENTORY_SCHEMA, STANDARD_INPUT, FileSummary, members_of
from zscope.parsers.issues import (
    Code,
    EmptyInputError,
    InputError,
    Issue,
    Issues,
    Severity,
    failures_as_issues,
    unexpected_errors,
)
from zscope.parsers.notebook_html import html_table
from zscope.parsers.options import DEFAULT_OPTIONS, NO_HOOKS, ReadOptions, Selection, parse
from zscope.parsers.results import InventoryReport, Tables, UnpackReport
from zscope.parsers.smf.dump import Dump
from zscope.parsers.smf.framing import HEAD_BYTES, detect, foreign, refuse
from zscope.parsers.text.coding import Coding, detect_coding, xml_coding
from zscope.parsers.text.report_input import ReportInput, looks_like_json
from zscope.schemas.arrow import table_schema

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from zscope.parsers.inputs import InputReader, Member, Paths
    from zscope.parsers.options import ScanHooks


_BEGINNING = 512
"""Bytes that show that a file is a text with damage if it is no dump."""
_SHOWN = 10
"""Rows and columns of a batch that notebooks show."""


def reader_for(
    member: Member, options: ReadOptions, issues: Issues, hooks: ScanHooks = NO_HOOKS
) -> InputReader:
    """Return the reader for a file, or raise an `InputError` that names what the file is instead.

    Text is tested first: data that are nearly all printable are no dump, while a few bytes of nearly anything
    can pass for a length word. With a framing in the options, no test is made. What is neither is a damaged
    text if it begins like a text.
    """
    if member.part is not None and member.part.framing is not None:
        return Dump(member, member.part.framing, options, issues, hooks)
    head = member.stream.peek(HEAD_BYTES + 1)
    if not head and member.stream.damaged:
        raise EmptyInputError
    if foreign_terse(head):
        raise InputError(refuse(head, member.name, Code.TERSE_FOREIGN))
    if packing := unread_packing(head):
        raise InputError(_packed_otherwise(member, *packing))
    if options.framing is None:
        if (code := foreign(head)) is not None:
            raise InputError(refuse(head, member.name, code))
        if xml_coding(head):
            return ReportInput(member, Coding("xml"), options, issues, "xml")
        if coding := detect_coding(head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES):
            return _text_reader(member, coding, options, issues, head)
    try:
        framing = options.framing or detect(
            head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES, file=member.name
        )
    except InputError:
        if coding := detect_coding(head[:_BEGINNING], whole=False):
            return _text_reader(member, coding, options, issues, head)
        raise
    return Dump(member, framing, options, issues, hooks)


def _packed_otherwise(member: Member, packing: str, command: str) -> Issue:
    text = (
        f"the file is packed as {packing}, which zscope does not read; unpack it ({command}), or pack the "
        "original by gzip, bzip2, xz, zstd, zip or AMATERSE"
    )
    return Issue(Code.PACKING_UNREAD, text, member.name, offset=0)


def _text_reader(
    member: Member, coding: Coding, options: ReadOptions, issues: Issues, head: bytes
) -> InputReader:
    kind = "json" if looks_like_json(head, coding) else "text"
    return ReportInput(member, coding, options, issues, kind)


def readers(
    paths: Paths, options: ReadOptions, issues: Issues, hooks: ScanHooks = NO_HOOKS
) -> Iterator[InputReader]:
    """Return a reader for each file that can be read; any other file becomes an issue."""
    for member in members_of(paths, issues, options.limits):
        try:
            with unexpected_errors(member.name):
                reader = reader_for(member, options, issues, hooks)
        except EmptyInputError:
            continue
        except InputError as error:
            issues.add(error.issue)
            continue
        yield reader


@dataclass(frozen=True, slots=True, repr=False)
class Batch:
    """Some rows of one table from one file."""

    table: str
    """The name of the table."""
    file: str
    """The file, and the member of an archive if it is one."""
    rows: pa.RecordBatch
    """The rows; texts are dictionaries, which differ between batches."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return the rows for libraries that exchange data by the Arrow PyCapsule interface."""
        schema, rows = self.rows.__arrow_c_array__(requested_schema)
        return schema, rows

    def __repr__(self) -> str:
        """Return table, file and the number of rows."""
        return f"<Batch of {self.table} from {self.file}: {self.rows.num_rows:,} rows>"

    def _repr_html_(self) -> str:
        names = self.rows.schema.names[:_SHOWN]
        first = self.rows.select(names).slice(0, _SHOWN).to_pylist()
        rows = [tuple("" if row[name] is None else str(row[name]) for name in names) for row in first]
        return f"<p>{escape(repr(self))}</p>{html_table(names, rows)}"


class DataWarning(UserWarning):
    """Some data were not read, and the way in which the rows are read cannot return issues."""


@dataclass
class Scan:
    """A stream of batches of the selected tables. Each iteration reads the files from the beginning.

    A file that cannot be used becomes an issue, and the scan continues with the next file. With one table,
    the scan is also an Arrow stream, which polars, pandas, DuckDB and pyarrow take as it is.
    """

    paths: Paths
    selection: Selection
    options: ReadOptions
    hooks: ScanHooks = NO_HOOKS
    issues: Issues = field(init=False)
    """What could not be read by the last iteration."""
    files: list[FileSummary] = field(init=False)
    """The files that the last iteration has read."""
    _begun: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.paths, (str, Path, FileRange)):
            self.paths = tuple(self.paths)
        self._reset()

    def _reset(self) -> None:
        self.issues, self.files = Issues(strict=self.options.strict), []

    def __iter__(self) -> Iterator[Batch]:
        """Read all files."""
        if self._begun:
            refuse_second_pass(self.paths)
            self._reset()
        self._begun = True
        return self._batches(self.issues, self.files)

    def _batches(self, issues: Issues, files: list[FileSummary]) -> Iterator[Batch]:
        for reader in readers(self.paths, self.options, issues, self.hooks):
            files.append(reader.summary)
            with failures_as_issues(reader.summary.file, issues):
                for table, rows in reader.batches(self.selection):
                    yield Batch(table, reader.summary.file, rows)
            if reader.summary.no_report:
                files.remove(reader.summary)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the Arrow stream; texts are plain strings in all batches."""
        ((name, columns),) = self._only_table()
        return plain_texts(selected_schema(name, columns))

    def to_arrow_reader(self) -> pa.RecordBatchReader:
        """Return the rows of the only selected table as a stream; memory does not grow with the files.

        At its end, a `DataWarning` tells about data that could not be read.
        """
        return pa.RecordBatchReader.from_batches(self.schema, self._warned_batches())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the same for libraries that exchange data by the Arrow PyCapsule interface."""
        return self.to_arrow_reader().__arrow_c_stream__(requested_schema)

    def plain_batches(self) -> Generator[pa.RecordBatch]:
        """Read all files, and yield the rows of the only selected table with plain strings."""
        schema = self.schema
        for batch in self:
            yield with_plain_texts(batch.rows, schema)

    def __array__(self, *_arguments: object, **_options: object) -> NoReturn:
        """Refuse what `pandas.DataFrame(scan)` would do: a frame of batches instead of rows."""
        raise TypeError(
            "a scan is a stream of Arrow batches; pandas reads it by pandas.DataFrame.from_arrow(scan), "
            "or by pyarrow.table(scan).to_pandas()"
        )

    def _warned_batches(self) -> Iterator[pa.RecordBatch]:
        with closing(self.plain_batches()) as batches:
            yield from batches
        warn_of(self.issues)

    def _only_table(self) -> list[tuple[str, tuple[str, ...] | None]]:
        tables = list(self.selection.columns.items())
        if len(tables) != 1:
            raise TypeError(
                f"an Arrow stream has one table, and {len(tables)} are selected; name one, for example "
                'zs.scan(paths, "smf119_zert_detail")'
            )
        return tables

    def __repr__(self) -> str:
        """Return paths and tables."""
        tables = list(self.selection.columns)
        what = tables[0] if len(tables) == 1 else f"{len(tables)} tables"
        state = f"; {self.issues!r}" if self._begun else ""
        return f"<Scan of {what} from {', '.join(_names(self.paths)[:3])}{state}>"

    def _repr_html_(self) -> str:
        """Return the text, and the issues of the last iteration."""
        issues = self.issues._repr_html_() if self._begun else ""
        return f"<p>{escape(repr(self))}</p>{issues}"


def _names(paths: Paths) -> tuple[str, ...]:
    each = (paths,) if isinstance(paths, (str, Path, FileRange)) else paths
    return tuple(str(path) for path in each)


def refuse_second_pass(paths: Paths) -> None:
    """Raise an error if standard input is among files that are read a second time."""
    if STANDARD_INPUT in _names(paths):
        raise ValueError("standard input can be read once only; zs.read() keeps the rows")


def plain_texts(schema: pa.Schema) -> pa.Schema:
    """Return the schema with texts as plain strings: the dictionaries of two batches can differ."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    return pa.schema(fields, schema.metadata)


def with_plain_texts(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with texts as plain strings, in a schema that has them so."""
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in rows.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def warn_of(issues: Issues) -> None:
    """Warn about data that were not read."""
    if issues.worst is not None and issues.worst > Severity.NOTE:
        first = next(issue for issue in issues if issue.severity > Severity.NOTE)
        warnings.warn(f"{issues!r}; for example {first}", DataWarning, stacklevel=2)


def scan(
    paths: Paths,
    tables: str | Iterable[str] | Selection | None = None,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> Scan:
    """Read files as a stream of batches, in bounded memory whatever their size.

    `tables` names tables (`smf119_zert_detail`), tables with columns (`smf119_zert_detail[cipher,in_bytes]`)
    or record types with subtypes (`119(2,11:12),70`). Only what is selected is decoded; by default, all
    tables are. With one table, the result is an Arrow stream, too.

    >>> batches = scan("sample-data/smf-sample.bin", "smf119_zert_detail[tls_version]")
    >>> sum(batch.rows.num_rows for batch in batches) > 0
    True
    """
    selection = tables if isinstance(tables, Selection) else parse(tables)
    return Scan(paths, selection, options)


def read(
    paths: Paths,
    tables: str | Iterable[str] | Selection | None = None,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> Tables:
    """Read files into whole tables. Every selected table is in the result, also one without rows.

    `tables` is the selection as `scan` takes it.

    >>> result = read("sample-data/smf-sample.bin", "smf70_cpu[system,cpu_id,wait_us]")
    >>> result["smf70_cpu"].column_names
    ['system', 'cpu_id', 'wait_us']
    """
    stream = scan(paths, tables, options)
    parts: dict[str, list[pa.RecordBatch]] = defaultdict(list)
    for batch in stream:
        parts[batch.table].append(batch.rows)
    whole = {
        name: pa.Table.from_batches(parts[name], selected_schema(name, columns))
        for name, columns in stream.selection.columns.items()
    }
    return Tables(whole, stream.issues, stream.files)


def selected_schema(table: str, columns: tuple[str, ...] | None) -> pa.Schema:
    """Return the schema of a table, or of some of its columns."""
    whole = table_schema(table)
    return whole if columns is None else pa.schema([whole.field(name) for name in columns], whole.metadata)


def inventory(paths: Paths, options: ReadOptions = DEFAULT_OPTIONS) -> InventoryReport:
    """Count the records and reports of some files by system and kind, without decoding records.

    >>> inventory("sample-data/smf-sample.bin").rows.column_names[:4]
    ['file', 'kind', 'packing', 'framing']
    """
    issues = Issues(strict=options.strict)
    files: list[FileSummary] = []
    tables = [INVENTORY_SCHEMA.empty_table()]
    for reader in readers(paths, options, issues):
        with failures_as_issues(reader.summary.file, issues):
            tables.append(reader.inventory())
        if not reader.summary.no_report:
            files.append(reader.summary)
    return InventoryReport(pa.concat_tables(tables), issues, files)


def unpack(paths: Paths, out: BinaryIO, options: ReadOptions = DEFAULT_OPTIONS) -> UnpackReport:
    """Undo packing, blocks and segments of dumps, and write the records with a length word each.

    A packed file that is no dump is unpacked and written as bytes.
    """
    issues = Issues(strict=options.strict)
    files: list[FileSummary] = []
    written = 0
    for member in members_of(paths, issues, options.limits):
        try:
            with unexpected_errors(member.name):
                reader = reader_for(member, options, issues)
                written += reader.unpacked(out)
        except EmptyInputError:
            continue
        except InputError as error:
            if not written and _is_other_data(member, error):
                while piece := member.stream.read(UNPACKED_CHUNK):
                    written += out.write(piece)
            else:
                issues.add(error.issue)
            continue
        files.append(reader.summary)
    return UnpackReport(sum(f.records for f in files), written, issues, files)


def _is_other_data(member: Member, error: InputError) -> bool:
    """Return whether a packed file is intact and simply contains no dump.

    An archive does not count: its other files must not end up between the records of a dump.
    """
    is_unknown = error.issue.code is Code.UNKNOWN_DATA
    return is_unknown and bool(member.packing) and member.packing[-1] not in ARCHIVES
