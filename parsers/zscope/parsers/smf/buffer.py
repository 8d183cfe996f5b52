"""Tests for what could begin at a place of a buffer: a record, a segment, a block, or records after damage.

Every test reads a bounded number of bytes ahead. If these are not in the buffer yet, it raises `MoreNeeded`,
so the results never depend on where one buffer ends and the next begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.smf.chain import LONGEST_IN_FILE, descriptor, named, timed
from zscope.parsers.smf.header import HEADER_LENGTH, find_headers, header_at
from zscope.parsers.smf.segments import FIRST, LAST, MIDDLE, NULL

if TYPE_CHECKING:
    from collections.abc import Iterator

DESCRIPTOR = 4
SHORTEST_BLOCK = 8
LONGEST_EXTENDED = 5_000_000
"""More than z/OS uses for any device. Longer blocks are possible, but nearly any bytes would be one."""
SHORTEST_SEGMENT = 5
AHEAD = 2 * DESCRIPTOR + HEADER_LENGTH
"""The number of bytes that decide what begins at a place: the length word of a block, a descriptor that may
occur twice, and the rest of a header."""
LONGEST_DETOUR = 3
"""The number of consecutive records that may have a damaged header if their lengths lead to a good one."""


class MoreNeeded(Exception):  # noqa: N818 - not an error: the next buffer decides
    """The buffer ends before the bytes that decide; `place` is the first that is still needed, if known."""

    def __init__(self, place: int | None = None) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True, slots=True)
class Buffer:
    """Some bytes of a file and how it is framed."""

    view: memoryview
    end: int
    """Bytes after it are not part of the file."""
    final: bool
    """Whether the file ends with this buffer."""
    extra: int = 0
    """What must be added to a length word."""
    blocks: bool = False

    @property
    def limit(self) -> int:
        """Return the last place after which enough bytes follow for a test."""
        return self.end if self.final else self.end - AHEAD

    def require(self, place: int) -> None:
        """Raise `MoreNeeded` unless the bytes that decide what begins at this place are in the buffer."""
        if not self.final and place + AHEAD > self.end:
            raise MoreNeeded

    def length(self, place: int) -> int:
        """Return the length of the record or segment at this place according to its descriptor."""
        return descriptor(self.view, place)[0] + self.extra

    def end_of_complete(self, place: int) -> int:
        """Return the end of the complete record at this place; -1 if the descriptor is not of one."""
        if place + HEADER_LENGTH > self.end:
            return -1
        length, code, zero = descriptor(self.view, place)
        total = length + self.extra
        return -1 if code or zero or total < HEADER_LENGTH else place + total

    def head(self, place: int) -> bool:
        """Return whether a record, or the first segment of one, begins here with a believable header."""
        if place + HEADER_LENGTH > self.end:
            return False
        length, code, zero = descriptor(self.view, place)
        if zero or code > FIRST or length + self.extra < HEADER_LENGTH:
            return False
        return header_at(self.view, place, self.end) or self.doubled(place)

    def passable(self, place: int) -> bool:
        """Return whether a complete record is here with a plausible system name, or time and date."""
        if self.end_of_complete(place) < 0:
            return False
        return named(self.view, place) or timed(self.view, place)

    def doubled(self, place: int) -> bool:
        """Return whether the record here has its descriptor twice, as some tools write it.

        The inner one has the right length or zero; only the outer one is reliable.
        """
        if place + DESCRIPTOR + HEADER_LENGTH > self.end:
            return False
        length, code, _ = descriptor(self.view, place)
        inner, *rest = descriptor(self.view, place + DESCRIPTOR)
        rest_of_record = length + self.extra - DESCRIPTOR
        if (
            any(rest)
            or (inner not in {0, rest_of_record} and code != FIRST)
            or rest_of_record < HEADER_LENGTH
        ):
            return False
        return header_at(self.view, place + DESCRIPTOR, self.end)

    def continuation(self, place: int) -> bool:
        """Return whether a middle or last segment could be here; its content is no proof."""
        if place + SHORTEST_SEGMENT > self.end:
            return False
        length, code, zero = descriptor(self.view, place)
        return not zero and code in {LAST, MIDDLE} and length + self.extra >= SHORTEST_SEGMENT

    def leads_on(self, place: int) -> bool:
        """Return whether a middle or last segment here leads to another one or to a valid place."""
        if not self.continuation(place):
            return False
        after = place + self.length(place)
        self.require(after)
        return self.continuation(after) or self.sound(after)

    def stated_block(self, place: int) -> int:
        """Return the length that a block here would have; 0 if these bytes are no length word of a block."""
        if place + SHORTEST_BLOCK > self.end:
            return 0
        length, third, fourth = descriptor(self.view, place)
        longest = LONGEST_IN_FILE
        if length & 0x8000:
            length, third, fourth = (length & 0x7FFF) << 16 | third << 8 | fourth, 0, 0
            longest = LONGEST_EXTENDED
        return length if SHORTEST_BLOCK <= length <= longest and not third and not fourth else 0

    def block(self, place: int) -> int:
        """Return the length of the block that begins here with a record or segment; 0 without one."""
        if not self.blocks or not (length := self.stated_block(place)):
            return 0
        inside = place + DESCRIPTOR
        first, code, zero = descriptor(self.view, inside)
        null = code == NULL and not zero
        follows_on = self.continuation(inside) and first + DESCRIPTOR <= length
        return length if null or follows_on or self.head(inside) else 0

    def block_by_its_end(self, place: int) -> bool:
        """Return whether a block with a damaged first header begins here that leads to the next block."""
        length = self.stated_block(place)
        if not self.blocks or not length or length > LONGEST_IN_FILE:
            return False
        first, code, zero = descriptor(self.view, place + DESCRIPTOR)
        if zero or code > FIRST or not SHORTEST_SEGMENT <= first <= length - DESCRIPTOR:
            return False
        self.require(place + length)
        return place + length == self.end or bool(self.block(place + length))

    def sound(self, place: int) -> bool:
        """Return whether a correct length can lead here: to a record, a block, or the end of the file."""
        self.require(place)
        if place >= self.end:
            return place == self.end
        return self.head(place) or bool(self.block(place)) or self._short_first(place)

    def _short_first(self, place: int) -> bool:
        """Whether a first segment is here that is too short for a header but followed by another segment."""
        if place + SHORTEST_SEGMENT > self.end:
            return False
        length, code, zero = descriptor(self.view, place)
        after = place + length + self.extra
        if zero or code != FIRST or not SHORTEST_SEGMENT <= after - place < HEADER_LENGTH:
            return False
        self.require(after)
        return self.continuation(after + DESCRIPTOR if self.block(after) else after)

    def confirmed(self, place: int) -> bool:
        """Return whether a record begins here whose length leads to a valid place."""
        if not self.head(place):
            return False
        end = place + self.length(place)
        if self.sound(end):
            return True
        return descriptor(self.view, place)[1] == FIRST and self.continuation(end)

    def heads(self, begin: int, end: int) -> Iterator[int]:
        """Yield all places in a range where a record or a first segment could begin."""
        for place in find_headers(self.view, begin, end + DESCRIPTOR, self.end):
            for start in (place - DESCRIPTOR, place):
                if begin <= start < end and self.head(start):
                    yield start

    def first_confirmed(self, begin: int, end: int) -> int | None:
        """Return the first place in a range where a record begins that leads to a valid place."""
        return next((place for place in self.heads(begin, end) if self.confirmed(place)), None)

    def regain(self, place: int, edge: int) -> int | None:
        """Return the valid place to which the lengths lead from here over records with damaged headers.

        Lengths that lead past the end of the block, `edge`, are invalid.
        """
        for _ in range(LONGEST_DETOUR):
            self.require(place)
            place = self.end_of_complete(place)
            if place < 0 or place > edge:
                return None
            if self.sound(place) or (place == edge and self.block_by_its_end(place)):
                return place
        return None

    def makes_sense(self, place: int, edge: int) -> bool:
        """Return whether a correct length could lead here, if the current block ends at `edge`."""
        if self.sound(place):
            return True
        return self.block_by_its_end(place) if place == edge else self.passable(place)

    def swallows_others(self, place: int, end: int) -> bool:
        """Return whether others begin inside the record or segment at this place: its length is wrong.

        A following block may overlap by all but the last bytes of its length word.
        """
        if self.first_confirmed(place + DESCRIPTOR, end) is not None:
            return True
        return any(self.block(at) and self.head(at + DESCRIPTOR) for at in range(end - DESCRIPTOR + 1, end))

    def end_of_doubtful(self, place: int, edge: int) -> int:
        """Return where to continue after a record with a damaged header but a valid length; -1 otherwise."""
        after = self.end_of_complete(place) if self.passable(place) else self.regain(place, edge)
        if after is None or self.swallows_others(place, after):
            return -1
        return after

    def resume(self, begin: int) -> int | None:
        """Return where valid records follow after damage; None if none follow before the end of the file.

        A record whose length leads to no valid place counts as well, because it may be the only one between
        two damaged ranges; but not if others begin inside it, because then its length is wrong. The place in
        `MoreNeeded` includes the length word of a block before the record.
        """
        lone, lone_end = None, 0
        for place in self.heads(begin, self.end):
            if lone is not None and place >= lone_end:
                return lone
            try:
                if self.confirmed(place):
                    return place
            except MoreNeeded:
                raise MoreNeeded(max(begin, (place if lone is None else lone) - DESCRIPTOR)) from None
            if lone is None:
                lone, lone_end = place, place + self.length(place)
        if self.final or (lone is not None and lone_end + AHEAD <= self.end):
            return lone
        raise MoreNeeded(max(begin, self.end - AHEAD if lone is None else lone - DESCRIPTOR))


def single(record: bytes) -> bytes:
    """Return a record without the outer one of two descriptors."""
    whole = Buffer(memoryview(record), len(record), final=True)
    if header_at(whole.view, 0, whole.end) or not whole.doubled(0):
        return record
    return (len(record) - DESCRIPTOR).to_bytes(2, "big") + b"\0\0" + record[2 * DESCRIPTOR :]
