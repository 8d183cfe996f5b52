"""Lines of labels and values: page headings, the machine's data, what a report says of the own partition."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import pyparsing as pp

LONGEST = 300
"""Print lines have 133 characters; what is far longer is no line of a report."""


class Pair(NamedTuple):
    """A label and the value behind it."""

    label: str
    """As it is known, or else as it is printed."""
    value: str
    known: bool
    label_column: int
    """Where the label begins, counted from 1."""
    column: int
    """Where the value begins."""
    end: int
    """Where the value ends; the end of the line is the end of its last value."""

    @property
    def empty(self) -> bool:
        """Whether there is a label only."""
        return not self.value


class LabelLine(NamedTuple):
    """What a line says."""

    pairs: tuple[Pair, ...]
    rest: tuple[str, ...]
    """Pieces that are neither label nor value."""

    @property
    def known(self) -> tuple[Pair, ...]:
        """The pairs with a label that is known."""
        return tuple(pair for pair in self.pairs if pair.known)


class LabelLines:
    """Grammar of lines with these labels.

    A value stands behind its label, with blanks or an equals sign between them, and goes on to two blanks
    or the next known label. An unknown label is believed where two blanks or an equals sign follow it.

    >>> LabelLines(["MODEL", "CHANGE REASON"]).read("MODEL      704    CHANGE REASON=NONE").pairs[1].value
    'NONE'
    """

    def __init__(self, labels: Iterable[str]) -> None:
        self._names = {_plain(label): label for label in labels}
        longest_first = sorted(self._names, key=len, reverse=True)
        any_label = _alternatives(longest_first)
        several_words = _alternatives([label for label in longest_first if " " in label])
        # A value may look like a short label, as a partition can have the name CP; but no number follows it.
        is_label = rf"{several_words}|\S+=|{any_label}\s+\d"
        value = pp.Regex(rf"(?i:(?!{is_label})\S+(?: (?!{any_label})\S+)*)")
        # It goes on over words that are labels by themselves: DISPATCH INTERVAL is no INTERVAL.
        name = rf"(?i:(?!{any_label})[^\s=]+(?: [^\s=]+)*)"
        known = pp.Regex(rf"(?i:{any_label})") + pp.Suppress(pp.Opt("=")) + pp.Opt(_placed(value))
        other = pp.Regex(rf"{name}(?==|\s\s)") + pp.Suppress(pp.Opt("=")) + _placed(value)
        alone = pp.Regex(rf"{name}|\S+")
        known.set_parse_action(self._known_pair)
        other.set_parse_action(_other_pair)
        self._line = (known | other | alone)[...]
        self.read = lru_cache(maxsize=1024)(self._read)
        """What a line says; pages repeat most of them letter by letter."""

    def _read(self, text: str) -> LabelLine:
        if len(text) > LONGEST:
            return LabelLine((), (text,))
        found = self._line.parse_string(text)
        return LabelLine(
            tuple(piece for piece in found if isinstance(piece, Pair)),
            tuple(piece for piece in found if isinstance(piece, str)),
        )

    def _known_pair(self, _: str, at: int, found: pp.ParseResults) -> Pair:
        return _pair(self._names[_plain(found[0])], found[1:], at, len(found[0]), known=True)


def _other_pair(_: str, at: int, found: pp.ParseResults) -> Pair:
    return _pair(found[0], found[1:], at, len(found[0]), known=False)


def _pair(label: str, placed: list[tuple[str, int]], at: int, length: int, *, known: bool) -> Pair:
    text, column = placed[0] if placed else ("", at + length + 1)
    return Pair(label, text, known, at + 1, column, column + len(text) - 1)


def _placed(value: pp.ParserElement) -> pp.ParserElement:
    return value.copy().set_parse_action(lambda _, at, found: (found[0], at + 1))


def _plain(label: str) -> str:
    return " ".join(label.upper().split())


def _alternatives(labels: Iterable[str]) -> str:
    words = [r"\s+".join(map(re.escape, label.split())) for label in labels]
    return rf"(?:{'|'.join(words)})(?=\s|=|$)" if words else r"[^\s\S]"
