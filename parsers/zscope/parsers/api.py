"""The functions that programs call: `read`, `scan`, `inventory` and `unpack`.

All take paths of files or folders, or `-` for standard input, and the same `ReadOptions`. The first bytes of
a file decide which reader it gets.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from zscope.parsers.containers.streams import UNPACKED_CHUNK, foreign_terse
from zscope.parsers.inputs import INVENTORY_SCHEMA, FileSummary, members_of
from zscope.parsers.issues import (
    Code,
    EmptyInputError,
    InputError,
    Issues,
    failures_as_issues,
    unexpected_errors,
)
from zscope.parsers.options import DEFAULT_OPTIONS, NO_HOOKS, ReadOptions, Selection, parse
from zscope.parsers.smf.dump import Dump
from zscope.parsers.smf.framing import HEAD_BYTES, detect, foreign, refuse
from zscope.parsers.text.coding import Coding, detect_coding, xml_coding
from zscope.parsers.text.report_input import ReportInput, looks_like_json
from zscope.schemas.arrow import table_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.inputs import InputReader, Member, Paths
    from zscope.parsers.options import ScanHooks


def reader_for(
    member: Member, options: ReadOptions, issues: Issues, hooks: ScanHooks = NO_HOOKS
) -> InputReader:
    """Return the reader for a file, or raise an `InputError` that names what the file is instead.

    Text is tested first: data that are nearly all printable are no dump, while a few bytes of nearly anything
    can pass for a length word. With a framing in the options, no test is made.
    """
    head = member.stream.peek(HEAD_BYTES + 1)
    if not head and member.stream.damaged:
        raise EmptyInputError
    if foreign_terse(head):
        raise InputError(refuse(head, member.name, Code.TERSE_FOREIGN))
    if options.framing is None:
        if (code := foreign(head)) is not None:
            raise InputError(refuse(head, member.name, code))
        if xml_coding(head):
            return ReportInput(member, Coding("xml"), options, issues, "xml")
        if coding := detect_coding(head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES):
            kind = "json" if looks_like_json(head, coding) else "text"
            return ReportInput(member, coding, options, issues, kind)
    framing = options.framing or detect(head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES, file=member.name)
    return Dump(member, framing, options, issues, hooks)


def readers(paths: Paths, options: ReadOptions, issues: Issues) -> Iterator[InputReader]:
    """Return a reader for each file that can be read; any other file becomes an issue."""
    for member in members_of(paths, issues):
        try:
            with unexpected_errors(member.name):
                reader = reader_for(member, options, issues)
        except EmptyInputError:
            continue
        except InputError as error:
            issues.add(error.issue)
            continue
        yield reader


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of one table from one file."""

    table: str
    file: str
    rows: pa.RecordBatch


@dataclass
class Scan:
    """A stream of batches of the selected tables. It can be iterated once; files are read on the way.

    A file that cannot be used becomes an issue, and the scan continues with the next file.
    """

    paths: Paths
    selection: Selection
    options: ReadOptions
    issues: Issues
    files: list[FileSummary] = field(default_factory=list)

    def __iter__(self) -> Iterator[Batch]:
        """Read all files."""
        for reader in readers(self.paths, self.options, self.issues):
            self.files.append(reader.summary)
            with failures_as_issues(reader.summary.file, self.issues):
                for table, rows in reader.batches(self.selection):
                    yield Batch(table, reader.summary.file, rows)
            if reader.summary.no_report:
                self.files.remove(reader.summary)


@dataclass(frozen=True, slots=True)
class Tables:
    """Whole tables by name, with the issues and the files they come from."""

    tables: dict[str, pa.Table]
    issues: Issues
    files: list[FileSummary]

    def __getitem__(self, name: str) -> pa.Table:
        """Return one table."""
        return self.tables[name]


@dataclass(frozen=True, slots=True)
class InventoryReport:
    """What some files contain: one row per system and kind of record or report."""

    rows: pa.Table
    issues: Issues
    files: list[FileSummary]


@dataclass(frozen=True, slots=True)
class UnpackReport:
    """What `unpack` wrote."""

    records: int
    """Zero for data that are no SMF dump."""
    bytes: int
    issues: Issues
    files: list[FileSummary]


def scan(
    paths: Paths,
    tables: str | Iterable[str] | Selection | None = None,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> Scan:
    """Read files as a stream of batches, in bounded memory whatever their size.

    `tables` names tables (`smf119_zert_detail`), tables with columns (`smf119_zert_detail[cipher,in_bytes]`)
    or record types with subtypes (`119(2,11:12),70`). Only what is selected is decoded; by default, all
    tables are.

    >>> batches = scan("sample-data/smf-sample.bin", "smf119_zert_detail[tls_version]")
    >>> sum(batch.rows.num_rows for batch in batches) > 0
    True
    """
    selection = tables if isinstance(tables, Selection) else parse(tables)
    return Scan(paths, selection, options, Issues(strict=options.strict))


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
    for member in members_of(paths, issues):
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

    A zip archive does not count: its other files must not end up between the records of a dump.
    """
    return error.issue.code is Code.UNKNOWN_DATA and bool(member.packing) and member.packing[-1] != "zip"
