"""Text encodings and line ends: ASCII, UTF-8, UTF-16 and EBCDIC, with line ends or in records."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from zscope.parsers.smf.ebcdic import BLANK, code_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.streams import ByteSource

CHUNK = 1 << 18
LONGEST_LINE = 1 << 16
"""Longer lines are cut: no report has them, and a file without line ends must not fill memory."""
RECORD_LENGTHS = (
    *(80, 133, 121, 132, 120, 137, 125, 72, 81, 84, 100, 128, 161),
    *(134, 140, 150, 160, 180, 200, 240, 251, 255, 256),
)
"""Usual record lengths of print files and captures, tried if there are no line ends."""
FEWEST_RECORDS = 3
_LINES_TOGETHER = 1_000

_ASCII_TEXT = bytes([*range(0x07, 0x0E), 0x1A, 0x1B, *range(0x20, 0x7F)])
_EBCDIC_ENDS = bytes([0x15, 0x25, 0x0D, 0x0C, 0x05])
_EBCDIC_TEXT = (
    _EBCDIC_ENDS + "".join(map(chr, range(0x20, 0x7F))).encode("cp037") + b"\xad\xbd\xba\xbb\x5f\xb0"
)
_EBCDIC_BETWEEN = (BLANK, *",;".encode("cp037"))
_SAMPLE = 1 << 16
_PADDING_END = re.compile(rb"\x40\x40(?!\x40)", re.DOTALL)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".encode("cp037"))
_FEW = 50
"""At most one of so many bytes may be something other than text."""


class LineEnds(StrEnum):
    """What separates the lines."""

    CHARACTERS = "line ends"
    RECORDS = "records of one length"
    LENGTHS = "record lengths"
    """A length word before each record, as FTP writes with SITE RDW."""


@dataclass(frozen=True, slots=True)
class Coding:
    """The encoding of a text and its line ends."""

    name: str
    """A Python encoding, or `ebcdic`."""
    ends: LineEnds = LineEnds.CHARACTERS
    record_length: int = 0

    def __str__(self) -> str:
        ebcdic = f"EBCDIC in {self.ends}" if self.ends is not LineEnds.CHARACTERS else "EBCDIC"
        return ebcdic if self.name == EBCDIC else self.name.upper()


EBCDIC = "ebcdic"


def detect_coding(head: bytes, *, whole: bool = True) -> Coding | None:
    """Return how a file that begins with these bytes is encoded; None if it is not text.

    If `whole` is true, the bytes are the complete file.

    >>> str(detect_coding("MVS TCP/IP NETSTAT".encode()))
    'UTF-8'
    >>> detect_coding(bytes(range(200))) is None
    True
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Coding("utf-16")
    if not head:
        return None
    if len(head.translate(None, _ASCII_TEXT)) * _FEW <= len(head) or _is_utf8(head):
        return Coding("utf-8-sig" if head.startswith(codecs.BOM_UTF8) else _utf8_or_windows(head))
    if _is_ebcdic(head):
        return _ebcdic(head, whole=whole)
    if _payloads_are_ebcdic(head):
        return Coding(EBCDIC, LineEnds.LENGTHS)
    return None


def _is_utf8(head: bytes) -> bool:
    """Return whether the bytes are UTF-8 with at least one multi-byte character and hardly any control
    characters.
    """
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The end of the head may cut the last character.
        if error.start < len(head) - 3:
            return False
        text = head[: error.start].decode("utf-8")
    strange = sum(character < " " and character not in "\t\n\r\f\x1a\x1b" for character in text)
    return text.isascii() is False and "\ufffd" not in text and strange * _FEW <= len(text)


def _utf8_or_windows(head: bytes) -> str:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return "utf-8" if error.start >= len(head) - 3 else "cp1252"
    return "utf-8"


def _is_ebcdic(data: bytes) -> bool:
    """Return whether the bytes are mostly EBCDIC text with blanks or commas."""
    between = max(map(data.count, _EBCDIC_BETWEEN))
    return len(data.translate(None, _EBCDIC_TEXT)) * _FEW <= len(data) <= between * _FEW


def _ebcdic(head: bytes, *, whole: bool) -> Coding:
    if any(end in head for end in (0x15, 0x25)):
        return Coding(EBCDIC)
    possible = [length for length in RECORD_LENGTHS if len(head) >= FEWEST_RECORDS * length]
    if not possible:
        return Coding(EBCDIC)
    lengths = [length for length in possible if whole and len(head) % length == 0] or possible
    sample = head[:_SAMPLE]
    starts = [match.end() for match in _PADDING_END.finditer(sample)]
    best = min(lengths, key=lambda length: (_disorder(sample, starts, length), -length))
    return Coding(EBCDIC, LineEnds.RECORDS, best)


def _disorder(sample: bytes, starts: list[int], length: int) -> float:
    """Return how badly a record length fits; the lowest value is the best length.

    Reports begin their texts in few columns, so with the right length texts begin in few places of a record.
    A word rarely continues in the next record: only full lines touch.
    """
    columns = {offset % length for offset in starts}
    offsets = range(length, len(sample), length)
    crossed = sum(sample[offset] in _LETTERS and sample[offset - 1] in _LETTERS for offset in offsets)
    return len(columns) / max(1, len(starts)) + 0.3 * crossed / len(offsets)


def _payloads_are_ebcdic(head: bytes) -> bool:
    payload, records = bytearray(), 0
    for record in _with_lengths(head):
        payload += record
        records += 1
    return records >= FEWEST_RECORDS and _is_ebcdic(bytes(payload))


def _with_lengths(data: bytes) -> Iterator[bytes]:
    """Yield the records of data with length words, up to the first that is not valid."""
    offset = 0
    while offset + 4 <= len(data):
        length = int.from_bytes(data[offset : offset + 2], "big")
        if length < 4 or data[offset + 2 : offset + 4] != b"\0\0" or offset + length > len(data):
            return
        yield data[offset + 4 : offset + length]
        offset += length


def read_lines(stream: ByteSource, coding: Coding) -> Iterator[str]:
    """Yield the lines of a text without their ends, in bounded memory."""
    if coding.name == EBCDIC and coding.ends is not LineEnds.CHARACTERS:
        decode = code_page().decode
        yield from (decode(record) for record in _records(stream, coding))
        return
    yield from _split(_characters(stream, coding))


def read_pieces(stream: ByteSource, coding: Coding) -> Iterator[str]:
    """Yield a text in pieces of any length, with line feeds as line ends, for formats that are not line by
    line.
    """
    if coding.name == EBCDIC and coding.ends is not LineEnds.CHARACTERS:
        lines = read_lines(stream, coding)
        while some := list(islice(lines, _LINES_TOGETHER)):
            yield "".join(f"{line}\n" for line in some)
        return
    carriage_return = ""
    for piece in _characters(stream, coding):
        text = carriage_return + piece
        carriage_return = "\r" if text.endswith("\r") else ""
        yield _normalize_ends(text.removesuffix("\r"))
    yield "\n" if carriage_return else ""


def _characters(stream: ByteSource, coding: Coding) -> Iterator[str]:
    if coding.name == EBCDIC:
        page = code_page()
        table = str.maketrans(dict(enumerate(page.characters)))
        while piece := stream.read(CHUNK):
            yield piece.decode("latin-1").translate(table)
        return
    decoder = codecs.getincrementaldecoder(coding.name)("replace")
    while piece := stream.read(CHUNK):
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _split(pieces: Iterator[str]) -> Iterator[str]:
    """Split at CR, LF, CRLF and NEL, and remove control-Z, an old end-of-file mark."""
    rest = ""
    for piece in pieces:
        text = rest + piece
        carriage_return = "\r" if text.endswith("\r") else ""
        lines = _normalize_ends(text.removesuffix("\r")).split("\n")
        rest = lines.pop() + carriage_return
        for line in lines:
            yield line[:LONGEST_LINE]
        if len(rest) > LONGEST_LINE:
            rest = rest[:LONGEST_LINE]
    if rest := rest.removesuffix("\r"):
        yield rest


def _normalize_ends(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")
    return text.replace("\x1a", "")


def _records(stream: ByteSource, coding: Coding) -> Iterator[bytes]:
    pending = b""
    while piece := stream.read(CHUNK):
        pending += piece
        used = 0
        if coding.ends is LineEnds.RECORDS:
            for offset in range(0, len(pending) - coding.record_length + 1, coding.record_length):
                yield pending[offset : offset + coding.record_length]
                used = offset + coding.record_length
        else:
            for record in _with_lengths(pending):
                yield record
                used += len(record) + 4
        pending = pending[used:]
        if len(pending) > LONGEST_LINE:
            break
    if pending and coding.ends is LineEnds.RECORDS:
        yield pending
