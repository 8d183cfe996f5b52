"""Records whose content does not matter, and what a reader delivers of a file with them."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, field

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.walker import SMALLEST_WINDOW, FrameReader, Readable

FILE = "a.smf"
GARBAGE = bytes(range(0xA0, 0xBD))
"""29 bytes that are neither a length word nor part of a header."""


def record(number: int, size: int = 60, kind: int = 30, flags: int = 0x1E) -> bytes:
    """Return a record of 1 March 2026."""
    time, date, system = number * 977 % 8_640_000, bytes.fromhex("0126060f"), "SYS1".encode("cp037")
    body = (bytes((number + i * 7) % 250 + 5 for i in range(250)) * (size // 250 + 1))[: size - 18]
    return struct.pack(">HHBBI4s4s", size, 0, flags, kind, time, date, system) + body


def block(*pieces: bytes, extended: bool = False, length: int | None = None) -> bytes:
    """Return a block of records or segments, perhaps with a wrong length."""
    content = b"".join(pieces)
    form, flag = (">I", 1 << 31) if extended else (">Hxx", 0)
    return struct.pack(form, flag | (length or len(content) + 4)) + content


@dataclass
class Delivered:
    """All that was read of a file."""

    records: list[bytes] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    spanned: list[bool] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    windows: int = field(default=0, compare=False)


def delivered(
    data: bytes | Readable, framing: Framing = Framing.RDW, window: int = SMALLEST_WINDOW
) -> Delivered:
    """Read a file or a stream."""
    got, issues = Delivered(), Issues(each_kind=1 << 30)
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    for part in FrameReader(stream, framing, issues, FILE, window):
        assert part.first_record == len(got.records) + 1
        for start, length in zip(part.starts.tolist(), part.lengths.tolist(), strict=True):
            got.records.append(part.data[start : start + length].tobytes())
        got.offsets += part.offsets.tolist()
        got.spanned += part.spanned.tolist()
        got.windows += 1
    got.issues = list(issues)
    return got


def skipped(begin: int, end: int, reason: str, at_end: bool = False) -> Issue:
    """Return the issue about bytes that belong to no record."""
    size = "1 byte" if end - begin == 1 else f"{end - begin:,} bytes"
    where, what = (" at the end of the file", "before") if at_end else ("", "before and after")
    text = f"{size}{where} skipped: {reason}; the records {what} were read; transfer the file again in binary"
    return Issue(Code.DAMAGED_RANGE, text, FILE, None, begin, end)
