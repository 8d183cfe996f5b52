"""Read the objects of a JSON text, in lists or one after another.

The text is read in pieces and only the current object is in memory, so a list can have any length. A damaged
object becomes an issue, and reading continues with the next object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NoReturn

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.coding import read_pieces
from zscope.parsers.text.families import families
from zscope.parsers.text.json_envelopes import (
    MOST_NESTED,
    CapturedText,
    JsonAnswers,
    ProblemReporter,
    may_be_envelope,
    whole_number,
)
from zscope.parsers.text.line_ledger import LineUse
from zscope.parsers.text.report_rows import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.streams import ByteSource
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.coding import Coding
    from zscope.parsers.text.file_defaults import FileDefaults
    from zscope.parsers.text.report_rows import FileRows


LONGEST_OBJECT = 1 << 18
"""In characters; a sample or a record of statistics has a few thousand."""
LONGEST_ANSWER = 1 << 25
"""The same for an object with the answer to a command, which can contain a display of 65,533 lines twice."""

_OPENING = re.compile(r"[\s\ufeff\x1e]*(?:\{\s*[\"}]|\[[\s,\[]*(?:\{\s*[\"}]|\]))")
_STRAY = re.compile(r"[^\s,\[\]\x1e\ufeff]")
"""A character that cannot be between objects."""
_TOKEN = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|["{}\[\]]')
"""A complete string, the beginning of one without an end, or a bracket."""
_IN_STRING = re.compile(r'["\n]|\\.')
"""What ends a string or makes it invalid, or a character that does neither."""
_NEXT = re.compile(r"\n[ \t,\[]*(?=\{)")
_CLOSES = {"}": "{", "]": "["}
_BEFORE_BRACE = {"{": ":", "[": "[,"}
"""The character that must be before the brace of an object, by the bracket around it."""
_BEFORE_ANY_BRACE = "".join(_BEFORE_BRACE.values())


def looks_like_json(opening: str) -> bool:
    """Return whether a text that begins like this contains JSON objects.

    >>> looks_like_json(' [ {"time": 0'), looks_like_json("[SYSA] netstat -c"), looks_like_json("{ x }")
    (True, False, False)
    """
    return _OPENING.match(opening) is not None


def json_objects(
    pieces: Iterable[str], report_problem: ProblemReporter
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with the line it begins in; `report_problem` receives line and text of each problem.

    >>> list(json_objects(['[{"a": 1},\\n {"b"', ': [2]}]'], print))
    [(1, {'a': 1}), (2, {'b': [2]})]
    >>> list(json_objects(['{"a": 1\\n{"b": 2}\\n'], print))
    1 the object is damaged; it is skipped
    [(2, {'b': 2})]
    """
    for line, value, _ in placed_objects(pieces, report_problem):
        yield line, value


def placed_objects(
    pieces: Iterable[str], report_problem: ProblemReporter
) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Yield each object with the line it begins in and its text."""
    scanner = _ObjectScanner(report_problem)
    for piece in pieces:
        yield from scanner.feed(piece)
    scanner.close()


class _State(Enum):
    BETWEEN = auto()
    IN_OBJECT = auto()
    """In an object that is being collected."""
    SKIPPING = auto()
    """In an object that is too long or too deep: brackets are counted to find its end."""
    RESYNC = auto()
    """After damage: the next object begins at the start of a line."""


@dataclass(slots=True)
class _ObjectScanner:
    report_problem: ProblemReporter
    _text: str = ""
    """The text that is not processed yet."""
    _before: str = " "
    """The last character before it that is not blank."""
    _position: int = 0
    _counted: int = 0
    """Position up to which lines are counted."""
    _line: int = 1
    """Line number of that position."""
    _state: _State = _State.BETWEEN
    _scanned: int = 0
    """Position up to which the current object is scanned."""
    _brackets: list[str] = field(default_factory=list)
    """Open brackets of the current object."""
    _is_in_string: bool = False
    """Whether the scanned part ends in a string."""
    _may_be_answer: bool | None = None
    """Whether the current object may be the answer to a command; None until that matters."""
    _open_brackets: int = 0
    """Open brackets of an object that is skipped."""
    _stray_reported: bool = False
    _objects: list[tuple[int, dict[str, Any], str]] = field(default_factory=list)

    def feed(self, piece: str) -> Iterator[tuple[int, dict[str, Any], str]]:
        """Process another piece of the text."""
        self._line = self._line_at(self._position)
        self._scanned -= self._position
        self._before = self._text[: self._position].rstrip()[-1:] or self._before
        self._text, self._position, self._counted = self._text[self._position :] + piece, 0, 0
        step = {
            _State.BETWEEN: self._find_object,
            _State.IN_OBJECT: self._scan_object,
            _State.SKIPPING: self._skip_object,
            _State.RESYNC: self._resync,
        }
        while step[self._state]():
            yield from self._objects
            self._objects.clear()

    def close(self) -> None:
        """Finish the text."""
        if self._state is _State.IN_OBJECT:
            self.report_problem(
                self._line_at(self._position), "the text ends inside an object; it is skipped"
            )
        if self._state is _State.SKIPPING:
            problem = "the text ends inside the skipped object before; the objects between are not read"
            self.report_problem(self._line_at(self._position), problem)

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _find_object(self) -> bool:
        match = _STRAY.search(self._text, self._position)
        self._position = match.start() if match else len(self._text)
        if match is None:
            return False
        if match.group() != "{":
            self._report_stray()
        if self._position < len(self._text):
            self._stray_reported = False
            self._begin_object(self._position)
        return True

    def _report_stray(self) -> None:
        """Report text that is not an object, once before the next object."""
        if not self._stray_reported:
            stray = self._text[self._position : self._position + 100].partition("\n")[0]
            self.report_problem(
                self._line_at(self._position), f"{quoted(stray)} is not an object; it is skipped"
            )
        self._stray_reported = True
        brace = self._text.find("{", self._position)
        self._position = brace if brace >= 0 else len(self._text)

    def _begin_object(self, position: int) -> None:
        """Scan an object from its brace on."""
        self._state, self._position, self._scanned = _State.IN_OBJECT, position, position
        self._brackets.clear()
        self._is_in_string, self._may_be_answer = False, None

    def _scan_object(self) -> bool:
        """Scan an object to its end, or as far as it is read: the next call goes on from there."""
        if self._is_in_string and not self._ends_string():
            return self._in_string()
        for token in _TOKEN.finditer(self._text, self._scanned):
            mark = token.group()
            self._scanned = token.end()
            if mark == '"':
                self._is_in_string = True
                self._ends_string()
                return self._in_string()
            if len(mark) == 1 and self._bracket(mark, token.start()):
                return True
        self._scanned = len(self._text)
        if self._is_too_long(len(self._text)):
            return self._too_long(len(self._text), len(self._brackets))
        return False

    def _ends_string(self) -> bool:
        """Go on to the end of a string, or as far as it is read; return whether it ends."""
        for match in _IN_STRING.finditer(self._text, self._scanned):
            if match[0] == "\n":
                self._scanned = match.start()
                return False
            self._scanned = match.end()
            if match[0] == '"':
                self._is_in_string = False
                return True
        if self._scanned < len(self._text):
            # The character after a backslash is in the next piece.
            self._scanned = len(self._text) - self._text.endswith("\\")
        return False

    def _is_too_long(self, end: int) -> bool:
        """Return whether the object is too long if it reaches this position; the answer to a command may be
        longer than others.
        """
        length = end - self._position
        if length <= LONGEST_OBJECT:
            return False
        if self._may_be_answer is None:
            self._may_be_answer = may_be_envelope(
                self._text[self._position : self._position + LONGEST_OBJECT]
            )
        return length > LONGEST_ANSWER or not self._may_be_answer

    def _bracket(self, mark: str, position: int) -> bool:
        """Process a bracket of the current object; return whether the object ends here."""
        after, brackets = position + 1, self._brackets
        if mark in _CLOSES:
            if brackets.pop() != _CLOSES[mark]:
                return self._damaged(after)
            return not brackets and self._finish_object(after)
        if mark == "{" and brackets and self._character_before(position) not in _BEFORE_BRACE[brackets[-1]]:
            # The end of the object is missing: this is the next object.
            return self._damaged(position, _State.IN_OBJECT)
        brackets.append(mark)
        if len(brackets) > MOST_NESTED:
            return self._skip(f"is nested deeper than {MOST_NESTED}", after, len(brackets))
        return self._is_too_long(after) and self._too_long(after, len(brackets))

    def _in_string(self) -> bool:
        """Process a string that does not end in the text read so far."""
        if self._text.startswith("\n", self._scanned):
            return self._damaged(self._scanned)
        if self._is_too_long(len(self._text)):
            problem = f"is longer than {LONGEST_OBJECT:,} characters"
            return self._skip(problem, len(self._text), 0, _State.RESYNC)
        return False

    def _character_before(self, position: int) -> str:
        while position and self._text[position - 1].isspace():
            position -= 1
        return self._text[position - 1 : position] or self._before

    def _finish_object(self, end: int) -> bool:
        line, text = self._line_at(self._position), self._text[self._position : end]
        too_long = self._is_too_long(end)
        self._position, self._state = end, _State.BETWEEN
        if too_long:
            self.report_problem(
                line, f"the object is longer than {LONGEST_OBJECT:,} characters; it is skipped"
            )
            return True
        try:
            value = json.loads(text, parse_int=whole_number, parse_constant=_refuse, strict=False)
            if "\\ud" in text.lower():
                # A single surrogate cannot be stored as text.
                json.dumps(value, ensure_ascii=False).encode()
        except ValueError:
            self.report_problem(line, "the object is damaged; it is skipped")
            return True
        self._objects.append((line, value, text))
        return True

    def _damaged(self, continue_at: int, state: _State = _State.RESYNC) -> bool:
        self.report_problem(self._line_at(self._position), "the object is damaged; it is skipped")
        if state is _State.IN_OBJECT:
            self._begin_object(continue_at)
        else:
            self._position, self._state = continue_at, state
        return True

    def _too_long(self, continue_at: int, brackets: int) -> bool:
        return self._skip(f"is longer than {LONGEST_OBJECT:,} characters", continue_at, brackets)

    def _skip(self, problem: str, continue_at: int, brackets: int, state: _State = _State.SKIPPING) -> bool:
        self.report_problem(self._line_at(self._position), f"the object {problem}; it is skipped")
        self._position, self._open_brackets, self._state = continue_at, brackets, state
        return True

    def _skip_object(self) -> bool:
        for token in _TOKEN.finditer(self._text, self._position):
            mark = token.group()
            self._position = token.end()
            if mark == '"':
                return self._skip_string(token.start())
            if mark == "{" and self._character_before(token.start()) not in _BEFORE_ANY_BRACE:
                # The end of the skipped object is missing: this is the next object.
                self._begin_object(token.start())
                return True
            if len(mark) == 1:
                self._open_brackets += -1 if mark in _CLOSES else 1
            if not self._open_brackets:
                self._state = _State.BETWEEN
                return True
        self._position = len(self._text)
        return False

    def _skip_string(self, quote: int) -> bool:
        self._position = quote
        if self._text.find("\n", quote) < 0 and len(self._text) - quote <= LONGEST_OBJECT:
            return False
        self._state = _State.RESYNC
        return True

    def _resync(self) -> bool:
        if match := _NEXT.search(self._text, self._position):
            self._begin_object(match.end())
            return True
        last = self._text.rfind("\n", self._position)
        if last < 0 or self._text[last:].strip("\n \t,["):
            self._position = len(self._text)
            return False
        # An object can begin in the last line; only the start of that line is needed.
        self._line_at(last)
        self._text, self._position, self._counted = "\n", 0, 0
        return False


def _refuse(word: str) -> NoReturn:
    """Reject NaN and infinity, which JSON does not have."""
    raise ValueError(word)


TELL_EVERY = 10_000
"""Objects between two progress reports."""
_MOST_PENDING = 1_000


class JsonObjectReader:
    """Reads the objects of one JSON file."""

    def __init__(self, sheet: FileRows, options: ReadOptions, known: FileDefaults, *, pending: bool) -> None:
        self._sheet = sheet
        origin = known.complete(Origin(ReportSource.JSON))
        self._grammars = [
            family.object_grammar(sheet, options, origin) for family in families() if family.object_grammar
        ]
        self._pending: list[Issue] | None = [] if pending else None
        """Issues of a file in a folder that may not be a report file at all: they count only once an object
        is read.
        """
        self._answers = JsonAnswers(self._report_problem)
        self._others = 0
        self._first_other = 0
        self._damaged = 0
        """The line of the first damage after the last object; 0 if there is none."""
        self._lines = 1
        self._bytes = 0

    def read(self, stream: ByteSource, coding: Coding) -> Iterator[tuple[int, int]]:
        """Read the file; yield the numbers of lines and bytes read so far from time to time."""
        for number, (line, value, text) in enumerate(
            placed_objects(self._pieces(stream, coding), self._report_damage), 1
        ):
            self._sheet.ledger.hand_out_to(self._lines)
            self._skip_damaged(line)
            use = LineUse.OUTSIDE
            if any(grammar.take(line, value) for grammar in self._grammars):
                use = LineUse.OWED
                self._report_pending()
            elif self._answers.take(line, text):
                self._report_pending()
            else:
                self._others += 1
                self._first_other = self._first_other or line
            self._sheet.ledger.add_part(line, line + text.count("\n"), use)
            if number % TELL_EVERY == 0:
                yield self._lines, self._bytes
        self._sheet.ledger.hand_out_to(self._lines)
        self._skip_damaged(self._lines + 1)
        for grammar in self._grammars:
            grammar.finish()
        if self._others and (self._sheet.reports or self._sheet.issue_count):
            self._report_others()
        yield self._lines, self._bytes

    def captured_texts(self) -> list[CapturedText]:
        """Return the texts of commands in the objects, after all were read."""
        return self._answers.texts()

    def _pieces(self, stream: ByteSource, coding: Coding) -> Iterator[str]:
        for piece in read_pieces(stream, coding):
            self._lines += piece.count("\n")
            self._bytes += len(piece)
            yield piece

    def _report_damage(self, line: int, text: str) -> None:
        self._damaged = self._damaged or line
        self._report_problem(line, text)

    def _skip_damaged(self, end: int) -> None:
        """Note that an issue says of the lines from the last damage up to this one that they are skipped."""
        if self._damaged:
            self._sheet.ledger.take_all(range(self._damaged, end), LineUse.ISSUE)
        self._damaged = 0

    def _report_problem(self, line: int, text: str) -> None:
        issue = Issue(Code.UNKNOWN_LINE, text, self._sheet.file, line_no=line)
        if self._pending is None:
            self._sheet.add_issue(issue)
        elif len(self._pending) < _MOST_PENDING:
            self._pending.append(issue)

    def _report_pending(self) -> None:
        pending, self._pending = self._pending or (), None
        for issue in pending:
            self._sheet.add_issue(issue)

    def _report_others(self) -> None:
        have = "1 object has" if self._others == 1 else f"{self._others:,} objects have"
        text = f"from this line on, {have} keys that match no table; skipped"
        self._sheet.add_issue(Issue(Code.UNKNOWN_LINE, text, self._sheet.file, line_no=self._first_other))
