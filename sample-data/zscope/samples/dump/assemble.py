"""Assemble sections into SMF records, and collect records together with the counts a reader should find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.record_writer import SectionBytes, cut_rows
from zscope.samples.dump.manifest import ExpectedCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Choice, Numbers
    from zscope.schemas import Section


@dataclass
class SmfBatch:
    """Some records with the times in their headers, and their expected counts."""

    records: list[bytes] = field(default_factory=list)
    written: list[Numbers] = field(default_factory=list)
    """Times in UTC, in pieces that together are as long as the list of records."""
    expected: ExpectedCounts = field(default_factory=ExpectedCounts)

    def add(
        self, kind: tuple[int, int | None], records: list[bytes], systems: Choice, written: Numbers
    ) -> None:
        """Add records of one type and subtype."""
        record_type, subtype = kind
        self.records += records
        self.written.append(written)
        name = str(record_type) if subtype is None else f"{record_type}-{subtype}"
        self.expected.count(name, systems.astype(np.int64), written)

    def extend(self, other: SmfBatch) -> None:
        """Add all records of another batch."""
        self.records += other.records
        self.written += other.written
        self.expected.add(other.expected)

    def in_order(self) -> list[bytes]:
        """Return the records in the order of the times in their headers."""
        if not self.records:
            return []
        order = np.argsort(np.concatenate(self.written), kind="stable")
        return [self.records[number] for number in order.tolist()]


def once(section: Section, rows: ByteRows) -> SectionBytes:
    """A section that every record has once."""
    return SectionBytes(section, [[row] for row in cut_rows(rows)])


def optional(section: Section, items: Sequence[bytes | None]) -> SectionBytes:
    """A section of varying length that the records with None do not have."""
    return SectionBytes(section, [[] if item is None else [item] for item in items])
