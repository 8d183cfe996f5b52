"""Whether a file was loaded before, or is one that was and has grown since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from zscope.parsers.text.file_name import day_of, system_of
from zscope.pipelines.identity import digest_of

if TYPE_CHECKING:
    from zscope.pipelines.identity import ContentDigest
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.loads import Load

DUMP = "smf"


@dataclass(frozen=True, slots=True)
class Known:
    """What the bytes of a file say about it before anything is decoded."""

    digest: str | None = None
    """Of the file as it lies there; None where it can be read only once."""
    load: Load | None = None
    """The load that has all of it."""
    begin_at: int = 0
    """Where what no load has begins, in a dump."""
    grown_from: Load | None = None
    """The load that has what is before that."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The loads with which a file can be compared: they took the same choice of rows from theirs."""

    loads: tuple[Load, ...]

    @classmethod
    def of(cls, state: State, key: str, name: str) -> Earlier:
        """Those whose file said the same by its name, too, where a name says something about reports.

        A name that says nothing adds nothing: under such a name the content is the same as before.
        """
        loads = (load for load in state.live_loads if load.selection == key)
        told = told_by_name(name)
        same = (
            load
            for load in loads
            if load.kind == DUMP or all(load.told_by_name.get(what) == said for what, said in told.items())
        )
        return cls(tuple(load for load in same if load.load_id not in state.reopened))

    def recognise(self, file: BinaryIO) -> Known:
        """Compare the bytes of a file, as they lie there, with what was loaded; it is read to its end."""
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
                return Known(digest, load)
        for mark in sorted(content.at_marks.items(), reverse=True):
            before = dumps.get(mark)
            if before is not None and before.last_record_offset is not None:
                return Known(digest, begin_at=before.last_record_offset + 1, grown_from=before)
        return Known(digest)

    def with_content(self, digest: str) -> Load | None:
        """The load of this content, however it was packed."""
        return next((load for load in self.loads if load.content_digest == digest), None)

    def report_lengths(self) -> list[int]:
        """How long the reports are that may have grown."""
        return [load.content_bytes for load in self.loads if load.kind != DUMP]

    def begun_as(self, content: ContentDigest) -> Load | None:
        """The load of the longest beginning of a text.

        A text is not continued as a dump is: its last report may have been cut in the middle.
        """
        reports = {(ld.content_bytes, ld.content_digest): ld for ld in self.loads if ld.kind != DUMP}
        marks = (mark for mark in sorted(content.at_marks.items(), reverse=True) if mark[0] < content.size)
        return next((reports[mark] for mark in marks if mark in reports), None)


def told_by_name(name: str) -> dict[str, str]:
    """What the name of a file says about the reports in it.

    >>> told_by_name("captures/netstat.SYSA.2026-03-02.txt")
    {'system': 'SYSA', 'day': '2026-03-02'}
    """
    day = day_of(name)
    told = {"system": system_of(name), "day": day.isoformat() if day else None}
    return {what: said for what, said in told.items() if said}
