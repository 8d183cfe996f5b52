"""Split a text into reports, without prefixes, margins, message IDs and the text between reports.

Modules that read the reports know about the capture only what its `Origin` contains.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import (
    CapturedReport,
    KnownFrom,
    Line,
    Origin,
    ReportSource,
    single_lines,
)
from zscope.parsers.text.console_lines import (
    begins_routed_replies,
    is_last_line,
    is_paging_mark,
    is_print_heading,
)
from zscope.parsers.text.headings import (
    begins_body,
    begins_report,
    expects_end,
    family_of,
    find_heading,
    headless_family,
    is_line_of_other,
    is_other_text,
    is_report_line,
    message_families,
    nearly_heading,
    row_separators,
    rows_above,
)
from zscope.parsers.text.interruption import Interruption
from zscope.parsers.text.ordinary_lines import following_lines
from zscope.parsers.text.outside_text import OutsideText
from zscope.parsers.text.report_family import NEVER, ReportHeading
from zscope.parsers.text.report_margin import ReportMargin, begin_with_control, without_controls
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.syslog_replies import MOST_LINES, ReplyCollector, SyslogReply
from zscope.parsers.text.text_envelopes import Stamp, TextUnwrapper, UnwrappedLine

if TYPE_CHECKING:
    from datetime import date, time

    from zscope.parsers.text.file_defaults import FileDefaults
    from zscope.parsers.text.input_lines import InputLines
    from zscope.parsers.text.json_envelopes import CapturedText
    from zscope.parsers.text.report_family import (
        MessageCollector,
        ProblemReporter,
        ReportFamily,
    )

_GLUED_PROMPT = re.compile(r"\S*[^ ]READY$", re.ASCII)
_OTHER_KIND = "other"
"""The kind of a report that cannot begin without a heading."""
LINES_TOGETHER = 20_000
"""Lines that are passed on at once if they are independent of each other, because their number has no limit.
Also the limit of a page.
"""
TAB = 8


def _ignore(no: int, text: str) -> None: ...


@dataclass(slots=True)
class ReportSplitter:
    """Splits one file into reports."""

    defaults: FileDefaults
    report_problem: ProblemReporter = _ignore
    """Receives line and text for lines that belong to a report that cannot be identified."""
    report_headless: ProblemReporter = _ignore
    """Receives line and text for reports without a heading."""
    _margin: ReportMargin = field(default_factory=ReportMargin)
    _control: bool = False
    _titled: bool = False
    """Whether the column headings of the table were read."""
    _report: CapturedReport | None = None
    _family: ReportFamily = field(init=False)
    """The family of the report."""
    _in_block: bool = False
    """Whether a block of markup was open before the report began."""
    _input: InputLines | None = None
    """The lines of the file, if rows can be taken from it."""
    _goes_on: bool = False
    """Whether the last line is part of the report and has no margin: those after it can be taken at once."""
    _kind: str | None = None
    """The kind of the report, if its first line without heading is known."""
    _mixed: bool = False
    """Whether a line of another family in the report was reported."""
    _interruption: Interruption = field(init=False)
    """A prompt or a message ended the report, unless a line that looks like part of it follows."""
    _before: Line | None = None
    """The last line outside reports."""
    _above: deque[Line] = field(default_factory=lambda: deque(maxlen=LINES_TOGETHER))
    """Lines outside reports that may be rows whose column names follow."""
    _outside: OutsideText = field(init=False)
    _replies: ReplyCollector = field(init=False)
    _messages: list[tuple[ReportFamily, MessageCollector]] = field(init=False)

    def __post_init__(self) -> None:
        self._interruption = Interruption(self.report_problem)
        self._outside = OutsideText(self.report_problem)
        self._replies = ReplyCollector(
            begins_report, is_report_line, self.report_problem, nearly_heading, self._outside.add
        )
        self._messages = [
            (family, messages.collector(self.report_problem)) for family, messages in message_families()
        ]

    def reports(self, texts: Iterable[str]) -> Iterator[CapturedReport]:
        """Yield the reports in the order in which they end."""
        yield from self._split(Line(number, text) for number, text in enumerate(texts, 1))

    def reports_in(self, lines: InputLines) -> Iterator[CapturedReport]:
        """Yield the reports of a file, in which rows of a table are taken in stretches."""
        self._input = lines
        yield from self._split(lines)

    def reports_of(self, captured: Iterable[CapturedText]) -> Iterator[CapturedReport]:
        """Yield the reports in texts that were taken out of an envelope with facts of its own."""
        for text in captured:
            source = ReportSource.SYSLOG if text.log else None
            yield from self._reports_of_text(text.lines, text.system, text.day, text.clock, source)

    def _reports_of_text(
        self,
        lines: Iterable[Line],
        system: str | None,
        day: date | None,
        clock: time | None,
        source: ReportSource | None,
    ) -> Iterator[CapturedReport]:
        """Yield the reports in a text whose envelope shows the system or the time."""
        defaults = self.defaults.shown_by_envelope(system, day, clock)
        splitter = ReportSplitter(defaults, self.report_problem, self.report_headless)
        for report in splitter._split(lines):
            report.origin.source = source or report.origin.source
            yield report

    def _split(self, lines: Iterable[Line]) -> Iterator[CapturedReport]:
        unwrapper = TextUnwrapper(self.report_problem)
        for line in unwrapper.lines(lines):
            stamp = None
            if isinstance(line, UnwrappedLine):
                # In a report that is in no block, a mark is a line like others: it can be damage.
                is_mark = line.mark and (self._in_block or self._report is None)
                if line.ends or is_mark:
                    self._in_block = is_mark and self._report is None and not self._in_block
                    yield from self._close()
                if line.ends or is_mark or (line.mark and not line.text):
                    continue
                if line.outside and self._is_outside(line, unwrapper):
                    continue
                stamp = line.stamp
            # A form feed begins a page but is not a line.
            for part in line.text.lstrip("\f").split("\f") if "\f" in line.text else (line.text,):
                yield from self._line(line.no, part, stamp)
            if self._goes_on and unwrapper.is_idle and not self._replies.in_log:
                self._take_lines()
        yield from self._close()
        self._outside.end()
        for family, collector in self._messages:
            yield from (self._message(family, lines) for lines in collector.finish())
        for reply in self._replies.unfinished():
            yield from self._reports_of_reply(reply)

    def _take_lines(self) -> None:
        """Add what follows a line of a report, as far as it can be taken at once."""
        report, family = self._report, self._family
        if self._input is None or report is None or (self._kind is None and family.headless is not NEVER):
            return
        most = _most_lines(family) - len(report.lines)
        report.lines += following_lines(self._input, report, family, self.defaults.renamed_columns, most)

    def _is_outside(self, line: UnwrappedLine, unwrapper: TextUnwrapper) -> bool:
        """Interrupt the report at a line without the prefix that the lines around it have; return False if
        the line may be part of something else.
        """
        if find_heading(line.text, renamed=self.defaults.renamed_columns):
            unwrapper.end_wrapping()
            return False
        if self._report is None or any(collector.may_take(line.text) for _, collector in self._messages):
            return False
        text = line.text.strip()
        damaged = (text, line.text[line.outside - 1 :], line.text[line.outside :].lstrip())
        adjacent = not self._interruption.is_open and bool(self._report.lines[-1].text)
        if adjacent and any(map(self._family.continues.match, damaged)):
            problem = f"{quoted(text)} lacks the prefix of the lines around it; it is skipped"
            self.report_problem(line.no, problem)
        elif text:
            self._interruption.begin_without_prefix(Line(line.no, text))
        return True

    def _line(self, number: int, raw: str, stamp: Stamp | None) -> Iterator[CapturedReport]:
        self._goes_on = False
        raw = raw.rstrip(" ")
        text = (raw.expandtabs(TAB) if "\t" in raw else raw).rstrip()
        replies = self._replies.add_line(number, text)
        if replies is not None:
            for reply in replies:
                yield from self._reports_of_reply(reply)
            return
        messages, is_message = self._taken_as_message(number, text)
        yield from messages
        if is_message:
            return
        if self._report is not None and self._family.has_print_headings and is_print_heading(text):
            return
        heading = find_heading(text, raw, self.defaults.renamed_columns)
        if heading and not self._is_statement(heading):
            yield from self._close()
            self._begin(number, stamp.completes(heading) if stamp else heading)
        elif (headless := headless_family(text)) and self._is_another(text, headless):
            yield from self._close()
            self._begin_without_heading(number, text, headless)
        elif self._report is not None:
            keeps_tabs = self._family.keeps_tabs
            yield from self._continue(self._report, number, raw if keeps_tabs else text)
        elif text:
            line = Line(number, text)
            if any(separator in raw for separator in row_separators()):
                self._above.append(Line(number, raw))
            if self._outside.add(line):
                self._report_damaged_heading()
            else:
                self._before = line

    def _taken_as_message(self, number: int, text: str) -> tuple[list[CapturedReport], bool]:
        """Return the messages that end before a line, and whether the line is part of a message."""
        finished: list[CapturedReport] = []
        if self._report is not None and self._family.uninterrupted:
            return finished, False
        for family, collector in self._messages:
            messages, is_message = collector.take(number, text)
            finished += [self._message(family, lines) for lines in messages]
            if is_message:
                if self._report is not None:
                    self._interruption.begin()
                return finished, True
        return finished, False

    def _is_statement(self, heading: ReportHeading) -> bool:
        """Return whether a heading is a further statement of its report, or a line of another report."""
        report = self._report
        if report is None or not heading.family.repeats_heading:
            return False
        return self._family is heading.family or not self._interruption.is_open

    def _message(self, family: ReportFamily, lines: list[Line]) -> CapturedReport:
        """Return a message; its first line has its prefix."""
        origin = self.defaults.complete(Origin(ReportSource.TEXT))
        return CapturedReport(family.name, lines, origin)

    def _report_damaged_heading(self) -> None:
        """Report the line before a display without heading if it is nearly a heading."""
        before, self._before = self._before, None
        if before is not None and nearly_heading(before.text):
            problem = f"{quoted(before.text)} seems to be the heading of a display with a wrong character"
            self.report_problem(before.no, problem)

    def _is_another(self, text: str, family: ReportFamily) -> bool:
        """Return whether a line that can begin a report without heading is outside the current report."""
        report = self._report
        if report is None or self._family is not family:
            return True
        has_body = len(report.lines) > 1
        if (self._interruption.is_open and has_body) or (self._titled and family.once.match(text)):
            return True
        kind = family.kind_of(text)
        self._kind = self._kind or kind
        return kind != self._kind

    def _begin(self, number: int, heading: ReportHeading) -> None:
        self._outside.end()
        self._margin = ReportMargin.of_heading(heading)
        self._control, self._titled = heading.control, False
        self._kind, self._mixed = None, False
        time_from = KnownFrom.PREFIX if heading.day else KnownFrom.NOTHING
        origin = Origin(
            heading.source, heading.system, heading.system_from, heading.day, heading.clock, time_from
        )
        text = heading.text
        if self._margin.ids:
            text = self._margin.without_id(text, number, heading.family, self.report_problem)
        complete = not expects_end(heading.family, heading.text)
        self._family = heading.family
        self._report = CapturedReport(
            heading.family.name, [Line(number, text)], self.defaults.complete(origin), complete
        )
        self._report.lines += rows_above(heading, self._above, self.defaults.renamed_columns)
        self._above.clear()
        self._goes_on = self._margin.is_empty

    def _begin_without_heading(self, number: int, text: str, family: ReportFamily) -> None:
        self._report_damaged_heading()
        column = len(text) - len(text.lstrip())
        source = ReportSource.CONSOLE if text.upper() == text else ReportSource.TERMINAL
        self._begin(number, ReportHeading(family, text[column:], column, source))
        self._titled, self._kind = family.once.match(text) is not None, family.kind_of(text)
        self.report_headless(
            number, "a display begins without its heading: stack, release and time are not known"
        )

    def _continue(self, report: CapturedReport, number: int, text: str) -> Iterator[CapturedReport]:
        line = text
        if not self._margin.is_empty:
            line = self._margin.removed_from(text, number, report, self._family, self.report_problem)
        if is_last_line(line):
            self._resume(report)
            report.lines.append(Line(number, line))
            if report.complete:
                # This form of the display has no such line: lines of the display can follow.
                self._interruption.begin()
            else:
                report.complete = True
                yield from self._close()
        elif is_other_text(line, self._family) and not _is_value_line(report, line):
            self._interruption.begin(Line(number, line))
        elif not self._interruption.continues(line, self._family):
            for other in self._interruption.wait(Line(number, line)):
                self._outside.add(other)
        elif not is_paging_mark(line):
            self._resume(report)
            self._report_line_of_other(number, line)
            report.lines.append(Line(number, line))
            self._goes_on = self._margin.is_empty
            self._titled = self._titled or self._family.once.match(line) is not None
            if self._kind is None and self._family.headless is not NEVER:
                self._kind = self._family.kind_of(line) or (_OTHER_KIND if begins_body(line) else None)
            if len(report.lines) <= _most_lines(self._family):
                return
            if self._family.rows_apart:
                yield report
                self._report = CapturedReport(report.family, report.lines[:1], report.origin)
            else:
                report.complete = False
                yield from self._close()

    def _resume(self, report: CapturedReport) -> None:
        """Continue an interrupted report with the lines since the interruption."""
        if self._interruption.is_open:
            report.lines += self._interruption.resume()

    def _report_line_of_other(self, number: int, line: str) -> None:
        """Report the first line of a report that can only be part of a report of another family."""
        if not (self._mixed or self._family.uninterrupted) and is_line_of_other(line, self._family):
            self._mixed = True
            problem = f"{quoted(line.strip())} is inside a report of another kind: the heading of its own "
            problem += "report is missing, or the line is misplaced"
            self.report_problem(number, problem)

    def _close(self) -> Iterator[CapturedReport]:
        if self._report is not None:
            report, self._report = self._report, None
            self._report_glued_prompt(report)
            for line in self._interruption.end():
                self._outside.add(line)
            if self._family.has_controls and (self._control or begin_with_control(report.lines)):
                report.lines = [*without_controls(report.lines, first_has=not self._control)]
            yield report

    def _report_glued_prompt(self, report: CapturedReport) -> None:
        """Report a last line to which the prompt of TSO is joined."""
        filled = next((line for line in reversed(report.lines) if line.text), None)
        *_, last = single_lines([filled]) if filled else [None]
        if self._family.display and last and _GLUED_PROMPT.search(last.text):
            problem = f"{quoted(last.text.strip())} ends with the prompt READY: a line end may be missing"
            self.report_problem(last.no, problem)

    def _reports_of_reply(self, reply: SyslogReply) -> Iterator[CapturedReport]:
        first = reply.lines[0]
        if begins_routed_replies(first.text):
            yield from self._reports_of_text(
                reply.lines[1:], None, reply.day, reply.clock, ReportSource.SYSLOG
            )
            return
        time_from = KnownFrom.PREFIX if reply.day else KnownFrom.NOTHING
        origin = Origin(
            ReportSource.SYSLOG, reply.system, KnownFrom.PREFIX, reply.day, reply.clock, time_from
        )
        origin = self.defaults.complete(origin)
        yield CapturedReport(family_of(first.text).name, reply.lines, origin, reply.complete)


def _most_lines(family: ReportFamily) -> int:
    """Return how many lines a report has at most; more lines are those of another one."""
    return LINES_TOGETHER if family.rows_apart or family.is_page else MOST_LINES


def _is_value_line(report: CapturedReport, line: str) -> bool:
    """Return whether a word that looks like a prompt is the value of the label in the line before."""
    before = report.lines[-1].text
    return line.strip() == "READY" and before.endswith(":")
