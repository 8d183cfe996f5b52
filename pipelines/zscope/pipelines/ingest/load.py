"""One input into the store: read, sorted out, freed of what is there already, committed."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.parsers.containers.streams import UNPACKED_CHUNK
from zscope.parsers.detect import source_of
from zscope.parsers.inputs import NothingThereError
from zscope.parsers.issues import Code, InputError, Issue
from zscope.pipelines.identity import ContentDigest
from zscope.pipelines.ingest.content import Content
from zscope.pipelines.ingest.duplicates import Before, Duplicates, without_duplicates
from zscope.pipelines.ingest.known import DUMP, told_by_name
from zscope.pipelines.ingest.outcome import Outcome, Status, as_before, issue_rows
from zscope.pipelines.ingest.rows import stored_rows
from zscope.pipelines.ingest.staging import Stage
from zscope.pipelines.store.bring_in import bring_in
from zscope.pipelines.store.commits import Commit
from zscope.pipelines.store.folder import partition
from zscope.pipelines.store.loads import Load, TableRows
from zscope.pipelines.store.parts import StagedFile, open_writer
from zscope.pipelines.store.remove import Without, files_without
from zscope.pipelines.store.tables import ISSUE_TABLE, data_tables, kept_schema

if TYPE_CHECKING:
    from zscope.parsers.containers.source import Member
    from zscope.parsers.inputs import Source
    from zscope.parsers.issues import Issues, Mark
    from zscope.pipelines.ingest.known import Earlier, Known
    from zscope.pipelines.ingest.run import Run


@dataclass
class MemberLoad:
    """One input on its way; an InputError says that it cannot be used."""

    run: Run
    member: Member
    known: Known
    """By what the file as it lies there is recognised."""
    issues: Issues
    heard: Mark
    """What of the issues is not about this input."""
    begun: float
    """When its first byte was read."""
    content: ContentDigest = field(init=False)
    _earlier: Earlier = field(init=False)
    _started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self._earlier = self.run.earlier(self.member.name)
        before = self.known.grown_from
        lengths = [before.content_bytes] if before else self._earlier.report_lengths()
        self.content = ContentDigest.of_lengths(lengths)

    def load(self) -> Outcome:
        """Read it and commit it."""
        self.member.stream.listen(self.content.update)
        load_id = self.run.state.next_load_id
        work = self.run.folder.stage / f"load-{load_id}"
        found = Content(self.run.clocks(self.issues, self.member.name))
        try:
            source = source_of(self.member, self.run.reading(found.watch, self.known.begin_at), self.issues)
        except NothingThereError:
            return self._told(Status.REFUSED)
        stage = Stage(work, load_id, self.run.writers)
        try:
            outside = self._read(source, stage, found, load_id)
            if source.summary.useless or source.summary.skipped:
                return self._told(Status.EMPTY)
            if earlier := self._earlier.with_content(self.content.digest()):
                # What is wrong with it was told then.
                return Outcome(self.member.name, Status.REPEATED, earlier, note=as_before(earlier))
            staged = stage.finish()
        finally:
            stage.abandon()
        shorter = self._earlier.begun_as(self.content) if source.summary.kind != DUMP else None
        before = Before(self.run.folder, self.run.state, self.content.digest(), shorter)
        without = without_duplicates(before, staged, work)
        load = self._load(load_id, source, found, staged, without, outside, shorter)
        if issues := self._issues():
            without.files.append(self._stage_issues(work, issues, load_id))
        if not self.run.dry:
            self._commit(load, without, shorter)
        note = f"takes the place of load {shorter.load_id}, which is its beginning" if shorter else ""
        return self._told(Status.LOADED, load, note)

    def _commit(self, load: Load, without: Duplicates, shorter: Load | None) -> None:
        """Bring in the rows, and in the same step take out those of the shorter file that this one was."""
        folder, state = self.run.folder, self.run.state
        out = files_without(folder, state, shorter.load_id) if shorter else Without((), {}, 0)
        bring_in(
            folder,
            state,
            [*without.files, *out.made],
            lambda file: out.made.get(file, {load.load_id: file.rows}),
            lambda files: Commit(
                "load",
                adds=files,
                drops=out.drops,
                load=load,
                removed_load=shorter.load_id if shorter else None,
            ),
        )

    def _read(self, source: Source, stage: Stage, found: Content, load_id: int) -> int:
        """All rows that are asked for onto the stage; returns how many others there were."""
        outside = 0
        for table, rows in source.batches(self.run.choice.selection):
            chosen = self.run.choice.of(table, rows)
            if table in data_tables():
                outside += rows.num_rows - chosen.num_rows
            if chosen.num_rows:
                found.take(table, chosen)
                stage.add(table, stored_rows(table, chosen, load_id, found.clocks))
        while self.member.stream.read(UNPACKED_CHUNK):
            pass  # what a reader had no use for belongs to the content all the same
        before = self.known.grown_from
        if before and self.content.at_marks.get(before.content_bytes) != before.content_digest:
            text = "changed while it was read; ingest it again"
            raise InputError(Issue(Code.UNREADABLE, text, self.member.name))
        found.contents = source.contents()
        found.clocks.report()
        return outside

    def _load(
        self, load_id: int, source: Source, found: Content, staged: list[StagedFile], without: Duplicates,
        outside: int, shorter: Load | None,
    ) -> Load:  # fmt: skip
        summary = source.summary
        seconds = round(time.perf_counter() - self.begun, 3)
        return Load(
            load_id=load_id,
            file=self.member.name,
            packing=self.member.packing,
            kind=summary.kind,
            form=summary.form,
            selection=self.run.key,
            content_digest=self.content.digest(),
            content_bytes=self.content.size,
            outer_digest=self.known.digest if self.member.packing else None,
            started_utc=self._started.isoformat(timespec="milliseconds"),
            seconds=seconds,
            records=summary.records or summary.reports,
            spanned=summary.spanned,
            lines=summary.lines,
            duplicates=without.total,
            outside=outside,
            begun_at=self.known.begin_at,
            last_record_offset=found.last_offset,
            zscope_version=version("zscope"),
            tables=_tables(staged, without),
            kinds=found.kinds(),
            gaps=found.gaps(),
            first_local=found.first_local,
            last_local=found.last_local,
            issues=self._counts(),
            told_by_name=told_by_name(self.member.name) if summary.kind != DUMP else {},
            replaces=(shorter.load_id, *shorter.replaces) if shorter else (),
            zones=found.zones(),
            duplicates_of=self._duplicates_of(without),
        )

    def _duplicates_of(self, without: Duplicates) -> dict[int, int]:
        """The loads that this one leans on; of those it goes on from, nothing was even counted."""
        before = self.known.grown_from
        behind = {before.load_id, *before.duplicates_of} if before else set()
        return {**dict.fromkeys(behind, 0), **without.by_load}

    def _told(self, status: Status, load: Load | None = None, note: str = "") -> Outcome:
        return Outcome(self.member.name, status, load, tuple(self._issues()), self._counts(), note)

    def _issues(self) -> list[Issue]:
        """Those of this input; of a file that grew, those of its new part."""
        begin = self.known.begin_at
        return [i for i in self.issues.since(self.heard) if i.offset is None or i.offset >= begin]

    def _counts(self) -> dict[str, int]:
        if self.known.begin_at:
            return dict(Counter(issue.code.value for issue in self._issues()))
        return {code.value: count for code, count in self.issues.since(self.heard).counts().items()}

    def _stage_issues(self, work: Path, issues: list[Issue], load_id: int) -> StagedFile:
        day = self._started.date().isoformat()
        path = work / partition(ISSUE_TABLE, day) / f"{load_id:08}-issues.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = issue_rows(issues, load_id)
        with open_writer(path, kept_schema(ISSUE_TABLE)) as writer:
            writer.write_table(rows)
        return StagedFile(path, ISSUE_TABLE, day, rows.num_rows, path.stat().st_size)


def _tables(staged: list[StagedFile], without: Duplicates) -> dict[str, TableRows]:
    """Rows by table, with what was left out; the digests are our own affair."""
    stored: Counter[str] = Counter()
    for file in without.files:
        stored[file.table] += file.rows
    names = {file.table for file in staged}
    return {
        name: TableRows(stored[name], without.by_table.get(name, 0))
        for name in data_tables()
        if name in names
    }
