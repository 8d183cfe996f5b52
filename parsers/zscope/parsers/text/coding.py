"""Encodings of texts and XML documents, EBCDIC code pages, and line ends or records.

Python knows code page 037 but not 1047. The two agree on letters, digits and the blank; 1047, the code page
of z/OS UNIX and of most C programs, places six other characters differently.

Of an XML document, the bytes decide, and the declared encoding only where they leave a choice: programs that
translate a document do not change its declaration.
"""

from __future__ import annotations

import codecs
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.streams import ByteSource

DEFAULT_CODE_PAGE = "1047"
CODE_PAGES = ("1047", "037")

BLANK = 0x40
EBCDIC = "ebcdic"
"""Name of the encoding, in addition to those of Python."""

_MOVED_IN_1047 = {0x5F: "^", 0xB0: "\xac", 0xBA: "\xdd", 0xBB: "\xa8", 0xAD: "[", 0xBD: "]"}


@dataclass(frozen=True, slots=True)
class CodePage:
    """One EBCDIC code page."""

    name: str
    characters: str
    """The 256 characters in the order of their codes."""

    def decode(self, raw: bytes) -> str:
        """Return the text of an EBCDIC field without its padding (blanks, binary zeros)."""
        return self.latin(raw).decode("latin-1").rstrip(" \0")

    def latin(self, raw: bytes) -> bytes:
        """Return the bytes in Latin-1, which has all characters of the code page.

        Bytes are translated fifty times faster than characters.
        """
        return raw.translate(_to_latin(self.name))

    def encode(self, text: str, length: int | None = None) -> bytes:
        """Return EBCDIC bytes, padded with blanks to a length; unknown characters are an error."""
        raw = bytes(_encoder(self.name)[character] for character in text)
        if length is None:
            return raw
        if len(raw) > length:
            raise ValueError(f"{text!r} is longer than its field of {length} bytes")
        return raw.ljust(length, bytes((BLANK,)))


@cache
def code_page(name: str = DEFAULT_CODE_PAGE) -> CodePage:
    """Return the code page with this number.

    >>> code_page().decode(bytes.fromhex("c3f0f2c64040"))
    'C02F'
    >>> code_page("037").decode(b"\\xba"), code_page("1047").decode(b"\\xad")
    ('[', '[')
    """
    if name not in CODE_PAGES:
        raise SettingsError("", "", f"code page {name!r} is not one of {', '.join(CODE_PAGES)}")
    characters = list(bytes(range(256)).decode("cp037"))
    if name == "1047":
        for code, character in _MOVED_IN_1047.items():
            characters[code] = character
    return CodePage(name, "".join(characters))


@cache
def _to_latin(name: str) -> bytes:
    return code_page(name).characters.encode("latin-1")


@cache
def _encoder(name: str) -> dict[str, int]:
    return {character: code for code, character in enumerate(code_page(name).characters)}


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

_PADDING = b"\0"
_ZEROS = re.compile(rb"(?=\0\0)")
"""The end of a length word."""
_ASCII_TEXT = bytes([*range(0x07, 0x0E), 0x1A, 0x1B, *range(0x20, 0x7F)])
_EBCDIC_ENDS = bytes([0x15, 0x25, 0x0D, 0x0C, 0x05])
_EBCDIC_TEXT = (
    _EBCDIC_ENDS + "".join(map(chr, range(0x20, 0x7F))).encode("cp037") + b"\xad\xbd\xba\xbb\x5f\xb0"
)
_EBCDIC_BETWEEN = (BLANK, *",;".encode("cp037"))
_SAMPLE = 1 << 16
_PADDING_END = re.compile(rb"\x40\x40(?!\x40)", re.DOTALL)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".encode("cp037"))
_MOST_PADDING = 8
"""Of so many bytes at least one is text if the others are padding."""
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
    if _records_are_ebcdic(head):
        # First of all: a byte of a length can be the code of a line end.
        return Coding(EBCDIC, LineEnds.LENGTHS)
    if not head or (_PADDING in head and (padded := _coding_with_zeros(head))):
        return padded if head else None
    if len(head.translate(None, _ASCII_TEXT)) * _FEW <= len(head) or _is_utf8(head):
        return Coding("utf-8-sig" if head.startswith(codecs.BOM_UTF8) else _utf8_or_windows(head))
    if _is_ebcdic(head):
        return _ebcdic(head, whole=whole)
    return None


def _coding_with_zeros(head: bytes) -> Coding | None:
    """Return the coding of lines of ASCII in which every second byte is zero, or that zeros pad."""
    text = head.translate(None, _PADDING)
    strange = len(text.translate(None, _ASCII_TEXT))
    if strange * _FEW > len(text) or not (b"\n" in text or b"\r" in text):
        return None
    halves = head[1::2], head[::2]
    for zeros, characters, name in ((*halves, "utf-16-le"), (*halves[::-1], "utf-16-be")):
        if zeros.count(0) * _FEW >= len(zeros) * (_FEW - 1) and characters.count(0) * _FEW <= len(characters):
            return Coding(name)
    return Coding("utf-8") if len(text) * _MOST_PADDING >= len(head) else None


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
    return len(data) <= between * _FEW and _is_ebcdic_text(data)


def _is_ebcdic_text(data: bytes) -> bool:
    return len(data.translate(None, _EBCDIC_TEXT)) * _FEW <= len(data)


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


_LENGTH_WORD = 4
"""Two bytes with the length of the record, which counts them, and two zeros."""


def _records_are_ebcdic(head: bytes) -> bool:
    """Return whether the bytes are a chain of records with text.

    The chain must have several records, or reach the end of the bytes, which can cut its last record.
    """
    if not _record_length(head, 0):
        return False
    ends = _ends_of_records(head, 0)
    end = ends[-1] if ends else 0
    is_cut = len(head) - end < _LENGTH_WORD or _record_length(head, end) > 0
    bounds = [0, *ends, len(head)] if is_cut else [0, *ends]
    payload = b"".join(head[begin + _LENGTH_WORD : stop] for begin, stop in pairwise(bounds))
    if len(ends) < FEWEST_RECORDS:
        return is_cut and _is_ebcdic(payload)
    return bool(payload) and _is_ebcdic_text(payload)


def _record_length(data: bytes, offset: int) -> int:
    """Return the length of the record that begins here, with its length word; 0 if no record does."""
    length = int.from_bytes(data[offset : offset + 2], "big")
    return length if length >= _LENGTH_WORD and data[offset + 2 : offset + _LENGTH_WORD] == b"\0\0" else 0


def _ends_of_records(data: bytes, offset: int, most: int = sys.maxsize) -> list[int]:
    """Return the ends of the whole records from here on, up to the first that is not valid or complete."""
    ends: list[int] = []
    while len(ends) < most and (length := _record_length(data, offset)) and offset + length <= len(data):
        offset += length
        ends.append(offset)
    return ends


def read_lines(stream: ByteSource, coding: Coding) -> Iterator[str]:
    """Yield the lines of a text without their ends, in bounded memory."""
    for part in read_line_parts(stream, coding):
        yield from part


def read_line_parts(stream: ByteSource, coding: Coding) -> Iterator[list[str]]:
    """Yield the lines of a text without their ends, as many at once as were read."""
    if coding.name == EBCDIC and coding.ends is not LineEnds.CHARACTERS:
        decode = code_page().decode
        if coding.ends is LineEnds.RECORDS:
            records = _records_of_one_length(stream, coding.record_length)
        else:
            records = _records_with_lengths(stream)
        lines = map(decode, records)
        while some := list(islice(lines, _LINES_TOGETHER)):
            yield some
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
        while piece := stream.read(CHUNK):
            yield page.latin(piece).decode("latin-1")
        return
    decoder = codecs.getincrementaldecoder(coding.name)("replace")
    while piece := stream.read(CHUNK):
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _split(pieces: Iterator[str]) -> Iterator[list[str]]:
    """Split at CR, LF, CRLF and NEL, and remove control-Z, an old end-of-file mark."""
    rest = ""
    for piece in pieces:
        text = rest + piece
        carriage_return = "\r" if text.endswith("\r") else ""
        lines = _normalize_ends(text.removesuffix("\r")).split("\n")
        rest = lines.pop() + carriage_return
        if max(map(len, lines), default=0) > LONGEST_LINE:
            lines = [line[:LONGEST_LINE] for line in lines]
        yield lines
        if len(rest) > LONGEST_LINE:
            rest = rest[:LONGEST_LINE]
    if rest := rest.removesuffix("\r"):
        yield [rest]


def _normalize_ends(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")
    return text.replace("\x1a", "")


def _records_of_one_length(stream: ByteSource, length: int) -> Iterator[bytes]:
    pending = b""
    while piece := stream.read(CHUNK):
        pending += piece
        whole = len(pending) - len(pending) % length
        for offset in range(0, whole, length):
            yield pending[offset : offset + length]
        pending = pending[whole:]
    if pending:
        yield pending


def _records_with_lengths(stream: ByteSource) -> Iterator[bytes]:
    """Yield the contents of records with length words; after damage, the bytes up to the next records."""
    pending, is_end = b"", False
    while not is_end:
        piece = stream.read(CHUNK)
        pending, is_end = pending + piece, not piece
        offset = 0
        while offset < len(pending):
            length = _record_length(pending, offset)
            if 0 < length <= len(pending) - offset:
                yield pending[offset + _LENGTH_WORD : offset + length]
                offset += length
            elif not is_end and len(pending) - offset < LONGEST_LINE:
                break
            else:
                begin = offset + _LENGTH_WORD if length else offset
                offset = _next_records(pending, begin)
                yield pending[begin:offset]
        pending = pending[offset:]


def _next_records(data: bytes, offset: int) -> int:
    """Return where the next chain of several records begins; the end of the bytes if there is none."""
    for zeros in _ZEROS.finditer(data, offset + 2):
        begin = zeros.start() - 2
        if len(_ends_of_records(data, begin, FEWEST_RECORDS)) == FEWEST_RECORDS:
            return begin
    return len(data)


XML_HEAD = 1024
"""Bytes at the beginning of a document that show its encoding."""
_XML_OPENINGS = ("<?xml", "<ddsml", "<!DOCTYPE")
_XML_ROOT = "<ddsml"
_XML_BLANKS = " \t\r\n\x85\ufeff"
XML_UTF_8 = "utf-8-sig"
_NEXT_LINE = "\x85"
_BYTE_ORDER_MARKS = (
    # UTF-32 first: its mark begins with the one of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, XML_UTF_8),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_DECLARED = re.compile(r"""<\?xml[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([\w.:-]{1,40})["']""", re.ASCII)
_OF_EBCDIC = re.compile(r"(?:x-)?(?:ibm|cp|ebcdic)[-_]?\d", re.ASCII | re.IGNORECASE)
_NO_TEXT = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""Encodings of Python that are not those of files."""
_PRINTABLE = bytes(range(0x20, 0x7F))


@dataclass(frozen=True, slots=True)
class XmlCoding:
    """The encoding of a document."""

    name: str
    """A Python encoding, or `ebcdic`."""
    records: bool = False
    """Whether a length word precedes each line."""
    refused: str = ""
    """The declared encoding if it cannot be that of the document."""


def xml_coding(head: bytes) -> XmlCoding | None:
    """Return the encoding of a file that begins with these bytes; None if it is no XML document.

    >>> xml_coding(b'<?xml version="1.0"?><ddsml>').name, xml_coding("<ddsml>".encode("cp037")).name
    ('utf-8-sig', 'ebcdic')
    >>> xml_coding(b"not XML") is None
    True
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return XmlCoding(name) if _is_document(head.decode(name, "ignore")) else None
    for name in _WIDE:
        if b"\0" in head[:4] and _begins_document(head[:XML_HEAD].decode(name, "ignore")):
            return XmlCoding(name)
    if _begins_document(from_ebcdic(head[:XML_HEAD])):
        return XmlCoding(EBCDIC)
    if head[2:4] == b"\0\0" and _begins_document(from_ebcdic(head[4:XML_HEAD])):
        return XmlCoding(EBCDIC, records=True)
    text = head.decode("latin-1")
    if "<html" in text[:XML_HEAD].lower():
        return None
    return _declared_coding(text) if _is_document(text) else None


def _is_document(text: str) -> bool:
    """Return whether a text is a document, perhaps with damage before its root element."""
    return _begins_document(text) or _XML_ROOT in text[:XML_HEAD]


def _begins_document(text: str) -> bool:
    return text.lstrip(_XML_BLANKS).startswith(_XML_OPENINGS)


def _declared_coding(opening: str) -> XmlCoding:
    declared = _DECLARED.match(opening.lstrip(_XML_BLANKS))
    name = declared[1] if declared else "utf-8"
    if _OF_EBCDIC.match(name) and not name.lower().startswith("cp125"):
        # A transfer in text mode translated the bytes but not the declared encoding.
        return XmlCoding("iso-8859-1")
    if name.lower().replace("_", "-") in {"utf-8", "utf8"}:
        return XmlCoding(XML_UTF_8)
    return XmlCoding(name) if _has_ascii(name) else XmlCoding(XML_UTF_8, refused=name)


def _has_ascii(name: str) -> bool:
    """Return whether Python can decode the encoding piece by piece, and ASCII bytes mean ASCII in it."""
    try:
        if codecs.lookup(name).name in _NO_TEXT:
            return False
        text = codecs.getincrementaldecoder(name)().decode(_PRINTABLE, final=True)
    except (LookupError, UnicodeError, TypeError, ValueError):
        return False
    return text == _PRINTABLE.decode("ascii")


def from_ebcdic(raw: bytes) -> str:
    """Return the text of a document in EBCDIC."""
    text, _ = codecs.charmap_decode(raw, "strict", _ebcdic_characters())
    return text


@cache
def _ebcdic_characters() -> str:
    """Characters of z/OS UNIX, where lines end with NEL."""
    return code_page().characters.replace(_NEXT_LINE, "\n")
