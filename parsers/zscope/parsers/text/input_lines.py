"""The lines of one text file, numbered and counted, of which rows of a table can be taken in stretches."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import Line, RowStretch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zscope.parsers.inputs import FileSummary
    from zscope.parsers.text.line_ledger import LineLedger
    from zscope.parsers.text.report_family import PlainRow

PROGRESS_LINES = 10_000
"""Lines between two progress reports."""
BEGIN_LINES = 2
"""So many lines are the begin of a text."""


class InputLines:
    """Yields the lines of a text, and notes each in the ledger and in the summary of the file."""

    def __init__(
        self,
        parts: Iterable[list[str]],
        ledger: LineLedger,
        summary: FileSummary,
        report_progress: Callable[[], None],
    ) -> None:
        self.first_line = ""
        """The first line that is not empty."""
        self.begin: list[tuple[int, str]] = []
        """Numbers and texts of the first lines that are not empty."""
        self.last_line: tuple[int, str] = (0, "")
        """Number and text of the last line that is not empty."""
        self.line_before = ""
        """The line that is not empty before that."""
        self._parts = iter(parts)
        self._part: list[str] = []
        self._at = 0
        self._ledger = ledger
        self._summary = summary
        self._report_progress = report_progress

    def __iter__(self) -> InputLines:
        """Return the lines themselves."""
        return self

    def __next__(self) -> Line:
        """Return the next line."""
        while self._at == len(self._part):
            self._part, self._at = next(self._parts), 0
        text = self._part[self._at]
        self._at += 1
        self._count(1, len(text))
        number = self._summary.lines
        self._ledger.hand_out(number, text)
        if text and not text.isspace():
            self.first_line = self.first_line or text.strip()
            self.line_before = self.last_line[1]
            self.last_line = number, text
            if len(self.begin) < BEGIN_LINES:
                self.begin.append((number, text))
        return Line(number, text)

    def take_rows(self, form: PlainRow) -> RowStretch | None:
        """Return the next rows of this form that were read from the file; None if there is none."""
        lines = iter(self._part[self._at :])
        candidates = map("\n".join, zip(*[lines] * form.lines, strict=False))
        rows = list(takewhile(form.pattern.fullmatch, candidates))
        if not rows:
            return None
        first, count = self._summary.lines + 1, len(rows) * form.lines
        self._at += count
        text = "\n".join(rows)
        self._count(count, len(text) - count + 1)
        self._ledger.hand_out_rows(first, count)
        *_, before, last = self.last_line[1], *"\n".join(rows[-2:]).split("\n")
        self.line_before, self.last_line = before, (self._summary.lines, last)
        return RowStretch(first, text)

    def take_lines(self, is_taken: Callable[[str], bool], most: int) -> list[Line]:
        """Return the next lines for which this is true, as far as they were read from the file."""
        if len(self.begin) < BEGIN_LINES:
            return []
        texts = list(takewhile(is_taken, self._part[self._at : self._at + most]))
        first = self._summary.lines + 1
        self._at += len(texts)
        self._count(len(texts), sum(map(len, texts)))
        self._ledger.hand_out_all(first, texts)
        lines = [Line(number, text.rstrip()) for number, text in enumerate(texts, first)]
        for line in [line for line in lines if line.text][-2:]:
            self.line_before, self.last_line = self.last_line[1], (line.no, texts[line.no - first])
        return lines

    def _count(self, lines: int, characters: int) -> None:
        """Add lines of this length, each with its end."""
        summary = self._summary
        reported = summary.lines // PROGRESS_LINES
        if (summary.lines + lines) // PROGRESS_LINES > reported:
            self._report_progress()
        summary.lines += lines
        summary.bytes += characters + lines
