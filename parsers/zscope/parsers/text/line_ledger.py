"""The ledger of the lines of a text: for each line, what became of it.

The frame hands out every line. A line that becomes part of a report is owed by the grammar that reads the
report, until the grammar takes it: into a row, as furniture, or with an issue. What is still owed at the end
of the file was lost, and is reported.

JSON and XML have parts instead of lines: objects, and reports. All lines of a part have one use.
"""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class LineUse(IntEnum):
    """What became of a line. Of several uses the highest counts."""

    OUTSIDE = 0
    """Text that belongs to no report."""
    BLANK = 1
    OWED = 2
    """Part of a report, and not taken by its grammar."""
    FURNITURE = 3
    """Part of a report without data: titles, column headings, rules, prompts, ends."""
    NOT_SELECTED = 4
    """Part of a report of which no table is selected."""
    ROW = 5
    ISSUE = 6


_OWED = bytes.maketrans(bytes([LineUse.OUTSIDE]), bytes([LineUse.OWED]))


class LineLedger:
    """The uses of the lines of one text, by line number.

    >>> ledger = LineLedger()
    >>> for number, text in enumerate(("Name  Count", "A  1", "B  x"), 1):
    ...     ledger.hand_out(number, text)
    >>> ledger.owe([1, 2, 3])
    >>> ledger.take(2, LineUse.ROW)
    >>> list(ledger.owed())
    [(1, 1), (3, 3)]
    """

    def __init__(self) -> None:
        self._uses = bytearray(1)
        """One byte for each line; lines count from 1."""
        self._parts: list[tuple[int, int, LineUse]] = []
        """First and last line of parts with several lines, and the use that these have at first."""

    def hand_out(self, number: int, text: str) -> None:
        """Add the next line of the text."""
        blank = not text or text.isspace()
        if number == len(self._uses):
            self._uses.append(LineUse.BLANK if blank else LineUse.OUTSIDE)

    def hand_out_all(self, first: int, texts: Iterable[str]) -> None:
        """Add the next lines of the text, of which the first has this number."""
        if first == len(self._uses):
            self._uses += bytes(
                LineUse.OUTSIDE if text and not text.isspace() else LineUse.BLANK for text in texts
            )

    def owe(self, numbers: Sequence[int]) -> None:
        """Note that these lines are part of a report; blank ones are of no importance."""
        uses, first, last = self._uses, numbers[0], numbers[-1]
        if numbers == [*range(first, last + 1)]:
            uses[first : last + 1] = uses[first : last + 1].translate(_OWED)
            return
        for number in numbers:
            if number < len(uses) and uses[number] == LineUse.OUTSIDE:
                uses[number] = LineUse.OWED

    def take(self, number: int, use: LineUse) -> None:
        """Note the use of a line. Lines that were not handed out are ignored."""
        uses = self._uses
        if number < len(uses) and uses[number] < use:
            uses[number] = use

    def take_all(self, numbers: Iterable[int], use: LineUse) -> None:
        """Note the use of several lines."""
        for number in numbers:
            self.take(number, use)

    def hand_out_rows(self, first: int, count: int) -> None:
        """Add a stretch of rows that is part of a report, as one entry."""
        if first == len(self._uses):
            self._uses += bytes([LineUse.OWED]) * count

    def take_rows(self, first: int, last: int, use: LineUse) -> None:
        """Note the use of a stretch of rows, which nothing else has taken before."""
        rows = slice(first, min(last + 1, len(self._uses)))
        if self._uses[rows].strip(bytes([LineUse.OWED])):
            self.take_all(range(first, last + 1), use)
        else:
            self._uses[rows] = bytes([use]) * len(self._uses[rows])

    def hand_out_to(self, last: int) -> None:
        """Add the lines of a JSON or XML text up to this number, as what is around its parts."""
        if last >= len(self._uses):
            self._uses += bytes([LineUse.FURNITURE]) * (last + 1 - len(self._uses))

    def add_part(self, first: int, last: int, use: LineUse) -> None:
        """Add a part of a JSON or XML text: owed by a grammar, or outside of reports unless its lines are
        used.
        """
        for number in range(first, min(last + 1, len(self._uses))):
            if self._uses[number] == LineUse.FURNITURE or self._uses[number] < use:
                self._uses[number] = use
        if last > first:
            self._parts.append((first, last, use))

    def settle(self) -> None:
        """Give the lines of each part one use: the highest of an owed part. The lines around those of a
        captured text are furniture.
        """
        for first, last, use in self._parts:
            lines = self._uses[first : last + 1]
            if use is LineUse.OWED:
                self._uses[first : last + 1] = bytes([max(lines)]) * len(lines)
            elif any(lines):
                self._uses[first : last + 1] = lines.replace(
                    bytes([LineUse.OUTSIDE]), bytes([LineUse.FURNITURE])
                )
        self._parts.clear()

    def owed(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last number of each stretch of owed lines."""
        first = self._uses.find(LineUse.OWED)
        while first >= 0:
            last = first
            while last + 1 < len(self._uses) and self._uses[last + 1] == LineUse.OWED:
                last += 1
            yield first, last
            first = self._uses.find(LineUse.OWED, last + 1)

    def use_of(self, number: int) -> LineUse:
        """Return the use of a line so far."""
        return LineUse(self._uses[number])

    def counts(self) -> dict[LineUse, int]:
        """Return the number of lines by use; their sum is the number of lines of the text."""
        counted = Counter(self._uses[1:])
        return {use: counted[use] for use in LineUse}
