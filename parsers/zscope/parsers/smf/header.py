"""The standard header of SMF records, read for many records at once, and what makes one believable.

Walking, detecting and repairing a file all rest on the same question: could an SMF header start here? It is
answered twice: for arrays of positions (`believable`), and one place at a time by a pattern, which is quicker
for single places and for searching a buffer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

HEADER_LENGTH = 18
"""Of a header without subtypes, the shortest record there is."""
HEADER_WITH_SUBTYPE = 24
LONGEST_RECORD = 0xFFFF
"""What the two-byte length can say. Files hold at most 32,760 in one piece; more comes from segments."""
SUBTYPES_USED = 0x40
HUNDREDTHS_OF_A_DAY = 8_640_000

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]

HEADER = np.dtype(
    {
        "names": ["length", "segment", "flags", "type", "time", "date", "system", "subsystem", "subtype"],
        "formats": [">u2", "u1", "u1", "u1", ">u4", "V4", "V4", "V4", ">u2"],
        "offsets": [0, 2, 4, 5, 6, 10, 14, 18, 22],
        "itemsize": HEADER_WITH_SUBTYPE,
    }
)


def _printable() -> Mask:
    """Bytes that occur in system names: letters, digits, national characters, padding."""
    table = np.zeros(256, np.bool_)
    table[[0x40, 0x00, 0x5B, 0x7B, 0x7C, 0x6D, 0x60, 0x4B]] = True
    for low, high in (
        (0xC1, 0xC9),
        (0xD1, 0xD9),
        (0xE2, 0xE9),
        (0xF0, 0xF9),
        (0x81, 0x89),
        (0x91, 0x99),
        (0xA2, 0xA9),
    ):
        table[low : high + 1] = True
    return table


_SYSTEM_NAME_BYTE = _printable()


def sliding(data: Bytes, length: int) -> NDArray[np.void]:
    """Every run of ``length`` bytes as one opaque item, without copying.

    Index it with an array of positions to gather records or sections. Never call ``take`` on it: numpy
    would first make the overlapping items contiguous, which is ``length`` times the file.
    """
    count = max(0, len(data) - length + 1)
    return np.ndarray((count,), dtype=f"V{length}", buffer=data, strides=(1,))


def gather(data: Bytes, starts: Positions, length: int) -> NDArray[np.uint8]:
    """The ``length`` bytes at each position as rows of a matrix; every run must lie inside the data."""
    rows: NDArray[np.uint8] = sliding(data, length)[starts].view(np.uint8).reshape(len(starts), length)
    return rows


def read_headers(data: Bytes, starts: Positions) -> NDArray[np.void]:
    """The headers of records that start at these positions; 24 bytes must follow each of them."""
    headers: NDArray[np.void] = sliding(data, HEADER_WITH_SUBTYPE)[starts].view(HEADER)
    return headers


def believable(data: Bytes, starts: Positions) -> Mask:
    """Whether time, date and system name of a header could be right, for each position.

    Positions closer than a header to the end of the data are not believable.
    """
    result = np.zeros(len(starts), np.bool_)
    inside = (starts >= 0) & (starts + HEADER_LENGTH <= len(data))
    rows = gather(data, starts[inside], HEADER_LENGTH)
    time = rows[:, 6:10].copy().view(">u4").ravel()
    names = _SYSTEM_NAME_BYTE[rows[:, 14:18]].all(axis=1) & (rows[:, 14] > BLANK_OR_LESS)
    result[inside] = (time < HUNDREDTHS_OF_A_DAY) & valid_dates(rows[:, 10:14]) & names
    return result


BLANK_OR_LESS = 0x40


def valid_dates(rows: NDArray[np.uint8]) -> Mask:
    """Whether four bytes are a packed date 0cyydddF with a day from 1 to 366."""
    high, low = rows >> 4, rows & 0x0F
    digits = (high[:, 0] == 0) & (low[:, 0] <= 1) & (high[:, 1] <= 9) & (low[:, 1] <= 9)
    digits &= (high[:, 2] <= 3) & (low[:, 2] <= 9) & (high[:, 3] <= 9)
    sign = (low[:, 3] == 0x0F) | (low[:, 3] == 0x0C)
    day = high[:, 2].astype(np.int16) * 100 + low[:, 2] * np.int16(10) + high[:, 3]
    valid: Mask = digits & sign & (day >= 1) & (day <= 366)
    return valid


def _one_of(values: Iterable[int]) -> bytes:
    return b"[" + b"".join(b"\\x%02x" % value for value in values) + b"]"


def _signed(digits: Iterable[int]) -> list[int]:
    return [digit << 4 | sign for digit in digits for sign in (0x0C, 0x0F)]


_PACKED = [tens << 4 | ones for tens in range(10) for ones in range(10)]
_ANY = rb"[\x00-\xff]"
_TIME = rb"(?:\x00[\x00-\x82]" + _ANY + _ANY + rb"|\x00\x83[\x00-\xd5]" + _ANY + b")"
_DAY = b"(?:%s|%s|%s)" % (
    rb"\x00" + _one_of(_signed(range(1, 10))),
    _one_of(v for v in _PACKED if 0x01 <= v <= 0x35) + _one_of(_signed(range(10))),
    rb"\x36" + _one_of(_signed(range(7))),
)
_DATE = rb"[\x00\x01]" + _one_of(_PACKED) + _DAY
_NAME_BYTES = np.flatnonzero(_SYSTEM_NAME_BYTE).tolist()
_NAME = _one_of(v for v in _NAME_BYTES if v > BLANK_OR_LESS) + _one_of(_NAME_BYTES) + b"{3}"

_FROM_FLAGS = re.compile(_ANY + _ANY + _TIME + _DATE + _NAME)
# Starts with the sign of the date: few bytes can be one, so a search passes over all others quickly.
_FROM_SIGN = re.compile(_one_of(_signed(range(10))) + b"(?=" + _NAME + b")(?<=" + _TIME + _DATE + b")")
FLAGS = 4
"""Offset of the flag byte, the first behind the descriptor."""
_SIGN = 13


def header_at(view: memoryview, place: int, end: int) -> bool:
    """Whether a record whose four-byte descriptor is at this place has a believable header."""
    return _FROM_FLAGS.match(view, place + FLAGS, end) is not None


def find_headers(view: memoryview, begin: int, end: int, stop: int) -> Iterator[int]:
    """Where the descriptors before all believable headers are, from `begin` on and in front of `end`.

    `stop` is the end of the data: a header may run past `end`, but not past that.
    """
    for match in _FROM_SIGN.finditer(view, begin + _SIGN, min(stop, end + HEADER_LENGTH - 1)):
        yield match.start() - _SIGN


def has_subtype(headers: NDArray[np.void], lengths: Positions) -> Mask:
    """Which records say that they use subtypes and are long enough to hold one."""
    used: Mask = ((headers["flags"] & SUBTYPES_USED) != 0) & (lengths >= HEADER_WITH_SUBTYPE)
    return used
