"""The second half of a load: compare decoded inputs with the store, and commit what is new.

Only one process does this, while it has the lock of the store: it finds the hours that a clock showed twice,
numbers the loads, removes duplicates, and commits them.
"""

from __future__ import annotations

import shutil
import time
from collections import ChainMap, Counter, defaultdict
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.parsers.issues import Code, Issue, unexpected_errors
from zscope.pipelines.ingest.decoding import Decoding, StagePlace
from zscope.pipelines.ingest.duplicates import StoreBefore, remove_duplicates
from zscope.pipelines.ingest.known_inputs import DUMP, KnownLoads, comparable_loads, name_facts
from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, FileStatus, issue_rows, repeated_note
from zscope.pipelines.ingest.shared_smfids import SharedSmfids
from zscope.pipelines.local_time.recorded_offsets import LoadsByEnd, ZoneChecks
from zscope.pipelines.local_time.rmf_by_smf70 import RepeatedHours, stated_zone
from zscope.pipelines.store.commits import Commit, Load, LoadTable
from zscope.pipelines.store.folder import partition
from zscope.pipelines.store.parquet_files import (
    ISSUE_TABLE,
    Part,
    data_tables,
    file_schema,
    numbered_rows,
    with_load_id,
)
from zscope.pipelines.store.remove import StoreWithoutLoad, files_without
from zscope.pipelines.store.transaction import commit_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from zscope.pipelines.ingest.decoding import Candidate, Reading
    from zscope.pipelines.ingest.duplicates import Duplicates, Omitted
    from zscope.pipelines.ingest.known_inputs import EarlierLoads
    from zscope.pipelines.ingest.options_and_outcomes import IngestOptions
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.parquet_files import StagedFile


MOST_LOADS, MOST_BYTES, LONGEST_S = 1000, 32 << 20, 10.0
"""Limits of a commit of several loads: their number, the size of their rows, and the time since the first."""


@dataclass
class IngestContext:
    """What all inputs of one call of `ingest` share. The caller holds the lock of the store."""

    folder: Folder
    state: State
    options: IngestOptions
    decoding: Decoding = field(init=False)
    next_load_id: int = field(init=False)
    """The number of the next load, after those that wait for their commit."""
    loads_by_end: LoadsByEnd = field(init=False)
    smfids: SharedSmfids = field(init=False)
    zscope_version: str = field(init=False)
    _known: KnownLoads = field(init=False)
    _contents: set[str] = field(init=False)

    def __post_init__(self) -> None:
        options, loads = self.options, self.state.live_loads
        self.decoding = Decoding(options.selection, options.read_options, options.settings.zones)
        self.next_load_id = self.state.next_load_id
        self.loads_by_end = LoadsByEnd(loads)
        self.smfids = SharedSmfids(self.folder, self.state, options.settings, options.dry_run)
        self._known = KnownLoads.of(comparable_loads(self.state, options.selection_key))
        self._contents = {load.content_digest for load in loads}
        self.zscope_version = version("zscope")

    def earlier_loads(self, name: str) -> EarlierLoads:
        """Return the loads that a file of this name can repeat or continue."""
        return self._known.earlier(name)

    def has_content(self, digest: str) -> bool:
        """Whether any load has a content, also with another selection of rows."""
        return digest in self._contents

    def add(self, load: Load, replaced: Load | None) -> None:
        """Add a load, with which the next inputs are compared, and remove the one that it replaces."""
        if replaced:
            self._known.remove_report(replaced)
            self.loads_by_end.remove(replaced.load_id)
        self._known.add(load)
        self.loads_by_end.add(load)
        self._contents.add(load.content_digest)
        self.next_load_id = load.load_id + 1


@dataclass
class Settlement:
    """An input that is loaded with the next commit."""

    candidate: Candidate
    reading: Reading
    load: Load
    """Before the commit, it has no counts of rows, duplicates and issues."""
    shorter: Load | None
    """The load that this one replaces."""
    files: list[StagedFile] | None
    """Its staged files; None if its rows are in memory."""
    seconds: float = 0.0
    """Time from the first byte read until it waits for the commit."""

    def outcome(self) -> FileOutcome:
        """Return the outcome after the commit."""
        note = f"replaces load {self.shorter.load_id}, which is its beginning" if self.shorter else ""
        return _outcome(self.candidate, FileStatus.LOADED, self.load, note)


class LoadBatch:
    """The loads of the next commit: inputs with few rows, or a single input.

    Inputs with few rows share a commit and its files, so that they cost what they contain. An input is
    committed by itself if it has many rows, replaces a load, or is compared with more than the records and
    rows of the store and of the batch.
    """

    def __init__(self, context: IngestContext) -> None:
        self._context = context
        self._settled: list[Settlement] = []
        self._bytes = 0
        self._since = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it has to be committed now, or is empty."""
        return (
            not self._settled
            or len(self._settled) >= MOST_LOADS
            or self._bytes >= MOST_BYTES
            or time.monotonic() - self._since >= LONGEST_S
        )

    def add(self, candidate: Candidate, *, can_wait: bool = False) -> FileOutcome | Settlement | None:
        """Add a candidate; an InputError means that it cannot be used.

        Returns an outcome if there is nothing to load. With `can_wait`, returns None if the rest of this run
        can load records that are needed first.
        """
        started = time.perf_counter()
        reading = candidate.reading
        if reading is None or candidate.status is not FileStatus.LOADED:
            return _outcome(candidate, candidate.status)
        earlier = self._context.earlier_loads(candidate.file)
        if before := earlier.with_content(reading.content.digest):
            # Its issues were reported by the earlier load.
            note = repeated_note(before)
            return FileOutcome(candidate.file, FileStatus.REPEATED, before, note=note)
        shorter = earlier.beginning_of(reading.content) if reading.summary.kind != DUMP else None
        alone = shorter is not None or self._is_alone(reading)
        if alone:
            self.commit()
        settlement = self._settle(candidate, reading, shorter, can_wait=can_wait)
        if settlement is None:
            return None
        if not self._settled:
            self._since = time.monotonic()
        self._settled.append(settlement)
        self._bytes += sum(rows.nbytes for _, rows in reading.rows or ())
        settlement.seconds = candidate.seconds + time.perf_counter() - started
        if alone:
            self.commit()
        if not self._context.options.dry_run:
            self._context.add(settlement.load, shorter)
        return settlement

    def _is_alone(self, reading: Reading) -> bool:
        """Whether an input has many rows, is compared in other ways, or can be refused by that."""
        options = self._context.options
        return (
            options.dry_run
            or options.read_options.strict
            or reading.rows is None
            or reading.facts.clocks.has_ambiguous_rows
            or self._context.has_content(reading.content.digest)
        )

    def _settle(
        self, candidate: Candidate, reading: Reading, shorter: Load | None, *, can_wait: bool
    ) -> Settlement | None:
        context, facts, place = self._context, reading.facts, candidate.place
        with unexpected_errors(candidate.file):
            facts.times.report()
            context.smfids.name_systems(candidate, reading, context.next_load_id, self.commit)
            if not self._use_stated_offsets(reading) and can_wait:
                return None
            files = reading.files
            assert files is not None or reading.rows is not None, "only known contents are not decoded"
            if facts.clocks.has_ambiguous_rows:
                files = context.decoding.staged(reading.rows, place) if reading.rows is not None else files
                hours = RepeatedHours(context.folder, context.state, facts.clocks)
                files = hours.decide(files or [], place.folder, self._how_to_load_again())
                if hours.awaits_records and can_wait:
                    return None
            facts.clocks.report()
        with unexpected_errors(candidate.file):
            load = _describe(context, candidate, reading, shorter)
            replaced = shorter.load_id if shorter else None
            zones = ZoneChecks(load, facts.offsets, context.loads_by_end, replaced)
            zones.report(candidate.issues, stored=not context.options.dry_run)
        return Settlement(candidate, reading, load, shorter, files)

    def _use_stated_offsets(self, reading: Reading) -> bool:
        """Give RMF reports without a time zone the offset that SMF 70 records of other loads state.

        Returns whether all of them have one.
        """
        periods, loads = reading.facts.rmf_without_zone(), self._context.loads_by_end
        zones = {system: stated_zone(system, period, loads) for system, period in periods.items()}
        stated = {system: zone for system, zone in zones.items() if zone}
        if stated:
            reading.facts.use_zones(stated)
            reading.convert_again()
        return len(stated) == len(zones)

    def _how_to_load_again(self) -> str:
        if self._context.options.dry_run:
            return "and then this file"
        number = self._context.next_load_id
        return f"then remove this load (zscope loads remove {number}), and ingest this file again"

    def commit(self) -> None:
        """Commit the loads, if there are any: their rows are in the store then, or those of none of them."""
        settled, self._settled, self._bytes = self._settled, [], 0
        if not settled:
            return
        work = self._context.folder.stage / f"batch-{settled[0].load.load_id}"
        # DuckDB makes the last folder of a path where it writes what memory cannot hold, and not those above.
        work.mkdir(parents=True, exist_ok=True)
        try:
            self._commit(settled, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _commit(self, settled: Sequence[Settlement], work: Path) -> None:
        context, started = self._context, time.perf_counter()
        [first, *others] = settled
        shorter = first.shorter
        staged = self._staged(settled, work)
        before = (
            StoreBefore(context.folder, context.state)
            if others
            else StoreBefore(context.folder, context.state, first.reading.content.digest, shorter)
        )
        result = remove_duplicates(before, staged, work)
        for each in settled:
            for conflict in result.of_load[each.load.load_id].conflicts:
                text, file = conflict.text(), each.candidate.file
                place = conflict.record_no, conflict.offset
                each.candidate.issues.add(Issue(Code.INTERVAL_CONFLICT, text, file, *place))
        seconds = (time.perf_counter() - started) / len(settled)
        tables = _rows_by_load(result)
        loads: dict[int, Load] = {}
        for each in settled:
            number = each.load.load_id
            omitted = result.of_load[number]
            each.load = loads[number] = replace(
                each.load,
                seconds=round(each.seconds + seconds, 3),
                duplicates=omitted.total,
                tables=_load_tables(tables[number], omitted),
                issues=each.candidate.issue_counts(),
                duplicates_of=_duplicates_of(each.candidate, omitted, ChainMap(loads, context.state.loads)),
            )
        if context.options.dry_run:
            return
        removal = (
            files_without(context.folder, context.state, {shorter.load_id})
            if shorter
            else StoreWithoutLoad((), (), 0)
        )
        commit_files(
            context.folder,
            context.state,
            [*result.files, *_staged_issues(settled, work), *removal.rewritten],
            lambda files: Commit(
                "load",
                adds=files,
                drops=removal.drops,
                loads=tuple(loads.values()),
                removed_load=shorter.load_id if shorter else None,
                sysplexes=context.smfids.changes(),
            ),
        )

    def _staged(self, settled: Sequence[Settlement], work: Path) -> list[StagedFile]:
        """Return the staged files of the only load, or write those of all loads together."""
        first = settled[0]
        number, numbered = first.load.load_id, first.candidate.place.load_id
        if first.files is not None:
            return [file if numbered == number else with_load_id(file, number) for file in first.files]
        rows = (
            (table, numbered_rows(batch, each.load.load_id))
            for each in settled
            for table, batch in each.reading.rows or ()
        )
        return self._context.decoding.staged(rows, StagePlace(work, number))


def _describe(context: IngestContext, candidate: Candidate, reading: Reading, shorter: Load | None) -> Load:
    """Return the entry of the load history, without what is known at the commit."""
    summary, content, facts = reading.summary, reading.content, reading.facts
    return Load(
        load_id=context.next_load_id,
        file=candidate.file,
        packing=candidate.packing,
        kind=summary.kind,
        form=summary.form,
        selection=context.options.selection_key,
        content_digest=content.digest,
        content_bytes=content.size,
        outer_digest=candidate.known.digest if candidate.packing else None,
        started_utc=candidate.started_utc.isoformat(timespec="milliseconds"),
        seconds=candidate.seconds,
        records=summary.records or summary.reports,
        spanned=summary.spanned,
        lines=summary.lines,
        outside=facts.rows_outside,
        begun_at=candidate.known.begin_at,
        last_record_offset=facts.last_record_offset,
        zscope_version=context.zscope_version,
        kinds=facts.kinds(),
        gaps=facts.gaps(),
        first_local=facts.first_local,
        last_local=facts.last_local,
        name_facts=name_facts(candidate.file) if summary.kind != DUMP else {},
        replaces=(shorter.load_id, *shorter.replaces) if shorter else (),
        zones=facts.zones(),
        offsets=facts.offsets.spans(),
    )


def _duplicates_of(candidate: Candidate, omitted: Omitted, loads: Mapping[int, Load]) -> dict[int, int]:
    """Count the omitted records by the load that has them.

    The load that this one continues counts with 0: its records were not even read.
    """
    before = candidate.known.grown_from
    continued = {before.load_id, *loads[before.load_id].duplicates_of} if before else set()
    return {**dict.fromkeys(continued, 0), **omitted.by_load}


def _outcome(
    candidate: Candidate, status: FileStatus, load: Load | None = None, note: str = ""
) -> FileOutcome:
    issues = tuple(candidate.own_issues())
    return FileOutcome(candidate.file, status, load, issues, candidate.issue_counts(), note)


def _staged_issues(settled: Sequence[Settlement], work: Path) -> list[StagedFile]:
    """Write the issues of all loads to one file, which is of the day of the first."""
    rows = [issue_rows(own, each.load.load_id) for each in settled if (own := each.candidate.own_issues())]
    if not rows:
        return []
    day = settled[0].candidate.started_utc.date().isoformat()
    path = work / partition(ISSUE_TABLE, day) / f"{settled[0].load.load_id:08}-issues.parquet"
    part = Part(path, ISSUE_TABLE, day, file_schema(ISSUE_TABLE))
    part.write(pa.concat_tables(rows).unify_dictionaries())
    return [part.close()]


def _rows_by_load(result: Duplicates) -> dict[int, Counter[str]]:
    """Return the number of rows of each load by table."""
    rows: dict[int, Counter[str]] = defaultdict(Counter)
    for file in result.files:
        for load, count in file.loads.items():
            rows[load][file.table] += count
    return rows


def _load_tables(stored: Counter[str], omitted: Omitted) -> dict[str, LoadTable]:
    """Count rows stored and omitted by table; the internal table of digests is not listed."""
    names = stored.keys() | omitted.by_table.keys()
    return {name: LoadTable(stored[name], omitted.by_table[name]) for name in data_tables() if name in names}
