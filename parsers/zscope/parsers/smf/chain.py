"""Follow the chain of record lengths through a buffer.

The chain is sequential: the start of a record is known only after the record before it was seen. But places
that look like the start of a record are easy to find in a buffer. A lane begins at each of them, and all
lanes advance one record per step, in a few operations on arrays. A lane counts only if the chain arrives
exactly where it began, so a place that only looks like a record costs time but never gives a wrong result.
The parts between the lanes that count are followed one record at a time.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.header import (
    BLANK_OR_LESS,
    HEADER_LENGTH,
    Bytes,
    Positions,
    believable,
    header_slice,
    sliding,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableSequence, Sequence

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
