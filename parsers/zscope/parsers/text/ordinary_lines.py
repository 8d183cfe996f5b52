"""Lines inside a report that are nothing but lines of it, which are taken in stretches.

A line is ordinary if each test that the frame applies to a line has the usual answer: it has no envelope,
begins and ends nothing, and interrupts nothing. So a stretch gives what its lines give one by one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from zscope.parsers.text.console_lines import is_last_line, is_paging_mark, is_print_heading
from zscope.parsers.text.headings import (
    find_heading,
    headless_family,
    is_line_of_other,
    is_other_text,
    message_families,
)
from zscope.parsers.text.syslog_replies import is_log_line
from zscope.parsers.text.text_envelopes import is_bare

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import CapturedReport, Line
    from zscope.parsers.text.input_lines import InputLines
    from zscope.parsers.text.report_family import ColumnNames, ReportFamily


def following_lines(
    lines: InputLines, report: CapturedReport, family: ReportFamily, renamed: ColumnNames, most: int
) -> list[Line]:
    """Return what follows a report so far and can be taken at once: rows of the form of its last row
    or, if its family has no such rows, at most so many ordinary lines.
    """
    if family.plain_rows:
        form = family.form_of_row(report.lines)
        stretch = lines.take_rows(form) if form else None
        return [stretch] if stretch else []
    test = is_ordinary if family.rows_apart else _is_often_ordinary
    return lines.take_lines(lambda text: test(text, family, renamed), most)


def is_ordinary(text: str, family: ReportFamily, renamed: ColumnNames) -> bool:
    """Return whether a line as it is in the file is an ordinary line of a report of this family."""
    if not is_bare(text) or is_log_line(text := text.rstrip()):
        return False
    if not family.uninterrupted and (
        is_line_of_other(text, family) or any(messages.concerns(text) for _, messages in message_families())
    ):
        return False
    if family.has_print_headings and is_print_heading(text):
        return False
    return not (
        find_heading(text, text, renamed)
        or headless_family(text)
        or family.once.match(text)
        or is_last_line(text)
        or is_other_text(text, family)
        or is_paging_mark(text)
    )


_is_often_ordinary = lru_cache(maxsize=1024)(is_ordinary)
"""The same with memory: pages repeat most of their lines that are no rows."""
