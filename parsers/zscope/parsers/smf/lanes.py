"""Following many stretches of a chain of record lengths at once.

The chain is sequential: where a record starts is known only when the one before it was seen. But places that
look like the start of a record are easy to find all over a buffer. A lane begins at each of them, and all
lanes take one record a step, in a few operations on arrays. A lane counts only if the chain, coming from the
front, arrives exactly where the lane began; so a place that only looked like a record costs time, never a
wrong result. What lies between the lanes that count is followed one record at a time.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.header import BLANK_OR_LESS, HEADER_LENGTH, Bytes, Positions, believable, sliding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

LANE_BYTES = 1 << 16
SEARCHED = 1 << 10
"""So far behind its place in the buffer the start of a lane is searched."""
ENOUGH = 64
"""Fewer lanes are not worth the search for them."""
TOO_FEW = 16
"""When so few are under way, one record at a time is faster than one step of all."""
STEPS_BETWEEN_LOOKS = 4


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the chain, on the condition that a record starts at its first place."""

    first: int
    starts: array[int]
    following: int
    """Where the record behind the last one starts."""


def stretches(data: Bytes, position: int, stop: int, extra: int) -> Iterator[Stretch]:
    """Parts of the chain in the order of the data; none when the data are too few or too odd.

    Lanes that lead into each other make one part.
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
    # No segment, the first byte of a time, century and sign of a date, a letter: that leaves few places.
    zeros = (rows[:, 2:-16] | rows[:, 3:-15] | rows[:, 6:-12]) == 0
    dated = (rows[:, 10:-8] <= 1) & (rows[:, 13:-5] & 0x0F >= 0x0C)
    named = rows[:, 14:-4] > BLANK_OR_LESS
    row, column = np.divmod(np.flatnonzero(zeros & dated & named), SEARCHED)
    found = places[row] + column
    following = found + extra + sliding(data, 2)[found].view(">u2")
    good = (following + HEADER_LENGTH <= stop) & believable(data, found)
    good[good] = believable(data, following[good])
    _, each = np.unique(row[good], return_index=True)
    return np.concatenate([none, found[good][each]])


def _run(
    data: Bytes, firsts: Positions, ends: Positions, stop: int, extra: int
) -> tuple[Positions, NDArray[np.uint32]]:
    """Let all lanes step until few are short of the next one: the places seen, and the words there."""
    read = np.ndarray((stop - 3,), ">u4", data, strides=(1,))
    steps = [firsts]
    words: list[NDArray[np.uint32]] = []
    while len(words) % STEPS_BETWEEN_LOOKS or np.count_nonzero(steps[-1] < ends) > TOO_FEW:
        # Behind the end, and where the data are wrong, a lane goes on all the same; it is cut off later.
        word = read[np.minimum(steps[-1], stop - 4)].astype(np.uint32)
        words.append(word)
        steps.append(steps[-1] + np.maximum((word >> 16) + extra, HEADER_LENGTH))
    return np.array(steps), np.array(words)


def _sound(
    steps: Positions, words: NDArray[np.uint32], ends: Positions, stop: int, extra: int
) -> NDArray[np.bool_]:
    """Which steps of each lane found a complete, unsegmented record in front of the next lane."""
    lengths = (words >> 16) + extra
    good = (steps < ends) & (words & 0xFFFF == 0) & (lengths >= HEADER_LENGTH) & (steps + lengths <= stop)
    sound: NDArray[np.bool_] = np.logical_and.accumulate(good, axis=0)
    return sound
