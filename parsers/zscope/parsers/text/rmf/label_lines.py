"""Lines of labels and values, such as page headings and the description of the machine."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import pyparsing as pp

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 300
"""Print lines have 133 characters; much longer lines are not part of a report."""


class LabelledValue(NamedTuple):
    """A label and the value after it."""

    label: str
    """The known spelling, or else the printed one."""
    value: str
    known: bool
    label_column: int
    """Column of its first character, from 1."""
    column: int
    """Column of the first character of the value."""
    end: int
    """Column of the last character of the value; for the last value of a line, the end of the line."""

    @property
    def empty(self) -> bool:
        """Return whether there is no value."""
        return not self.value


class LabelLine(NamedTuple):
    """The contents of a line."""

    pairs: tuple[LabelledValue, ...]
    known: tuple[LabelledValue, ...]
    """The values with known labels."""
    rest: tuple[str, ...]
    """Texts that are neither label nor value."""


class LabelGrammar:
    """Grammar of lines with these labels.

    A value follows its label, after blanks or an equals sign, and ends at two blanks or the next known label.
    An unknown label is accepted only before two blanks or an equals sign.

    >>> LabelGrammar(["MODEL", "CHANGE REASON"]).read("MODEL      704    CHANGE REASON=NONE").pairs[1].value
    'NONE'
    """

    def __init__(self, labels: Iterable[str]) -> None:
        self._names = {_plain(label): label for label in labels}
        longest_first = sorted(self._names, key=len, reverse=True)
        any_label = _alternatives(longest_first)
        several_words = _alternatives([label for label in longest_first if " " in label])
        # A value may look like a short label, as a partition can be called CP; but no number follows it.
        is_label = rf"{several_words}|\S+=|{any_label}\s+\d"
        value = pp.Regex(rf"(?i:(?!{is_label})\S+(?: (?!{any_label})\S+)*)")
        # The name includes words that are labels themselves: DISPATCH INTERVAL is not INTERVAL.
        name = rf"(?i:(?!{any_label})[^\s=]+(?: [^\s=]+)*)"
        known = pp.Regex(rf"(?i:{any_label})") + pp.Suppress(pp.Opt("=")) + pp.Opt(_placed(value))
        other = pp.Regex(rf"{name}(?==|\s\s)") + pp.Suppress(pp.Opt("=")) + _placed(value)
        alone = pp.Regex(rf"{name}|\S+")
        known.set_parse_action(self._known_pair)
        other.set_parse_action(_other_pair)
        self._line = (known | other | alone)[...]
        self.read = lru_cache(maxsize=1024)(self._read)
        """Parses a line; cached, because pages repeat most lines."""

    def _read(self, text: str) -> LabelLine:
        if len(text) > LONGEST:
            return LabelLine((), (), (text,))
        result = self._line.parse_string(text)
        pairs = tuple(piece for piece in result if isinstance(piece, LabelledValue))
        return LabelLine(
            pairs,
            tuple(pair for pair in pairs if pair.known),
            tuple(piece for piece in result if isinstance(piece, str)),
        )

    def _known_pair(self, _: str, position: int, result: pp.ParseResults) -> LabelledValue:
        return _pair(self._names[_plain(result[0])], result[1:], position, len(result[0]), known=True)


def _other_pair(_: str, position: int, result: pp.ParseResults) -> LabelledValue:
    return _pair(result[0], result[1:], position, len(result[0]), known=False)


def _pair(
    label: str, placed: list[tuple[str, int]], start: int, length: int, *, known: bool
) -> LabelledValue:
    text, column = placed[0] if placed else ("", start + length + 1)
    return LabelledValue(label, text, known, start + 1, column, column + len(text) - 1)


def _placed(value: pp.ParserElement) -> pp.ParserElement:
    return value.copy().set_parse_action(lambda _, position, result: (result[0], position + 1))


def _plain(label: str) -> str:
    return " ".join(label.upper().split())


def _alternatives(labels: Iterable[str]) -> str:
    words = [r"\s+".join(map(re.escape, label.split())) for label in labels]
    return rf"(?:{'|'.join(words)})(?=\s|=|$)" if words else r"[^\s\S]"
