"""Parse an XML document in bounded memory: yield each interval, report or message as a small tree."""

from __future__ import annotations

import codecs
import re
from collections import deque
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING
from xml.parsers import expat

from zscope.parsers.smf.ebcdic import code_page

if TYPE_CHECKING:
    from collections.abc import Iterator


_HEAD = 1024
_EBCDIC_BLANKS = b"\x40\x15\x25\x0d\x05"
_EBCDIC_OPENING = "<".encode("cp037")
_NEXT_LINE = "\x85"
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([\w.:-]{1,40})["']""", re.ASCII)
_TRANSLATED_BEFORE = re.compile(rb"(?i)(?:x-)?(?:ibm|cp|ebcdic)[-_]?")


class XmlBytes:
    """Iterates over pieces of a document in an encoding the parser accepts, with the bytes of the file read
    so far.

    EBCDIC is translated, and wrong encoding declarations are overridden.
    """

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
        """Line of the file in which the document begins; blank lines are allowed before it."""
        self.encoding = self._encoding(bare)
        """The encoding for the parser; None for the one that the document declares."""
        self._pieces = chain([bare], (self._counted(chunk) for chunk in chunks))

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Yield all pieces."""
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
            # A transfer in text mode translated the bytes but not the declared encoding.
            return "iso-8859-1"
        return None


@cache
def _ebcdic_characters() -> str:
    """Characters of z/OS UNIX, where lines end with NEL."""
    return code_page().characters.replace(_NEXT_LINE, "\n")


UNITS = frozenset({"postprocessor", "mfpmsg", "message"})
"""Elements that are returned as trees; the others around them are skipped."""
REPORTS_READ = frozenset({"CPU", "CRYPTO"})
"""Metric IDs; the content of other reports is dropped."""
_CONTAINERS = frozenset({"version", "resource", "time-data", "segment", "part", "var-list", "table"})
"""Elements whose finished parts can be used even if their own end is missing."""

DEEPEST = 40
MOST_ELEMENTS = 100_000
MOST_TEXT = 8 << 20
LONGEST_TEXT = 1 << 16
LONGEST_TOKEN = 1 << 18
"""Bytes of a single tag or comment. The limits are far beyond the reports of one interval."""
SLICE = 1 << 16


class XmlDamageError(Exception):
    """The document cannot be parsed any further."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


class MonitorThreeError(Exception):
    """The document is a Monitor III report."""


@dataclass(slots=True)
class XmlElement:
    """An element with its children; its name is in lower case."""

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[XmlElement] = field(default_factory=list)

    def all(self, name: str) -> Iterator[XmlElement]:
        """Yield the children of this name."""
        return (child for child in self.children if child.name == name)

    def at(self, *path: str) -> XmlElement | None:
        """Return the first element at this path."""
        element: XmlElement | None = self
        for name in path:
            element = next(element.all(name), None) if element else None
        return element

    def text_at(self, *path: str) -> str:
        """Return the text of the first element at this path; empty if there is none."""
        element = self.at(*path)
        return element.text if element else ""

    def below(self, name: str) -> Iterator[XmlElement]:
        """Yield the elements of this name at any depth, in order."""
        for child in self.children:
            if child.name == name:
                yield child
            else:
                yield from child.below(name)


class XmlTree:
    """Parses bytes into trees."""

    def __init__(self, encoding: str | None, first_line: int = 1) -> None:
        self._parser = expat.ParserCreate(encoding)
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._lines_before = first_line - 1
        self._fed = 0
        self._depth = 0
        self._open: list[XmlElement] = []
        self._unread = False
        """Whether the current report is one that is dropped."""
        self._elements = self._characters = 0
        self._units = 0
        self._unit_depth = 0
        self._closed = False
        self.finished: deque[XmlElement] = deque()

    def feed(self, data: bytes) -> None:
        """Parse more bytes; `finished` and `unfinished` stay valid after an XmlDamageError."""
        for at in range(0, len(data), SLICE):
            piece = data[at : at + SLICE]
            if self._closed:
                self._after_the_end(piece)
                continue
            self._parse(piece)
            self._fed += len(piece)
            if self._fed - self._parser.CurrentByteIndex > LONGEST_TOKEN + SLICE:
                raise self._damage(f"a tag or comment has more than {LONGEST_TOKEN:,} bytes")

    def close(self) -> None:
        """Finish the document."""
        if not self._closed:
            self._parse(b"", last=True)

    def unfinished(self) -> XmlElement | None:
        """Return the complete parts of the tree in which the document breaks off."""
        if not self._open or self._unread:
            return None
        for inner, outer in zip(self._open[:0:-1], self._open[-2::-1], strict=True):
            if inner.name in _CONTAINERS:
                outer.children.append(inner)
        return self._open[0]

    def _parse(self, piece: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            if self._closed:
                self._after_the_end(piece[max(0, self._parser.ErrorByteIndex - self._fed) :])
                return
            problem = expat.ErrorString(error.code) or "it is not XML"
            raise XmlDamageError(problem, error.lineno + self._lines_before, error.offset + 1) from error
        except LookupError as error:
            raise self._damage(f"the encoding is not known ({error})") from error

    def _after_the_end(self, rest: bytes) -> None:
        """Accept padding of old file systems after the end, and report anything else."""
        if rest.strip(b" \t\r\n\0\x1a"):
            raise self._damage("there is more after the end of the document")

    def _damage(self, problem: str) -> XmlDamageError:
        return XmlDamageError(problem, self._line(), self._parser.CurrentColumnNumber + 1)

    def _line(self) -> int:
        return self._parser.CurrentLineNumber + self._lines_before

    def _doctype(self, *_: object) -> None:
        raise self._damage("a document type declaration is not accepted: no report has one")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._damage(f"elements are nested deeper than {DEEPEST}")
        name = tag.rpartition(":")[2].lower()
        if not self._open:
            self._outside(name, attributes)
            return
        if self._unread:
            return
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise self._damage(f"a report has more than {MOST_ELEMENTS:,} elements")
        element = self._element(name, attributes)
        report = element.attributes.get("id", "").strip().upper()
        if name == "metric" and len(self._open) == 1 and report not in REPORTS_READ:
            self._unread = True
            self._open[0].children.append(element)
        else:
            self._open.append(element)

    def _outside(self, name: str, attributes: dict[str, str]) -> None:
        if name == "report" and self._depth <= 2:
            if not self._units:
                raise MonitorThreeError
            self.finished.append(self._element(name, attributes))
        if name in UNITS and self._depth > 1:
            self._units += name == "postprocessor"
            self._elements = self._characters = 0
            self._unit_depth = self._depth
            self._open.append(self._element(name, attributes))

    def _element(self, name: str, attributes: dict[str, str]) -> XmlElement:
        return XmlElement(name, {key.lower(): value for key, value in attributes.items()}, self._line())

    def _end(self, _: str) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._closed = True
        if not self._open or (self._unread and self._depth >= self._unit_depth):
            return
        self._unread = False
        element = self._open.pop()
        element.text = element.text.strip()
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.finished.append(element)

    def _text(self, data: str) -> None:
        if not self._open or self._unread or (data.isspace() and not self._open[-1].text):
            return
        self._characters += len(data)
        if self._characters > MOST_TEXT or len(self._open[-1].text) + len(data) > LONGEST_TEXT:
            raise self._damage("a text is far longer than in any report")
        self._open[-1].text += data
