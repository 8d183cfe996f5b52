"""Lines of figures about cards: taken apart by what the headings ask for, and believed only as a whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.crypto_columns import FIGURE, decimals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line
    from zscope.parsers.text.rmf.crypto_columns import CryptoColumn

_CARD = re.compile(r"[A-Z][A-Z0-9]{2,7}", re.ASCII)
_CARD_ID = re.compile(r"[0-9A-F]{1,3}", re.ASCII)
_KEY = re.compile(r"\d{3,5}", re.ASCII)
_FUNCTION = re.compile(r"[A-Z][A-Z0-9-]{0,11}", re.ASCII)
_MOST_WORDS = 3
"""In the name of a function."""

Cells = list[tuple["CryptoColumn", str]]


class _Taken(NamedTuple):
    line: Line
    cells: Cells


class CardLines:
    """The lines below one line of column names."""

    def __init__(self, columns: Sequence[CryptoColumn]) -> None:
        self._forms = list(_forms(columns))
        self._taken: list[_Taken] = []

    @property
    def empty(self) -> bool:
        """Whether no line was taken."""
        return not self._taken

    def take(self, line: Line) -> bool:
        """Take a line that has what the headings ask for."""
        words = line.text.upper().split()
        for form in self._forms:
            if (cells := _fitted(form, words)) is not None:
                self._taken.append(_Taken(line, cells))
                return True
        return False

    def trusted(self, out: Out) -> Iterator[tuple[int, Cells]]:
        """The lines, without those that seem to have lost their last digits.

        Such a line ends with fewer decimals than its other figures of the kind have, or with fewer than
        another line and further left.
        """
        end = max((len(taken.line.text) for taken in self._taken), default=0)
        usual = max((_last_decimals(taken) for taken in self._taken), default=0)
        for taken in self._taken:
            shorter = len(taken.line.text) < end and -1 < _last_decimals(taken) < usual
            if shorter or last_is_shorter(_alike(taken)):
                text = f"the line {shown(taken.line.text)} seems to be cut off; it was left out"
                out.issue(Code.REPORT_CUT, text, taken.line.no, len(taken.line.text) + 1)
            else:
                yield taken.line.no, taken.cells


def last_is_shorter(figures: Sequence[str]) -> bool:
    """Whether the last of these figures has fewer decimals than every other one."""
    told = [count for count in map(decimals, figures[:-1]) if count >= 0]
    return bool(told) and -1 < decimals(figures[-1]) < min(told)


def _last_decimals(taken: _Taken) -> int:
    return decimals(taken.cells[-1][1])


def _alike(taken: _Taken) -> list[str]:
    last = taken.cells[-1][0].column
    return [text for column, text in taken.cells if column.column == last]


def _forms(columns: Sequence[CryptoColumn]) -> Iterator[Sequence[CryptoColumn]]:
    """What a line may consist of: the kind of card is printed once, a card once for all its functions."""
    yield columns
    if columns[0].column == "card_type_name":
        yield columns[1:]
    labels = [at for at, column in enumerate(columns) if column.label]
    if labels and labels[0] > 0:
        yield columns[labels[0] :]


def _fitted(form: Sequence[CryptoColumn], words: Sequence[str]) -> Cells | None:
    cells: Cells = []
    at = 0
    for column in form:
        many = _words_of(column, words[at : at + _MOST_WORDS])
        if not many:
            return None
        cells.append((column, " ".join(words[at : at + many])))
        at += many
    return cells if at == len(words) else None


def _words_of(column: CryptoColumn, words: Sequence[str]) -> int:
    """How many of the next words are the value of this column; none if the next is no such value."""
    if not words:
        return 0
    if column.label and column.heading == "FUNCTION":
        return next((at for at, word in enumerate(words) if not _FUNCTION.fullmatch(word)), len(words))
    kinds = {"card_type_name": _CARD, "card_id": _CARD_ID}
    kind = _KEY if column.label else kinds.get(column.column, FIGURE)
    return 1 if kind.fullmatch(words[0]) else 0
