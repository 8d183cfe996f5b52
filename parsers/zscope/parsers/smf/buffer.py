"""What could begin at a place of a buffer: a record, a segment, a block, or the rest of a chain after damage.

Every answer looks only a bounded number of bytes ahead. If these are not in the buffer yet, `MoreNeeded` is
raised instead of a guess, so what is found never depends on where one buffer ends and the next begins.
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
"""More than z/OS has for any device. The form has room for more, but then half of all bytes would be one."""
SHORTEST_SEGMENT = 5
AHEAD = 2 * DESCRIPTOR + HEADER_LENGTH
"""So many bytes tell what begins at a place: a block's length word, one of a record, and one more that stands
there twice, in front of the rest of a header."""
LONGEST_DETOUR = 3
"""So many records in a row may have a damaged header if their lengths lead to a good one."""


class MoreNeeded(Exception):  # noqa: N818 - no error: it says that the next buffer has to decide
    """The buffer ends before the bytes that decide; `place` is the first that is still needed, if known."""

    def __init__(self, place: int | None = None) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True, slots=True)
class Buffer:
    """Some bytes of a file and how it is framed."""

    view: memoryview
    end: int
    """Bytes behind it are not part of the file."""
    final: bool
    """Whether the file ends here too."""
    extra: int = 0
    """What has to be added to a length word."""
    blocks: bool = False

    @property
    def limit(self) -> int:
        """What ends up to here is followed by enough to judge it."""
        return self.end if self.final else self.end - AHEAD

    def require(self, place: int) -> None:
        """Go on only if all that tells what begins at this place is there."""
        if not self.final and place + AHEAD > self.end:
            raise MoreNeeded

    def length(self, place: int) -> int:
        """How long the record or segment at this place says that it is."""
        return descriptor(self.view, place)[0] + self.extra

    def behind_complete(self, place: int) -> int:
        """The place behind the complete record that the descriptor here describes; -1 if it does not."""
        if place + HEADER_LENGTH > self.end:
            return -1
        length, code, zero = descriptor(self.view, place)
        total = length + self.extra
        return -1 if code or zero or total < HEADER_LENGTH else place + total

    def head(self, place: int) -> bool:
        """Whether a record, or the first segment of one, begins here with a believable header."""
        if place + HEADER_LENGTH > self.end:
            return False
        length, code, zero = descriptor(self.view, place)
        if zero or code > FIRST or length + self.extra < HEADER_LENGTH:
            return False
        return header_at(self.view, place, self.end) or self.doubled(place)

    def passable(self, place: int) -> bool:
        """Whether a complete record is here that looks right, if not in all, then in time and date."""
        if self.behind_complete(place) < 0:
            return False
        return named(self.view, place) or timed(self.view, place)

    def doubled(self, place: int) -> bool:
        """Whether the descriptor of the record here stands before another one, as some tools write it.

        The inner one has the right length or none at all; only the outer one can be relied on.
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
        """Whether a middle or last segment could be here; nothing in it tells for sure."""
        if place + SHORTEST_SEGMENT > self.end:
            return False
        length, code, zero = descriptor(self.view, place)
        return not zero and code in {LAST, MIDDLE} and length + self.extra >= SHORTEST_SEGMENT

    def leads_on(self, place: int) -> bool:
        """Whether a middle or last segment here leads to another one or to a sound place."""
        if not self.continuation(place):
            return False
        behind = place + self.length(place)
        self.require(behind)
        return self.continuation(behind) or self.sound(behind)

    def stated_block(self, place: int) -> int:
        """The length that a block here would have; 0 if these bytes say none."""
        if place + SHORTEST_BLOCK > self.end:
            return 0
        length, third, fourth = descriptor(self.view, place)
        longest = LONGEST_IN_FILE
        if length & 0x8000:
            length, third, fourth = (length & 0x7FFF) << 16 | third << 8 | fourth, 0, 0
            longest = LONGEST_EXTENDED
        return length if SHORTEST_BLOCK <= length <= longest and not third and not fourth else 0

    def block(self, place: int) -> int:
        """The length of the block that begins here with a record or segment; 0 if none does."""
        if not self.blocks or not (length := self.stated_block(place)):
            return 0
        inside = place + DESCRIPTOR
        first, code, zero = descriptor(self.view, inside)
        null = code == NULL and not zero
        follows_on = self.continuation(inside) and first + DESCRIPTOR <= length
        return length if null or follows_on or self.head(inside) else 0

    def block_by_its_end(self, place: int) -> bool:
        """Whether a block begins here whose first header is damaged, but which leads to the next block."""
        length = self.stated_block(place)
        if not self.blocks or not length or length > LONGEST_IN_FILE:
            return False
        first, code, zero = descriptor(self.view, place + DESCRIPTOR)
        if zero or code > FIRST or not SHORTEST_SEGMENT <= first <= length - DESCRIPTOR:
            return False
        self.require(place + length)
        return place + length == self.end or bool(self.block(place + length))

    def sound(self, place: int) -> bool:
        """Whether this is a place that a right length leads to: a record, a block, or the end of the file."""
        self.require(place)
        if place >= self.end:
            return place == self.end
        return self.head(place) or bool(self.block(place)) or self._short_first(place)

    def _short_first(self, place: int) -> bool:
        """Whether a first segment is here that is too short for a header but followed by another segment."""
        if place + SHORTEST_SEGMENT > self.end:
            return False
        length, code, zero = descriptor(self.view, place)
        behind = place + length + self.extra
        if zero or code != FIRST or not SHORTEST_SEGMENT <= behind - place < HEADER_LENGTH:
            return False
        self.require(behind)
        return self.continuation(behind + DESCRIPTOR if self.block(behind) else behind)

    def confirmed(self, place: int) -> bool:
        """Whether a record begins here whose length leads to a sound place, too."""
        if not self.head(place):
            return False
        end = place + self.length(place)
        if self.sound(end):
            return True
        return descriptor(self.view, place)[1] == FIRST and self.continuation(end)

    def heads(self, begin: int, end: int) -> Iterator[int]:
        """All places in a range where a record or a first segment could begin."""
        for place in find_headers(self.view, begin, end + DESCRIPTOR, self.end):
            for start in (place - DESCRIPTOR, place):
                if begin <= start < end and self.head(start):
                    yield start

    def first_confirmed(self, begin: int, end: int) -> int | None:
        """The first place in a range where a record certainly begins."""
        return next((place for place in self.heads(begin, end) if self.confirmed(place)), None)

    def regain(self, place: int, edge: int) -> int | None:
        """The sound place to which the lengths lead from here over records with damaged headers.

        Lengths that lead past the end of the block, `edge`, are no good.
        """
        for _ in range(LONGEST_DETOUR):
            self.require(place)
            place = self.behind_complete(place)
            if place < 0 or place > edge:
                return None
            if self.sound(place) or (place == edge and self.block_by_its_end(place)):
                return place
        return None

    def makes_sense(self, place: int, edge: int) -> bool:
        """Whether a right length could lead here, if the current block ends at `edge`."""
        if self.sound(place):
            return True
        return self.block_by_its_end(place) if place == edge else self.passable(place)

    def swallows_others(self, place: int, end: int) -> bool:
        """Whether others begin inside the record or segment at this place, so that its length is wrong.

        Of a block behind it, the end of the length word may be all that is still outside.
        """
        if self.first_confirmed(place + DESCRIPTOR, end) is not None:
            return True
        return any(self.block(at) and self.head(at + DESCRIPTOR) for at in range(end - DESCRIPTOR + 1, end))

    def behind_doubtful(self, place: int, edge: int) -> int:
        """How far to go from a record whose header is damaged but whose length is good; -1 if it is not."""
        behind = self.behind_complete(place) if self.passable(place) else self.regain(place, edge)
        if behind is None or self.swallows_others(place, behind):
            return -1
        return behind

    def resume(self, begin: int) -> int | None:
        """Where records follow each other again; None if they do not before the end of the file.

        A record whose length leads nowhere counts as well, between two damages it may be the only one left;
        but not if others begin inside it, for then its length is what is wrong. What is asked to be kept
        when more bytes are needed includes the length word of a block in front of the record.
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
    """A record without the outer one of two descriptors."""
    whole = Buffer(memoryview(record), len(record), final=True)
    if header_at(whole.view, 0, whole.end) or not whole.doubled(0):
        return record
    return (len(record) - DESCRIPTOR).to_bytes(2, "big") + b"\0\0" + record[2 * DESCRIPTOR :]
