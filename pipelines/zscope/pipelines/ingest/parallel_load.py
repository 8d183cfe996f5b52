"""Load many or large files at once: a scheduler runs the decoding, this process compares and commits.

First all files are surveyed: their digests are compared with earlier loads, large dumps are cut into ranges,
and reports are decoded. Then the dumps are decoded. When all tasks are done, the inputs are settled one after
the other, in their order, as in a load without a scheduler; so the store is the same. What a candidate was
decoded for can have changed by then, through the inputs before it: such a file is decoded again here. If a
task fails for good, nothing was committed.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

from zscope.parsers.inputs import STANDARD_INPUT, shown
from zscope.parsers.planning import RANGE_BYTES
from zscope.pipelines.ingest.decoding import Candidate, Refused, Repeated
from zscope.pipelines.ingest.known_inputs import DUMP, KnownLoads, comparable_loads
from zscope.pipelines.ingest.load import LocalDecoder
from zscope.pipelines.ingest.options_and_outcomes import FileStatus
from zscope.pipelines.ingest.tasks import DecodeTask, Survey, SurveyTask, Work, new_name, whole_dump
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from zscope.pipelines.ingest.commit_new_rows import IngestContext
    from zscope.pipelines.ingest.decoding import Decoded
    from zscope.pipelines.ingest.load import InputPath
    from zscope.pipelines.store.commits import Load

Task = TypeVar("Task")
Result = TypeVar("Result")


class Scheduler(Protocol):
    """Runs tasks in other processes; tasks, results and functions are sent by pickle."""

    def run(self, label: str, function: Callable[[Task, str], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return the result of each task, in order.

        The function is called with the task and a text of lower-case letters and digits that no other attempt
        gets. Raises an `EngineError` if a task fails for good.
        """


class EngineError(Error):
    """The scheduler cannot run the tasks, or one of them failed for good; the store is unchanged."""


@dataclass(frozen=True, slots=True)
class BulkEngine:
    """Decodes inputs by a scheduler."""

    scheduler: Scheduler
    range_bytes: int = RANGE_BYTES
    """Size of the ranges into which dumps are cut."""
    jobs: int = 1
    """Threads of each task."""

    def decoder(self, context: IngestContext) -> BulkDecoder:
        """Return what decodes the inputs of one call of `ingest`."""
        return BulkDecoder(context, self)


@dataclass
class _Prepared:
    """A file whose inputs are decoded."""

    survey: Survey
    number: int
    decoded: tuple[Decoded, ...] | None
    """None for a file that has to be decoded when its turn comes."""


class BulkDecoder:
    """Decodes the inputs of one call of `ingest` by a scheduler, all before the first is loaded."""

    def __init__(self, context: IngestContext, engine: BulkEngine) -> None:
        self._context = context
        self._engine = engine
        self._local = LocalDecoder(context)
        self._first = context.next_load_id
        self._prepared: dict[str, _Prepared] = {}
        self._loads: list[tuple[Load, bytes]] = []
        """The new loads, with the first bytes of their inputs."""
        self._name = new_name()
        self._folder: Path = context.folder.stage / self._name

    def prepare(self, paths: Sequence[InputPath]) -> None:
        """Survey and decode all files that can be read more than once."""
        files = dict(each for each in paths if each[0] != STANDARD_INPUT and os.path.isfile(each[0]))  # noqa: PTH113 - takes any text
        if not files:
            return
        self._folder.mkdir(parents=True)
        options = self._context.options
        read = replace(options.read_options, progress=None, jobs=self._engine.jobs)
        loads = comparable_loads(self._context.state, options.selection_key)
        work = Work(
            replace(self._context.decoding, read_options=read),
            KnownLoads.of(
                replace(load, kinds=(), tables={}, gaps=(), issues={}, offsets=()) for load in loads
            ),
            self._folder,
            self._name,
            tuple({os.path.getsize(path) for path in files}),  # noqa: PTH202 - takes any text
            self._engine.range_bytes,
        )
        surveys = [SurveyTask(path, named, number) for number, (path, named) in enumerate(files.items())]
        run = self._engine.scheduler.run
        for task, survey in zip(surveys, run("survey", work.survey, surveys), strict=True):
            self._prepared[task.path] = _Prepared(survey, task.number, survey.decoded)
        tasks = self._tasks()
        self._collect(tasks, run("decode", work.decode, tasks))
        if again := [task for task in self._whole(tasks) if self._prepared[task.part.path].decoded is None]:
            self._collect(again, run("decode whole", work.decode, again))

    def _tasks(self) -> list[DecodeTask]:
        """Return the tasks for all files that are not decoded, with the numbers that the loads should get."""
        tasks = []
        load_id = self._first
        seen: set[tuple[int, str]] = set()
        for each in self._prepared.values():
            survey = each.survey
            loads = survey.loads if survey.decoded is None else _loads_in(survey.decoded)
            content = survey.content
            if content is not None and survey.decoded is None:
                if seen & {(content.size, content.digest), *content.at_marks.items()}:
                    continue  # it repeats or continues a file of this run, which is settled before
                tasks += [
                    DecodeTask(part, each.number, survey.known, content, survey.stamp, load_id, at)
                    for at, part in enumerate(survey.ranges)
                ]
            if content is not None:
                seen.add((content.size, content.digest))
            load_id += 0 if self._context.options.dry_run else loads
        return tasks

    def _whole(self, tasks: list[DecodeTask]) -> Iterator[DecodeTask]:
        """Yield tasks for the dumps whose ranges cannot be decoded apart."""
        for task in tasks:
            if task.at == 0 and not task.part.whole:
                part = type(task.part)(task.part.path, named=task.part.named)
                yield replace(task, part=part, at=len(self._prepared[task.part.path].survey.ranges))

    def _collect(self, tasks: list[DecodeTask], results: list[tuple[Decoded, ...]]) -> None:
        """Put the results of tasks together by file."""
        by_path: dict[str, list[Decoded]] = {}
        for task, result in zip(tasks, results, strict=True):
            by_path.setdefault(task.part.path, []).extend(result)
        for path, decoded in by_path.items():
            prepared = self._prepared[path]
            if len(prepared.survey.ranges) == 1 or len(decoded) == 1:
                prepared.decoded = tuple(decoded)
                continue
            refused = next((each for each in decoded if isinstance(each, Refused)), None)
            parts = [each for each in decoded if isinstance(each, Candidate)]
            folder = self._folder / str(prepared.number)
            whole = refused or whole_dump(parts, folder, prepared.survey.seconds)
            prepared.decoded = None if whole is None else (whole,)

    def decode(self, path: str, *, named: bool) -> Iterator[Decoded]:
        """Yield the inputs in one file, decoded again if earlier inputs of this run matter for them."""
        prepared = self._prepared.pop(path, None)
        if prepared is None:
            yield from self._local.decode(path, named=named)
            return
        try:
            if repeated := self._repeated(path, prepared.survey):
                yield repeated
                return
            done = 0
            for each in prepared.decoded or ():
                if self._is_outdated(prepared, each):
                    break
                if isinstance(each, Candidate) and each.reading:
                    each.reading.read_few()
                yield each
                done += 1
            else:
                if prepared.decoded is not None:
                    return
            for each in islice(self._local.decode(path, named=named), done, None):
                yield each
        finally:
            shutil.rmtree(self._folder / str(prepared.number), ignore_errors=True)

    def _repeated(self, path: str, survey: Survey) -> Repeated | None:
        """Return the load of a file that an input of this run had, too."""
        if survey.content is None:
            return None
        name = shown(path)
        load = self._context.earlier_loads(name).recognise(survey.content).load
        return Repeated(name, load) if load else None

    def _is_outdated(self, prepared: _Prepared, decoded: Decoded) -> bool:
        """Whether loads of this run can be the beginning of an input, which was decoded without them."""
        if not isinstance(decoded, Candidate) or not (reading := decoded.reading):
            return False
        earlier = self._context.earlier_loads(decoded.file)
        content = prepared.survey.content
        if content is not None and not decoded.packing and reading.summary.kind == DUMP:
            known = earlier.recognise(content)
            if known.begin_at != decoded.known.begin_at:
                return True
            decoded.known = replace(decoded.known, grown_from=known.grown_from)
        if reading.summary.kind == DUMP and decoded.packing:
            return False
        return any(
            (load.kind == DUMP) == (reading.summary.kind == DUMP)
            and load.content_bytes < reading.content.size
            and load.content_bytes not in reading.content.at_marks
            and _alike(head, decoded.origin.head)
            and earlier.counts(load)
            for load, head in self._loads
        )

    def loaded(self, candidate: Candidate, load: Load) -> None:
        """Note the first bytes of a new load."""
        self._loads.append((load, candidate.origin.head))


def _loads_in(decoded: Sequence[Decoded]) -> int:
    """Return how many of some inputs will be loaded, as far as they show it."""
    return sum(isinstance(each, Candidate) and each.status is FileStatus.LOADED for each in decoded)


def _alike(one: bytes, other: bytes) -> bool:
    """Whether one content can be the beginning of another, by their first bytes."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]
