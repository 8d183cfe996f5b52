"""What the store already has of an input, as far as the digests of its bytes show it.

A file can have been loaded before, or continue a loaded one. What is new in it is decoded, and then compared
by record and by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.inputs import day_of, system_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.store.commits import Load, State
    from zscope.pipelines.store.folder import KnownContent


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

    @property
    def lengths(self) -> list[int]:
        """Lengths at which the digest of the content has to be taken while it is read."""
        return [self.grown_from.content_bytes] if self.grown_from else []


@dataclass(frozen=True, slots=True)
class EarlierLoads:
    """The loads that a file can repeat or continue: they have the same selection of rows."""

    loads: tuple[Load, ...]

    @classmethod
    def of(cls, loads: Iterable[Load], name: str) -> EarlierLoads:
        """Return the loads that count for a file of this name, of reports only those with the same facts in
        the file name.

        A name without facts does not distinguish reports: under it, equal content is the same report.
        """
        facts = name_facts(name)
        same = (
            load
            for load in loads
            if load.kind == DUMP or all(load.name_facts.get(key) == value for key, value in facts.items())
        )
        return cls(tuple(same))

    def dump_lengths(self) -> list[int]:
        """Return the lengths of the loaded dumps that a file can continue."""
        return [load.content_bytes for load in self._dumps().values()]

    def _dumps(self) -> dict[tuple[int, str], Load]:
        return {
            (load.content_bytes, load.content_digest): load
            for load in self.loads
            if load.kind == DUMP and load.last_record_offset is not None
        }

    def recognise(self, content: KnownContent) -> KnownFile:
        """Compare the bytes of a file with the loads."""
        for load in self.loads:
            outer = load.outer_digest if "zip" not in load.packing else None
            if content.digest in {load.content_digest, outer}:
                return KnownFile(content.digest, load)
        dumps = self._dumps()
        for mark in sorted(content.at_marks.items(), reverse=True):
            before = dumps.get(mark)
            if before is not None and before.last_record_offset is not None:
                return KnownFile(content.digest, begin_at=before.last_record_offset + 1, grown_from=before)
        return KnownFile(content.digest)

    def with_content(self, digest: str) -> Load | None:
        """Return the load of this unpacked content."""
        return next((load for load in self.loads if load.content_digest == digest), None)

    def report_lengths(self) -> list[int]:
        """Return the lengths of the loaded reports."""
        return [load.content_bytes for load in self.loads if load.kind != DUMP]

    def beginning_of(self, content: KnownContent) -> Load | None:
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


def comparable_loads(state: State, selection_key: str) -> tuple[Load, ...]:
    """Return the loads that inputs can repeat or continue: those with the same selection of rows."""
    loads = (load for load in state.live_loads if load.selection == selection_key)
    return tuple(load for load in loads if load.load_id not in state.reopened)
