"""Which reader takes a reply of GSKSRVR."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.gsksrvr import crypto, stats, status
from zscope.parsers.text.gsksrvr.heading import Display, begins_message, read_heading
from zscope.parsers.text.gsksrvr.messages import note_message
from zscope.parsers.text.gsksrvr.resets import History
from zscope.parsers.text.out import Out, shown

if TYPE_CHECKING:
    from zscope.parsers.text.gsksrvr.heading import Heading
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Line, Origin, Report


class Gsksrvr:
    """Reads the replies of GSKSRVR in one file."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._history = History()

    def read(self, report: Report) -> None:
        """Take one report."""
        for lines in _messages(report.lines):
            self._message(lines, report.origin)
        if not report.complete:
            text = "the reply ends before its last line: there may have been more"
            Out(self._sheet, report.origin).issue(Code.REPORT_CUT, text, report.lines[-1].no)

    def finish(self) -> None:
        """There are no more in this file: what was reset between two displays can be told now."""
        self._history.finish()

    def _message(self, lines: list[Line], origin: Origin) -> None:
        out = Out(self._sheet, origin)
        first = lines[0]
        heading = read_heading(lines)
        if heading is None:
            text = f"{shown(first.text)} where a message id GSK01nnnX was expected; its report is left out"
            out.issue(Code.REPORT_UNREADABLE, text, first.no, 1)
        elif heading.cache is not None:
            self._cache(out, heading, first)
        elif heading.display is Display.CRYPTO or crypto.has_columns(heading.body):
            out.found("GSKSRVR CRYPTO", first.no)
            crypto.read(out, heading.body, first.no)
        else:
            note_message(out, heading, first.no)

    def _cache(self, out: Out, heading: Heading, first: Line) -> None:
        if heading.cache is None or heading.display is None:
            text = "the heading should go on with 'status' or 'statistics'; the report is left out"
            out.issue(Code.REPORT_UNREADABLE, text, first.no, len(first.text) + 1)
            return
        name = f"GSKSRVR {heading.cache.command} {heading.display}"
        if heading.display is Display.STATUS:
            out.found(name, first.no)
            status.read(out, heading.cache, heading.body, first.no)
            return
        told = stats.read(out, heading.cache, heading.body, first.no)
        out.found(name, first.no)
        if told is not None:
            self._history.add(told)


def _messages(lines: list[Line]) -> Iterator[list[Line]]:
    """The lines of each message, where several follow each other without anything between them."""
    first = 0
    for index, line in enumerate(lines):
        if index > first and begins_message(line.text):
            yield lines[first:index]
            first = index
    yield lines[first:]
