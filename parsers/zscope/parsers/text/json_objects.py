"""The objects of a JSON text, whichever way they follow each other: in lists, one a line, one behind another.

A text is read in pieces, and only the object under way is kept: a list of any length takes no more memory
than its longest object. What is damaged is told, and reading goes on with the next object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NoReturn

from zscope.parsers.text.out import shown

LONGEST_OBJECT = 1 << 18
"""Characters; one sample or one record of statistics has a few thousand."""
MOST_NESTED = 16
"""Objects and lists in each other."""
_LONGEST_NUMBER = 40
"""Digits; no column has half as many."""

_OPENING = re.compile(r"[\s\ufeff\x1e]*(?:\{\s*[\"}]|\[[\s,\[]*(?:\{\s*[\"}]|\]))")
_SOMETHING = re.compile(r"[^\s,\[\]\x1e\ufeff]")
"""What is neither around objects nor between them."""
_TOKEN = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|["{}\[\]]')
"""A whole string, the beginning of one that does not end, or a bracket."""
_NEXT = re.compile(r"\n[ \t,\[]*(?=\{)")
_CLOSES = {"}": "{", "]": "["}
_MAY_STAND_BEFORE = {"{": ":", "[": "[,"}
"""By what an object is in: the character that must stand before its brace."""

Tell = Callable[[int, str], None]


def looks_like_json(opening: str) -> bool:
    """Whether a text that begins so holds JSON objects.

    >>> looks_like_json(' [ {"time": 0'), looks_like_json("[SYSA] netstat -c"), looks_like_json("{ x }")
    (True, False, False)
    """
    return _OPENING.match(opening) is not None


def json_objects(pieces: Iterable[str], tell: Tell) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object with the number of the line it begins in; `tell` hears of what is none, by line.

    >>> list(json_objects(['[{"a": 1},\\n {"b"', ': [2]}]'], print))
    [(1, {'a': 1}), (2, {'b': [2]})]
    >>> list(json_objects(['{"a": 1\\n{"b": 2}\\n'], print))
    1 the object is damaged; it is left out
    [(2, {'b': 2})]
    """
    scanner = _Scanner(tell)
    for piece in pieces:
        yield from scanner.feed(piece)
    scanner.close()


class _Where(Enum):
    BETWEEN = auto()
    INSIDE = auto()
    """An object under way, which is kept."""
    PASSING = auto()
    """An object that is too long or too deep: its brackets are counted to find its end."""
    LOST = auto()
    """Behind damage: an object begins again with a line that does."""


@dataclass(slots=True)
class _Scanner:
    tell: Tell
    _text: str = ""
    """What is not done with."""
    _at: int = 0
    _counted: int = 0
    """Up to where the lines of the text are counted."""
    _line: int = 1
    """At that place."""
    _where: _Where = _Where.BETWEEN
    _open: int = 0
    """Brackets of an object that is passed over."""
    _strayed: bool = False
    _found: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    def feed(self, piece: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Go on by some characters."""
        self._line = self._line_at(self._at)
        self._text, self._at, self._counted = self._text[self._at :] + piece, 0, 0
        step = {
            _Where.BETWEEN: self._between,
            _Where.INSIDE: self._inside,
            _Where.PASSING: self._passing,
            _Where.LOST: self._lost,
        }
        while step[self._where]():
            yield from self._found
            self._found.clear()

    def close(self) -> None:
        """There is no more."""
        if self._where is _Where.INSIDE:
            self.tell(self._line_at(self._at), "the text ends in the middle of an object; it is left out")

    def _line_at(self, place: int) -> int:
        self._line += self._text.count("\n", self._counted, place)
        self._counted = place
        return self._line

    def _between(self) -> bool:
        found = _SOMETHING.search(self._text, self._at)
        self._at = found.start() if found else len(self._text)
        if found is None:
            return False
        if found.group() != "{":
            self._stray()
        if self._at < len(self._text):
            self._where, self._strayed = _Where.INSIDE, False
        return True

    def _stray(self) -> None:
        """Told once up to the next object, in however many pieces it comes."""
        if not self._strayed:
            stray = self._text[self._at : self._at + 100].partition("\n")[0]
            self.tell(self._line_at(self._at), f"{shown(stray)} is no object; it is left out")
        self._strayed = True
        brace = self._text.find("{", self._at)
        self._at = brace if brace >= 0 else len(self._text)

    def _inside(self) -> bool:
        """From the brace of an object to its end."""
        within = list[str]()
        for token in _TOKEN.finditer(self._text, self._at):
            mark = token.group()
            if mark == '"':
                return self._in_string(token.start())
            if len(mark) == 1 and self._bracket(mark, token.start(), within):
                return True
        if len(self._text) - self._at > LONGEST_OBJECT:
            return self._too_long(len(self._text), len(within))
        return False

    def _bracket(self, mark: str, place: int, within: list[str]) -> bool:
        """A bracket of the object under way; returns whether that is over by it."""
        behind = place + 1
        if mark in _CLOSES:
            if within.pop() != _CLOSES[mark]:
                return self._damaged(behind)
            return not within and self._take(behind)
        if mark == "{" and within and self._before(place) not in _MAY_STAND_BEFORE[within[-1]]:
            # The end of the object is missing: this is the next one.
            return self._damaged(place, _Where.INSIDE)
        within.append(mark)
        if len(within) > MOST_NESTED:
            return self._pass(f"is nested deeper than {MOST_NESTED}", behind, len(within))
        return behind - self._at > LONGEST_OBJECT and self._too_long(behind, len(within))

    def _in_string(self, quote: int) -> bool:
        """At a string that does not end here."""
        if self._text.find("\n", quote) >= 0:
            return self._damaged(quote)
        if len(self._text) - self._at > LONGEST_OBJECT:
            return self._pass(f"is longer than {LONGEST_OBJECT:,} characters", quote, 0, _Where.LOST)
        return False

    def _before(self, place: int) -> str:
        while place and self._text[place - 1].isspace():
            place -= 1
        return self._text[place - 1 : place] or " "

    def _take(self, end: int) -> bool:
        line, text = self._line_at(self._at), self._text[self._at : end]
        self._at, self._where = end, _Where.BETWEEN
        if len(text) > LONGEST_OBJECT:
            self.tell(line, f"the object is longer than {LONGEST_OBJECT:,} characters; it is left out")
            return True
        try:
            found = json.loads(text, parse_int=_whole_number, parse_constant=_refuse, strict=False)
            if "\\ud" in text.lower():
                # Half of a character is no text that can be kept.
                json.dumps(found, ensure_ascii=False).encode()
        except ValueError:
            self.tell(line, "the object is damaged; it is left out")
            return True
        self._found.append((line, found))
        return True

    def _damaged(self, go_on_at: int, where: _Where = _Where.LOST) -> bool:
        self.tell(self._line_at(self._at), "the object is damaged; it is left out")
        self._at, self._where = go_on_at, where
        return True

    def _too_long(self, go_on_at: int, within: int) -> bool:
        return self._pass(f"is longer than {LONGEST_OBJECT:,} characters", go_on_at, within)

    def _pass(self, problem: str, go_on_at: int, within: int, where: _Where = _Where.PASSING) -> bool:
        self.tell(self._line_at(self._at), f"the object {problem}; it is left out")
        self._at, self._open, self._where = go_on_at, within, where
        return True

    def _passing(self) -> bool:
        for token in _TOKEN.finditer(self._text, self._at):
            mark = token.group()
            self._at = token.end()
            if mark == '"':
                return self._passing_string(token.start())
            if len(mark) == 1:
                self._open += -1 if mark in _CLOSES else 1
            if not self._open:
                self._where = _Where.BETWEEN
                return True
        self._at = len(self._text)
        return False

    def _passing_string(self, quote: int) -> bool:
        self._at = quote
        if self._text.find("\n", quote) < 0 and len(self._text) - quote <= LONGEST_OBJECT:
            return False
        self._where = _Where.LOST
        return True

    def _lost(self) -> bool:
        if found := _NEXT.search(self._text, self._at):
            self._at, self._where = found.end(), _Where.INSIDE
            return True
        last = self._text.rfind("\n", self._at)
        if last < 0 or self._text[last:].strip("\n \t,["):
            self._at = len(self._text)
            return False
        # An object can still begin in the last line; of that nothing but its beginning is kept.
        self._line_at(last)
        self._text, self._at, self._counted = "\n", 0, 0
        return False


def _whole_number(digits: str) -> int | str:
    """Python makes no numbers of thousands of digits; whose column it is can tell what is wrong with it."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def _refuse(word: str) -> NoReturn:
    """For NaN and infinity, which are no JSON."""
    raise ValueError(word)
