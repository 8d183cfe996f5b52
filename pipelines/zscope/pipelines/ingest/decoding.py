"""The first half of a load: decode one input, and stage its rows in files that no commit lists yet.

It needs the options, and the digests of earlier loads, but changes nothing in the store: so it can be done in
another process or on another machine, and what it returns can be sent.
`zscope.pipelines.ingest.commit_new_rows` is the second half.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa

from zscope.parsers.api import reader_for
from zscope.parsers.containers.streams import UNPACKED_CHUNK, unreadable
from zscope.parsers.inputs import Member, members, open_input, shown
from zscope.parsers.issues import (
    Code,
    EmptyInputError,
    InputError,
    Issue,
    Issues,
    Severity,
    unexpected_errors,
)
from zscope.parsers.options import ScanHooks
from zscope.parsers.text.coding import code_page
from zscope.pipelines.ingest.facts import InputFacts
from zscope.pipelines.ingest.known_inputs import EarlierLoads, KnownFile
from zscope.pipelines.ingest.options_and_outcomes import FileStatus
from zscope.pipelines.ingest.quarantine import HEAD_BYTES, failure_of
from zscope.pipelines.ingest.value_checks import RangeChecks, TimeChecks
from zscope.pipelines.local_time.to_utc import Clocks
from zscope.pipelines.store.folder import ContentDigest, digest_of
from zscope.pipelines.store.parquet_files import Stage, data_tables, parquet_schema, rows_in, written_again
from zscope.pipelines.store.stored_columns import stored_values
from zscope.schemas.arrow import table_schema
from zscope.schemas.stored import BASIS, LOAD_ID, SUBTYPE, local_clock, recorded_basis, utc_clock
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from zscope.parsers.inputs import FileSummary, InputReader
    from zscope.parsers.options import ReadOptions
    from zscope.pipelines.ingest.options_and_outcomes import RowSelection
    from zscope.pipelines.settings import Zones
    from zscope.pipelines.store.commits import Load
    from zscope.pipelines.store.folder import KnownContent
    from zscope.pipelines.store.parquet_files import StagedFile, TableRows


FEW_ROWS_BYTES = 4 << 20
"""Rows of an input stay in memory up to this size; then they can be written together with those of others."""

WINDOW_BYTES = 16 << 20
"""How much of a dump is read at a time: less than `scan` reads, as many rows also wait to be written. With
half of it, several threads wait for each other so often that they are hardly faster than one."""

FEW_FILES_BYTES = FEW_ROWS_BYTES >> 4
"""The same for rows in files, which are smaller."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How inputs are decoded: the options without what only the calling process has."""

    selection: RowSelection
    read_options: ReadOptions
    zones: Zones

    @property
    def writers(self) -> int:
        """Threads that compress the data files."""
        return self.read_options.jobs or os.cpu_count() or 1

    def stage(self, place: StagePlace) -> Stage:
        """Return the stage for the rows of an input."""
        return Stage(place.folder, place.load_id, self.writers, place.suffix)

    def staged(self, rows: Iterable[TableRows], place: StagePlace) -> list[StagedFile]:
        """Write rows that are in memory to staged files."""
        stage = self.stage(place)
        try:
            stage.add_all(rows)
            return stage.finish()
        finally:
            stage.abandon()

    def facts(self, issues: Issues, file: str) -> InputFacts:
        """Return the facts of a file that is about to be read."""
        read = self.read_options
        clocks = Clocks(self.zones, issues, file, code_page(read.code_page), read.system)
        return InputFacts(clocks, TimeChecks(issues, file))


@dataclass(frozen=True, slots=True)
class StagePlace:
    """Where the rows of an input are staged, and the number of the load in them."""

    folder: Path
    load_id: int
    suffix: str = ""
    """Distinguishes files of the same number that several processes write."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A file that was loaded before."""

    file: str
    load: Load


@dataclass(frozen=True, slots=True)
class Refused:
    """An input that cannot be used."""

    file: str
    issues: tuple[Issue, ...]
    head: bytes = b""
    size: int | None = None
    digest: str | None = None
    failure: Mapping[str, object] | None = None
    """What a defect of zscope was, if there is one."""

    @classmethod
    def of(
        cls,
        file: str,
        issues: list[Issue],
        origin: InputOrigin | None = None,
        cause: BaseException | None = None,
    ) -> Refused:
        """Return the refusal for some reasons; `cause` counts only for defects of zscope."""
        distinct = tuple(dict.fromkeys(issues))
        defect = cause is not None and any(issue.code is Code.READER_FAILED for issue in distinct)
        failure = failure_of(cause) if defect and cause is not None else None
        if origin is None:
            return cls(file, distinct, failure=failure)
        return cls(file, distinct, origin.head, origin.size, origin.digest, failure)


@dataclass(frozen=True, slots=True)
class InputOrigin:
    """What a report about a refused input shows of it."""

    head: bytes
    size: int | None = None
    digest: str | None = None


@dataclass
class Reading:
    """What the reading of an input returned."""

    summary: FileSummary
    content: KnownContent
    facts: InputFacts
    files: list[StagedFile] | None = None
    """The staged files; None if an earlier load has the same content, or there is nothing to load."""
    rows: list[TableRows] | None = None
    """Few rows, which are in memory instead of in staged files."""

    def convert_again(self) -> None:
        """Recompute the columns in UTC that the store adds, with the current time zones."""
        clocks = self.facts.clocks
        if self.rows is not None:
            self.rows = [(table, _with_utc(table, rows, clocks)) for table, rows in self.rows]
        if self.files is not None:
            self.files = [_file_with_utc(file, clocks) for file in self.files]

    def read_few(self) -> None:
        """Read the rows of small staged files, which another process has written."""
        if self.files is not None and sum(file.bytes for file in self.files) <= FEW_FILES_BYTES:
            self.rows, self.files = list(rows_in(self.files)), None


@dataclass
class Candidate:
    """A decoded input, whose rows are staged and can be committed after they are compared with the store."""

    file: str
    packing: tuple[str, ...]
    origin: InputOrigin
    known: KnownFile
    """What the digest of the whole file showed."""
    issues: Issues
    """The issues of this input, to which the second half adds its own."""
    started_utc: datetime
    place: StagePlace
    status: FileStatus = FileStatus.REFUSED
    """LOADED if there is something to load."""
    reading: Reading | None = None
    """None if nothing could be read."""
    seconds: float = 0.0
    """Time from the first byte read until now."""

    def own_issues(self) -> list[Issue]:
        """Return the issues of this input; of a file that has grown, those of its new part."""
        begin = self.known.begin_at
        return [issue for issue in self.issues if issue.offset is None or issue.offset >= begin]

    def issue_counts(self) -> dict[str, int]:
        """Count the same issues by code, with those that are only counted."""
        if not self.known.begin_at:
            return {code.value: count for code, count in self.issues.counts().items()}
        counts: dict[str, int] = {}
        for issue in self.own_issues():
            counts[issue.code.value] = counts.get(issue.code.value, 0) + 1
        return counts


Decoded = Repeated | Refused | Candidate


@dataclass
class PathDecoder:
    """Decodes all inputs in one path: the file, or the members of an archive."""

    decoding: Decoding
    earlier: Callable[[str], EarlierLoads]
    """Returns the loads that an input of this name can repeat or continue."""
    place: Callable[[], StagePlace]
    """Returns where the rows of the next input are staged."""
    lengths: tuple[int, ...] = ()
    """Further lengths at which digests are taken: those of other files that are decoded at the same time."""

    def recognise(self, file: BinaryIO, name: str) -> KnownFile:
        """Compare an open file with earlier loads and return to its beginning."""
        earlier = self.earlier(name)
        try:
            content = digest_of(file, earlier.known.dump_lengths).known()
            file.seek(0)
        except OSError as error:
            raise InputError(Issue(Code.UNREADABLE, unreadable(error), name)) from error
        return earlier.recognise(content)

    def decode(self, path: str, *, named: bool, known: KnownFile | None = None) -> Iterator[Decoded]:
        """Decode one input after the other; each is decoded when it is asked for.

        `known` is what the digest of the file shows, if the file was compared with the store before.
        """
        issues, name = Issues(strict=self.decoding.read_options.strict), shown(path)
        started = time.perf_counter()
        done: set[str] = set()
        try:
            with open_input(path) as (file, size):
                if known is None:
                    known = self.recognise(file, name) if size is not None else KnownFile()
                if known.load:
                    yield Repeated(name, known.load)
                    return
                limits = self.decoding.read_options.limits
                for member in members(path, file, size, issues, named=named, limits=limits):
                    yield self._decode_member(member, known, issues, started)
                    done.add(member.name)
                    started = time.perf_counter()
        except InputError as error:
            yield Refused.of(error.issue.file or name, [error.issue], cause=error.__cause__)
            done.add(error.issue.file)
        # Members of an archive that could not even be opened.
        for issue in issues:
            if issue.severity is Severity.REFUSED and issue.file not in done:
                done.add(issue.file)
                yield Refused.of(issue.file, [issue])

    def _decode_member(
        self, member: Member, known: KnownFile, issues: Issues, started: float
    ) -> Refused | Candidate:
        head = member.stream.peek(HEAD_BYTES)
        plain = not member.packing
        origin = InputOrigin(head, member.size, known.digest) if plain else InputOrigin(head)
        mark = issues.mark()
        place = self.place()
        member_known = known if plain else KnownFile(known.digest)
        try:
            earlier = self.earlier(member.name)
            load = MemberDecoder(self.decoding, member, member_known, earlier, issues, self.lengths)
            candidate = load.decode(origin, place)
        except InputError as error:
            shutil.rmtree(place.folder, ignore_errors=True)
            reasons = [*issues.since(mark), error.issue]
            return Refused.of(member.name, reasons, origin, error.__cause__)
        candidate.issues = issues.since(mark)
        if any(issue.code is Code.UNPACK_LIMIT for issue in candidate.issues):
            # Nothing of it is stored: with a higher limit it is a new input, not a repeated one.
            shutil.rmtree(place.folder, ignore_errors=True)
            return Refused.of(member.name, list(candidate.issues), origin)
        if candidate.reading:
            candidate.reading.facts.use_issues(candidate.issues)
        candidate.seconds = time.perf_counter() - started
        return candidate


@dataclass
class MemberDecoder:
    """Decodes one input: a file, or a member of an archive."""

    decoding: Decoding
    member: Member
    known: KnownFile
    earlier: EarlierLoads
    issues: Issues
    lengths: tuple[int, ...] = ()
    content: ContentDigest = field(init=False)
    """Of a range of a dump, the digest of its bytes is not used."""

    def __post_init__(self) -> None:
        lengths = self.known.lengths or self.earlier.known.report_lengths
        self.content = ContentDigest.of_lengths([*lengths, *self.lengths])

    def decode(self, origin: InputOrigin, place: StagePlace) -> Candidate:
        """Read the input and stage its rows; an InputError means that it cannot be used."""
        member = self.member
        member.stream.listen(self.content.update)
        candidate = Candidate(
            member.name, member.packing, origin, self.known, self.issues, datetime.now(UTC), place
        )
        facts = self.decoding.facts(self.issues, member.name)
        try:
            begin, watch = self.known.begin_at, facts.observe_window
            hooks = ScanHooks(watch=watch, begin_at=begin, count=True, window_bytes=WINDOW_BYTES)
            with unexpected_errors(member.name):
                source = reader_for(member, self.decoding.read_options, self.issues, hooks)
        except EmptyInputError:
            return candidate
        few: list[TableRows] = []
        size = 0
        stage: Stage | None = None
        try:
            for table, rows in self._rows(source, facts, place.load_id):
                if stage is None and size + rows.nbytes <= FEW_ROWS_BYTES:
                    few.append((table, rows))
                    size += rows.nbytes
                    continue
                if stage is None:
                    stage = self.decoding.stage(place)
                    stage.add_all(few)
                    few.clear()
                stage.add(table, rows)
            reading = Reading(source.summary, self.content.known(), facts)
            nothing = reading.summary.no_report or reading.summary.skipped
            if not nothing and not self.earlier.with_content(reading.content.digest):
                reading.files = stage.finish() if stage else None
                reading.rows = None if stage else few
        finally:
            if stage:
                stage.abandon()
        candidate.reading, candidate.status = reading, FileStatus.EMPTY if nothing else FileStatus.LOADED
        return candidate

    def _rows(
        self, source: InputReader, facts: InputFacts, load_id: int
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the selected rows as they are stored, and then read the input to its end."""
        selection = self.decoding.selection
        ranges = RangeChecks(self.issues, self.member.name)
        with unexpected_errors(self.member.name):
            for table, rows in source.batches(selection.records):
                selected = selection.filter(table, rows)
                if table in data_tables():
                    facts.rows_outside += rows.num_rows - selected.num_rows
                if selected.num_rows:
                    facts.observe_rows(table, selected)
                    stored = stored_rows(table, selected, load_id, facts.clocks)
                    ranges.observe(table, selected, stored)
                    facts.observe_stored(table, stored)
                    yield table, stored
            whole = self.member.part is None
            while whole and self.member.stream.read(UNPACKED_CHUNK):
                pass  # bytes that the reader did not need belong to the digest of the content, too
            before = self.known.grown_from if whole else None
            if before and self.content.at_marks.get(before.content_bytes) != before.content_digest:
                raise changed_while_read(self.member.name)
            facts.count(source.contents().to_pylist())


def changed_while_read(file: str) -> InputError:
    """Return the error for a file that is not the one that was compared with the store."""
    text = "the file changed while it was read; ingest it again"
    return InputError(Issue(Code.UNREADABLE, text, file))


def stored_rows(table: str, rows: pa.RecordBatch, load_id: int, clocks: Clocks) -> pa.RecordBatch:
    """Return decoded rows in the types of the store, with the columns that it adds: load and time in UTC."""
    schema = parquet_schema(table)
    local = local_clock(table)
    utc = utc_clock(local) if local else None
    columns = []
    for column in schema:
        if column.name == LOAD_ID.name:
            columns.append(pa.array(np.full(rows.num_rows, load_id, np.int64)))
        elif column.name == utc and local and utc not in rows.schema.names:
            columns.append(_utc_times(rows, local, clocks))
        elif column.name == BASIS.name:
            columns.append(recorded_basis(table, rows[SUBTYPE]))
        else:
            columns.append(stored_values(rows.column(column.name), column))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _with_utc(table: str, rows: pa.RecordBatch, clocks: Clocks) -> pa.RecordBatch:
    """Return stored rows with recomputed times in UTC."""
    local = local_clock(table)
    if local is None or utc_clock(local) in table_schema(table).names or table == DIGEST_TABLE:
        return rows
    place = rows.schema.get_field_index(utc_clock(local))
    return rows.set_column(place, rows.schema.field(place), _utc_times(rows, local, clocks))


def _file_with_utc(file: StagedFile, clocks: Clocks) -> StagedFile:
    def changed(rows: pa.Table) -> pa.Table:
        [batch] = rows.combine_chunks().to_batches()
        return pa.Table.from_batches([_with_utc(file.table, batch, clocks)])

    return written_again(file, "utc", changed)


def _utc_times(rows: pa.RecordBatch, local: str, clocks: Clocks) -> pa.Array:
    # Reports can fill tables of records: such rows have no record number, and so no known order.
    names = set(rows.schema.names)
    ordered = "record_no" in names and not rows["record_no"].null_count
    numbers = rows["record_no"] if ordered else None
    second = rows["second_hour"] if "second_hour" in names else None
    return clocks.to_utc(rows["system"], rows[local], numbers, second)
