"""Load inputs into the store, one after the other; each is committed by itself.

An input is decoded, its rows are written to staged files, duplicates are removed, and the rest is committed.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa

from zscope.parsers.api import reader_for
from zscope.parsers.containers.streams import UNPACKED_CHUNK, unreadable
from zscope.parsers.inputs import (
    STANDARD_INPUT,
    Member,
    input_paths,
    members,
    open_input,
    shown,
)
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
from zscope.pipelines.ingest.clocks import Clocks
from zscope.pipelines.ingest.duplicates import (
    DUMP,
    Duplicates,
    EarlierLoads,
    KnownFile,
    StoreBefore,
    name_facts,
    remove_duplicates,
)
from zscope.pipelines.ingest.gaps import INTERVAL_COLUMNS, INTERVAL_TABLES, find_gaps
from zscope.pipelines.ingest.interface import FileOutcome, FileStatus, IngestReport, issue_rows, repeated_note
from zscope.pipelines.ingest.quarantine import HEAD_BYTES, NOT_LOADED, record_input_issues, write_report
from zscope.pipelines.ingest.range_checks import RangeChecks
from zscope.pipelines.ingest.repeated_hours import RepeatedHours
from zscope.pipelines.ingest.time_checks import TimeChecks
from zscope.pipelines.ingest.zone_checks import RecordedOffsets, ZoneChecks
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.change import changing, commit_files
from zscope.pipelines.store.columns import stored_values
from zscope.pipelines.store.commits import Commit, Load, LoadGap, LoadKind, LoadTable
from zscope.pipelines.store.folder import ContentDigest, make_store, partition
from zscope.pipelines.store.maintenance import merge_after_load
from zscope.pipelines.store.parts import (
    INPUT_ISSUE_TABLE,
    ISSUE_TABLE,
    Stage,
    StagedFile,
    data_tables,
    open_writer,
    parquet_schema,
)
from zscope.pipelines.store.remove import StoreWithoutLoad, files_without
from zscope.schemas.stored import BASIS, LOAD_ID, SUBTYPE, local_clock, recorded_basis, utc_clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.parsers.inputs import InputReader
    from zscope.parsers.issues import Mark
    from zscope.parsers.options import Watch
    from zscope.parsers.smf.frames import Window
    from zscope.pipelines.ingest.interface import IngestOptions
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder


PUBLISH_EVERY_S = 10.0
"""While many files are loaded, the catalogue shows what was committed this often."""


def ingest(store: Path, paths: Sequence[str | Path], options: IngestOptions) -> IngestReport:
    """Load files into a store; create the store if it does not exist."""
    started = time.perf_counter()
    folder = make_store(store)
    with changing(folder, options.settings, options.notify) as state:
        files_before = len(state.files)
        run = _IngestRun(IngestContext(folder, state, options))
        outcomes = tuple(run.load_all(paths))
        not_loaded = any(outcome.status in NOT_LOADED for outcome in outcomes)
        if not options.dry_run and (not_loaded or state.files_for(INPUT_ISSUE_TABLE, None)):
            record_input_issues(folder, state, outcomes)
        if not options.dry_run:
            merge_after_load(folder, state, files_before)
    return IngestReport(outcomes, time.perf_counter() - started, committed=not options.dry_run)


class _IngestRun:
    """One call of `ingest`, while the store is locked."""

    def __init__(self, context: IngestContext) -> None:
        self._context = context
        self._options = context.options
        self._published = time.monotonic()
        self._waiting: list[tuple[str, bool]] = []
        """Paths of reports that are loaded last, because SMF 70 records tell the hour of their intervals."""

    def load_all(self, paths: Sequence[str | Path]) -> Iterator[FileOutcome]:
        """Load everything that the paths name."""
        path_issues = Issues()
        for path, named in input_paths(paths, path_issues):
            if self._in_store(path):
                continue
            yield from self._load_path(path, named=named, can_wait=not self._options.dry_run)
        for path, named in self._waiting:
            yield from self._load_path(path, named=named, can_wait=False)
        for issue in path_issues:
            if self._in_store(issue.file):
                continue
            refused = issue.severity is Severity.REFUSED
            outcome = _not_loaded(issue.file, [issue], FileStatus.REFUSED if refused else FileStatus.EMPTY)
            self._options.on_outcome(outcome)
            yield outcome

    def _load_path(self, path: str, *, named: bool, can_wait: bool) -> Iterator[FileOutcome]:
        for outcome in self._load_file(path, named=named, can_wait=can_wait):
            self._publish_if_due(outcome)
            self._options.on_outcome(outcome)
            yield outcome

    def _in_store(self, path: str) -> bool:
        """Whether a file, or a link to it, belongs to the store, which may be inside a folder to load."""
        if path == STANDARD_INPUT:
            return False
        folder, name = os.path.split(path)
        places = Path(os.path.realpath(path)), Path(os.path.realpath(folder), name)
        return any(self._context.folder.path in place.parents for place in places)

    def _load_file(self, path: str, *, named: bool, can_wait: bool) -> Iterator[FileOutcome]:
        """Load a file, or the members of an archive. A file that has to wait has no outcome yet."""
        issues, name, started = (
            Issues(strict=self._options.read_options.strict),
            shown(path),
            time.perf_counter(),
        )
        done: set[str] = set()
        try:
            with open_input(path) as (file, size):
                known = self._recognise(file, name) if size is not None else KnownFile()
                if known.load:
                    note = repeated_note(known.load)
                    yield FileOutcome(name, FileStatus.REPEATED, known.load, note=note)
                    return
                for member in members(path, file, size, issues, named=named):
                    # Members of an archive before this one are loaded, and standard input is read only once.
                    waits = can_wait and path != STANDARD_INPUT and "zip" not in member.packing
                    outcome = self._load_member(member, known, issues, started, can_wait=waits)
                    if outcome is None:
                        self._waiting.append((path, named))
                        return
                    yield outcome
                    done.add(member.name)
                    started = time.perf_counter()
        except InputError as error:
            yield self._refuse(error.issue.file or name, b"", [error.issue], cause=error.__cause__)
            done.add(error.issue.file)
        # Members of an archive that could not even be opened.
        for issue in issues:
            if issue.severity is Severity.REFUSED and issue.file not in done:
                done.add(issue.file)
                yield self._refuse(issue.file, b"", [issue])

    def _recognise(self, file: BinaryIO, name: str) -> KnownFile:
        """Compare an open file with earlier loads and return to its beginning."""
        try:
            known = self._context.earlier_loads(name).recognise(file)
            file.seek(0)
        except OSError as error:
            raise InputError(Issue(Code.UNREADABLE, unreadable(error), name)) from error
        return known

    def _load_member(
        self, member: Member, known: KnownFile, issues: Issues, started: float, *, can_wait: bool
    ) -> FileOutcome | None:
        head = member.stream.peek(HEAD_BYTES)
        plain = not member.packing
        size, digest = (member.size, known.digest) if plain else (None, None)
        mark = issues.mark()
        member_known = known if plain else KnownFile(known.digest)
        try:
            load = MemberLoad(self._context, member, member_known, issues, mark, started, can_wait)
            outcome = load.load()
        except InputError as error:
            reasons = [*issues.since(mark), error.issue]
            return self._refuse(member.name, head, reasons, size, digest, error.__cause__)
        finally:
            shutil.rmtree(self._context.folder.stage, ignore_errors=True)
        if outcome and outcome.worst is Severity.REFUSED and outcome.status is not FileStatus.LOADED:
            return self._refuse(member.name, head, list(outcome.issues), size, digest)
        return outcome

    def _refuse(
        self, file: str, head: bytes, issues: list[Issue], size: int | None = None, digest: str | None = None,
        cause: BaseException | None = None,
    ) -> FileOutcome:  # fmt: skip
        """Refuse an input and write a report about it to the folder `quarantine`."""
        distinct = tuple(dict.fromkeys(issues))
        if not self._options.dry_run:
            failure = cause if any(issue.code is Code.READER_FAILED for issue in issues) else None
            folder = self._context.folder.quarantine
            write_report(folder, file, head, distinct, size=size, digest=digest, cause=failure)
        return _not_loaded(file, distinct, FileStatus.REFUSED)

    def _publish_if_due(self, outcome: FileOutcome) -> None:
        if outcome.status is not FileStatus.LOADED or self._options.dry_run:
            return
        if time.monotonic() - self._published >= PUBLISH_EVERY_S:
            publish_catalogue(self._context.folder, self._context.state)
            self._published = time.monotonic()


def _not_loaded(file: str, issues: Sequence[Issue], status: FileStatus) -> FileOutcome:
    counts = Counter(issue.code.value for issue in issues)
    return FileOutcome(file, status, None, tuple(issues), dict(counts))


MAX_KINDS = 1000
"""Combinations of system and type stored with a load: every later run reads them, and a damaged dump can have
a different one in each record.
"""
MAX_GAPS = 1000


@dataclass(frozen=True, slots=True)
class IngestContext:
    """What all inputs of one call of `ingest` share. The caller holds the lock of the store."""

    folder: Folder
    state: State
    options: IngestOptions

    @property
    def writer_threads(self) -> int:
        """Threads that compress the data files."""
        return self.options.read_options.jobs or os.cpu_count() or 1

    def hooks(self, watch: Watch, begin_at: int) -> ScanHooks:
        """Return the hooks for reading one input from an offset on."""
        return ScanHooks(watch=watch, begin_at=begin_at, count=True)

    def clocks(self, issues: Issues, file: str) -> Clocks:
        """Return the clocks of the systems, for the times in one file."""
        read = self.options.read_options
        return Clocks(self.options.settings.zones, issues, file, code_page(read.code_page), read.system)

    def earlier_loads(self, name: str) -> EarlierLoads:
        """Return the loads that a file of this name can repeat or continue."""
        return EarlierLoads.of(self.state, self.options.selection_key, name)


@dataclass
class LoadContent:
    """What is noted about an input while it is read, for its entry in the load history."""

    clocks: Clocks
    last_record_offset: int | None = None
    counts: pa.Table | None = None
    """Records and reports by kind, as the reader counted them; set after reading."""
    rows_outside: int = 0
    """Rows of tables that the selection of systems and days leaves out."""
    offsets: RecordedOffsets = field(default_factory=RecordedOffsets)
    """The offsets from UTC that the records show, and the rows whose time zone is not known."""
    _intervals: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)

    def observe_window(self, window: Window) -> None:
        """Observe the records of a dump, in their order."""
        self.clocks.observe(window)
        self.last_record_offset = int(window.offsets[-1])

    def observe_rows(self, table: str, rows: pa.RecordBatch) -> None:
        """Observe decoded rows of a table."""
        if table in INTERVAL_TABLES:
            self._intervals.setdefault(table, []).append(rows.select(INTERVAL_COLUMNS))

    def kinds(self) -> tuple[LoadKind, ...]:
        """Return the records and reports by kind; if there are too many kinds, those with most records."""
        rows = sorted(self._count_rows(), key=lambda row: -int(row["records"]))[:MAX_KINDS]
        return tuple(
            LoadKind(
                system=row["system"],
                record_type=row["record_type"],
                record_subtype=row["record_subtype"],
                report=row["report"],
                records=row["records"],
                bytes=row["total_bytes"],
                first_local=_iso(row["first_local"]),
                last_local=_iso(row["last_local"]),
            )
            for row in rows
        )

    @property
    def first_local(self) -> str | None:
        """The earliest local time of all records and reports."""
        times = (row["first_local"] for row in self._count_rows() if row["first_local"])
        return _iso(min(times, default=None))

    @property
    def last_local(self) -> str | None:
        """The latest local time of all records and reports."""
        times = (row["last_local"] for row in self._count_rows() if row["last_local"])
        return _iso(max(times, default=None))

    def zones(self) -> dict[str, str]:
        """Return the zones of the systems in the input, where they are known."""
        systems = {kind.system for kind in self.kinds() if kind.system}
        zones = ((system, self.clocks.zones.of(system)) for system in sorted(systems))
        return {system: zone for system, zone in zones if zone}

    def gaps(self) -> tuple[LoadGap, ...]:
        """Return the missing intervals, table by table."""
        gaps = []
        for table, batches in self._intervals.items():
            for row in find_gaps(pa.Table.from_batches(batches), table, self.clocks.zones).to_pylist():
                times = {name: row[name].isoformat() for name in ("from_local", "to_local")}
                gaps.append(LoadGap(**(row | times)))
        return tuple(gaps[:MAX_GAPS])

    def _count_rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.counts.to_pylist() if self.counts else []
        return rows


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


@dataclass
class MemberLoad:
    """The load of one input: a file, or a member of an archive."""

    context: IngestContext
    member: Member
    known: KnownFile
    """What the digest of the whole file showed."""
    issues: Issues
    mark: Mark
    """Issues before this mark are not about this input."""
    started: float
    """When its first byte was read, by `time.perf_counter`."""
    can_wait: bool = False
    """Whether it can be loaded after the other inputs of this run."""
    content: ContentDigest = field(init=False)
    _earlier: EarlierLoads = field(init=False)
    _started_utc: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self._earlier = self.context.earlier_loads(self.member.name)
        before = self.known.grown_from
        lengths = [before.content_bytes] if before else self._earlier.report_lengths()
        self.content = ContentDigest.of_lengths(lengths)

    def load(self) -> FileOutcome | None:
        """Read the input and commit its rows; an InputError means that it cannot be used.

        Returns None if the rest of this run can load records that are needed first.
        """
        context = self.context
        self.member.stream.listen(self.content.update)
        load_id = context.state.next_load_id
        work = context.folder.stage / f"load-{load_id}"
        content = LoadContent(context.clocks(self.issues, self.member.name))
        try:
            hooks = context.hooks(content.observe_window, self.known.begin_at)
            with unexpected_errors(self.member.name):
                source = reader_for(self.member, context.options.read_options, self.issues, hooks)
        except EmptyInputError:
            return self._outcome(FileStatus.REFUSED)
        stage = Stage(work, load_id, context.writer_threads)
        try:
            for table, rows in self._rows(source, content, load_id):
                stage.add(table, rows)
            if source.summary.no_report or source.summary.skipped:
                return self._outcome(FileStatus.EMPTY)
            if earlier := self._earlier.with_content(self.content.digest()):
                # Its issues were reported by the earlier load.
                note = repeated_note(earlier)
                return FileOutcome(self.member.name, FileStatus.REPEATED, earlier, note=note)
            staged = stage.finish()
        finally:
            stage.abandon()
        shorter = self._earlier.beginning_of(self.content) if source.summary.kind != DUMP else None
        before = StoreBefore(context.folder, context.state, self.content.digest(), shorter)
        with unexpected_errors(self.member.name):
            hours = RepeatedHours(before, content.clocks)
            staged = hours.decide(staged, work, self._how_to_load_again(load_id))
            if hours.awaits_records and self.can_wait:
                return None
            content.clocks.report()
        result = remove_duplicates(before, staged, work)
        for conflict in result.conflicts:
            text, file = conflict.text(), self.member.name
            self.issues.add(Issue(Code.INTERVAL_CONFLICT, text, file, conflict.record_no, conflict.offset))
        with unexpected_errors(self.member.name):
            load = self._describe(load_id, source, content, staged, result, shorter)
            zones = ZoneChecks(load, content.offsets, content.clocks.zones, self._compared_loads(shorter))
            zones.report(self.issues, stored=not context.options.dry_run)
            load = replace(load, issues=self._issue_counts())
        if issues := self._own_issues():
            result.files.append(self._stage_issues(work, issues, load_id))
        if not context.options.dry_run:
            self._commit(load, result, shorter)
        note = f"replaces load {shorter.load_id}, which is its beginning" if shorter else ""
        return self._outcome(FileStatus.LOADED, load, note)

    def _rows(
        self, source: InputReader, content: LoadContent, load_id: int
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the selected rows as they are stored, and then read the input to its end."""
        selection = self.context.options.selection
        times = TimeChecks(self.issues, self.member.name)
        ranges = RangeChecks(self.issues, self.member.name)
        with unexpected_errors(self.member.name):
            for table, rows in source.batches(selection.records):
                selected = selection.filter(table, rows)
                if table in data_tables():
                    content.rows_outside += rows.num_rows - selected.num_rows
                if selected.num_rows:
                    content.observe_rows(table, selected)
                    stored = stored_rows(table, selected, load_id, content.clocks)
                    ranges.observe(table, selected, stored)
                    times.observe(table, stored)
                    content.offsets.observe(table, stored, content.clocks.zones)
                    yield table, stored
            while self.member.stream.read(UNPACKED_CHUNK):
                pass  # bytes that the reader did not need belong to the digest of the content, too
            before = self.known.grown_from
            if before and self.content.at_marks.get(before.content_bytes) != before.content_digest:
                text = "the file changed while it was read; ingest it again"
                raise InputError(Issue(Code.UNREADABLE, text, self.member.name))
            content.counts = source.contents()
            times.report()

    def _how_to_load_again(self, load_id: int) -> str:
        if self.context.options.dry_run:
            return "and then this file"
        return f"then remove this load (zscope loads remove {load_id}), and ingest this file again"

    def _describe(
        self, load_id: int, source: InputReader, content: LoadContent, staged: list[StagedFile],
        result: Duplicates, shorter: Load | None,
    ) -> Load:  # fmt: skip
        """Return the entry of the load history."""
        summary = source.summary
        seconds = round(time.perf_counter() - self.started, 3)
        return Load(
            load_id=load_id,
            file=self.member.name,
            packing=self.member.packing,
            kind=summary.kind,
            form=summary.form,
            selection=self.context.options.selection_key,
            content_digest=self.content.digest(),
            content_bytes=self.content.size,
            outer_digest=self.known.digest if self.member.packing else None,
            started_utc=self._started_utc.isoformat(timespec="milliseconds"),
            seconds=seconds,
            records=summary.records or summary.reports,
            spanned=summary.spanned,
            lines=summary.lines,
            duplicates=result.total,
            outside=content.rows_outside,
            begun_at=self.known.begin_at,
            last_record_offset=content.last_record_offset,
            zscope_version=version("zscope"),
            tables=_load_tables(staged, result),
            kinds=content.kinds(),
            gaps=content.gaps(),
            first_local=content.first_local,
            last_local=content.last_local,
            issues=self._issue_counts(),
            name_facts=name_facts(self.member.name) if summary.kind != DUMP else {},
            replaces=(shorter.load_id, *shorter.replaces) if shorter else (),
            zones=content.zones(),
            offsets=content.offsets.spans(),
            duplicates_of=self._duplicates_of(result),
        )

    def _compared_loads(self, shorter: Load | None) -> list[Load]:
        """Return the other loads of the store, without the one that this load replaces."""
        return [load for load in self.context.state.live_loads if load is not shorter]

    def _duplicates_of(self, result: Duplicates) -> dict[int, int]:
        """Count the omitted records by the load that has them.

        The load that this one continues counts with 0: its records were not even read.
        """
        before = self.known.grown_from
        continued = {before.load_id, *before.duplicates_of} if before else set()
        return {**dict.fromkeys(continued, 0), **result.by_load}

    def _commit(self, load: Load, result: Duplicates, shorter: Load | None) -> None:
        """Add the rows and, in the same commit, drop those of the shorter file that this one replaces."""
        folder, state = self.context.folder, self.context.state
        removal = files_without(folder, state, shorter.load_id) if shorter else StoreWithoutLoad((), {}, 0)
        commit_files(
            folder,
            state,
            [*result.files, *removal.rewritten],
            lambda file: removal.rewritten.get(file, {load.load_id: file.rows}),
            lambda files: Commit(
                "load",
                adds=files,
                drops=removal.drops,
                load=load,
                removed_load=shorter.load_id if shorter else None,
            ),
        )

    def _outcome(self, status: FileStatus, load: Load | None = None, note: str = "") -> FileOutcome:
        issues = tuple(self._own_issues())
        return FileOutcome(self.member.name, status, load, issues, self._issue_counts(), note)

    def _own_issues(self) -> list[Issue]:
        """Return the issues of this input; of a file that has grown, those of its new part."""
        begin = self.known.begin_at
        issues = self.issues.since(self.mark)
        return [issue for issue in issues if issue.offset is None or issue.offset >= begin]

    def _issue_counts(self) -> dict[str, int]:
        if self.known.begin_at:
            return dict(Counter(issue.code.value for issue in self._own_issues()))
        return {code.value: count for code, count in self.issues.since(self.mark).counts().items()}

    def _stage_issues(self, work: Path, issues: list[Issue], load_id: int) -> StagedFile:
        day = self._started_utc.date().isoformat()
        path = work / partition(ISSUE_TABLE, day) / f"{load_id:08}-issues.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = issue_rows(issues, load_id)
        with open_writer(path, parquet_schema(ISSUE_TABLE)) as writer:
            writer.write_table(rows)
        return StagedFile(path, ISSUE_TABLE, day, rows.num_rows, path.stat().st_size)


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


def _utc_times(rows: pa.RecordBatch, local: str, clocks: Clocks) -> pa.Array:
    # Reports can fill tables of records: such rows have no record number, and so no known order.
    if "record_no" in rows.schema.names and not rows["record_no"].null_count:
        return clocks.to_utc(rows["system"], rows[local], rows["record_no"])
    second = rows["second_hour"] if "second_hour" in rows.schema.names else None
    return clocks.to_utc_of_reports(rows["system"], rows[local], second)


def _load_tables(staged: list[StagedFile], result: Duplicates) -> dict[str, LoadTable]:
    """Count rows stored and omitted by table; the internal table of digests is not listed."""
    stored: Counter[str] = Counter()
    for file in result.files:
        stored[file.table] += file.rows
    names = {file.table for file in staged}
    return {
        name: LoadTable(stored[name], result.by_table.get(name, 0)) for name in data_tables() if name in names
    }
