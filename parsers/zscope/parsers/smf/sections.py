"""The records of one type and subtype in a window, and where their sections are.

Nothing that a record states about its own structure is used before it was compared with the record's length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.smf.header import HEADER_WITH_SUBTYPE, LONGEST_RECORD, Bytes, Positions, gather, sliding
from zscope.schemas.model import HEADER, TRIPLET_BYTES, TripletArea

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.header import Mask
    from zscope.parsers.smf.walker import Window
    from zscope.schemas import RecordLayout, Section

USUAL_TRIPLETS = 10
"""This many triplets of each record are gathered at once; few layouts have more."""
NO_TRIPLETS = TripletArea(at=HEADER_WITH_SUBTYPE, number=0)


class TripletColumn:
    """The distinct triplets that some records have at one position."""

    def __init__(self, words: NDArray[np.uint64], which: NDArray[np.int32] | None) -> None:
        words = words.view(">u8").astype(np.uint64)
        self.offset = (words >> np.uint64(32)).astype(np.int64)
        self.length = (words >> np.uint64(16) & np.uint64(0xFFFF)).astype(np.int64)
        self.number = (words & np.uint64(0xFFFF)).astype(np.int64)
        self.which = which
        """Index of the triplet of each record; None where all records have the same."""

    def once_inside(self, head: int, lengths: Positions) -> bool:
        """Return whether each record contains the section at most once, between head and end."""
        absent = self.number == 0
        sound = (self.number == 1) & (self.length > 0) & (self.offset >= head)
        if not (absent | sound).all():
            return False
        ends = np.where(absent, 0, self.offset + self.length)
        if self.which is None:
            return bool(ends[0] <= lengths.min())
        return bool((ends[self.which] <= lengths).all())


def clear_of_sections(words: NDArray[np.uint64], counts: Positions, area: TripletArea) -> Positions:
    """Return how many triplets come before all sections that they locate; `words` has a column for each.

    A triplet that points to itself or to a place before itself is wrong and proves nothing about the others.
    """
    clear: Positions = counts.copy()
    for index in range(int(counts.max(initial=0))):
        triplet = TripletColumn(np.ascontiguousarray(words[:, index]), None)
        used = (index < clear) & (triplet.number > 0) & (triplet.length > 0)
        used &= triplet.offset >= area.end(index + 1)
        before = triplets_before(triplet.offset, area)
        clear = np.where(used, np.minimum(clear, before), clear)
    return clear


def triplets_before(offsets: Positions, area: TripletArea) -> Positions:
    """Return how many triplets end at or before each offset."""
    if not area.places:
        return np.maximum(offsets - area.at, 0) // TRIPLET_BYTES
    ends = [area.end(count) for count in range(1, len(area.places) + 1)]
    return np.searchsorted(ends, offsets, side="right")


@dataclass(frozen=True, slots=True)
class SectionPlaces:
    """The places of the occurrences of one section."""

    record: Positions
    """Index of the record (in its group) that contains each occurrence."""
    number: Positions
    """Position of each occurrence within its record, counted from 0."""
    starts: Positions
    lengths: Positions
    in_each: bool = False
    """Whether every record is known to contain the section exactly once."""
    within: Positions | None = None
    """For a section inside another: which occurrence of that one locates each occurrence."""
    index: Positions | None = None
    """Position of each occurrence among those that the same one locates, counted from 0."""


@dataclass(frozen=True)
class RecordGroup:
    """Some records of a window, and a way to report issues about them."""

    window: Window
    index: Positions
    """Which records of the window these are."""
    issues: Issues
    file: str
    collected: Positions | None = None
    """The numbers of the records in the file, if the window was assembled from several."""
    area: TripletArea = NO_TRIPLETS
    """Where the layout of the records declares the triplets."""

    def only(self, selected: Mask) -> RecordGroup:
        """Return a group of some of these records."""
        collected = None if self.collected is None else self.collected[selected]
        return replace(self, index=self.index[selected], collected=collected)

    @property
    def data(self) -> Bytes:
        """The buffer that contains the records."""
        return self.window.data

    @cached_property
    def numbers(self) -> Positions:
        """The number of each record in the file, counted from 1."""
        return self.index + self.window.first_record if self.collected is None else self.collected

    @cached_property
    def starts(self) -> Positions:
        """Where each record begins in the buffer."""
        return self.window.starts[self.index]

    @cached_property
    def lengths(self) -> Positions:
        """The length of each record."""
        return self.window.lengths[self.index]

    @cached_property
    def offsets(self) -> Positions:
        """Where each record begins in the file."""
        return self.window.offsets[self.index]

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def reported(self) -> Mask:
        """Whether an issue was reported, for each record."""
        return np.zeros(len(self), np.bool_)

    def flag(
        self,
        code: Code,
        records: Positions,
        text: str,
        section: str,
        field: str = "",
        at: int | Positions = 0,
    ) -> None:
        """Report an issue about some records; `at` is its offset in the record, the same or one for each."""
        self.reported[records] = True
        sample = Issue(code, text, self.file, section=section, field=field)
        numbers, offsets = self.numbers[records], self.offsets[records] + at
        for count, (number, offset) in enumerate(zip(numbers.tolist(), offsets.tolist(), strict=True)):
            if not self.issues.room(sample):
                self.issues.add(sample, len(records) - count)
                return
            self.issues.add(Issue(code, text, self.file, number, offset, None, section, field))

    def report_missing_sections(self, layout: RecordLayout) -> None:
        """Report the records that lack a main section or all that make rows, unless an issue says why.

        A record that continues another one needs none of them. A record without triplets needs its header.
        """
        if layout.triplets is None:
            short = np.flatnonzero(self.lengths < layout.header.shortest_length)
            self.flag(Code.RECORD_TOO_SHORT, short, "is too short for its header", HEADER)
            return
        needed = np.ones(len(self), np.bool_)
        if layout.continued_by:
            continued = layout.section(layout.continued_by)
            if continued.triplet is not None:
                needed = ~self._located(continued.triplet)
        empty = needed.copy()
        main = {section.key for section in layout.main_sections}
        for section in layout.row_sections:
            if section.triplet is None:
                return
            if section.key not in main and not empty.any():
                continue
            located = self._located(section.triplet)
            empty &= ~located
            if section.key in main:
                text = f"no triplet locates the section {section.key}, which every such record has"
                records = np.flatnonzero(needed & ~located & ~self.reported)
                self.flag(Code.TRIPLETS_OUTSIDE, records, text, section.key, at=self.area.at)
        text = "no triplet locates a section that makes rows; the record gives no rows"
        records = np.flatnonzero(empty & ~self.reported)
        self.flag(Code.TRIPLETS_OUTSIDE, records, text, "", at=self.area.at)

    def _located(self, index: int) -> Mask:
        """Whether a triplet counts any section, for each record."""
        if index < self._triplet_words.shape[1]:
            numbers = self._triplet_words.view(np.uint16)[:, 4 * index + 3]
            located: Mask = (numbers != 0) & (self.triplet_counts > index)
            return located
        triplets = self.triplets(index)
        present: Mask = triplets.number > 0
        return np.repeat(present, len(self)) if triplets.which is None else present[triplets.which]

    @cached_property
    def _header_lengths(self) -> Positions:
        """The length of each header: where triplets have places, up to the first section that they locate."""
        if not self.area.places:
            return self.lengths
        ends = self.lengths.copy()
        for index in range(len(self.area.places)):
            triplets = self.triplets(index)
            used = (
                (triplets.number > 0) & (triplets.length > 0) & (triplets.offset >= self.area.end(index + 1))
            )
            offsets = np.where(used, triplets.offset, LONGEST_RECORD)
            each = np.full(len(self), offsets[0]) if triplets.which is None else offsets[triplets.which]
            ends = np.minimum(ends, each)
        return ends

    @property
    def _claim_at(self) -> int:
        """Offset of the number of triplets; where the layout states it, of the end of the standard header."""
        return HEADER_WITH_SUBTYPE if self.area.count_at is None else self.area.count_at

    @cached_property
    def _words_at(self) -> int:
        """Offset of the gathered words: those of the triplets are aligned, and the count is among them."""
        before = 0 if self.area.count_at is None else self.area.at - self.area.count_at
        return self.area.at - -(-before // TRIPLET_BYTES) * TRIPLET_BYTES

    @cached_property
    def _words(self) -> NDArray[np.uint64]:
        """The count and the first triplets of each record, in words of eight bytes of the file."""
        if self.area.places:
            last = self.area.offset(len(self.area.places) - 1)
            whole = gather(self.data, self.starts + self.area.at, last + TRIPLET_BYTES - self.area.at)
            columns = [slice(place - self.area.at, place - self.area.at + 8) for place in self.area.places]
            return np.concatenate([whole[:, column] for column in columns], axis=1).view(np.uint64)
        triplets = max(self.area.number or 0, USUAL_TRIPLETS)
        begin = self._words_at
        rows = gather(self.data, self.starts + begin, self.area.end(triplets) - begin)
        return rows.view(np.uint64)

    @cached_property
    def _triplet_words(self) -> NDArray[np.uint64]:
        return self._words[:, (self.area.at - self._words_at) // TRIPLET_BYTES :]

    @cached_property
    def triplet_counts(self) -> Positions:
        """The number of triplets of each record, limited to those that fit into it."""
        if self.area.count_at is None:
            return self._stated_counts(self.area.number or 0)
        position = self.area.count_at - self._words_at
        high, low = self._words.view(np.uint8)[:, position : position + 2].astype(np.int64).T
        claimed: Positions = high << 8 | low
        if self.area.end(int(claimed.max(initial=0))) <= self.lengths.min(initial=LONGEST_RECORD):
            return claimed
        return self._counts_with_room(claimed)

    def _stated_counts(self, stated: int) -> Positions:
        """The triplets inside the record and under no section, where the layout states their number."""
        counts = np.full(len(self), stated, np.int64)
        if self.area.end(stated) > self.lengths.min(initial=LONGEST_RECORD):
            counts = self._counts_with_room(counts)
        clear = clear_of_sections(self._triplet_words, counts, self.area)
        text = "a section overlaps the triplets; the overlapped triplets were skipped"
        # Where the header has grown with the releases, the first section shows how many triplets there are.
        overlapped = clear < (np.minimum(counts, self.area.least) if self.area.places else counts)
        self.flag(Code.TRIPLETS_OUTSIDE, np.flatnonzero(overlapped), text, "", at=self.area.at)
        return clear

    def _counts_with_room(self, claimed: Positions) -> Positions:
        """The claimed numbers, limited to what each record has room for."""
        long_enough = self.lengths >= self.area.at
        claimed[~long_enough] = 0
        room = triplets_before(self.lengths, self.area)
        beyond = np.flatnonzero(np.minimum(claimed, self.area.least or claimed) > room)
        text = "counts more triplets than fit into the record; those that fit were used"
        self.flag(Code.TRIPLETS_OUTSIDE, beyond, text, "", at=self._claim_at)
        short = np.flatnonzero(~long_enough)
        self.flag(Code.RECORD_TOO_SHORT, short, "is too short for the triplets that locate its sections", "")
        counts: Positions = np.minimum(claimed, room)
        return counts

    def triplets(self, index: int) -> TripletColumn:
        """One triplet of each record: the distinct ones, and which of them each record has."""
        if index not in self._numbered_triplets:
            self._numbered_triplets[index] = self._number_triplets(index)
        return self._numbered_triplets[index]

    @cached_property
    def _numbered_triplets(self) -> dict[int, TripletColumn]:
        """Triplets that are already numbered: decoding a section and checking for gaps need the same ones."""
        return {}

    def _number_triplets(self, index: int) -> TripletColumn:
        if index < self._triplet_words.shape[1]:
            words = self._triplet_words[:, index]
        else:
            starts = self.starts + self.area.offset(index)
            words = gather(self.data, starts, TRIPLET_BYTES).view(np.uint64).ravel()
        missing = self.triplet_counts <= index
        if missing.any():
            words = np.where(missing, np.uint64(0), words)
        if (words == words[:1]).all():
            return TripletColumn(words[:1], None)
        numbered = pa.array(np.ascontiguousarray(words)).dictionary_encode()
        return TripletColumn(numbered.dictionary.to_numpy(), numbered.indices.to_numpy())

    def locate(self, section: Section) -> SectionPlaces:
        """Return the places of a section inside the records, and report those outside."""
        if section.triplet is None:
            everyone = np.arange(len(self))
            lengths = self._header_lengths
            return SectionPlaces(everyone, np.zeros_like(everyone), self.starts, lengths, in_each=True)
        triplets = self.triplets(section.triplet)
        if not triplets.number.any():
            return NOWHERE
        if (
            not section.step_field
            and not section.as_block
            and triplets.once_inside(self._head(section.triplet), self.lengths)
        ):
            return self._once(triplets)
        place = self.area.offset(section.triplet)
        which = np.zeros(len(self), np.int32) if triplets.which is None else triplets.which
        offset, length, number = (part[which] for part in (triplets.offset, triplets.length, triplets.number))
        if section.as_block:
            number = np.minimum(number, 1)
        if section.step_field:
            return self._entries(section, np.flatnonzero(number), offset, length, number, place)
        number = self._inside(section, place, offset, length, number)
        record = np.repeat(np.arange(len(self)), number)
        before = np.cumsum(number) - number
        index: Positions = np.arange(len(record)) - before[record]
        starts = self.starts[record] + offset[record] + index * length[record]
        return SectionPlaces(record, index, starts, length[record], in_each=bool((number == 1).all()))

    def _head(self, triplet: int) -> int:
        """The least offset of a section that this triplet locates."""
        return HEADER_WITH_SUBTYPE if self.area.number is None else self.area.end(triplet + 1)

    def _once(self, triplets: TripletColumn) -> SectionPlaces:
        """The places of a section that occurs at most once everywhere."""
        if triplets.which is None:
            record = np.arange(len(self))
            starts, lengths = self.starts + triplets.offset[0], np.full(len(self), triplets.length[0])
            return SectionPlaces(record, np.zeros_like(record), starts, lengths, in_each=True)
        record = np.flatnonzero((triplets.number == 1)[triplets.which])
        which = triplets.which[record]
        starts, lengths = self.starts[record] + triplets.offset[which], triplets.length[which]
        return SectionPlaces(record, np.zeros_like(record), starts, lengths, in_each=len(record) == len(self))

    def _inside(
        self, section: Section, place: int, offset: Positions, length: Positions, number: Positions
    ) -> Positions:
        """The number of occurrences inside each record, of those that the triplet counts."""
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
        text = "the triplet points outside the record; the section was skipped"
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
    ) -> SectionPlaces:
        """Entries that contain their own length, walked through all records at once.

        The triplet may count entries or describe one block of them, so the walk continues while either
        indicates a further entry.
        """
        step = section.field(section.step_field)
        shortest = max(f.offset for f in section.fields)
        text = (
            "an entry is shorter than its fixed part or extends past the record; "
            "it and the entries after it were skipped"
        )
        begin = self.starts[record]
        position, limit = begin + offset[record], begin + self.lengths[record]
        block_end = position + length[record]
        after_header = offset[record] >= HEADER_WITH_SUBTYPE
        steps: list[tuple[Positions, Positions, Positions]] = []
        while len(record):
            inside = position + shortest <= limit
            if not steps:
                inside &= after_header
            at = np.where(inside, position + step.offset, 0)
            size = sliding(self.data, 2)[at].view(">u2").astype(np.int64)
            following = position + size
            good = inside & (size >= shortest) & (following <= limit)
            if good.all():
                steps.append((record, position, size))
            else:
                padding = inside & (size == 0) & (len(steps) >= number[record])
                self.flag(Code.ENTRY_LENGTH, record[~good & ~padding], text, section.key, step.name, at=place)
                steps.append((record[good], position[good], size[good]))
            more = good & ((len(steps) < number[record]) | (following + shortest <= block_end))
            position = following
            if not more.all():
                record, position, block_end, limit = (
                    part[more] for part in (record, position, block_end, limit)
                )
        return self._in_order(steps)

    def _in_order(self, steps: list[tuple[Positions, Positions, Positions]]) -> SectionPlaces:
        """Entries sorted by record, each numbered within its record."""
        counts = np.zeros(len(self), np.int64)
        for record, _, _ in steps:
            counts[record] += 1
        before = np.cumsum(counts) - counts
        owner, number, starts, lengths = (np.empty(int(counts.sum()), np.int64) for _ in range(4))
        for index, (record, position, size) in enumerate(steps):
            at = before[record] + index
            owner[at], number[at], starts[at], lengths[at] = record, index, position, size
        return SectionPlaces(owner, number, starts, lengths)


_NONE = np.empty(0, np.int64)
NOWHERE = SectionPlaces(_NONE, _NONE, _NONE, _NONE)
