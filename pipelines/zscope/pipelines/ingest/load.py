"""Load inputs into the store, one after the other; small ones share a commit.

An input is decoded, its rows are written to staged files, duplicates are removed, and the rest is committed.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zscope.parsers.containers.streams import ARCHIVES
from zscope.parsers.inputs import STANDARD_INPUT, input_paths, missing_inputs
from zscope.parsers.issues import InputError, Issue, Issues, Severity
from zscope.pipelines.ingest.commit_new_rows import IngestContext, LoadBatch, Settlement
from zscope.pipelines.ingest.decoding import (
    Candidate,
    PathDecoder,
    Refused,
    Repeated,
    StagePlace,
)
from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, FileStatus, IngestReport, repeated_note
from zscope.pipelines.ingest.quarantine import NOT_LOADED, record_input_issues, write_report
from zscope.pipelines.store.folder import is_store, make_store
from zscope.pipelines.store.maintenance import merge_after_load
from zscope.pipelines.store.parquet_files import INPUT_ISSUE_TABLE
from zscope.pipelines.store.transaction import changing, show_commits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.pipelines.ingest.decoding import Decoded
    from zscope.pipelines.ingest.options_and_outcomes import IngestOptions
    from zscope.pipelines.store.commits import Load


SMALL_FILE_BYTES = 16 << 20
"""Before a larger file is read, the loads before it are committed."""
MERGE_FROM_FILES = 256
"""Number of new files in the store from which on small ones are merged during a load."""
PUBLISH_EVERY_S = 60.0
"""While many files are loaded, the catalogue shows what was committed this often."""

InputPath = tuple[str, bool]
"""A file, and whether it was named directly."""


class InputDecoder(Protocol):
    """Decodes the inputs of one call of `ingest`."""

    def prepare(self, paths: Sequence[InputPath]) -> None:
        """Do what can be done for all files together, before the first is loaded."""

    def decode(self, path: str, *, named: bool) -> Iterator[Decoded]:
        """Decode the inputs in one file, each when it is asked for."""

    def loaded(self, candidate: Candidate, load: Load) -> None:
        """Note that a candidate is loaded with the next commit, or was."""


class LoadEngine(Protocol):
    """Decides where the inputs are decoded."""

    def decoder(self, context: IngestContext) -> InputDecoder:
        """Return what decodes the inputs of one call of `ingest`."""


def ingest(
    store: Path, paths: Sequence[str | Path], options: IngestOptions, engine: LoadEngine | None = None
) -> IngestReport:
    """Load files into a store; create the store if it does not exist and there is a file to load.

    Without an engine, this process decodes them.
    """
    started = time.perf_counter()
    if paths and not is_store(store) and len(missing := missing_inputs(paths)) == len(paths):
        outcomes = tuple(map(_passed_over, missing))
        for outcome in outcomes:
            options.on_outcome(outcome)
        return IngestReport(outcomes, time.perf_counter() - started, committed=not options.dry_run)
    folder = make_store(store, for_everybody=options.settings.readable_by_everybody)
    threads = options.read_options.jobs
    with changing(folder, options.settings, options.notify, kept=options.kept, threads=threads) as state:
        context = IngestContext(folder, state, options)
        run = _IngestRun(context, engine.decoder(context) if engine else LocalDecoder(context))
        outcomes = tuple(run.load_all(paths))
        inputs = (*outcomes, *map(_passed_over, options.passed_over))
        not_loaded = any(outcome.status in NOT_LOADED for outcome in inputs)
        if not options.dry_run and (not_loaded or state.files_for(INPUT_ISSUE_TABLE, None)):
            record_input_issues(folder, state, inputs)
        if not options.dry_run:
            run.merge()
    return IngestReport(outcomes, time.perf_counter() - started, committed=not options.dry_run)


class LocalDecoder:
    """Decodes one input after the other, in this process."""

    def __init__(self, context: IngestContext) -> None:
        self._context = context
        self._paths = PathDecoder(context.decoding, context.earlier_loads, self._place)

    def _place(self) -> StagePlace:
        load_id = self._context.next_load_id
        return StagePlace(self._context.folder.stage / f"load-{load_id}", load_id)

    def prepare(self, paths: Sequence[InputPath]) -> None:
        """Do nothing: each file is decoded when its turn comes."""

    def decode(self, path: str, *, named: bool) -> Iterator[Decoded]:
        """Decode the inputs in one file, each when it is asked for."""
        return self._paths.decode(path, named=named)

    def loaded(self, candidate: Candidate, load: Load) -> None:
        """Do nothing: the next input is compared with all loads before it."""


class _IngestRun:
    """One call of `ingest`, while the store is locked."""

    def __init__(self, context: IngestContext, decoder: InputDecoder) -> None:
        self._context = context
        self._decoder = decoder
        self._options = context.options
        self._batch = LoadBatch(context)
        self._held: list[FileOutcome | Settlement] = []
        """The inputs since the last commit, which are reported after it, in their order."""
        self._merged = len(context.state.files)
        """The number of files in the store after the last merge."""
        self._published = time.monotonic()
        self._waiting: list[InputPath] = []
        """Paths of reports that are loaded last, because SMF 70 records tell their time in UTC."""

    def load_all(self, paths: Sequence[str | Path]) -> Iterator[FileOutcome]:
        """Load everything that the paths name."""
        path_issues = Issues()
        inputs = [
            (path, named and not self._options.listed)
            for path, named in input_paths(paths, path_issues)
            if not self._in_store(path)
        ]
        self._decoder.prepare(inputs)
        for number, (path, named) in enumerate(inputs, start=1):
            if self._options.stops():
                break
            can_wait = number < len(inputs) and not self._options.dry_run
            yield from self._load_path(path, named=named, can_wait=can_wait)
        for path, named in self._waiting:
            if self._options.stops():
                break
            yield from self._load_path(path, named=named, can_wait=False)
        yield from self._commit()
        for issue in path_issues:
            if self._in_store(issue.file):
                continue
            outcome = _passed_over(issue)
            self._options.on_outcome(outcome)
            yield outcome

    def _load_path(self, path: str, *, named: bool, can_wait: bool) -> Iterator[FileOutcome]:
        if not _is_small(path):
            yield from self._commit()
        for each in self._load_file(path, named=named, can_wait=can_wait):
            self._held.append(each)
            if self._batch.is_due:
                yield from self._commit()

    def _commit(self) -> Iterator[FileOutcome]:
        """Commit the loads that wait for it, and report them."""
        self._batch.commit()
        held, self._held = self._held, []
        for each in held:
            outcome = each.outcome() if isinstance(each, Settlement) else self._as_committed(each)
            self._options.on_outcome(outcome)
            yield outcome
        if not self._options.dry_run:
            if len(self._context.state.files) - self._merged >= MERGE_FROM_FILES:
                self.merge()
            if any(isinstance(each, Settlement) for each in held):
                self._publish_if_due()

    def _as_committed(self, outcome: FileOutcome) -> FileOutcome:
        """Return the outcome of a file that is not loaded; the load that it repeats can be a new one."""
        load = outcome.load
        return replace(outcome, load=self._context.state.loads[load.load_id]) if load else outcome

    def merge(self) -> None:
        """Merge small files, in proportion to those that were added since the last time."""
        merge_after_load(self._context.folder, self._context.state, self._merged)
        self._merged = len(self._context.state.files)

    def _in_store(self, path: str) -> bool:
        """Whether a file, or a link to it, belongs to the store, which may be inside a folder to load."""
        if path == STANDARD_INPUT:
            return False
        folder, name = os.path.split(path)
        places = Path(os.path.realpath(path)), Path(os.path.realpath(folder), name)
        return any(self._context.folder.path in place.parents for place in places)

    def _load_file(self, path: str, *, named: bool, can_wait: bool) -> Iterator[FileOutcome | Settlement]:
        """Load a file, or the members of an archive. A file that has to wait has no outcome yet."""
        for decoded in self._decoder.decode(path, named=named):
            match decoded:
                case Repeated(file, load):
                    note = repeated_note(load)
                    yield FileOutcome(file, FileStatus.REPEATED, load, note=note)
                case Refused():
                    yield self._refuse(decoded)
                case Candidate():
                    # Members of an archive before this one are loaded, and standard input is read only once.
                    waits = can_wait and path != STANDARD_INPUT and ARCHIVES.isdisjoint(decoded.packing)
                    outcome = self._settle(decoded, can_wait=waits)
                    if outcome is None:
                        self._waiting.append((path, named))
                        return
                    yield outcome

    def _settle(self, candidate: Candidate, *, can_wait: bool) -> FileOutcome | Settlement | None:
        try:
            settled = self._batch.add(candidate, can_wait=can_wait)
        except InputError as error:
            reasons = [*candidate.issues, error.issue]
            return self._refuse(Refused.of(candidate.file, reasons, candidate.origin, error.__cause__))
        finally:
            shutil.rmtree(candidate.place.folder, ignore_errors=True)
        if isinstance(settled, Settlement):
            self._decoder.loaded(candidate, settled.load)
        elif settled and settled.worst is Severity.REFUSED:
            return self._refuse(Refused.of(candidate.file, list(settled.issues), candidate.origin))
        return settled

    def _refuse(self, refused: Refused) -> FileOutcome:
        """Refuse an input and write a report about it to the folder `quarantine`."""
        if not self._options.dry_run:
            folder = self._context.folder.quarantine
            write_report(
                folder, refused.file, refused.head, refused.issues, size=refused.size, digest=refused.digest,
                failure=refused.failure,
            )  # fmt: skip
        return _not_loaded(refused.file, refused.issues, FileStatus.REFUSED)

    def _publish_if_due(self) -> None:
        if time.monotonic() - self._published >= PUBLISH_EVERY_S:
            show_commits(self._context.folder, self._context.state, self._options.notify)
            self._published = time.monotonic()


def _is_small(path: str) -> bool:
    """Whether a file is read so quickly that the loads before it can wait for their commit until then."""
    try:
        if path == STANDARD_INPUT:
            return False
        status = os.stat(path)  # noqa: PTH116 - takes any text
    except (OSError, ValueError):
        return True
    return stat.S_ISREG(status.st_mode) and status.st_size <= SMALL_FILE_BYTES


def _passed_over(issue: Issue) -> FileOutcome:
    """Return the outcome of something in a folder that is not an input."""
    refused = issue.severity is Severity.REFUSED
    return _not_loaded(issue.file, [issue], FileStatus.REFUSED if refused else FileStatus.EMPTY)


def _not_loaded(file: str, issues: Sequence[Issue], status: FileStatus) -> FileOutcome:
    counts = Counter(issue.code.value for issue in issues)
    return FileOutcome(file, status, None, tuple(issues), dict(counts))
