"""What the store already has of an input, as far as the digests of its bytes show it.

A file can have been loaded before, or continue a loaded one. What is new in it is decoded, and then compared
by record and by row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.containers.streams import ARCHIVES
from zscope.parsers.inputs import day_of, system_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


@dataclass
class KnownLoads:
    """The loads that inputs can repeat or continue, by their contents, so that no input compares all of them.

    They have the same selection of rows.
    """

    _by_digest: dict[str, list[Load]] = field(default_factory=dict)
    """By the digest of their content, and of the file if that was packed."""
    _dumps: dict[tuple[int, str], Load] = field(default_factory=dict)
    """The dumps that a file can continue, by length and digest."""
    _reports: dict[tuple[int, str], list[Load]] = field(default_factory=dict)
    dump_lengths: set[int] = field(default_factory=set)
    """The lengths of the dumps that a file can continue."""
    report_lengths: set[int] = field(default_factory=set)
    """The lengths of the reports, some of which can have been removed."""

    @classmethod
    def of(cls, loads: Iterable[Load]) -> KnownLoads:
        """Return some loads, in the order of their numbers."""
        known = cls()
        for load in loads:
            known.add(load)
        return known

    def add(self, load: Load) -> None:
        """Add the next load."""
        for digest in _digests(load):
            self._by_digest.setdefault(digest, []).append(load)
        place = (load.content_bytes, load.content_digest)
        if load.kind != DUMP:
            self._reports.setdefault(place, []).append(load)
            self.report_lengths.add(load.content_bytes)
        elif load.last_record_offset is not None:
            self._dumps[place] = load
            self.dump_lengths.add(load.content_bytes)

    def remove_report(self, load: Load) -> None:
        """Remove a report that another one replaces."""
        for digest in _digests(load):
            self._by_digest[digest] = [
                each for each in self._by_digest[digest] if each.load_id != load.load_id
            ]
        place = (load.content_bytes, load.content_digest)
        self._reports[place] = [each for each in self._reports[place] if each.load_id != load.load_id]

    def earlier(self, name: str) -> EarlierLoads:
        """Return the loads that count for a file of this name."""
        return EarlierLoads(self, name_facts(name))

    def of_digest(self, digest: str) -> Sequence[Load]:
        """Return the loads of a content or packed file."""
        return self._by_digest.get(digest, ())

    def dump(self, length: int, digest: str) -> Load | None:
        """Return the load of a dump that a file can continue."""
        return self._dumps.get((length, digest))

    def reports(self, length: int, digest: str) -> Sequence[Load]:
        """Return the loads of a report."""
        return self._reports.get((length, digest), ())


def _digests(load: Load) -> set[str]:
    outer = load.outer_digest if ARCHIVES.isdisjoint(load.packing) else None
    return {load.content_digest, outer} if outer else {load.content_digest}


@dataclass(frozen=True, slots=True)
class EarlierLoads:
    """The loads that a file can repeat or continue: of reports, those with the same facts in the file name.

    A name without facts does not distinguish reports: under it, equal content is the same report.
    """

    known: KnownLoads
    name_facts: dict[str, str]

    def counts(self, load: Load) -> bool:
        """Whether a load counts for the file."""
        return load.kind == DUMP or all(
            load.name_facts.get(key) == value for key, value in self.name_facts.items()
        )

    def recognise(self, content: KnownContent) -> KnownFile:
        """Compare the bytes of a file with the loads."""
        if load := next(filter(self.counts, self.known.of_digest(content.digest)), None):
            return KnownFile(content.digest, load)
        for mark in sorted(content.at_marks.items(), reverse=True):
            before = self.known.dump(*mark)
            if before is not None and before.last_record_offset is not None:
                return KnownFile(content.digest, begin_at=before.last_record_offset + 1, grown_from=before)
        return KnownFile(content.digest)

    def with_content(self, digest: str) -> Load | None:
        """Return the load of this unpacked content."""
        loads = filter(self.counts, self.known.of_digest(digest))
        return next((load for load in loads if load.content_digest == digest), None)

    def beginning_of(self, content: KnownContent) -> Load | None:
        """Return the load of the longest beginning of a text.

        The whole text is loaded again, unlike a dump: the last report of the beginning may have been
        incomplete.
        """
        for mark in sorted(content.at_marks.items(), reverse=True):
            if mark[0] < content.size and (loads := list(filter(self.counts, self.known.reports(*mark)))):
                return loads[-1]
        return None


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
