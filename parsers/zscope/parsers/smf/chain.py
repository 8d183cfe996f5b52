"""What begins at a place of a buffer, and where the next record is: lengths, descriptors, blocks, segments.

The chain of record lengths is sequential: the start of a record is known only after the record before it was
seen. But places that look like the start of a record are easy to find in a buffer. A lane begins at each of
them, and all lanes advance one record per step, in a few operations on arrays. A lane counts only if the
chain arrives exactly where it began, so a place that only looks like a record costs time but never gives a
wrong result. The parts between the lanes that count are followed one record at a time.

A `Buffer` tests what could begin at a place: a record, a segment, a block, or records after damage. Every
test reads a bounded number of bytes ahead. If these are not in the buffer yet, it raises `MoreNeeded`, so the
results never depend on where one buffer ends and the next begins.

An `Assembler` collects the segments of a record.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.issues import Code
from zscope.parsers.smf.header import (
    BLANK_OR_LESS,
    HEADER_LENGTH,
    LONGEST_RECORD,
    Bytes,
    Positions,
    believable,
    find_headers,
    header_at,
    header_slice,
    sliding,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableSequence, Sequence

    from numpy.typing import NDArray


LANE_BYTES = 1 << 16
SEARCHED = 1 << 10
"""The number of bytes in which the start of a lane is searched."""
ENOUGH = 64
"""Fewer lanes are not worth the search for them."""
TOO_FEW = 16
"""With fewer active lanes, one record at a time is faster than one step of all lanes."""
STEPS_BETWEEN_LOOKS = 4


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the chain, valid if a record starts at its first place."""

    first: int
    starts: array[int]
    following: int
    """Where the record after the last one starts."""


def stretches(data: Bytes, position: int, stop: int, extra: int) -> Iterator[Stretch]:
    """Yield parts of the chain in the order of the data; none if there are too few lanes.

    Lanes that lead into each other are one part.
    """
    firsts = _likely_starts(data, position, stop, extra)
    if len(firsts) < ENOUGH:
        return
    ends = np.append(firsts[1:], stop)
    steps, words = _run(data, firsts, ends, stop, extra)
    sound = _sound(steps[:-1], words, ends, stop, extra)
    following = steps[sound.sum(axis=0), np.arange(len(firsts))]
    breaks = np.flatnonzero(following[:-1] != firsts[1:]) + 1
    by_lane, sound_by_lane = np.ascontiguousarray(steps[:-1].T), np.ascontiguousarray(sound.T)
    for begin, end in zip([0, *breaks.tolist()], [*breaks.tolist(), len(firsts)], strict=True):
        starts = array("q")
        starts.frombytes(by_lane[begin:end][sound_by_lane[begin:end]].tobytes())
        yield Stretch(int(firsts[begin]), starts, int(following[end - 1]))


def _likely_starts(data: Bytes, position: int, stop: int, extra: int) -> Positions:
    """Where lanes may begin: `position` itself, and one likely place in each further part."""
    places = np.arange(position + LANE_BYTES, stop - SEARCHED - HEADER_LENGTH, LANE_BYTES)
    none = np.array([position])
    if len(places) + 1 < ENOUGH:
        return none
    rows = sliding(data, SEARCHED + HEADER_LENGTH)[places].view(np.uint8).reshape(len(places), -1)
    # No segment, first byte of a time, century and sign of a date, a letter: few other places match.
    zeros = (rows[:, 2:-16] | rows[:, 3:-15] | rows[:, 6:-12]) == 0
    dated = (rows[:, 10:-8] <= 1) & (rows[:, 13:-5] & 0x0F >= 0x0C)
    named = rows[:, 14:-4] > BLANK_OR_LESS
    row, column = np.divmod(np.flatnonzero(zeros & dated & named), SEARCHED)
    offsets = places[row] + column
    following = offsets + extra + sliding(data, 2)[offsets].view(">u2")
    good = (following + HEADER_LENGTH <= stop) & believable(data, offsets)
    good[good] = believable(data, following[good])
    _, each = np.unique(row[good], return_index=True)
    return np.concatenate([none, offsets[good][each]])


def _run(
    data: Bytes, firsts: Positions, ends: Positions, stop: int, extra: int
) -> tuple[Positions, NDArray[np.uint32]]:
    """Step all lanes until few have not reached the next one; return the places, and the words there."""
    read = np.ndarray((stop - 3,), ">u4", data, strides=(1,))
    steps = [firsts]
    words: list[NDArray[np.uint32]] = []
    while len(words) % STEPS_BETWEEN_LOOKS or np.count_nonzero(steps[-1] < ends) > TOO_FEW:
        # A lane continues after the end and over wrong data; it is cut off later.
        word = read[np.minimum(steps[-1], stop - 4)].astype(np.uint32)
        words.append(word)
        steps.append(steps[-1] + np.maximum((word >> 16) + extra, HEADER_LENGTH))
    return np.array(steps), np.array(words)


def _sound(
    steps: Positions, words: NDArray[np.uint32], ends: Positions, stop: int, extra: int
) -> NDArray[np.bool_]:
    """Which steps of each lane reached a complete, unsegmented record before the next lane."""
    lengths = (words >> 16) + extra
    good = (steps < ends) & (words & 0xFFFF == 0) & (lengths >= HEADER_LENGTH) & (steps + lengths <= stop)
    sound: NDArray[np.bool_] = np.logical_and.accumulate(good, axis=0)
    return sound


_DESCRIPTOR = struct.Struct(">I")
LONGEST_IN_FILE = 32_760
"""Length of a record, a segment or an ordinary block."""


def walk(data: memoryview, position: int, stop: int, extra: int, starts: MutableSequence[int]) -> int:
    """Append the starts of complete, unsegmented records; return the place of the first that is not one.

    `extra` is added to length words (4 where they do not include their own four bytes, else 0).
    """
    for stretch in stretches(np.frombuffer(data, np.uint8), position, stop, extra):
        position = follow(data, position, stretch.first, stop, extra, starts)
        if position < stretch.first:
            return position
        if position == stretch.first:
            starts.extend(stretch.starts)
            position = stretch.following
    return follow(data, position, stop, stop, extra, starts)


def follow(
    data: memoryview, position: int, until: int, stop: int, extra: int, starts: MutableSequence[int]
) -> int:
    """Do the same one record at a time, up to the first place from `until` on.

    Without lanes this loop runs for every record of a file, so it does only one look-up per record.
    """
    append = starts.append
    read = _DESCRIPTOR.unpack_from
    last = min(until - 1, stop - HEADER_LENGTH)
    shortest = HEADER_LENGTH - extra
    while position <= last:
        (descriptor,) = read(data, position)
        length = descriptor >> 16
        following = position + length + extra
        if descriptor & 0xFFFF or length < shortest or following > stop:
            break
        append(position)
        position = following
    return position


def descriptor(data: memoryview, position: int) -> tuple[int, int, int]:
    """Return length, segment code and the fourth byte of the descriptor at a position."""
    (word,) = _DESCRIPTOR.unpack_from(data, position)
    return word >> 16, word >> 8 & 0xFF, word & 0xFF


_EIGHT = struct.Struct(">Q")
_TIME, _DATE = header_slice("time").start, header_slice("date").start
_TIMED, _TIME_BITS = 0xFF000000_FE00000C, 0x00000000_0000000C
"""Tested bits of time and date: the highest byte of a time of day, century 0 or 1, and a sign."""
_NAMED, _NAME_BITS = 0xFE00000C_40404040, 0x0000000C_40404040
"""Tested bits of date and system name: century and sign, and letters, digits or blanks. The length word of a
block does not pass as that of a record: the name would be a date."""
FEW = 32
"""Fewer records than this are tested faster one by one."""


def timed(data: memoryview, position: int) -> bool:
    """Return whether the record at a position has a plausible time and date."""
    word: int = _EIGHT.unpack_from(data, position + _TIME)[0]
    return word & _TIMED == _TIME_BITS


def named(data: memoryview, position: int) -> bool:
    """Return whether the record at a position has a plausible date and system: the quick test."""
    word: int = _EIGHT.unpack_from(data, position + _DATE)[0]
    return word & _NAMED == _NAME_BITS


def suspects(data: memoryview, starts: Sequence[int], known: int) -> list[int]:
    """Return the indices, from `known` on, of the records that fail the quick test."""
    if len(starts) - known < FEW:
        return [index for index in range(known, len(starts)) if not named(data, starts[index])]
    places = np.array(starts[known:], np.int64)
    words = sliding(np.frombuffer(data, np.uint8), 8)[places + _DATE].view(">u8")
    offsets: list[int] = (np.flatnonzero((words & _NAMED) != _NAME_BITS) + known).tolist()
    return offsets


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

    def certain(self, place: int, edge: int) -> bool:
        """Return the same, but a record with a plausible time and date alone does not make sense.

        Whether others begin inside the record before it is tested then: a step of the walk that ends here has
        to accept what one accepts that goes on.
        """
        if self.sound(place):
            return True
        if place == edge:
            return self.block_by_its_end(place)
        return self.end_of_complete(place) >= 0 and named(self.view, place)

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


FIRST, LAST, MIDDLE = 1, 2, 3
"""Segment codes; note that `last` is 2 and `middle` is 3."""
NULL = 0x80
"""Code of a null segment: the rest of the block is empty."""

_ORPHANS = "segments came without the first one of their record and were dropped"
_TOO_LONG = f"the segments have more than the {LONGEST_RECORD:,} bytes of the longest record and were dropped"
_TOO_SHORT = f"the segments have less than the {HEADER_LENGTH} bytes of the shortest record and were dropped"


@dataclass(slots=True)
class Assembler:
    """Collects the segments of the record that is being read.

    Segments that cannot become a record are followed to the last one, so that they are reported once.
    """

    report: Callable[[Code, str, int, int | None], None]
    """Called with a code, a text, and the range in the file."""
    _offset: int = -1
    """Where the open record begins in the file; -1: none is open."""
    _end: int = 0
    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0
    _fault: tuple[Code, str] | None = None
    """Why the open segments are no record."""

    @property
    def expecting(self) -> bool:
        """Return whether a middle or last segment must come next."""
        return self._offset >= 0

    def take(self, code: int, data: memoryview, offset: int) -> tuple[int, bytes] | None:
        """Add the data of one segment; return offset and bytes of the record when it is complete."""
        if code == FIRST:
            self.drop("another first segment")
        if self._offset < 0:
            self._offset, self._size = offset, 4
            if code != FIRST:
                self._fault = Code.SEGMENT_ORDER, _ORPHANS
        self._end = offset + 4 + len(data)
        if self._fault is None:
            self._size += len(data)
            self._parts.append(bytes(data))
            if self._size > LONGEST_RECORD:
                self._fault, self._parts = (Code.RECORD_TOO_LONG, _TOO_LONG), []
        return self._complete() if code == LAST else None

    def _complete(self) -> tuple[int, bytes] | None:
        if self._fault is None and self._size < HEADER_LENGTH:
            self._fault = Code.RECORD_TOO_SHORT, _TOO_SHORT
        if self._fault is not None:
            self._report_fault()
            return None
        whole = self._offset, self._size.to_bytes(2, "big") + b"\0\0" + b"".join(self._parts)
        self._forget()
        return whole

    def drop(self, what_came: str) -> None:
        """Drop the open record, if there is one, because something else follows."""
        if self._offset >= 0 and self._fault is None:
            text = f"{what_came} came before the last segment of a record; its segments were dropped"
            self._fault = Code.SEGMENT_ORDER, text
        self._report_fault()

    def finish(self, end: int) -> None:
        """Drop the open record at the end of the file."""
        if self._offset >= 0 and self._fault is None:
            text = (
                "the file ends before the last segment of a record; its segments were dropped; "
                "transfer the file again"
            )
            self._fault, self._end = (Code.TRUNCATED, text), end
        self._report_fault()

    def _report_fault(self) -> None:
        if self._fault is not None:
            self.report(*self._fault, self._offset, self._end)
            self._forget()

    def _forget(self) -> None:
        self._offset, self._parts, self._size, self._fault = -1, [], 0, None
