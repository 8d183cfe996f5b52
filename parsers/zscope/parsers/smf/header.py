"""The standard header of SMF records, read for many records at once, and the test whether bytes are one.

Detection, walking and recovery after damage all test whether an SMF header could start at a place: for arrays
of positions with `believable`, for single places and searches with a pattern, which is faster there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zscope.schemas import Format, extended_header, standard_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.schemas import Section

_NAMES = {
    "SMFxLEN": "length",
    "SMFxSEG": "segment",
    "SMFxFLG": "flags",
    "SMFxRTY": "type",
    "SMFxTME": "time",
    "SMFxDTE": "date",
    "SMFxSID": "system",
    "SMFxWID": "subsystem",
    "SMFxSTY": "subtype",
    "(length)": "length",
    "(version)": "version",
    "(type)": "type",
}
_NUMBERS = {Format.UINT, Format.BITS, Format.TIME_HUNDREDTHS}


def _header_type(section: Section) -> np.dtype[np.void]:
    """A declared header as a structure; what is no number is opaque bytes."""
    return np.dtype(
        {
            "names": [_NAMES[field.name] for field in section.fields],
            "formats": [
                f"{'>u' if field.format in _NUMBERS else 'V'}{field.length}" for field in section.fields
            ],
            "offsets": [field.offset for field in section.fields],
            "itemsize": section.known_length,
        }
    )


HEADER_LENGTH = standard_header().shortest_length
"""Of a header without subtypes, the shortest record there is."""
HEADER_WITH_SUBTYPE = standard_header().known_length
HEADER = _header_type(standard_header())
EXTENDED = _header_type(extended_header())
LONGEST_RECORD = 0xFFFF
"""The largest two-byte length. Records longer than 32,760 bytes are in segments."""
SUBTYPES_USED = 0x40
EXTENDED_USED = 0x20
HAS_EXTENDED_TYPE = 126
"""The type in the standard header of all records with an extended header."""
EXTENDED_TYPES = range(128, 2048)
HUNDREDTHS_OF_A_DAY = 8_640_000

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]


def header_slice(name: str) -> slice:
    """Return where a field of the header is, counted from the start of the record.

    >>> header_slice("date")
    slice(10, 14, None)
    """
    fields = HEADER.fields
    assert fields is not None
    field_type, offset = fields[name][:2]
    return slice(offset, offset + field_type.itemsize)


def _printable() -> Mask:
    """The bytes of system names: letters, digits, national characters, padding."""
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
    """Return every run of `length` bytes as one opaque item, without copying.

    Index it with an array of positions to gather records or sections. Never call `take` on it: numpy would
    first make the overlapping items contiguous, which needs `length` times the size of the file.
    """
    count = max(0, len(data) - length + 1)
    return np.ndarray((count,), dtype=f"V{length}", buffer=data, strides=(1,))


def gather(data: Bytes, starts: Positions, length: int) -> NDArray[np.uint8]:
    """Return the `length` bytes at each position as rows of a matrix; they must be inside the data."""
    rows: NDArray[np.uint8] = sliding(data, length)[starts].view(np.uint8).reshape(len(starts), length)
    return rows


def read_headers(data: Bytes, starts: Positions) -> NDArray[np.void]:
    """Return the headers of records at these positions; 24 bytes must follow each position."""
    headers: NDArray[np.void] = sliding(data, HEADER_WITH_SUBTYPE)[starts].view(HEADER)
    return headers


def believable(data: Bytes, starts: Positions) -> Mask:
    """Return for each position whether time, date and system name of a header are plausible.

    Positions closer than a header to the end of the data are not believable.
    """
    result = np.zeros(len(starts), np.bool_)
    inside = (starts >= 0) & (starts + HEADER_LENGTH <= len(data))
    rows = gather(data, starts[inside], HEADER_LENGTH)
    time = rows[:, header_slice("time")].copy().view(">u4").ravel()
    system = rows[:, header_slice("system")]
    names = _SYSTEM_NAME_BYTE[system].all(axis=1) & (system[:, 0] > BLANK_OR_LESS)
    result[inside] = (time < HUNDREDTHS_OF_A_DAY) & valid_dates(rows[:, header_slice("date")]) & names
    return result


BLANK_OR_LESS = 0x40


def valid_dates(rows: NDArray[np.uint8]) -> Mask:
    """Return whether four bytes are a packed date 0cyydddF with a day from 1 to 366."""
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
# Starts with the sign of the date: few bytes can be one, so a search skips all others quickly.
_FROM_SIGN = re.compile(_one_of(_signed(range(10))) + b"(?=" + _NAME + b")(?<=" + _TIME + _DATE + b")")
FLAGS = header_slice("flags").start
"""Offset of the flag byte, the first after the descriptor."""
_SIGN = header_slice("date").stop - 1


def header_at(view: memoryview, place: int, end: int) -> bool:
    """Return whether the record whose descriptor is at this place has a believable header."""
    return _FROM_FLAGS.match(view, place + FLAGS, end) is not None


def find_headers(view: memoryview, begin: int, end: int, stop: int) -> Iterator[int]:
    """Yield the places of the descriptors of all believable headers from `begin` to before `end`.

    `stop` is the end of the data: a header may extend past `end`, but not past that.
    """
    for match in _FROM_SIGN.finditer(view, begin + _SIGN, min(stop, end + HEADER_LENGTH - 1)):
        yield match.start() - _SIGN


def has_subtype(headers: NDArray[np.void], lengths: Positions) -> Mask:
    """Return which records use subtypes and are long enough to contain one."""
    used: Mask = ((headers["flags"] & SUBTYPES_USED) != 0) & (lengths >= HEADER_WITH_SUBTYPE)
    return used


def record_types(data: Bytes, starts: Positions, lengths: Positions, types: NDArray[np.integer]) -> Positions:
    """Return the type of each record, given that of its standard header: that of the extended one counts.

    A record whose extended header cannot be read keeps the type 126.
    """
    result = types.astype(np.int64)
    which = np.flatnonzero(result == HAS_EXTENDED_TYPE)
    if len(which):
        found, problems = _extended_types(data, starts[which], lengths[which])
        sound = problems == ""
        result[which[sound]] = found[sound]
    return result


def unreadable_extended_headers(data: Bytes, starts: Positions, lengths: Positions) -> dict[str, Positions]:
    """Return what is wrong with extended headers, and the indices of the records in which it is."""
    types = data[starts + header_slice("type").start]
    which = np.flatnonzero(types == HAS_EXTENDED_TYPE)
    _, problems = _extended_types(data, starts[which], lengths[which])
    return {text: which[problems == text] for text in np.unique(problems).tolist() if text}


def _extended_types(
    data: Bytes, starts: Positions, lengths: Positions
) -> tuple[Positions, NDArray[np.object_]]:
    """Return the types in extended headers, and why they do not count; "" where they do."""
    extended = extended_header()
    used = SUBTYPES_USED | EXTENDED_USED
    inside = lengths >= HEADER_WITH_SUBTYPE + extended.shortest_length
    headers = np.zeros(len(starts), EXTENDED)
    headers[inside] = sliding(data, EXTENDED.itemsize)[starts[inside] + HEADER_WITH_SUBTYPE].view(EXTENDED)
    types, stated = headers["type"].astype(np.int64), headers["length"].astype(np.int64)
    problems = np.full(len(starts), "", np.object_)
    problems[(types < EXTENDED_TYPES.start) | (types >= EXTENDED_TYPES.stop)] = (
        f"the extended header has a type that is not from {EXTENDED_TYPES.start} to {EXTENDED_TYPES.stop - 1}"
    )
    wrong = (stated < extended.shortest_length) | (HEADER_WITH_SUBTYPE + stated > lengths)
    problems[wrong] = "the length of the extended header is less than that of its fields, or past the record"
    problems[data[starts + FLAGS] & used != used] = (
        "the flags of the record do not tell of an extended header"
    )
    problems[~inside] = "the record ends before its extended header does"
    return types, problems
