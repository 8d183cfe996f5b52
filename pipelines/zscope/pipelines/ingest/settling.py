"""The second half of a load: compare a decoded input with the store, and commit what is new.

Only one process does this, while it has the lock of the store: it finds the hours that a clock showed twice,
removes duplicates, numbers the load, and commits it.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue, unexpected_errors
from zscope.pipelines.ingest.duplicates import Duplicates, StoreBefore, remove_duplicates
from zscope.pipelines.ingest.interface import FileOutcome, FileStatus, issue_rows, repeated_note
from zscope.pipelines.ingest.known_inputs import DUMP, EarlierLoads, comparable_loads, name_facts
from zscope.pipelines.ingest.repeated_hours import RepeatedHours
from zscope.pipelines.ingest.zone_checks import ZoneChecks
from zscope.pipelines.store.change import commit_files
from zscope.pipelines.store.commits import Commit, Load, LoadTable
from zscope.pipelines.store.folder import partition
from zscope.pipelines.store.parts import (
    ISSUE_TABLE,
    StagedFile,
    data_tables,
    open_writer,
    parquet_schema,
    with_load_id,
)
from zscope.pipelines.store.remove import StoreWithoutLoad, files_without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.pipelines.ingest.decoding import Candidate, Reading
    from zscope.pipelines.ingest.interface import IngestOptions
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder


@dataclass(frozen=True, slots=True)
class IngestContext:
    """What all inputs of one call of `ingest` share. The caller holds the lock of the store."""

    folder: Folder
    state: State
    options: IngestOptions

    def earlier_loads(self, name: str) -> EarlierLoads:
        """Return the loads that a file of this name can repeat or continue."""
        return EarlierLoads.of(comparable_loads(self.state, self.options.selection_key), name)


@dataclass
class Settlement:
    """The load of one candidate."""

    context: IngestContext
    candidate: Candidate
    can_wait: bool = False
    """Whether it can be loaded after the other inputs of this run."""
    _started: float = field(default_factory=time.perf_counter)

    def settle(self) -> FileOutcome | None:
        """Commit the rows of the candidate; an InputError means that it cannot be used.

        Returns None if the rest of this run can load records that are needed first.
        """
        candidate = self.candidate
        reading = candidate.reading
        if reading is None or candidate.status is not FileStatus.LOADED:
            return self._outcome(candidate.status)
        earlier = self.context.earlier_loads(candidate.file)
        if before := earlier.with_content(reading.content.digest):
            # Its issues were reported by the earlier load.
            note = repeated_note(before)
            return FileOutcome(candidate.file, FileStatus.REPEATED, before, note=note)
        shorter = earlier.beginning_of(reading.content) if reading.summary.kind != DUMP else None
        return self._load(reading, shorter)

    def _load(self, reading: Reading, shorter: Load | None) -> FileOutcome | None:
        candidate, context, issues = self.candidate, self.context, self.candidate.issues
        facts, staged, dry_run = reading.facts, reading.files, context.options.dry_run
        assert staged is not None, "only files of contents that a load has are not finished"
        work = candidate.place.folder
        load_id = context.state.next_load_id
        before = StoreBefore(context.folder, context.state, reading.content.digest, shorter)
        with unexpected_errors(candidate.file):
            facts.times.report()
            hours = RepeatedHours(before, facts.clocks)
            staged = hours.decide(staged, work, self._how_to_load_again(load_id))
            if hours.awaits_records and self.can_wait:
                return None
            facts.clocks.report()
        if load_id != candidate.place.load_id and not dry_run:
            staged = [with_load_id(file, load_id) for file in staged]
        result = remove_duplicates(before, staged, work)
        for conflict in result.conflicts:
            text, file = conflict.text(), candidate.file
            issues.add(Issue(Code.INTERVAL_CONFLICT, text, file, conflict.record_no, conflict.offset))
        with unexpected_errors(candidate.file):
            load = self._describe(load_id, reading, staged, result, shorter)
            zones = ZoneChecks(load, facts.offsets, facts.clocks.zones, self._compared_loads(shorter))
            zones.report(issues, stored=not dry_run)
            load = replace(load, issues=candidate.issue_counts())
        if own := candidate.own_issues():
            result.files.append(self._stage_issues(work, own, load_id))
        if not dry_run:
            self._commit(load, result, shorter)
        note = f"replaces load {shorter.load_id}, which is its beginning" if shorter else ""
        return self._outcome(FileStatus.LOADED, load, note)

    def _how_to_load_again(self, load_id: int) -> str:
        if self.context.options.dry_run:
            return "and then this file"
        return f"then remove this load (zscope loads remove {load_id}), and ingest this file again"

    def _describe(
        self, load_id: int, reading: Reading, staged: list[StagedFile], result: Duplicates,
        shorter: Load | None,
    ) -> Load:  # fmt: skip
        """Return the entry of the load history."""
        candidate, summary, content = self.candidate, reading.summary, reading.content
        facts = reading.facts
        seconds = candidate.seconds + time.perf_counter() - self._started
        return Load(
            load_id=load_id,
            file=candidate.file,
            packing=candidate.packing,
            kind=summary.kind,
            form=summary.form,
            selection=self.context.options.selection_key,
            content_digest=content.digest,
            content_bytes=content.size,
            outer_digest=candidate.known.digest if candidate.packing else None,
            started_utc=candidate.started_utc.isoformat(timespec="milliseconds"),
            seconds=round(seconds, 3),
            records=summary.records or summary.reports,
            spanned=summary.spanned,
            lines=summary.lines,
            duplicates=result.total,
            outside=facts.rows_outside,
            begun_at=candidate.known.begin_at,
            last_record_offset=facts.last_record_offset,
            zscope_version=version("zscope"),
            tables=_load_tables(staged, result),
            kinds=facts.kinds(),
            gaps=facts.gaps(),
            first_local=facts.first_local,
            last_local=facts.last_local,
            issues=candidate.issue_counts(),
            name_facts=name_facts(candidate.file) if summary.kind != DUMP else {},
            replaces=(shorter.load_id, *shorter.replaces) if shorter else (),
            zones=facts.zones(),
            offsets=facts.offsets.spans(),
            duplicates_of=self._duplicates_of(result),
        )

    def _compared_loads(self, shorter: Load | None) -> list[Load]:
        """Return the other loads of the store, without the one that this load replaces."""
        return [load for load in self.context.state.live_loads if load is not shorter]

    def _duplicates_of(self, result: Duplicates) -> dict[int, int]:
        """Count the omitted records by the load that has them.

        The load that this one continues counts with 0: its records were not even read.
        """
        before = self.candidate.known.grown_from
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
        candidate = self.candidate
        issues = tuple(candidate.own_issues())
        return FileOutcome(candidate.file, status, load, issues, candidate.issue_counts(), note)

    def _stage_issues(self, work: Path, issues: list[Issue], load_id: int) -> StagedFile:
        day = self.candidate.started_utc.date().isoformat()
        path = work / partition(ISSUE_TABLE, day) / f"{load_id:08}-issues.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = issue_rows(issues, load_id)
        with open_writer(path, parquet_schema(ISSUE_TABLE)) as writer:
            writer.write_table(rows)
        return StagedFile(path, ISSUE_TABLE, day, rows.num_rows, path.stat().st_size)


def _load_tables(staged: Sequence[StagedFile], result: Duplicates) -> dict[str, LoadTable]:
    """Count rows stored and omitted by table; the internal table of digests is not listed."""
    stored: Counter[str] = Counter()
    for file in result.files:
        stored[file.table] += file.rows
    names = {file.table for file in staged}
    return {
        name: LoadTable(stored[name], result.by_table.get(name, 0)) for name in data_tables() if name in names
    }
