"""Recognise by digests a file that was loaded before, or whose beginning was loaded before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from xxhash import xxh3_128

from zscope.parsers.text.file_name import day_of, system_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.loads import Load


_CHUNK = 4 << 20


@dataclass(slots=True)
class ContentDigest:
    """Digest of a stream of bytes, which also records the digests at certain lengths."""

    marks: list[int] = field(default_factory=list)
    """Lengths that are still to be recorded, the longest first."""
    at_marks: dict[int, str] = field(default_factory=dict)
    """Recorded digests by length."""
    size: int = 0
    _state: xxh3_128 = field(default_factory=xxh3_128)

    @classmethod
    def of_lengths(cls, lengths: Iterable[int]) -> ContentDigest:
        """Return a digest that records its value at these lengths."""
        return cls(sorted(set(lengths), reverse=True))

    def update(self, piece: memoryview) -> None:
        """Add bytes."""
        while self.marks and self.marks[-1] <= self.size + len(piece):
            mark = self.marks.pop()
            head = piece[: mark - self.size]
            self._add(head)
            self.at_marks[mark] = self.digest()
            piece = piece[len(head) :]
        self._add(piece)

    def _add(self, piece: memoryview) -> None:
        self._state.update(piece)
        self.size += len(piece)

    def digest(self) -> str:
        """Return the digest of the bytes added so far.

        >>> content = ContentDigest.of_lengths([3])
        >>> content.update(memoryview(b"abcdef"))
        >>> content.at_marks[3] == xxh3_128(b"abc").hexdigest(), content.size
        (True, 6)
        """
        return str(self._state.hexdigest())


def digest_of_file(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb", buffering=0) as file:
        return digest_of(file).digest()


def digest_of(file: BinaryIO, lengths: Iterable[int] = ()) -> ContentDigest:
    """Return the digest of an open file from its position to its end."""
    content = ContentDigest.of_lengths(lengths)
    while piece := file.read(_CHUNK):
        content.update(memoryview(piece))
    return content


DUMP = "smf"
"""`Load.kind` of SMF dumps; all other loads are of reports."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What the digest of a file shows before anything is decoded."""

    digest: str | None = None
    """Digest of the file; None if it can be read only once."""
    load: Load | None = None
    """The load of the same file, if there is one."""
    begin_at: int = 0
    """Offset of the first byte of a dump that no load has."""
    grown_from: Load | None = None
    """The load of the bytes before that offset."""


@dataclass(frozen=True, slots=True)
class EarlierLoads:
    """The loads that a file can repeat or continue: they have the same selection of rows."""

    loads: tuple[Load, ...]

    @classmethod
    def of(cls, state: State, selection_key: str, name: str) -> EarlierLoads:
        """Return the loads with this selection, of reports only those with the same facts in the file name.

        A name without facts does not distinguish reports: under it, equal content is the same report.
        """
        loads = (load for load in state.live_loads if load.selection == selection_key)
        facts = name_facts(name)
        same = (
            load
            for load in loads
            if load.kind == DUMP or all(load.name_facts.get(key) == value for key, value in facts.items())
        )
        return cls(tuple(load for load in same if load.load_id not in state.reopened))

    def recognise(self, file: BinaryIO) -> KnownFile:
        """Compare the bytes of a file with the loads; reads the file to its end."""
        dumps = {
            (load.content_bytes, load.content_digest): load
            for load in self.loads
            if load.kind == DUMP and load.last_record_offset is not None
        }
        content = digest_of(file, (length for length, _ in dumps))
        digest = content.digest()
        for load in self.loads:
            outer = load.outer_digest if "zip" not in load.packing else None
            if digest in {load.content_digest, outer}:
                return KnownFile(digest, load)
        for mark in sorted(content.at_marks.items(), reverse=True):
            before = dumps.get(mark)
            if before is not None and before.last_record_offset is not None:
                return KnownFile(digest, begin_at=before.last_record_offset + 1, grown_from=before)
        return KnownFile(digest)

    def with_content(self, digest: str) -> Load | None:
        """Return the load of this unpacked content."""
        return next((load for load in self.loads if load.content_digest == digest), None)

    def report_lengths(self) -> list[int]:
        """Return the lengths of the loaded reports."""
        return [load.content_bytes for load in self.loads if load.kind != DUMP]

    def beginning_of(self, content: ContentDigest) -> Load | None:
        """Return the load of the longest beginning of a text.

        The whole text is loaded again, unlike a dump: the last report of the beginning may have been
        incomplete.
        """
        reports = {
            (load.content_bytes, load.content_digest): load for load in self.loads if load.kind != DUMP
        }
        marks = (mark for mark in sorted(content.at_marks.items(), reverse=True) if mark[0] < content.size)
        return next((reports[mark] for mark in marks if mark in reports), None)


def name_facts(name: str) -> dict[str, str]:
    """Return the system and day that the name of a file states about the reports in it.

    >>> name_facts("captures/netstat.SYSA.2026-03-02.txt")
    {'system': 'SYSA', 'day': '2026-03-02'}
    """
    day = day_of(name)
    facts = {"system": system_of(name), "day": day.isoformat() if day else None}
    return {key: value for key, value in facts.items() if value}
