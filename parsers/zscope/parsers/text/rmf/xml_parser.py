"""Decode and parse an XML document in bounded memory, whatever its encoding, and continue after damage.

Characters that are not allowed are replaced. After tags that do not fit, the document continues at the next
row, table, part, segment or report; in a report with many damaged places, at the next report. A document can
be followed by others.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING
from xml.parsers import expat

from zscope.parsers.text.coding import (
    EBCDIC,
    XML_HEAD,
    XML_UTF_8,
    XmlCoding,
    from_ebcdic,
    xml_coding,
)
from zscope.parsers.text.rmf.xml_records import joined_records
from zscope.parsers.text.rmf.xml_tree import RESUMED, XmlLimitError, XmlNestingError, XmlTree, plain_name
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_TOKEN = 1 << 18
"""Length of a single tag or comment, far beyond those of any report."""
SLICE = 1 << 16
MOST_IN_REPORT = 100
"""After this many damaged places, the rest of a report is not read."""
MOST_DAMAGES = 500
"""After this many, the rest of a document is not read: each of them costs time."""

_REPORT = "postprocessor"
_BLANKS = " \t\r\n\x85"
_PADDING = _BLANKS + "\0\x1a\ufeff"
_REPLACEMENT = "\ufffd"
_NOT_ALLOWED = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\ufffd-\uffff\ud800-\udfff]+"
    "|&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)"
    r"|<\?(?=(?:(?!\?>)[^<])*<)"
    r"|<!--(?=(?:(?!-->)[\s\S]){0,5000}?<(?:ddsml|postprocessor)[\s>])"
)
"""Characters and references that no document without a document type can have, and instructions and comments
whose end is missing: a tag follows.
"""
_BAD_CHARACTER = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffd-\uffff\ud800-\udfff]")
_MARKS = ("&", "<?", "<!--")
"""With what all other places begin that are not allowed."""
_ESCAPED = {"&": "&amp;", "<": "&lt;"}
_BEGUN_REFERENCE = re.compile(r"&[^;\s<]{0,9}$")
_LONGEST_REFERENCE = 10
_RESUMED = re.compile(
    rf"<(?P<end>/?)(?:[\w.-]+:)?(?P<name>{'|'.join(RESUMED)})(?=[\s>/])", re.ASCII | re.IGNORECASE
)
_BETWEEN = re.compile(rf"(?:[{_PADDING}]|<\?[^<>]*\?>|<!--(?:(?!-->)[\s\S])*-->)*")
"""What can be between two documents that were concatenated."""
_BEGINS = re.compile(r"<(?:[\w.-]+:)?(?P<name>ddsml|postprocessor)(?=[\s>/])", re.ASCII | re.IGNORECASE)
_NEXT_REPORT = re.compile(rf"<(?P<end>)(?:[\w.-]+:)?(?P<name>{_REPORT})(?=[\s>/])", re.ASCII | re.IGNORECASE)


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
        for text in joined_records(texts):
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


class XmlDamageError(Error):
    """The document cannot be parsed any further."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


class _TagDamageError(Error):
    """A tag that does not fit, with its place while the parser knows it."""

    def __init__(self, at: int, damage: XmlDamageError) -> None:
        super().__init__(damage.problem)
        self.at, self.damage = at, damage


@dataclass(frozen=True, slots=True)
class XmlDamage:
    """A place that cannot be parsed; the document continues after it."""

    problem: str
    line: int
    column: int
    resumed: int
    """Line in which the document continues."""


class XmlParser:
    """Parses pieces of text; `tree` and `damages` stay valid after an XmlDamageError."""

    def __init__(self) -> None:
        self.tree = XmlTree(self._tag_line)
        self.damages: deque[XmlDamage] = deque()
        self._damage_count = 0
        self._count_before_report = 0
        """Damaged places before the current report."""
        self._line, self._column = 1, 1
        """Position of the next character of the file."""
        self._held = ""
        """A tag or a reference whose end has not been received yet."""
        self._begun = False
        self._searching: XmlDamageError | None = None
        """The damage after which a place to continue is searched."""
        self._begin_parser()

    @property
    def line(self) -> int:
        """The line of the file up to which the document is parsed."""
        return self._line

    def _begin_parser(self) -> None:
        """Begin a parser in which the elements of the path are open."""
        parser = self._parser = expat.ParserCreate("utf-8")
        opening = "".join(f"<{tag}>" for tag in self.tree.path)
        parser.Parse(opening.encode())
        self._fed = len(opening.encode())
        """Bytes that the parser has received."""
        self._first = self._line, self._column - self._fed
        """Position in the file of the first character that the parser received."""
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self.tree.end
        parser.CharacterDataHandler = self.tree.text
        parser.StartDoctypeDeclHandler = _refuse_doctype

    def feed(self, text: str) -> None:
        """Parse more text."""
        text, self._held = self._held + text, ""
        if not self._begun:
            bare = text.lstrip(_BLANKS)
            self._advance(text[: len(text) - len(bare)])
            self._begin_parser()
            text, self._begun = bare, bool(bare)
        begun = _begun_at(text)
        if begun < len(text):
            if len(text) - begun <= LONGEST_TOKEN:
                text, self._held = text[:begun], text[begun:]
            elif not _RESUMED.search(text, begun):
                raise self._damage(f"a tag or comment has more than {LONGEST_TOKEN:,} characters")
        while text:
            text = self._search(text) if self._searching else self._parse(text)

    def close(self) -> None:
        """Finish the document."""
        text, self._held = self._held, ""
        while text:
            text = self._search(text) if self._searching else self._parse(text)
        if self._searching:
            raise self._searching
        if not self.tree.closed:
            try:
                self._parser.Parse(b"", True)
            except expat.ExpatError as error:
                raise self._syntax_error(error) from error

    def _parse(self, text: str) -> str:
        """Parse the beginning of a text; return the rest."""
        if self.tree.closed:
            return self._after_end(text)
        invalid = _not_allowed(text)
        end = len(text) if invalid is None else invalid.start()
        for at in range(0, end, SLICE):
            following = min(at + SLICE, end)
            rest = self._expat(text[at:following])
            if rest or self._searching or self.tree.closed:
                return rest + text[following:]
        if invalid is None:
            return ""
        text = text[end:]
        first = text[0]
        if first in _ESCAPED:
            printed, instead, problem = first, _ESCAPED[first], f"{invalid[0]} is not allowed here"
        else:
            printed, instead = invalid[0], _REPLACEMENT * len(invalid[0])
            character = f"U+{ord(first):04X}"
            problem = f"character {character} is not allowed here"
            if len(printed) > 1:
                problem = f"{len(printed):,} characters are not allowed here, the first is {character}"
        if self._report_is_given_up():
            self._searching = XmlDamageError(problem, self._line, self._column)
            return text
        self._add_damage(XmlDamage(problem, self._line, self._column, self._line))
        self._expat(instead, printed)
        return text[len(printed) :]

    def _after_end(self, text: str) -> str:
        """Skip what can be between concatenated documents; return the text of the next one.

        After anything else, a place to continue is searched.
        """
        between = _BETWEEN.match(text)
        assert between is not None
        rest = text[between.end() :]
        self._advance(between[0])
        if not rest:
            return ""
        self.tree.closed = False
        begins = _BEGINS.match(rest)
        if begins is not None:
            self.tree.continue_at(begins["name"].lower(), end=False)
            self._begin_parser()
        else:
            problem = "there is more after the end of the document"
            self._searching = XmlDamageError(problem, self._line, self._column)
        return rest

    def _expat(self, text: str, printed: str | None = None) -> str:
        """Parse a text, which replaces what is printed; return the rest after damage."""
        data = text.encode()
        try:
            self._parser.Parse(data, False)
        except expat.ExpatError as error:
            at, damage = self._parser.ErrorByteIndex - self._fed, self._syntax_error(error)
        except _TagDamageError as error:
            at, damage = error.at - self._fed, error.damage
        except XmlLimitError as error:
            raise self._damage(str(error)) from error
        else:
            self._fed += len(data)
            self._advance(text if printed is None else printed)
            if self._fed - self._parser.CurrentByteIndex > LONGEST_TOKEN + SLICE:
                raise self._damage(f"a comment has more than {LONGEST_TOKEN:,} bytes")
            return ""
        at = max(0, at)
        if self.tree.closed and data[at - 1 : at] == b"<":
            at -= 1  # the place after it is reported
        if printed is None:
            self._advance(data[:at].decode("utf-8", "ignore"))
        if self.tree.closed:
            return data[at:].decode("utf-8", "ignore")
        self._searching = damage
        return "" if printed else data[at:].decode("utf-8", "ignore")

    def _search(self, text: str) -> str:
        """Return the text from the first tag on with which the document can continue."""
        damage, given_up = self._searching, self._report_is_given_up()
        for tag in (_NEXT_REPORT if given_up else _RESUMED).finditer(text):
            if damage and self.tree.continue_at(tag["name"].lower(), end=bool(tag["end"])):
                self._advance(text[: tag.start()])
                self._searching = None
                self._begin_parser()
                problem = damage.problem
                if given_up:
                    problem = f"{MOST_IN_REPORT} other places of the report are damaged, and here {problem}"
                self._add_damage(XmlDamage(problem, damage.line, damage.column, self._line))
                return text[tag.start() :]
        self._advance(text)
        return ""

    def _add_damage(self, damage: XmlDamage) -> None:
        self._damage_count += 1
        if self._damage_count > MOST_DAMAGES:
            raise XmlDamageError(f"more than {MOST_DAMAGES:,} places are damaged", damage.line, damage.column)
        self.damages.append(damage)

    def _report_is_given_up(self) -> bool:
        return self._damage_count - self._count_before_report >= MOST_IN_REPORT

    def _advance(self, text: str) -> None:
        ends = text.count("\n")
        self._line += ends
        self._column = len(text) - text.rfind("\n") if ends else self._column + len(text)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if plain_name(tag) == _REPORT:
            self._count_before_report = self._damage_count
        try:
            self.tree.start(tag, attributes)
        except XmlNestingError as error:
            raise _TagDamageError(self._parser.CurrentByteIndex, self._damage(str(error))) from error

    def _tag_line(self) -> int:
        return self._first[0] + self._parser.CurrentLineNumber - 1

    def _syntax_error(self, error: expat.ExpatError) -> XmlDamageError:
        problem = expat.ErrorString(error.code) or "it is not XML"
        return self._placed(problem, error.lineno, error.offset)

    def _damage(self, problem: str) -> XmlDamageError:
        return self._placed(problem, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber)

    def _placed(self, problem: str, line: int, column: int) -> XmlDamageError:
        """Return an error at this position of the parser."""
        first_line, first_column = self._first
        before = first_column if line == 1 else 1
        return XmlDamageError(problem, first_line + line - 1, max(1, before + column))


def _begun_at(text: str) -> int:
    """Return where a comment, a tag or a reference begins whose end has not been received yet, or the end."""
    comment, tag = text.find("<!--", text.rfind("-->") + 1), text.find("<", text.rfind(">") + 1)
    reference = _BEGUN_REFERENCE.search(text, max(0, len(text) - _LONGEST_REFERENCE))
    places = [place for place in (comment, tag, reference.start() if reference else -1) if place >= 0]
    return min(places, default=len(text))


def _not_allowed(text: str) -> re.Match[str] | None:
    """Return the first place that is not allowed; most pieces of a document have none, nor any reference."""
    if not any(mark in text for mark in _MARKS) and _BAD_CHARACTER.search(text) is None:
        return None
    return _NOT_ALLOWED.search(text)


def _refuse_doctype(*_: object) -> None:
    raise XmlLimitError("a document type declaration is not accepted: no report has one")
