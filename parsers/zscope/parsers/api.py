"""What programs call: read, scan, inventory, unpack. All take paths, folders, or `-` for standard input."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from zscope.parsers.containers.source import Member, input_paths, members, open_input
from zscope.parsers.containers.streams import UNPACKED_CHUNK
from zscope.parsers.containers.terse import foreign_terse
from zscope.parsers.issues import Code, InputError, Issues
from zscope.parsers.select import Selection, parse
from zscope.parsers.smf.ebcdic import DEFAULT_CODE_PAGE, CodePage, code_page
from zscope.parsers.smf.frames import FrameReader, Window
from zscope.parsers.smf.framing import HEAD_BYTES, Framing, detect
from zscope.parsers.smf.inventory import INVENTORY_SCHEMA, Inventory
from zscope.parsers.smf.refusal import refuse
from zscope.parsers.smf.scan import Decoder, decode_windows
from zscope.parsers.smf.unpack import write_plain
from zscope.schemas.arrow import table_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Paths = str | Path | Iterable[str | Path]
    Progress = Callable[["ProgressState"], None]


@dataclass(frozen=True, slots=True)
class ProgressState:
    """How far the reading of one file has come."""

    file: str
    bytes_done: int
    bytes_total: int | None
    records: int


@dataclass(frozen=True, slots=True)
class Options:
    """How to read, where a file does not tell or its telling is wrong."""

    code_page: str = DEFAULT_CODE_PAGE
    framing: Framing | None = None
    jobs: int | None = None
    progress: Progress | None = None

    @property
    def page(self) -> CodePage:
        """The code page itself."""
        return code_page(self.code_page)


@dataclass(slots=True)
class FileSummary:
    """What one file turned out to be."""

    file: str
    packing: tuple[str, ...]
    framing: Framing
    records: int = 0
    spanned: int = 0
    bytes: int = 0
    """After unpacking."""

    def count(self, window: Window) -> None:
        """Take the records of a window into account."""
        self.records += len(window.starts)
        self.spanned += int(window.spanned.sum())
        self.bytes = window.end_offset


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of one table from one file."""

    table: str
    file: str
    rows: pa.RecordBatch


@dataclass
class Scan:
    """Batches of the selected tables, read as they are asked for; iterate over it once.

    A file that cannot be used becomes an issue, and the scan goes on with the next one.
    """

    paths: Paths
    selection: Selection
    options: Options
    issues: Issues
    files: list[FileSummary] = field(default_factory=list)

    def __iter__(self) -> Iterator[Batch]:
        """Read everything."""
        for member, reader, summary in _readers(self.paths, self.options, self.issues):
            self.files.append(summary)
            decoder = Decoder(self.selection, self.issues, member.name, self.options.page)
            with closing(decode_windows(reader, decoder, self.options.jobs)) as windows:
                for window, batches in windows:
                    _advance(summary, window, member, self.options)
                    for table, rows in batches:
                        yield Batch(table, member.name, rows)


@dataclass(frozen=True, slots=True)
class Tables:
    """Whole tables by name, and what could not be read."""

    tables: dict[str, pa.Table]
    issues: Issues
    files: list[FileSummary]

    def __getitem__(self, name: str) -> pa.Table:
        """One table."""
        return self.tables[name]


@dataclass(frozen=True, slots=True)
class InventoryReport:
    """What is in some files."""

    rows: pa.Table
    issues: Issues
    files: list[FileSummary]


@dataclass(frozen=True, slots=True)
class UnpackReport:
    """What was written when a file was unpacked."""

    records: int
    """Zero for data that are no SMF dump."""
    bytes: int
    issues: Issues
    files: list[FileSummary]


def scan(
    paths: Paths,
    select: str | Iterable[str] | None = None,
    *,
    jobs: int | None = None,
    code_page: str = DEFAULT_CODE_PAGE,
    framing: Framing | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Scan:
    """Read files as a stream of batches, in bounded memory whatever their size.

    `select` names tables (`smf119_zert_detail`), tables with columns (`smf119_zert_detail[cipher,in_bytes]`)
    or record types with subtypes (`119(2,11:12),70`); what is not selected is not decoded.

    >>> batches = scan("sample-data/smf-sample.bin", "smf119_zert_detail[tls_version]")
    >>> sum(batch.rows.num_rows for batch in batches) > 0
    True
    """
    return Scan(paths, parse(select), Options(code_page, framing, jobs, progress), Issues(strict=strict))


def read(
    paths: Paths,
    select: str | Iterable[str] | None = None,
    *,
    jobs: int | None = None,
    code_page: str = DEFAULT_CODE_PAGE,
    framing: Framing | None = None,
    strict: bool = False,
) -> Tables:
    """Read files into whole tables: every selected table, also one without rows.

    >>> found = read("sample-data/smf-sample.bin", "smf70_cpu[system,cpu_id,wait_us]")
    >>> found["smf70_cpu"].column_names
    ['system', 'cpu_id', 'wait_us']
    """
    reading = scan(paths, select, jobs=jobs, code_page=code_page, framing=framing, strict=strict)
    parts: dict[str, list[pa.RecordBatch]] = defaultdict(list)
    for batch in reading:
        parts[batch.table].append(batch.rows)
    tables = {
        name: pa.Table.from_batches(parts[name], selected_schema(name, columns))
        for name, columns in reading.selection.columns.items()
    }
    return Tables(tables, reading.issues, reading.files)


def selected_schema(table: str, columns: tuple[str, ...] | None) -> pa.Schema:
    """The schema of a table, or of some of its columns."""
    whole = table_schema(table)
    return whole if columns is None else pa.schema([whole.field(name) for name in columns], whole.metadata)


def inventory(
    paths: Paths,
    *,
    code_page: str = DEFAULT_CODE_PAGE,
    framing: Framing | None = None,
    progress: Progress | None = None,
) -> InventoryReport:
    """Count the records of some files by system, type and subtype without decoding them.

    >>> inventory("sample-data/smf-sample.bin").rows.column_names[:4]
    ['file', 'kind', 'packing', 'framing']
    """
    options, issues = Options(code_page, framing, progress=progress), Issues()
    files: list[FileSummary] = []
    tables = []
    for member, reader, summary in _readers(paths, options, issues):
        files.append(summary)
        counted = Inventory()
        for window in reader:
            counted.add(window)
            _advance(summary, window, member, options)
        packing = ", ".join(summary.packing)
        tables.append(counted.rows(member.name, packing, summary.framing.value, options.page))
    return InventoryReport(pa.concat_tables([INVENTORY_SCHEMA.empty_table(), *tables]), issues, files)


def unpack(
    paths: Paths, out: BinaryIO, *, framing: Framing | None = None, progress: Progress | None = None
) -> UnpackReport:
    """Undo packing, blocks and segments: a plain stream of records; or the bytes of packed other data."""
    options, issues = Options(framing=framing, progress=progress), Issues()
    files: list[FileSummary] = []
    written = 0
    for member in _members(paths, issues):
        try:
            reader, summary = _reader(member, options, issues)
        except InputError as error:
            if not member.packing:
                issues.add(error.issue)
                continue
            while piece := member.stream.read(UNPACKED_CHUNK):
                written += out.write(piece)
            continue
        files.append(summary)
        for window in reader:
            written += write_plain(window, out)
            _advance(summary, window, member, options)
    return UnpackReport(sum(f.records for f in files), written, issues, files)


def _members(paths: Paths, issues: Issues) -> Iterator[Member]:
    """Everything that some paths name, unwrapped; what cannot be opened becomes an issue."""
    named = [paths] if isinstance(paths, str) or not hasattr(paths, "__iter__") else paths
    for path in input_paths(named, issues):
        try:
            with open_input(path) as (file, size):
                yield from members(path, file, size, issues)
        except InputError as error:
            issues.add(error.issue)


def _readers(
    paths: Paths, options: Options, issues: Issues
) -> Iterator[tuple[Member, FrameReader, FileSummary]]:
    """A reader for each input that is a dump; all else becomes an issue."""
    for member in _members(paths, issues):
        try:
            reader, summary = _reader(member, options, issues)
        except InputError as error:
            issues.add(error.issue)
            continue
        yield member, reader, summary


def _reader(member: Member, options: Options, issues: Issues) -> tuple[FrameReader, FileSummary]:
    head = member.stream.peek(HEAD_BYTES + 1)
    if foreign_terse(head):
        raise InputError(refuse(head, member.name, Code.TERSE_FOREIGN))
    framing = options.framing or detect(head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES, file=member.name)
    reader = FrameReader(member.stream, framing, issues, member.name)
    return reader, FileSummary(member.name, member.packing, framing)


def _advance(summary: FileSummary, window: Window, member: Member, options: Options) -> None:
    summary.count(window)
    if options.progress:
        options.progress(ProgressState(member.name, member.done(), member.size, summary.records))
