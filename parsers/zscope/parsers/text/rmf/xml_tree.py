"""A document cut into the parts that make sense by themselves, each as a small tree, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

UNITS = frozenset({"postprocessor", "mfpmsg", "message"})
"""Elements whose whole content is needed at once; what is around them is passed over."""
REPORTS_READ = frozenset({"CPU", "CRYPTO"})
"""Metric ids; the content of other reports is not kept."""
_CONTAINERS = frozenset({"version", "resource", "time-data", "segment", "part", "var-list", "table"})
"""Elements whose finished parts are of use even if their own end is missing."""

DEEPEST = 40
MOST_ELEMENTS = 100_000
MOST_TEXT = 8 << 20
LONGEST_TEXT = 1 << 16
LONGEST_TOKEN = 1 << 18
"""A single tag, comment or the like in bytes. The limits are far beyond what reports have in one interval."""
SLICE = 1 << 16


class XmlDamageError(Exception):
    """The document cannot be read any further."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


class MonitorThreeError(Exception):
    """The document is a Monitor III report."""


@dataclass(slots=True)
class Element:
    """An element with what is in it; its name in lower case."""

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """The elements of this name directly in it."""
        return (child for child in self.children if child.name == name)

    def at(self, *path: str) -> Element | None:
        """The first element at this path."""
        found: Element | None = self
        for name in path:
            found = next(found.all(name), None) if found else None
        return found

    def text_at(self, *path: str) -> str:
        """The text of the first element at this path; empty if there is none."""
        found = self.at(*path)
        return found.text if found else ""

    def below(self, name: str) -> Iterator[Element]:
        """The elements of this name at any depth, in order."""
        for child in self.children:
            if child.name == name:
                yield child
            else:
                yield from child.below(name)


class XmlTree:
    """Takes bytes and gives the units that are finished."""

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
        self._open: list[Element] = []
        self._unread = False
        """Whether the report that is open is one of those not kept."""
        self._elements = self._characters = 0
        self._units = 0
        self._unit_depth = 0
        self._closed = False
        self.finished: deque[Element] = deque()

    def feed(self, data: bytes) -> None:
        """Take the next bytes; raises XmlDamageError, after which `finished` and `unfinished` still hold."""
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
        """There are no more bytes."""
        if not self._closed:
            self._parse(b"", last=True)

    def unfinished(self) -> Element | None:
        """What was complete of the unit in which the document broke off."""
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
            problem = expat.ErrorString(error.code) or "it is no XML"
            raise XmlDamageError(problem, error.lineno + self._lines_before, error.offset + 1) from error
        except LookupError as error:
            raise self._damage(f"the encoding is not known ({error})") from error

    def _after_the_end(self, rest: bytes) -> None:
        """Padding of old file systems is no damage."""
        if rest.strip(b" \t\r\n\0\x1a"):
            raise self._damage("there is more behind the end of the document")

    def _damage(self, problem: str) -> XmlDamageError:
        return XmlDamageError(problem, self._line(), self._parser.CurrentColumnNumber + 1)

    def _line(self) -> int:
        return self._parser.CurrentLineNumber + self._lines_before

    def _doctype(self, *_: object) -> None:
        raise self._damage("a document type declaration is not accepted, as no report has one")

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

    def _element(self, name: str, attributes: dict[str, str]) -> Element:
        return Element(name, {key.lower(): value for key, value in attributes.items()}, self._line())

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
            raise self._damage("a text is far longer than reports have any")
        self._open[-1].text += data
