"""What programs call: read, scan, inventory, unpack. All take paths, folders, or `-` for standard input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from zscope.parsers.containers.streams import UNPACKED_CHUNK
from zscope.parsers.detect import source_of, sources
from zscope.parsers.inputs import FileSummary, NothingThereError, Options, members_of
from zscope.parsers.inventory import INVENTORY_SCHEMA
from zscope.parsers.issues import Code, InputError, Issues
from zscope.parsers.select import Selection, parse
from zscope.parsers.smf.ebcdic import DEFAULT_CODE_PAGE
from zscope.parsers.text.supplied.mapping import checked
from zscope.parsers.text.supplied.times import check_time_format
from zscope.schemas.arrow import table_schema
from zscope.schemas.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.containers.source import Member
    from zscope.parsers.inputs import Paths, Progress
    from zscope.parsers.smf.framing import Framing
    from zscope.parsers.text.supplied.forms import Mapped


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
        for source in sources(self.paths, self.options, self.issues):
            self.files.append(source.summary)
            for table, rows in source.batches(self.selection):
                yield Batch(table, source.summary.file, rows)
            if source.summary.useless:
                self.files.remove(source.summary)


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


def scan(  # noqa: PLR0913 - each is a way of its own to read
    paths: Paths,
    select: str | Iterable[str] | None = None,
    *,
    jobs: int | None = None,
    code_page: str = DEFAULT_CODE_PAGE,
    framing: Framing | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    system: str | None = None,
    taken: date | datetime | None = None,
    run: str | None = None,
    mapping: Mapping[str, str] | Mapped = (),
    time_format: str | None = None,
    formatter_zone: str | None = None,
) -> Scan:
    """Read files as a stream of batches, in bounded memory whatever their size.

    `system` and `taken` (a day, or a day with a time) are for displays that do not show them; `run` is the
    benchmark run of supplied figures, `mapping` says what a CSV or JSON calls their columns, `time_format`
    how it writes times, and `formatter_zone` in which zone a formatter wrote them.
    `select` names tables (`smf119_zert_detail`), tables with columns (`smf119_zert_detail[cipher,in_bytes]`)
    or record types with subtypes (`119(2,11:12),70`); what is not selected is not decoded.

    >>> batches = scan("sample-data/smf-sample.bin", "smf119_zert_detail[tls_version]")
    >>> sum(batch.rows.num_rows for batch in batches) > 0
    True
    """
    options = _with_supplied(
        Options(code_page, framing, jobs, progress, system, *day_and_clock(taken)),
        run,
        mapping,
        time_format,
        formatter_zone,
    )
    return Scan(paths, parse(select), options, Issues(strict=strict))


def _with_supplied(
    options: Options,
    run: str | None,
    mapping: Mapping[str, str] | Mapped,
    time_format: str | None,
    formatter_zone: str | None,
) -> Options:
    """The options with what is said about supplied figures; raises a ValueError for what cannot be so."""
    pairs = mapping.items() if isinstance(mapping, Mapping) else mapping
    if time_format:
        check_time_format(time_format)
    if formatter_zone is not None:
        zone_of(formatter_zone)
    return replace(
        options,
        run=run,
        mapping=checked(pairs),
        time_format=time_format,
        formatter_zone=formatter_zone,
    )


def day_and_clock(taken: date | datetime | None) -> tuple[date | None, time | None]:
    """A day, and the time of day if there is one.

    >>> day_and_clock(date(2026, 3, 2))
    (datetime.date(2026, 3, 2), None)
    """
    return (taken.date(), taken.time()) if isinstance(taken, datetime) else (taken, None)


def read(  # noqa: PLR0913 - each is a way of its own to read
    paths: Paths,
    select: str | Iterable[str] | None = None,
    *,
    jobs: int | None = None,
    code_page: str = DEFAULT_CODE_PAGE,
    framing: Framing | None = None,
    strict: bool = False,
    system: str | None = None,
    taken: date | datetime | None = None,
    run: str | None = None,
    mapping: Mapping[str, str] | Mapped = (),
    time_format: str | None = None,
    formatter_zone: str | None = None,
) -> Tables:
    """Read files into whole tables: every selected table, also one without rows.

    >>> found = read("sample-data/smf-sample.bin", "smf70_cpu[system,cpu_id,wait_us]")
    >>> found["smf70_cpu"].column_names
    ['system', 'cpu_id', 'wait_us']
    """
    reading = scan(
        paths,
        select,
        jobs=jobs,
        code_page=code_page,
        framing=framing,
        strict=strict,
        system=system,
        taken=taken,
        run=run,
        mapping=mapping,
        time_format=time_format,
        formatter_zone=formatter_zone,
    )
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


def inventory(  # noqa: PLR0913 - each is a way of its own to read
    paths: Paths,
    *,
    code_page: str = DEFAULT_CODE_PAGE,
    framing: Framing | None = None,
    progress: Progress | None = None,
    system: str | None = None,
    taken: date | datetime | None = None,
    run: str | None = None,
    mapping: Mapping[str, str] | Mapped = (),
    time_format: str | None = None,
    formatter_zone: str | None = None,
) -> InventoryReport:
    """Count the records and reports of some files by system and kind; records are not decoded for it.

    >>> inventory("sample-data/smf-sample.bin").rows.column_names[:4]
    ['file', 'kind', 'packing', 'framing']
    """
    options = _with_supplied(
        Options(code_page, framing, None, progress, system, *day_and_clock(taken)),
        run,
        mapping,
        time_format,
        formatter_zone,
    )
    issues = Issues()
    files: list[FileSummary] = []
    tables = [INVENTORY_SCHEMA.empty_table()]
    for source in sources(paths, options, issues):
        tables.append(source.inventory())
        if not source.summary.useless:
            files.append(source.summary)
    return InventoryReport(pa.concat_tables(tables), issues, files)


def unpack(
    paths: Paths, out: BinaryIO, *, framing: Framing | None = None, progress: Progress | None = None
) -> UnpackReport:
    """Undo packing, blocks and segments: a plain stream of records; or the bytes of packed other data."""
    options, issues = Options(framing=framing, progress=progress), Issues()
    files: list[FileSummary] = []
    written = 0
    for member in members_of(paths, issues):
        try:
            source = source_of(member, options, issues)
            written += source.unpacked(out)
        except NothingThereError:
            continue
        except InputError as error:
            if _is_data_of_its_own(member, error) and not written:
                while piece := member.stream.read(UNPACKED_CHUNK):
                    written += out.write(piece)
            else:
                issues.add(error.issue)
            continue
        files.append(source.summary)
    return UnpackReport(sum(f.records for f in files), written, issues, files)


def _is_data_of_its_own(member: Member, error: InputError) -> bool:
    """Whether a packed file holds something that is no dump but not a spoiled one either.

    A zip archive is no such file: what lies beside a dump in it must not get between the records.
    """
    own = error.issue.code is Code.UNKNOWN_DATA and member.packing
    return bool(own) and member.packing[-1] != "zip"
