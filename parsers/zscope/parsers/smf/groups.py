"""The records of one type and subtype in a window, and where their sections lie.

Nothing a record says about its own make-up is believed before it was held against the record's length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.smf.header import HEADER_WITH_SUBTYPE, LONGEST_RECORD, Bytes, Positions, gather, sliding
from zscope.parsers.smf.triplets import (
    COUNT_WORD,
    FIRST_TRIPLET,
    TRIPLET_BYTES,
    TRIPLET_COUNT,
    USUAL_TRIPLETS,
    Triplets,
    clear_of_sections,
    end_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.frames import Window
    from zscope.schemas import Section


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the occurrences of one section are."""

    record: Positions
    """Index of the record (in its group) that holds each."""
    number: Positions
    """Position of each among its kind in the record, counted from 0."""
    starts: Positions
    lengths: Positions
    in_each: bool = False
    """Known to be exactly once in every record."""


@dataclass(frozen=True)
class RecordGroup:
    """Some records of a window, with the means to report what is wrong with one of them."""

    window: Window
    index: Positions
    """Which records of the window these are."""
    issues: Issues
    file: str
    collected: Positions | None = None
    """The numbers of the records in the file, where the window is made up of records of several."""
    declared: int | None = None
    """How many triplets the layout says they have; None: the records say it."""

    @property
    def data(self) -> Bytes:
        """The buffer they lie in."""
        return self.window.data

    @cached_property
    def numbers(self) -> Positions:
        """The number of each record in the file, counted from 1."""
        return self.index + self.window.first_record if self.collected is None else self.collected

    @cached_property
    def starts(self) -> Positions:
        """Where each begins in the buffer."""
        return self.window.starts[self.index]

    @cached_property
    def lengths(self) -> Positions:
        """How long each is."""
        return self.window.lengths[self.index]

    @cached_property
    def offsets(self) -> Positions:
        """Where each begins in the file."""
        return self.window.offsets[self.index]

    def __len__(self) -> int:
        return len(self.index)

    def flag(
        self,
        code: Code,
        records: Positions,
        text: str,
        section: str,
        field: str = "",
        at: int | Positions = 0,
    ) -> None:
        """Report records of this group; `at` is where in the record it is, for each or the same for all."""
        sample = Issue(code, text, self.file, section=section, field=field)
        numbers, offsets = self.numbers[records], self.offsets[records] + at
        for count, (number, offset) in enumerate(zip(numbers.tolist(), offsets.tolist(), strict=True)):
            if not self.issues.room(sample):
                self.issues.add(sample, len(records) - count)
                return
            self.issues.add(Issue(code, text, self.file, number, offset, None, section, field))

    @cached_property
    def _words(self) -> NDArray[np.uint64]:
        """The number of triplets (among other things) and the first of these, in words of eight bytes each.

        The words are as they stand in the file, whatever the byte order of the machine.
        """
        rows = gather(self.data, self.starts + COUNT_WORD, TRIPLET_BYTES * (1 + USUAL_TRIPLETS))
        return rows.view(np.uint64)

    @cached_property
    def triplet_counts(self) -> Positions:
        """How many triplets each record has room for, of those it claims."""
        if self.declared is not None:
            return self._declared_counts(self.declared)
        claimed: Positions = self._words.view(">u2")[:, (TRIPLET_COUNT - COUNT_WORD) // 2].astype(np.int64)
        if end_of(claimed.max(initial=0)) <= self.lengths.min(initial=LONGEST_RECORD):
            return claimed
        return self._counts_with_room(claimed)

    def _declared_counts(self, declared: int) -> Positions:
        """Where the layout tells the number: those that lie inside the record and under no section."""
        counts = np.full(len(self), declared, np.int64)
        if end_of(declared) > self.lengths.min(initial=LONGEST_RECORD):
            counts = self._counts_with_room(counts)
        clear = clear_of_sections(self._words[:, 1:], counts)
        text = "a section lies over the triplets; those under it were left out"
        self.flag(Code.TRIPLETS_OUTSIDE, np.flatnonzero(clear < counts), text, "", at=FIRST_TRIPLET)
        return clear

    def _counts_with_room(self, claimed: Positions) -> Positions:
        """The numbers that are claimed, no more than the record has room for."""
        long_enough = self.lengths >= FIRST_TRIPLET
        claimed[~long_enough] = 0
        room = np.maximum(self.lengths - FIRST_TRIPLET, 0) // TRIPLET_BYTES
        beyond = np.flatnonzero(claimed > room)
        text = "claims more triplets than it has room for; those inside the record were used"
        self.flag(Code.TRIPLETS_OUTSIDE, beyond, text, "", at=TRIPLET_COUNT)
        short = np.flatnonzero(~long_enough)
        self.flag(Code.RECORD_TOO_SHORT, short, "is too short for the triplets that locate its sections", "")
        counts: Positions = np.minimum(claimed, room)
        return counts

    def _triplets(self, index: int) -> Triplets:
        """One triplet of each record: a table of the distinct ones, and which of them each record has."""
        if index < USUAL_TRIPLETS:
            words = self._words[:, 1 + index]
        else:
            words = gather(self.data, self.starts + end_of(index), TRIPLET_BYTES).view(np.uint64).ravel()
        missing = self.triplet_counts <= index
        if missing.any():
            words = np.where(missing, np.uint64(0), words)
        if (words == words[:1]).all():
            return Triplets(words[:1], None)
        numbered = pa.array(np.ascontiguousarray(words)).dictionary_encode()
        return Triplets(numbered.dictionary.to_numpy(), numbered.indices.to_numpy())

    def locate(self, section: Section) -> Placed:
        """Where this section occurs in the records, as far as it lies inside them."""
        if section.triplet is None:
            everyone = np.arange(len(self))
            return Placed(everyone, np.zeros_like(everyone), self.starts, self.lengths, in_each=True)
        triplets = self._triplets(section.triplet)
        if not triplets.number.any():
            return NOWHERE
        if not section.step_field and triplets.once_inside(self._head(section.triplet), self.lengths):
            return self._once(triplets)
        place = end_of(section.triplet)
        which = np.zeros(len(self), np.int32) if triplets.which is None else triplets.which
        offset, length, number = (part[which] for part in (triplets.offset, triplets.length, triplets.number))
        if section.step_field:
            return self._entries(section, np.flatnonzero(number), offset, length, number, place)
        number = self._inside(section, place, offset, length, number)
        record = np.repeat(np.arange(len(self)), number)
        before = np.cumsum(number) - number
        index: Positions = np.arange(len(record)) - before[record]
        starts = self.starts[record] + offset[record] + index * length[record]
        return Placed(record, index, starts, length[record], in_each=bool((number == 1).all()))

    def _head(self, triplet: int) -> int:
        """Where the head of a record ends, as far as this triplet can tell: no section begins before that."""
        return HEADER_WITH_SUBTYPE if self.declared is None else end_of(triplet + 1)

    def _once(self, triplets: Triplets) -> Placed:
        """The places of a section that occurs at most once everywhere."""
        if triplets.which is None:
            record = np.arange(len(self))
            starts, lengths = self.starts + triplets.offset[0], np.full(len(self), triplets.length[0])
            return Placed(record, np.zeros_like(record), starts, lengths, in_each=True)
        record = np.flatnonzero((triplets.number == 1)[triplets.which])
        which = triplets.which[record]
        starts, lengths = self.starts[record] + triplets.offset[which], triplets.length[which]
        return Placed(record, np.zeros_like(record), starts, lengths, in_each=len(record) == len(self))

    def _inside(
        self, section: Section, place: int, offset: Positions, length: Positions, number: Positions
    ) -> Positions:
        """How many of the occurrences a triplet counts lie inside the record."""
        claimed = number > 0
        empty = claimed & (length == 0)
        self.flag(
            Code.SECTION_EMPTY,
            np.flatnonzero(empty),
            "the triplet gives a length of zero",
            section.key,
            at=place,
        )
        head = self._head(section.triplet or 0)
        outside = claimed & ~empty & ((offset < head) | (offset + length > self.lengths))
        text = "the triplet points outside the record; the section was left out"
        self.flag(Code.SECTION_OUTSIDE, np.flatnonzero(outside), text, section.key, at=place)
        usable = claimed & ~empty & ~outside
        fitting = np.zeros_like(number)
        np.floor_divide(self.lengths - offset, length, out=fitting, where=usable)
        too_many = usable & (number > fitting)
        text = "the triplet counts more sections than fit into the record; those that fit were read"
        self.flag(Code.SECTION_COUNT, np.flatnonzero(too_many), text, section.key, at=place)
        inside = np.where(usable, np.minimum(number, fitting), 0)
        if not section.repeats:
            more = np.flatnonzero(inside > 1)
            text = "occurs more than once; only the first was read"
            self.flag(Code.SECTION_REPEATED, more, text, section.key, at=place)
            inside = np.minimum(inside, 1)
        return inside

    def _entries(
        self,
        section: Section,
        record: Positions,
        offset: Positions,
        length: Positions,
        number: Positions,
        place: int,
    ) -> Placed:
        """Entries that say their own length, walked in step through all records at once.

        The triplet may count entries or describe one block of them, so the walk goes on while either says
        that there is more.
        """
        step = section.field(section.step_field)
        shortest = max(f.offset for f in section.fields)
        text = (
            "an entry is shorter than its own head or runs past the record; "
            "it and those behind it were left out"
        )
        begin = self.starts[record]
        position, limit = begin + offset[record], begin + self.lengths[record]
        block_end = position + length[record]
        behind_header = offset[record] >= HEADER_WITH_SUBTYPE
        found: list[tuple[Positions, Positions, Positions]] = []
        while len(record):
            inside = position + shortest <= limit
            if not found:
                inside &= behind_header
            at = np.where(inside, position + step.offset, 0)
            size = sliding(self.data, 2)[at].view(">u2").astype(np.int64)
            following = position + size
            good = inside & (size >= shortest) & (following <= limit)
            if good.all():
                found.append((record, position, size))
            else:
                padding = inside & (size == 0) & (len(found) >= number[record])
                self.flag(Code.ENTRY_LENGTH, record[~good & ~padding], text, section.key, step.name, at=place)
                found.append((record[good], position[good], size[good]))
            more = good & ((len(found) < number[record]) | (following + shortest <= block_end))
            position = following
            if not more.all():
                record, position, block_end, limit = (
                    part[more] for part in (record, position, block_end, limit)
                )
        return self._in_order(found)

    def _in_order(self, found: list[tuple[Positions, Positions, Positions]]) -> Placed:
        """Entries sorted by record, each numbered within its record."""
        counts = np.zeros(len(self), np.int64)
        for record, _, _ in found:
            counts[record] += 1
        before = np.cumsum(counts) - counts
        owner, number, starts, lengths = (np.empty(int(counts.sum()), np.int64) for _ in range(4))
        for index, (record, position, size) in enumerate(found):
            at = before[record] + index
            owner[at], number[at], starts[at], lengths[at] = record, index, position, size
        return Placed(owner, number, starts, lengths)


_NONE = np.empty(0, np.int64)
NOWHERE = Placed(_NONE, _NONE, _NONE, _NONE)
