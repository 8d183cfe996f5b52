"""Lines of labels and values, such as `DevNum: 4A00      ActDevNum: 4A02`, and rows made of them.

Nothing here depends on columns: releases move them, and tools lose blanks. A label ends with its first colon,
a value with two blanks before the next label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pyparsing as pp

from zscope.parsers.issues import Code
from zscope.parsers.text.out import shown

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out


class Pair(NamedTuple):
    """A label with its value, both as printed."""

    label: str
    """Empty for text at the start of a line that no label belongs to."""
    value: str
    """Empty where nothing stands behind the label."""


# Possessive throughout: no line, however long, makes them go back.
_NAME = r"[A-Za-z][^ :=]*+(?: [^ :=]++)*+"
_LABEL = rf"{_NAME}:(?![^ ])"
_WORDS = r"[^ ]++(?: [^ ]++)*+"
_VALUE = rf"(?:(?<=:) (?=[^ ])| ++(?!{_LABEL})){_WORDS}(?: ++(?!{_LABEL}){_WORDS})*+"
"""After one blank behind a colon comes the value, whatever it looks like; after more it may be a label."""


def _part(pattern: str) -> pp.ParserElement:
    return pp.Regex(pattern, as_match=True).set_whitespace_chars(" ").set_parse_action(_pair)


def _pair(parts: pp.ParseResults) -> Pair:
    found = parts[0]
    return Pair(found["label"].rstrip(), (found["value"] or "").strip())


_EQUATION = _part(rf"(?P<label>{_NAME} *)=(?P<value>(?![^ ])[^\n]*+)")
_LABELLED = _part(rf"(?P<label>{_NAME}):(?![^ ])(?P<value>{_VALUE})?")
_LOOSE = _part(rf"(?P<label>)(?P<value>{_WORDS}(?: ++(?!{_LABEL}){_WORDS})*+)")
_LINE = _EQUATION | pp.Opt(~_LABELLED + _LOOSE) + _LABELLED[...]
_DOUBTFUL = re.compile(r"(?<![^ ])[A-Za-z][^ :]*:(?![^ ])|  ")


def pairs_of(text: str) -> list[Pair]:
    """The labels of a line with their values; `label = value` counts as well.

    >>> pairs_of("  DevNum: 4A00   DevStatus: Not Active")
    [Pair(label='DevNum', value='4A00'), Pair(label='DevStatus', value='Not Active')]
    >>> pairs_of("  Inbound Packets   = 12"), pairs_of("  0029 x25519")
    ([Pair(label='Inbound Packets', value='12')], [Pair(label='', value='0029 x25519')])
    """
    return list(_LINE.parse_string(text))


def spreader(labels: Iterable[str]) -> Callable[[str], str]:
    """A function that puts two blanks before each of these labels where only one is left.

    >>> spreader(["Code Level"])("TRLE: X Code Level: 7")
    'TRLE: X  Code Level: 7'
    """
    known = "|".join(sorted((re.escape(label) for label in labels), key=len, reverse=True))
    squeezed = re.compile(rf"(?<=[^ ]) (?=(?:{known}):(?![^ ]))", re.IGNORECASE)
    return lambda text: squeezed.sub("  ", text)


def doubtful(value: str) -> bool:
    """Whether a value may have swallowed the next label, or text that belongs to another one.

    >>> doubtful("NO PnetID: PRODNET1"), doubtful("EQENET     Status Ready"), doubtful("Not Active")
    (True, True, False)
    """
    return _DOUBTFUL.search(value) is not None


@dataclass(slots=True)
class Entry:
    """One row in the making: printed texts by column, and all that has no column."""

    table: str
    line: int
    """Where it begins."""
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    extra: dict[str, list[str]] = field(default_factory=dict)

    def put(self, column: str, value: str | None, line: int) -> None:
        """Set a column."""
        self.values[column] = value
        self.lines[column] = line

    def keep(self, label: str, value: str) -> None:
        """Keep what has no column; values of a label that comes again are put side by side."""
        self.extra.setdefault(label, []).append(value)

    def take(self, out: Out, column: str, pair: Pair, line: int) -> None:
        """Set a column from a pair, unless the value has swallowed something that is not its own."""
        if doubtful(pair.value):
            self.refuse(out, pair, line, "seems to have more in it than its value")
        else:
            self.put(column, pair.value, line)

    def refuse(self, out: Out, pair: Pair, line: int, why: str) -> None:
        """Keep a value that cannot be trusted, but not in the column that its label has, and say so."""
        self.keep(*pair)
        problem = f"{shown(pair.value)} {why}; the column is null"
        out.issue(Code.BAD_VALUE, problem, line, field=pair.label, table=self.table)

    def write(self, out: Out) -> None:
        """Make the row."""
        extra = {label: ", ".join(values) for label, values in self.extra.items()}
        out.row(self.table, self.line, self.values, extra, self.lines)
