"""Following the chain of record lengths through a buffer."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.header import HEADER_LENGTH, sliding
from zscope.parsers.smf.lanes import stretches

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

_DESCRIPTOR = struct.Struct(">I")
LONGEST_IN_FILE = 32_760
"""Of a record, a segment or an ordinary block."""


def walk(data: memoryview, position: int, stop: int, extra: int, starts: MutableSequence[int]) -> int:
    """Append the starts of complete, unsegmented records; return the place of the first that is not one.

    `extra` is what the length words leave out (0, or 4 where they do not count themselves).
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
    """The same, one record at a time, and no further than the first place from `until` on.

    Where lanes do not help, this loop sees every record of a file: it does one look-up a record, no more.
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
    """Length, segment code and the fourth byte of the descriptor at a position."""
    (word,) = _DESCRIPTOR.unpack_from(data, position)
    return word >> 16, word >> 8 & 0xFF, word & 0xFF


_EIGHT = struct.Struct(">Q")
_TIME, _DATE = 6, 10
_TIMED, _TIME_BITS = 0xFF000000_FE00000C, 0x00000000_0000000C
"""Of time and date: the highest byte of a time of day, century 0 or 1, and a sign."""
_NAMED, _NAME_BITS = 0xFE00000C_40404040, 0x0000000C_40404040
"""Of date and system name: century and sign, and letters, digits or blanks. The length word of a block, taken
for that of a record, does not get through: there the name is a date."""
FEW = 32
"""Fewer records than this are looked at faster one by one."""


def timed(data: memoryview, position: int) -> bool:
    """Whether what could be time and date are in the record at a position, whatever its system is called."""
    word: int = _EIGHT.unpack_from(data, position + _TIME)[0]
    return word & _TIMED == _TIME_BITS


def named(data: memoryview, position: int) -> bool:
    """Whether date and system of the record at a position look right: the quick look at every record."""
    word: int = _EIGHT.unpack_from(data, position + _DATE)[0]
    return word & _NAMED == _NAME_BITS


def suspects(data: memoryview, starts: Sequence[int], known: int) -> list[int]:
    """Indices, from a known number on, of the records that the quick look finds fault with."""
    if len(starts) - known < FEW:
        return [index for index in range(known, len(starts)) if not named(data, starts[index])]
    places = np.array(starts[known:], np.int64)
    words = sliding(np.frombuffer(data, np.uint8), 8)[places + _DATE].view(">u8")
    found: list[int] = (np.flatnonzero((words & _NAMED) != _NAME_BITS) + known).tolist()
    return found
