"""The bytes of a document as the parser needs them: EBCDIC translated, untrue declarations overruled."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

from zscope.parsers.smf.ebcdic import code_page

_HEAD = 1024
_EBCDIC_BLANKS = b"\x40\x15\x25\x0d\x05"
_EBCDIC_OPENING = "<".encode("cp037")
_NEXT_LINE = "\x85"
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([\w.:-]{1,40})["']""", re.ASCII)
_TRANSLATED_BEFORE = re.compile(rb"(?i)(?:x-)?(?:ibm|cp|ebcdic)[-_]?")


class XmlBytes:
    """Iterates over pieces of a document and how many bytes of the file they bring it to."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        head = b""
        for chunk in chunks:
            head += chunk
            if len(head) >= _HEAD:
                break
        self._read = len(head)
        self._ebcdic = head.lstrip(_EBCDIC_BLANKS).startswith(_EBCDIC_OPENING)
        opening = self._decoded(head)
        bare = opening.removeprefix(codecs.BOM_UTF8).lstrip()
        before = opening[: len(opening) - len(bare)]
        self.first_line = 1 + before.count(b"\n")
        """Line of the file in which the document begins: blank lines are allowed before it."""
        self.encoding = self._encoding(bare)
        """What the parser is to take the bytes for; None for what the document itself declares."""
        self._pieces = chain([bare], (self._counted(chunk) for chunk in chunks))

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Read everything."""
        for piece in self._pieces:
            yield piece, self._read

    def _counted(self, chunk: bytes) -> bytes:
        self._read += len(chunk)
        return self._decoded(chunk)

    def _decoded(self, raw: bytes) -> bytes:
        if not self._ebcdic:
            return raw
        text, _ = codecs.charmap_decode(raw, "strict", _ebcdic_characters())
        return text.encode("utf-8")

    def _encoding(self, opening: bytes) -> str | None:
        if self._ebcdic:
            return "utf-8"
        declared = _DECLARED.match(opening)
        if declared and _TRANSLATED_BEFORE.match(declared[1]):
            # A transfer in text mode translated the bytes but not what they say of themselves.
            return "iso-8859-1"
        return None


@cache
def _ebcdic_characters() -> str:
    """Of z/OS UNIX, where lines end with next line."""
    return code_page().characters.replace(_NEXT_LINE, "\n")
