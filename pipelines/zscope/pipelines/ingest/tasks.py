"""What the tasks of a bulk load do: survey a file, and decode a file or a range of a dump.

A task runs in any process that sees the files and the folder of the store, and can be run again: each attempt
stages its rows in files of its own, and only those of the attempt whose result arrives are committed.
"""

from __future__ import annotations

import os
import socket
import time
import zipfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.parsers import FileRange
from zscope.parsers.api import reader_for
from zscope.parsers.containers.streams import ARCHIVES
from zscope.parsers.inputs import members, members_of, open_input, shown
from zscope.parsers.issues import EmptyInputError, InputError, Issues
from zscope.parsers.planning import RANGE_BYTES, plan_ranges
from zscope.parsers.smf.dump import Dump
from zscope.pipelines.ingest.decoding import (
    Candidate,
    InputOrigin,
    MemberDecoder,
    PathDecoder,
    Refused,
    Repeated,
    StagePlace,
    changed_while_read,
)
from zscope.pipelines.ingest.known_inputs import KnownFile, KnownLoads
from zscope.pipelines.ingest.quarantine import HEAD_BYTES
from zscope.pipelines.store.folder import digest_of, digest_of_file, fsync_all
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.ingest.decoding import Decoded, Decoding
    from zscope.pipelines.store.folder import KnownContent


class TaskError(Error):
    """A task cannot be done where it runs, for a reason that is not in its input."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Size and time of change of a file, by which a change while it is read shows."""

    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: str) -> FileStamp:
        """Return the stamp of a file as it is now."""
        about = Path(path).stat()
        return cls(about.st_size, about.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class SurveyTask:
    """A file to survey."""

    path: str
    named: bool
    number: int
    """Place among the files, which names the folder of its staged rows."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a file is, before it is decoded; reports and files that cannot be used are done with it."""

    stamp: FileStamp
    content: KnownContent | None
    """None if the file cannot be read."""
    known: KnownFile
    decoded: tuple[Decoded, ...] | None = None
    """The inputs in it, if they are decoded already."""
    ranges: tuple[FileRange, ...] = ()
    """How a dump is cut; one range for a file that is not cut."""
    loads: int = 1
    """The number of inputs in it, as far as that is known before they are decoded."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class DecodeTask:
    """A file, or a range of a dump, to decode."""

    part: FileRange
    number: int
    known: KnownFile
    content: KnownContent
    stamp: FileStamp
    load_id: int
    """Number of the load in the rows, as it will be if all inputs before it are loaded as expected."""
    at: int = 0
    """Place among the ranges of the file."""


@dataclass(frozen=True, slots=True)
class Work:
    """What all tasks of one bulk load share."""

    decoding: Decoding
    loads: KnownLoads
    """The loads that inputs can repeat or continue."""
    folder: Path
    """Folder for the staged rows, which exists before the first task."""
    name: str
    """Distinguishes the staged files of this bulk load from those of others."""
    lengths: tuple[int, ...]
    """Sizes of all files, at which digests are taken: one file can be the beginning of another."""
    range_bytes: int = RANGE_BYTES

    def survey(self, task: SurveyTask, attempt: str) -> Survey:
        """Compare a file with earlier loads; cut a large dump into ranges, and decode a report."""
        self._require(task.path)
        begun = time.perf_counter()
        name = shown(task.path)
        earlier = self.loads.earlier(name)
        stamp = FileStamp.of(task.path)
        try:
            with open_input(task.path) as (file, _):
                content = digest_of(file, [*self.loads.dump_lengths, *self.lengths]).known()
        except (InputError, OSError):
            decoded = tuple(self._paths(task.number, 0, attempt).decode(task.path, named=task.named))
            return Survey(stamp, None, KnownFile(), decoded)
        known = earlier.recognise(content)
        if known.load:
            return Survey(stamp, content, known, (Repeated(name, known.load),))
        survey = Survey(stamp, content, known)
        loads = self._loads_of(task)
        if loads is None:
            paths = self._paths(task.number, 0, attempt)
            decoded = self._finished(paths.decode(task.path, named=task.named, known=known))
            survey = replace(survey, decoded=decoded)
        else:
            survey = replace(survey, loads=loads, ranges=self._ranges(task))
        if FileStamp.of(task.path) != stamp:
            survey = replace(survey, decoded=(_changed(name),))
        return replace(survey, seconds=time.perf_counter() - begun)

    def decode(self, task: DecodeTask, attempt: str) -> tuple[Decoded, ...]:
        """Decode a file or a range, and stage its rows."""
        path = task.part.path
        self._require(path)
        paths = self._paths(task.number, task.load_id, f"{task.at}-{attempt}")
        if FileStamp.of(path) != task.stamp:
            return (_changed(shown(path)),)
        if task.part.whole:
            decoded = self._finished(paths.decode(path, named=task.part.named, known=task.known))
        else:
            decoded = self._finished([self._decode_range(task, paths)])
        return decoded if FileStamp.of(path) == task.stamp else (_changed(shown(path)),)

    def _decode_range(self, task: DecodeTask, paths: PathDecoder) -> Refused | Candidate:
        issues = Issues(strict=self.decoding.read_options.strict)
        begun = time.perf_counter()
        for member in members_of([task.part], issues):
            place = paths.place()
            origin = InputOrigin(member.stream.peek(HEAD_BYTES), member.size, task.known.digest)
            earlier = paths.earlier(member.name)
            try:
                decoder = MemberDecoder(self.decoding, member, task.known, earlier, issues)
                candidate = decoder.decode(origin, place)
            except InputError as error:
                return Refused.of(member.name, [*issues, error.issue], origin, error.__cause__)
            if candidate.reading:
                candidate.reading.content = task.content
            candidate.seconds = time.perf_counter() - begun
            return candidate
        return Refused.of(shown(task.part.path), list(issues))

    def _require(self, path: str) -> None:
        """Raise a TaskError if this process does not see the files that it needs."""
        for each in (str(self.folder), path):
            if not os.path.lexists(each):
                raise TaskError(
                    f"{each} does not exist on {socket.gethostname()}: all workers need the inputs and the "
                    "store on a file system that they share, under the same paths"
                )

    def _paths(self, number: int, load_id: int, attempt: str) -> PathDecoder:
        count = 0

        def place() -> StagePlace:
            nonlocal count
            count += 1
            folder = self.folder / str(number) / f"{attempt}-{count}"
            return StagePlace(folder, load_id + count - 1, f"-{self.name}-{number}-{attempt}-{count}")

        return PathDecoder(self.decoding, self.loads.earlier, place, self.lengths)

    def _loads_of(self, task: SurveyTask) -> int | None:
        """Return the number of inputs in a dump or packed file; None for reports and what cannot be used."""
        issues = Issues()
        try:
            with open_input(task.path) as (file, size):
                limits = self.decoding.read_options.limits
                for member in members(task.path, file, size, issues, named=task.named, limits=limits):
                    if not ARCHIVES.isdisjoint(member.packing):
                        return _zip_members(task.path)
                    reader = reader_for(member, self.decoding.read_options, issues)
                    return 1 if member.packing or isinstance(reader, Dump) else None
        except (InputError, EmptyInputError):
            return None
        return None

    def _ranges(self, task: SurveyTask) -> tuple[FileRange, ...]:
        """Return the ranges of a dump that are decoded apart.

        A strict load stays whole: it ends at the first issue, and the ranges before it have to be known.
        """
        options = self.decoding.read_options
        if options.strict:
            return (FileRange(task.path, named=task.named),)
        plan = plan_ranges([task.path], self.range_bytes, options)
        return tuple(replace(part, named=task.named) for part in plan)

    def _finished(self, decoded: Iterable[Decoded]) -> tuple[Decoded, ...]:
        """Flush the staged files to disk, and compute their digests, which the driver need not do then."""
        done = tuple(decoded)
        for each in done:
            if not isinstance(each, Candidate) or not each.reading:
                continue
            reading = each.reading
            if reading.rows is not None:
                # The results of all tasks would not fit in the memory of the driver.
                reading.files, reading.rows = self.decoding.staged(reading.rows, each.place), None
            if reading.files:
                fsync_all(file.path for file in reading.files)
                reading.files = [replace(file, digest=digest_of_file(file.path)) for file in reading.files]
        return done


def _changed(file: str) -> Refused:
    return Refused.of(file, [changed_while_read(file).issue])


def _zip_members(path: str) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(not info.is_dir() for info in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return 1  # it is packed once more, or damaged


def whole_dump(parts: list[Candidate], folder: Path, survey_s: float) -> Candidate | None:
    """Return the candidate of a dump from those of its ranges; None if it has to be decoded as a whole.

    That is so near a change of a clock: there the order of all records decides about times in UTC.
    """
    first = parts[0]
    whole = first.reading
    if whole is None or whole.facts.clocks.near_a_change:
        return None
    files = list(whole.files or ())
    complete = whole.files is not None
    for part in parts[1:]:
        reading = part.reading
        if reading is None or reading.facts.clocks.near_a_change:
            return None
        first.issues.extend(part.issues)
        whole.facts.add(reading.facts)
        whole.summary.records += reading.summary.records
        whole.summary.spanned += reading.summary.spanned
        whole.summary.bytes = max(whole.summary.bytes, reading.summary.bytes)
        files += reading.files or ()
        complete &= reading.files is not None
    whole.files = files if complete else None
    first.seconds = survey_s + max(part.seconds for part in parts)
    first.started_utc = min(part.started_utc for part in parts)
    first.place = replace(first.place, folder=folder)
    return first


def new_name() -> str:
    """Return a name for the staged files of one bulk load."""
    return f"{datetime.now(UTC):%Y%m%d%H%M%S}{os.getpid() % 100_000:05}"
