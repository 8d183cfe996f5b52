"""The interruption of a report by a prompt, by a message of another program, or by lines without a prefix.

The lines since then belong to the report if it goes on. No program prints a prompt inside a report, so a
report that goes on after one is reported: the heading of another one may be missing there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.text.console_lines import is_prompt
from zscope.parsers.text.headings import goes_on
from zscope.parsers.text.report_rows import quoted

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_family import ProblemReporter, ReportFamily

_MOST_PENDING = 1_000


@dataclass(slots=True)
class Interruption:
    """Whether a report is interrupted, and the lines since then."""

    report_problem: ProblemReporter
    """Receives line and text of each problem."""
    is_open: bool = False
    _prompt: Line | None = None
    """The first prompt since the report went on last."""
    _pending: list[Line] = field(default_factory=list)
    _without_prefix: list[Line] = field(default_factory=list)
    """The lines that lack the prefix of the others."""

    def begin(self, line: Line | None = None) -> None:
        """Interrupt the report at a line, or at one that is read elsewhere."""
        self.is_open = True
        if line is not None and self._prompt is None and is_prompt(line.text):
            self._prompt = line

    def begin_without_prefix(self, line: Line) -> None:
        """Interrupt the report at a line without the prefix that the lines around it have."""
        self.is_open = True
        self._without_prefix.append(line)

    def continues(self, text: str, family: ReportFamily) -> bool:
        """Return whether the report is not interrupted, or goes on with this line."""
        return not self.is_open or goes_on(text, family, after_prompt=self._prompt is not None)

    def wait(self, line: Line) -> list[Line]:
        """Add a line that may belong to the report; return those that are too many to belong to it."""
        self._pending.append(line)
        return self._take_pending() if len(self._pending) > _MOST_PENDING else []

    def resume(self) -> list[Line]:
        """The report goes on: return the lines since the interruption."""
        for line in self._without_prefix:
            self.report_problem(line.no, "the line lacks the prefix of the lines around it; it is skipped")
        if self._prompt is not None:
            problem = f"the prompt {quoted(self._prompt.text.strip())} is inside a report: if the heading of "
            problem += "another report is missing after it, capture that report again"
            self.report_problem(self._prompt.no, problem)
        pending = self._take_pending()
        self._reset()
        return pending

    def end(self) -> list[Line]:
        """The report has ended: return the lines since the interruption, which are outside."""
        outside = [*self._without_prefix, *self._take_pending()]
        self._reset()
        return outside

    def _take_pending(self) -> list[Line]:
        pending, self._pending = self._pending, []
        return pending

    def _reset(self) -> None:
        self.is_open, self._prompt = False, None
        self._without_prefix.clear()
