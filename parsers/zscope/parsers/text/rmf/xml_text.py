"""Decode an XML document piece by piece, whatever its encoding and its damage."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import chain

from zscope.parsers.text.coding import (
    EBCDIC,
    XML_HEAD,
    XML_UTF_8,
    XmlCoding,
    from_ebcdic,
    xml_coding,
)


class XmlText:
    """Iterates over pieces of the text of a document, with the number of bytes of the file read so far.

    Characters that cannot be decoded become U+FFFD.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        head = b""
        for chunk in chunks:
            head += chunk
            if len(head) >= XML_HEAD:
                break
        self._read = 0
        self._chunks = chain([head], chunks)
        self.coding = xml_coding(head) or XmlCoding(XML_UTF_8)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield all pieces; blanks before the document are lines of it."""
        counted = self._counted()
        pieces = _with_line_ends(_payloads(counted)) if self.coding.records else counted
        begun = False
        texts: Iterator[str]
        if self.coding.name == EBCDIC:
            texts = map(from_ebcdic, pieces)
        else:
            texts = _decoded(pieces, codecs.getincrementaldecoder(self.coding.name)("replace"))
        for text in texts:
            begun, piece = True, text if begun else text.removeprefix("\ufeff")
            yield piece, self._read

    def _counted(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._read += len(chunk)
            yield chunk


def _decoded(pieces: Iterator[bytes], decoder: codecs.IncrementalDecoder) -> Iterator[str]:
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _payloads(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the contents of records with length words, and everything from an invalid length word on."""
    pending = b""
    for chunk in chunks:
        pending += chunk
        while len(pending) >= 4:
            length = int.from_bytes(pending[:2], "big")
            if length < 4 or pending[2:4] != b"\0\0":
                yield pending
                yield from chunks
                return
            if length > len(pending):
                break
            yield pending[4:length]
            pending = pending[length:]
    if pending:
        yield pending


def _with_line_ends(records: Iterator[bytes]) -> Iterator[bytes]:
    return (record + b"\x15" for record in records)
