"""Load all inputs that a call names, one after the other; each is committed by itself."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from zscope.parsers.containers.source import STANDARD_INPUT, Member, input_paths, members, open_input, shown
from zscope.parsers.containers.streams import unreadable
from zscope.parsers.issues import Code, InputError, Issue, Issues, Severity
from zscope.pipelines.ingest.known_files import KnownFile
from zscope.pipelines.ingest.load import IngestContext, MemberLoad
from zscope.pipelines.ingest.outcome import FileOutcome, FileStatus, IngestReport, repeated_note
from zscope.pipelines.ingest.quarantine import HEAD_BYTES, write_report
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.change import changing
from zscope.pipelines.store.folder import make_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.pipelines.ingest.options import IngestOptions

PUBLISH_EVERY_S = 10.0
"""While many files are loaded, the catalogue shows what was committed this often."""


def ingest(store: Path, paths: Sequence[str | Path], options: IngestOptions) -> IngestReport:
    """Load files into a store; create the store if it does not exist."""
    started = time.perf_counter()
    folder = make_store(store)
    with changing(folder, options.settings, options.notify) as state:
        run = _IngestRun(IngestContext(folder, state, options))
        outcomes = tuple(run.load_all(paths))
    return IngestReport(outcomes, time.perf_counter() - started, committed=not options.dry_run)


class _IngestRun:
    """One call of `ingest`, while the store is locked."""

    def __init__(self, context: IngestContext) -> None:
        self._context = context
        self._options = context.options
        self._published = time.monotonic()

    def load_all(self, paths: Sequence[str | Path]) -> Iterator[FileOutcome]:
        """Load everything that the paths name."""
        path_issues = Issues()
        for path, named in input_paths(paths, path_issues):
            if self._in_store(path):
                continue
            for outcome in self._load_file(path, named=named):
                self._publish_if_due(outcome)
                self._options.on_outcome(outcome)
                yield outcome
        for issue in path_issues:
            if self._in_store(issue.file):
                continue
            refused = issue.severity is Severity.REFUSED
            outcome = _not_loaded(issue.file, [issue], FileStatus.REFUSED if refused else FileStatus.EMPTY)
            self._options.on_outcome(outcome)
            yield outcome

    def _in_store(self, path: str) -> bool:
        """Whether a file, or a link to it, belongs to the store, which may be inside a folder to load."""
        if path == STANDARD_INPUT:
            return False
        folder, name = os.path.split(path)
        places = Path(os.path.realpath(path)), Path(os.path.realpath(folder), name)
        return any(self._context.folder.path in place.parents for place in places)

    def _load_file(self, path: str, *, named: bool) -> Iterator[FileOutcome]:
        """Load a file, or the members of an archive."""
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
                    yield self._load_member(member, known, issues, started)
                    done.add(member.name)
                    started = time.perf_counter()
        except InputError as error:
            yield self._refuse(error.issue.file or name, b"", [error.issue])
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

    def _load_member(self, member: Member, known: KnownFile, issues: Issues, started: float) -> FileOutcome:
        head = member.stream.peek(HEAD_BYTES)
        plain = not member.packing
        size, digest = (member.size, known.digest) if plain else (None, None)
        mark = issues.mark()
        member_known = known if plain else KnownFile(known.digest)
        try:
            outcome = MemberLoad(self._context, member, member_known, issues, mark, started).load()
        except InputError as error:
            return self._refuse(member.name, head, [*issues.since(mark), error.issue], size, digest)
        finally:
            shutil.rmtree(self._context.folder.stage, ignore_errors=True)
        if outcome.worst is Severity.REFUSED and outcome.status is not FileStatus.LOADED:
            return self._refuse(member.name, head, list(outcome.issues), size, digest)
        return outcome

    def _refuse(
        self, file: str, head: bytes, issues: list[Issue], size: int | None = None, digest: str | None = None
    ) -> FileOutcome:
        """Refuse an input and write a report about it to the folder `quarantine`."""
        distinct = tuple(dict.fromkeys(issues))
        if not self._options.dry_run:
            write_report(self._context.folder.quarantine, file, head, distinct, size=size, digest=digest)
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
