"""A whole run: every input named, one after the other, each committed by itself."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from zscope.parsers.containers.source import STANDARD_INPUT, Member, input_paths, members, open_input, shown
from zscope.parsers.containers.streams import unreadable
from zscope.parsers.inputs import Options
from zscope.parsers.issues import Code, InputError, Issue, Issues, Severity
from zscope.parsers.smf.ebcdic import CodePage, code_page
from zscope.pipelines.ingest.clocks import Clocks
from zscope.pipelines.ingest.known import Earlier, Known
from zscope.pipelines.ingest.load import MemberLoad
from zscope.pipelines.ingest.outcome import Outcome, Report, Status, as_before
from zscope.pipelines.ingest.quarantine import write_report
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.catalogue import publish
from zscope.pipelines.store.change import changing
from zscope.pipelines.store.folder import Folder, make_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.inputs import Watch
    from zscope.pipelines.ingest.selection import Choice
    from zscope.pipelines.store.commits import State

PUBLISH_EVERY_S = 10.0
"""In a run over many files, so often what was committed becomes visible in the catalogue."""
HEAD_BYTES = 256
"""Of a refused file, for its report."""

Told = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class How:
    """How to ingest: what to take, how to read it, on which clocks the systems are."""

    choice: Choice
    options: Options = field(default_factory=Options)
    settings: Settings = field(default_factory=Settings)
    strict: bool = False
    dry: bool = False
    """Do everything but commit."""
    tell: Callable[[str], None] = lambda text: None  # noqa: ARG005
    """Where words for people go."""
    told: Told = lambda outcome: None  # noqa: ARG005
    """Is shown each input when it is done."""


def ingest(store: Path, paths: Sequence[str | Path], how: How) -> Report:
    """Load files into a store, which is made if there is none."""
    begin = time.perf_counter()
    folder = make_store(store)
    with changing(folder, how.settings, how.tell) as state:
        outcomes = tuple(Run(folder, state, how).all(paths))
    return Report(outcomes, time.perf_counter() - begin, committed=not how.dry)


@dataclass
class Run:
    """What the inputs of one run have in common."""

    folder: Folder
    state: State
    how: How
    _published: float = field(default_factory=time.monotonic)

    @property
    def choice(self) -> Choice:
        """Which rows to take."""
        return self.how.choice

    @property
    def dry(self) -> bool:
        """Whether nothing is to be kept."""
        return self.how.dry

    @property
    def key(self) -> str:
        """All that decides which rows a file gives: only with the same key it gives the same rows again."""
        options = self.how.options
        said = {
            "code page": options.code_page if options.code_page != Options().code_page else None,
            "framing": options.framing.value if options.framing else None,
            "system": options.system,
            "taken": " ".join(str(part) for part in (options.day, options.clock) if part) or None,
            "run": options.run,
            "columns": ", ".join(f"{ours}={theirs!r}" for ours, theirs in options.mapping) or None,
            "times": options.time_format,
            "formatter zone": options.formatter_zone,
        }
        return "; ".join([str(self.choice), *(f"{name} {value}" for name, value in said.items() if value)])

    @property
    def page(self) -> CodePage:
        """The code page of the records."""
        return code_page(self.how.options.code_page)

    @property
    def writers(self) -> int:
        """Threads that compress."""
        return self.how.options.jobs or os.cpu_count() or 1

    def reading(self, watch: Watch, begin_at: int) -> Options:
        """How to read one input."""
        return replace(self.how.options, watch=watch, begin_at=begin_at, count=True)

    def clocks(self, issues: Issues, file: str) -> Clocks:
        """The clocks of the systems, for the times of one file."""
        return Clocks(self.how.settings.zones, issues, file, self.page, self.how.options.system)

    def earlier(self, name: str) -> Earlier:
        """The loads with which a file of this name can be compared."""
        return Earlier.of(self.state, self.key, name)

    def all(self, paths: Sequence[str | Path]) -> Iterator[Outcome]:
        """Load everything that some paths name."""
        opening = Issues()
        for path, named in input_paths(paths, opening):
            if self._is_our_own(path):
                continue
            for outcome in self._path(path, named=named):
                self._publish_now_and_then(outcome)
                self.how.told(outcome)
                yield outcome
        for issue in opening:
            if self._is_our_own(issue.file):
                continue
            refused = issue.severity is Severity.REFUSED
            outcome = _not_loaded(issue.file, [issue], Status.REFUSED if refused else Status.EMPTY)
            self.how.told(outcome)
            yield outcome

    def _is_our_own(self, path: str) -> bool:
        """Whether a file, or the link to one, is of the store, which may lie in a folder that is named."""
        if path == STANDARD_INPUT:
            return False
        folder, name = os.path.split(path)
        places = Path(os.path.realpath(path)), Path(os.path.realpath(folder), name)
        return any(self.folder.path in place.parents for place in places)

    def _path(self, path: str, *, named: bool) -> Iterator[Outcome]:
        issues, name, begun = Issues(strict=self.how.strict), shown(path), time.perf_counter()
        told: set[str] = set()
        try:
            with open_input(path) as (file, size):
                known = self._recognised(file, name) if size is not None else Known()
                if known.load:
                    yield Outcome(name, Status.REPEATED, known.load, note=as_before(known.load))
                    return
                for member in members(path, file, size, issues, named=named):
                    yield self._member(member, known, issues, begun)
                    told.add(member.name)
                    begun = time.perf_counter()
        except InputError as error:
            yield self._quarantined(error.issue.file or name, b"", [error.issue])
            told.add(error.issue.file)
        # Members of an archive that could not even be opened.
        for issue in issues:
            if issue.severity is Severity.REFUSED and issue.file not in told:
                told.add(issue.file)
                yield self._quarantined(issue.file, b"", [issue])

    def _recognised(self, file: BinaryIO, name: str) -> Known:
        """What is known of an open file, which is then at its beginning again."""
        try:
            known = self.earlier(name).recognise(file)
            file.seek(0)
        except OSError as error:
            raise InputError(Issue(Code.UNREADABLE, unreadable(error), name)) from error
        return known

    def _member(self, member: Member, known: Known, issues: Issues, begun: float) -> Outcome:
        head = member.stream.peek(HEAD_BYTES)
        plain = not member.packing
        about = (member.size, known.digest) if plain else (None, None)
        heard = issues.mark()
        try:
            load = MemberLoad(self, member, known if plain else Known(known.digest), issues, heard, begun)
            outcome = load.load()
        except InputError as error:
            return self._quarantined(member.name, head, [*issues.since(heard), error.issue], *about)
        finally:
            shutil.rmtree(self.folder.stage, ignore_errors=True)
        if outcome.worst is Severity.REFUSED and outcome.status is not Status.LOADED:
            return self._quarantined(member.name, head, list(outcome.issues), *about)
        return outcome

    def _quarantined(
        self, file: str, head: bytes, issues: list[Issue], size: int | None = None, digest: str | None = None
    ) -> Outcome:
        """Refuse an input, and leave word of it where the people of the day shift look."""
        distinct = tuple(dict.fromkeys(issues))
        if not self.dry:
            write_report(self.folder.quarantine, file, head, distinct, size=size, digest=digest)
        return _not_loaded(file, distinct, Status.REFUSED)

    def _publish_now_and_then(self, outcome: Outcome) -> None:
        if outcome.status is not Status.LOADED or self.dry:
            return
        if time.monotonic() - self._published >= PUBLISH_EVERY_S:
            publish(self.folder, self.state)
            self._published = time.monotonic()


def _not_loaded(file: str, issues: Sequence[Issue], status: Status) -> Outcome:
    counts = Counter(issue.code.value for issue in issues)
    return Outcome(file, status, None, tuple(issues), dict(counts))
