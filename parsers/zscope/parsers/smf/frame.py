"""Records put into a file in any of the ways dumps are framed: the inverse of reading frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.smf.chain import LONGEST_IN_FILE
from zscope.parsers.smf.segments import FIRST, LAST, MIDDLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DESCRIPTOR = 4
DEFAULT_BLOCK = 27_998


def as_stream(records: Iterable[bytes]) -> Iterator[bytes]:
    """Length words and records, as a binary FTP transfer with SITE RDW gives them."""
    yield from records


def as_exclusive(records: Iterable[bytes]) -> Iterator[bytes]:
    """Length words that do not count their own four bytes."""
    for record in records:
        yield (len(record) - DESCRIPTOR).to_bytes(2, "big") + record[2:]


def as_segments(records: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """Records longer than `longest` cut into first, middle and last segments."""
    for record in records:
        yield from split(record, longest)


def as_blocks(
    records: Iterable[bytes], size: int = DEFAULT_BLOCK, *, spanned: bool = False, extended: bool = False
) -> Iterator[bytes]:
    """Blocks of whole records, or (spanned) of records and segments that fill each block.

    The extended form of the length word is for blocks that the ordinary one cannot describe.
    """
    pieces: list[bytes] = []
    room = size - DESCRIPTOR
    for record in records:
        rest, first = record[DESCRIPTOR:], True
        while spanned and DESCRIPTOR + len(rest) > room:
            if room > DESCRIPTOR:
                pieces.append(segment(rest[: room - DESCRIPTOR], FIRST if first else MIDDLE))
                rest, first = rest[room - DESCRIPTOR :], False
            yield block(pieces, extended=extended)
            pieces, room = [], size - DESCRIPTOR
        piece = record if first else segment(rest, LAST)
        if len(piece) > room and pieces:
            yield block(pieces, extended=extended)
            pieces, room = [], size - DESCRIPTOR
        pieces.append(piece)
        room -= len(piece)
    if pieces:
        yield block(pieces, extended=extended)


def split(record: bytes, longest: int) -> list[bytes]:
    """One record as segments of at most `longest` bytes, or as it is when it fits."""
    if len(record) <= longest:
        return [record]
    room = longest - DESCRIPTOR
    if room < 1:
        raise ValueError(f"segments of {longest} bytes have no room for data")
    content = record[DESCRIPTOR:]
    parts = [content[at : at + room] for at in range(0, len(content), room)]
    codes = [FIRST, *[MIDDLE] * (len(parts) - 2), LAST]
    return [segment(part, code) for part, code in zip(parts, codes, strict=True)]


def segment(data: bytes, code: int) -> bytes:
    """One segment with its descriptor."""
    return (DESCRIPTOR + len(data)).to_bytes(2, "big") + bytes((code, 0)) + data


def block(pieces: list[bytes], *, extended: bool = False) -> bytes:
    """One block of records or segments with its length word."""
    content = b"".join(pieces)
    length = DESCRIPTOR + len(content)
    if extended and length > LONGEST_IN_FILE:
        return (length | 1 << 31).to_bytes(4, "big") + content
    if length > LONGEST_IN_FILE:
        raise ValueError(f"a block of {length:,} bytes needs the extended form")
    return length.to_bytes(2, "big") + b"\0\0" + content
