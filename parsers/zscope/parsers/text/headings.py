"""First lines of reports of all families, and lines that can only be inside a report."""

from __future__ import annotations

import re
from functools import cache
from itertools import dropwhile
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.text.captured_report import ReportSource
from zscope.parsers.text.console_lines import (
    after_prompt_mark,
    begins_routed_replies,
    console_prefix,
    is_other_message,
    is_prompt,
    without_connector,
)
from zscope.parsers.text.families import families
from zscope.parsers.text.report_family import NEVER, ReportHeading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_family import (
        ColumnNames,
        DisplayHeading,
        HeadingFinder,
        MessageKind,
        ReportFamily,
    )

_MOST_WRONG = 2
"""Characters of a heading that can be wrong."""
_SHORTEST_HEADING = 4
_LONGEST_BEGIN = 40
_NO_LETTERS = frozenset(" 0123456789")


class _Displays(NamedTuple):
    """The headings of all displays as patterns."""

    heading: re.Pattern[str]
    """Its groups are the names of the families."""
    body: re.Pattern[str]
    has_word: Callable[[str], object]
    capitals: tuple[str, ...]
    by_name: dict[str, ReportFamily]
    begins: tuple[str, ...]
    """Begins of headings, in upper case."""
    letters: frozenset[str]
    """The first letters of headings."""


@cache
def _displays() -> _Displays:
    shown = [(family, family.display) for family in families() if family.display]
    displays: list[DisplayHeading] = [display for _, display in shown]
    words = "|".join(re.escape(word) for display in displays for word in display.words)
    begins = tuple(begin.upper() for display in displays for begin in display.begins)
    return _Displays(
        _any_of((f"(?P<{family.name}>{display.heading})" for family, display in shown), re.IGNORECASE),
        _any_of((display.body for display in displays), re.IGNORECASE),
        re.compile(words).search,
        tuple(display.capitals for display in displays),
        {family.name: family for family, _ in shown},
        begins,
        frozenset("".join(begin[:4] for begin in begins)) - _NO_LETTERS,
    )


def _any_of(patterns: Iterable[str], flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.ASCII | flags)


@cache
def _finders() -> tuple[tuple[ReportFamily, HeadingFinder], ...]:
    return tuple((family, family.find_heading) for family in families() if family.find_heading)


@cache
def _headless() -> tuple[ReportFamily, ...]:
    """Return the families whose reports can begin without a heading: nearly every line is compared."""
    return tuple(family for family in families() if family.headless is not NEVER)


@cache
def message_families() -> tuple[tuple[ReportFamily, MessageKind], ...]:
    """Return the families whose messages are among other lines."""
    return tuple((family, family.messages) for family in families() if family.messages)


@cache
def row_separators() -> tuple[str, ...]:
    """Return the characters of which a row above its column names has one."""
    return tuple({separator for family in families() for separator in family.separators})


def may_have_heading(text: str) -> bool:
    """Return whether a text contains a word of which every heading of a display has one."""
    return _displays().has_word(text) is not None


def may_have_report(text: str) -> bool:
    """Return whether a text of several lines may contain a display or a message."""
    return may_have_heading(text) or any(
        re.search(messages.identifier, text, re.ASCII) for _, messages in message_families()
    )


def is_page_title(text: str) -> bool:
    """Return whether a line is the title of a page, which no envelope of a display contains."""
    return any(family.page_title.match(text) for family in families())


def heading_column(text: str) -> int | None:
    """Return the position of the heading of a display in a line, whatever is before it."""
    match = _displays().heading.search(text)
    return match.start() if match else None


def find_heading(text: str, raw: str | None = None, renamed: ColumnNames = ()) -> ReportHeading | None:
    """Return the heading in a line, if there is one; `raw` is the line with its tabs.

    >>> find_heading("09.45.00 STC01234  GSK01032I Session cache status 418").text
    'GSK01032I Session cache status'
    >>> find_heading("see GSK01032I in the book") is None
    True
    """
    displays, capitals = _displays(), text.upper()
    for word in displays.capitals:
        # These words exclude nearly all lines, twenty times faster than the pattern.
        if word in capitals and (match := displays.heading.search(text)):
            return _of_display(text, match)
    raw = text if raw is None else raw
    for family, find in _finders():
        if found := find(text, raw, renamed):
            return ReportHeading(family, found.text, 0, found.source, found.control)
    return None


def _of_display(text: str, match: re.Match[str]) -> ReportHeading | None:
    prefix = console_prefix(text[: match.start()])
    if prefix is None:
        return None
    family = _displays().by_name[str(match.lastgroup)]
    rest = text[match.start() :]
    console = family.display is not None and family.display.console.match(rest) is not None
    return ReportHeading(
        family,
        without_connector(rest) if console else rest,
        match.start(),
        ReportSource.CONSOLE if console else ReportSource.TERMINAL,
        False,
        prefix.system,
        prefix.system_from,
        prefix.day,
        prefix.clock,
    )


def expects_end(family: ReportFamily, text: str) -> bool:
    """Return whether a report with this heading should have a last line."""
    display = family.display
    return display is not None and display.has_end and display.console.match(text) is not None


def rows_above(heading: ReportHeading, above: Iterable[Line], renamed: ColumnNames) -> Iterator[Line]:
    """Yield the lines above column names that belong to them, as if two pieces are joined in a wrong order.

    These are the lines from the first one on that can be a row of these columns.
    """
    if heading.family.row_above is None:
        return
    is_row = heading.family.row_above(heading.text, renamed)
    yield from dropwhile(lambda line: not is_row(line.text), above)


def headless_family(text: str) -> ReportFamily | None:
    """Return the family of a report that begins with this line and was captured without its heading."""
    for family in _headless():
        if family.headless.match(text):
            return family
    return None


def nearly_heading(text: str) -> bool:
    """Return whether a text begins like the heading of a display, except for one or two characters.

    >>> nearly_heading("GSK0103ZI Session cache status"), nearly_heading("IEF403I PAYROLL - STARTED")
    (True, False)
    """
    if any(messages.nearly_begins(text) for _, messages in message_families()):
        return True
    displays = _displays()
    begin = text.strip()[:_LONGEST_BEGIN].upper()
    # These letters alone exclude nearly all other messages.
    if len(displays.letters.intersection(begin[:4])) < 2:
        return False
    return any(_is_nearly(begin, words) for words in displays.begins)


def _is_nearly(text: str, words: str) -> bool:
    """Return whether a text begins with these words, but for some replaced, one added or one removed
    character.
    """
    width, same = len(words), 0
    while same < width and text[same : same + 1] == words[same]:
        same += 1
    if text[same : width - 1] == words[same + 1 :] or text[same + 1 : width + 1] == words[same:]:
        return True
    wrong = sum(one != other for one, other in zip(text[:width].ljust(width), words, strict=True))
    return wrong <= _MOST_WRONG


def begins_body(text: str) -> bool:
    """Return whether a line is the first one after the heading of a display."""
    return _displays().body.match(text) is not None


def begins_report(text: str) -> bool:
    """Return whether a log message begins a report or the replies to a routed command."""
    if any(messages.begins(text) for _, messages in message_families()):
        return True
    return _displays().heading.match(text) is not None or begins_routed_replies(text)


def family_of(text: str) -> ReportFamily:
    """Return the family of a log message that begins a report."""
    match = _displays().heading.match(text)
    if match is not None:
        return _displays().by_name[str(match.lastgroup)]
    return next(family for family, messages in message_families() if messages.begins(text))


def begins_heading(text: str) -> bool:
    """Return whether a text is the begin of a heading that is cut off.

    >>> begins_heading("MVS TCP/IP NETS"), begins_heading("MVS")
    (True, False)
    """
    begin = text.strip().upper()
    return len(begin) >= _SHORTEST_HEADING and any(words.startswith(begin) for words in _displays().begins)


def is_other_text(text: str, family: ReportFamily) -> bool:
    """Return whether a line is not part of the report: a prompt, a command or another message."""
    if family.interruption is not None:
        return family.interruption.match(text) is not None
    if is_prompt(text):
        # A line of the report whose first character became that of a prompt.
        damaged = after_prompt_mark(text)
        return damaged is None or family.continues.match(damaged) is None
    return is_other_message(text)


@cache
def _lines_of_others(family: ReportFamily) -> re.Pattern[str]:
    others = [other for other in families() if other is not family]
    return _any_of((other.certain for other in others), re.IGNORECASE)


def is_line_of_other(text: str, family: ReportFamily) -> bool:
    """Return whether a line can only be part of a report of another family."""
    is_of_other = _lines_of_others(family).match(text) is not None
    return is_of_other and _lines_of(family).match(text) is None


@cache
def _lines_of(family: ReportFamily) -> re.Pattern[str]:
    return _any_of((family.certain, family.rows, f"(?-i:{family.page_lines})"), re.IGNORECASE)


def goes_on(text: str, family: ReportFamily, *, after_prompt: bool) -> bool:
    """Return whether an interrupted report goes on with this line. After a prompt, and if its family declares
    no lines that continue it, a page goes on only with lines that no other program prints.
    """
    if family.display is None and (after_prompt or family.continues is NEVER):
        return _lines_of(family).match(text) is not None
    return family.continues.match(text) is not None


@cache
def _certain() -> re.Pattern[str]:
    return _any_of((family.certain for family in families()), re.IGNORECASE)


def is_report_line(text: str) -> bool:
    """Return whether a line can only be part of a report.

    >>> is_report_line("Userid    %CPU  TCPU  VCPU Ratio Total")
    True
    >>> is_report_line("RSCS     41.12 246.7 185.0   1.3   ...   ...   ...    ...  ...   ...   ...")
    True
    >>> is_report_line("all      0.35    0.00    0.20    0.01    0.00   99.44    1")
    False
    """
    return _certain().match(text) is not None
