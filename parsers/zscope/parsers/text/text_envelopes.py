"""Remove what mail programs, editors, loggers and terminals put around the lines of displays.

The heading of a display shows what was added: the text before it. If the next lines repeat that text, with
other numbers, it is removed from all of them. Lines before the first heading are not changed, and a heading
without any text before it costs one test for each line.
"""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.text.captured_report import KnownFrom, Line
from zscope.parsers.text.console_lines import console_prefix
from zscope.parsers.text.families import families
from zscope.parsers.text.headings import (
    begins_body,
    heading_column,
    is_page_title,
    may_have_heading,
)
from zscope.parsers.text.json_envelopes import ProblemReporter, is_json, texts_of_json
from zscope.parsers.text.outside_text import may_be_of_report
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.syslog_replies import is_log_record
from zscope.parsers.written_forms import ISO_MOMENT, SYSTEM

if TYPE_CHECKING:
    from zscope.parsers.text.report_family import ReportHeading


class Stamp(NamedTuple):
    """What an envelope shows about a display."""

    system: str | None = None
    day: date | None = None
    clock: time | None = None
    """Local time; a time in UTC is not used."""

    def completes(self, heading: ReportHeading) -> ReportHeading:
        """Return a heading with what its envelope shows."""
        return replace(
            heading,
            system=heading.system or self.system,
            system_from=heading.system_from or (KnownFrom.PREFIX if self.system else None),
            day=heading.day or self.day,
            clock=heading.clock or self.clock,
        )


class UnwrappedLine(NamedTuple):
    """A line without its envelope."""

    no: int
    text: str
    stamp: Stamp | None = None
    """With a heading only."""
    outside: int = 0
    """Length of the prefix that the lines around it have and this line lacks."""
    ends: bool = False
    """Whether the answer of a command ends here; the line has no text."""
    mark: bool = False
    """Whether a block of markup begins or ends here, for example in Markdown; the text is that line, if the
    line has nothing else.
    """


_NEXT_LINES = 12
"""Lines after a heading that show what was added to all of them."""
_MOST_JSON_LINES = 200_000
_LONGEST_PREFIX = 500
"""Characters before a heading that can be the prefix of all lines, or a command."""
_CARD = 72
"""Text columns of a record with a sequence number."""


@dataclass(slots=True)
class _Wrapping:
    """What was added to the lines of a display."""

    cell: bool = False
    """Each line is a quoted cell of a spreadsheet or a quoted string of a list."""
    item: bool = False
    """Each line is an item of a YAML list."""
    prefix: re.Pattern[str] | None = None
    width: int = 0
    """Length of the prefix of the heading."""
    control: bool = False
    """Each line begins with a carriage control character."""
    numbered: bool = False
    """Columns 73 to 80 contain sequence numbers."""

    @property
    def quotes(self) -> bool:
        """Whether a mark was added to each line, as in a quoted mail: the begin of a block has it as well."""
        return self.cell or self.item or self.prefix is not None

    def removed_from(self, text: str) -> str | None:
        """Return a line without what was added; None if the line lacks its prefix."""
        if self.cell:
            text = _without_quotes(text)
        if self.item:
            text = _without_item(text)
        if self.numbered and _is_numbered(text):
            text = text[:_CARD].rstrip()
        if self.prefix is not None and text.strip():
            match = self.prefix.match(text)
            if match is None:
                return None
            text = text[match.end() :]
        if self.control and text[:1] in _CONTROLS:
            text = text[1:]
        return text


_CONTROLS = frozenset(" 01+-")
_ESCAPE = re.compile(
    r"\x1b(?:\[(?P<forward>\d{0,3})C|\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])"
)
_REPLACED = str.maketrans({"\0": " ", "\xa0": " ", "\ufeff": None, "\u200b": None, "\b": None})
_MARKUP = re.compile(
    r"<(?:!doctype html|/?(?:html|head|body|pre|code|samp|tt|div|span|p|br|table|tr|td|font|b)\b)",
    re.ASCII | re.IGNORECASE,
)
_LINE_ELEMENT = re.compile(r"<br ?/?>|</(?:p|div|tr|li)>|(?<=[^ ]) *<(?:pre|code)\b[^<>]*>", re.IGNORECASE)
_ELEMENT = re.compile(r"<[/!]?[A-Za-z][^<>]*>")
_CELL = re.compile(r'\s*(?:\[\s*)?"(?P<text>(?:[^"\\]|""|\\.)*)"[\s,;\]]*$')
_ITEM = re.compile(r"\s*- (?P<quote>['\"]?)(?P<text>.*)(?P=quote)$")
_FENCES = frozenset("`~{")
_FENCE = re.compile(r"\s*(?:`{3,9}|~{3,9})[\w-]{0,20}$|\s*\{(?:code|noformat|quote)[^{}]{0,40}\}$")
"""A line of Markdown, or of another markup, around text that is shown as it is."""
_COMMAND = re.compile(
    r"(?:.{0,80}[$#>] ?|READY +)?(?: *(?:TSO +|tsocmd +)?[\"']?(?:/bin/)?(?:o?netstat|pasearch)\b[^|]{0,80}"
    r"| *[/-]? ?(?:D(?:ISPLAY)? TCPIP\b|(?:F|MODIFY) GSKSRVR\b|RO(?:UTE)? [^\s,]+,)[^ ]*(?: [^ ]+){0,4}) *$"
    r"|(?:\S{0,80}[$#>] ?|READY) *$",
    re.ASCII | re.IGNORECASE,
)
"""A prompt, a command or both before a heading in the same line, with single blanks between words."""
_BLANKS = re.compile(r" +")
_PLAY = re.compile(r"(?:ok|changed|failed|fatal|skipping): \[[^\]]{1,80}\][^{}]{0,80}=> ?(?=[{(])")
"""A result in the log of an Ansible play."""


def printable(text: str) -> str:
    """Return a line without terminal codes; binary zeros and no-break spaces become blanks.

    >>> printable(chr(27) + "[1mEZD0101I" + chr(27) + "[0m" + chr(0))
    'EZD0101I '
    """
    if "\x1b" in text:
        text = _ESCAPE.sub(lambda code: " " * int(code["forward"] or 0) if code["forward"] else "", text)
    return text.translate(_REPLACED)


def is_bare(text: str) -> bool:
    """Return whether nothing in a line can be an envelope, or change the envelope of the next lines."""
    return (
        text.isprintable()
        and "<" not in text
        and "=> " not in text
        and text[:1] not in _FENCES
        and not may_have_heading(text)
    )


@dataclass(slots=True)
class TextUnwrapper:
    """Unwraps the lines of one text."""

    report_problem: ProblemReporter
    """Receives line and text for lines that may have lost characters."""
    _wrapping: _Wrapping | None = None
    _markup: bool = False
    """Whether the text is HTML."""
    _cut_reported: bool = False
    _ahead: deque[Line] = field(default_factory=deque)
    _source: Iterator[Line] = field(default_factory=lambda: iter(()))

    def lines(self, lines: Iterable[Line]) -> Iterator[Line | UnwrappedLine]:
        """Yield the lines without their envelope, each with its number in the file; a line without one is
        yielded as it is.
        """
        self._source = source = iter(lines)
        ahead = self._ahead
        while (line := ahead.popleft() if ahead else next(source, None)) is not None:
            text = line.text
            if self._wrapping is None and not self._markup and is_bare(text):
                yield line
                continue
            if not text.isprintable():
                text = printable(text)
                line = Line(line.no, text)
            if "<" in text or self._markup:
                yield from self._without_markup(line.no, text)
            elif may_have_heading(text):
                if text[0] in "[{" and is_json(text):
                    yield from self._embedded(line.no, text)
                elif play := _PLAY.match(text):
                    yield from self._result_of_play(line.no, text[play.end() :])
                else:
                    yield self._heading(line)
            elif self._wrapping is not None or text[:1] in _FENCES:
                yield self._ordinary(line)
            elif "=> " in text and (play := _PLAY.match(text)):
                yield from self._result_of_play(line.no, text[play.end() :])
            else:
                yield line

    @property
    def is_idle(self) -> bool:
        """Whether the next lines are yielded as they are, unless they begin an envelope."""
        return self._wrapping is None and not self._markup and not self._ahead

    def end_wrapping(self) -> None:
        """Take the next lines as they are: another report begins without the prefix."""
        self._wrapping = None

    def _peek(self, count: int) -> list[Line]:
        self._ahead.extend(islice(self._source, max(0, count - len(self._ahead))))
        return list(islice(self._ahead, count))

    def _take(self, count: int) -> list[Line]:
        taken = self._peek(count)
        for _ in taken:
            self._ahead.popleft()
        return taken

    def _unwrapped(self, line: Line) -> Line | UnwrappedLine:
        return self._heading(line) if may_have_heading(line.text) else self._ordinary(line)

    def _ordinary(self, line: Line) -> Line | UnwrappedLine:
        wrapping = self._wrapping
        if wrapping is not None and wrapping.control and is_page_title(line.text):
            wrapping = self._wrapping = None
        text = line.text if wrapping is None else self._removed(wrapping, line)
        if wrapping is not None and text is None:
            return UnwrappedLine(line.no, line.text, outside=wrapping.width)
        if text and _FENCE.match(text):
            if wrapping is not None and wrapping.quotes:
                return UnwrappedLine(line.no, "", ends=True)
            return UnwrappedLine(line.no, text, mark=True)
        return line if wrapping is None else Line(line.no, text or "")

    def _removed(self, wrapping: _Wrapping, line: Line) -> str | None:
        if wrapping.numbered and not self._cut_reported and _may_be_cut(line.text):
            self._cut_reported = True
            problem = (
                "the text reaches the sequence number in columns 73 to 80; the ends of this and other lines "
                "may be cut off"
            )
            self.report_problem(line.no, problem)
        return wrapping.removed_from(line.text)

    def _heading(self, line: Line) -> Line | UnwrappedLine:
        """Unwrap a line with a heading, and determine how the lines after it are wrapped."""
        if is_log_record(line.text) or _is_plain(line.text):
            self._wrapping = None
            return line
        others = [printable(other.text) for other in self._peek(_NEXT_LINES)]
        if self._markup:
            others = [part for other in others for part in _plain_parts(other)]
        others = [other for other in others if other.strip()]
        wrapping = _Wrapping(
            cell=_all_match(_CELL, line.text, others),
            item=_all_match(_ITEM, line.text, others),
            numbered=_are_numbered([line.text, *others]),
        )
        text = wrapping.removed_from(line.text) or ""
        others = [wrapping.removed_from(other) or "" for other in others]
        column = heading_column(text)
        before, stamp = text[:column], None
        if column is None:
            return self._ordinary(line)
        if before.strip():
            is_short = len(before) <= _LONGEST_PREFIX
            wrapping.prefix = _repeated(before, others) if is_short else None
            if wrapping.prefix is not None:
                wrapping.width = column
                text, stamp = text[column:], _stamp(before)
            elif is_short and _COMMAND.match(_BLANKS.sub(" ", before)):
                text = text[column:]
            elif console_prefix(before) is None:
                if not any(map(begins_body, others[:2])):
                    if not is_short:
                        problem = f"a display after {len(before):,} characters in its line is not read"
                        self.report_problem(line.no, problem)
                    return self._ordinary(line)
                self._report_before(line.no, before)
                text, stamp = text[column:], _stamp(before)
        if column == 1 and before in _CONTROLS and _are_controls(others):
            wrapping.control, text = True, text[1:]
        self._wrapping = wrapping if wrapping != _Wrapping() else None
        self._removed(wrapping, line)
        return UnwrappedLine(line.no, text, stamp)

    def _report_before(self, no: int, before: str) -> None:
        """Report the text before a heading if the heading was joined to a line of the report before."""
        if before[-1:].isalnum() or may_be_of_report(before):
            problem = f"{quoted(before.strip())} is before the heading of a display in its line, and is not "
            problem += "read: a line end may be missing"
            self.report_problem(no, problem)

    def _without_markup(self, no: int, text: str) -> Iterator[Line | UnwrappedLine]:
        """Yield the lines in a line of HTML, with the begin and the end of a block."""
        self._markup = self._markup or _MARKUP.search(text) is not None
        parts, tags = ([text], "") if not self._markup else (_plain_parts(text), text.lower())
        begins, ends = "<pre" in tags, "</pre" in tags
        if begins != ends and not any(map(str.strip, parts)):
            yield UnwrappedLine(no, text, mark=True)
            return
        if begins:
            yield UnwrappedLine(no, "", mark=True)
        for part in parts:
            yield self._unwrapped(Line(no, part))
        if ends:
            yield UnwrappedLine(no, "", mark=True)

    def _result_of_play(self, no: int, first: str) -> Iterator[Line | UnwrappedLine]:
        """Unwrap the result of a task, whose JSON ends in this line or in a line with its last brace.

        Lines that are no JSON are read as they are.
        """
        text = first[first.find("{") :]
        taken: list[Line] = []
        while text.strip() == "{" and len(taken) < _MOST_JSON_LINES:
            following = next(iter(self._peek(1)), None)
            if following is None or _PLAY.match(following.text):
                break
            taken += self._take(1)
            if following.text.startswith("}"):
                break
        text = "\n".join([text, *(line.text for line in taken)])
        if may_have_heading(text) or is_json(text):
            yield from self._embedded(no, text)
        else:
            self._ahead.extendleft(reversed(taken))

    def _embedded(self, no: int, text: str) -> Iterator[Line | UnwrappedLine]:
        if not is_json(text):
            if may_have_heading(text):
                self.report_problem(no, "the JSON with a display is damaged; it is skipped")
            return
        for captured in texts_of_json(no, text, self.report_problem):
            inner = TextUnwrapper(self.report_problem)
            yield from inner.lines(captured.lines)
            yield UnwrappedLine(no, "", ends=True)


def _plain_parts(text: str) -> list[str]:
    """Return the lines in a line of HTML."""
    parts = _LINE_ELEMENT.sub("\n", text).split("\n")
    plain = [html.unescape(_ELEMENT.sub("", part)).translate(_REPLACED) for part in parts]
    return plain if len(plain) == 1 or plain[-1].strip() else plain[:-1]


def _is_plain(text: str) -> bool:
    """Return whether a heading is alone in its line, so that nothing was added."""
    return text[0] not in '"-[ \t' and len(text) <= _CARD and heading_column(text) == 0


def _all_match(pattern: re.Pattern[str], text: str, others: list[str]) -> bool:
    return pattern.match(text) is not None and all(pattern.match(other) for other in others[:1])


def _without_quotes(text: str) -> str:
    match = _CELL.match(text)
    if match is None:
        return text if text.strip(" []{},;") else ""
    inside = match["text"].replace('""', '"')
    return re.sub(r"\\(.)", r"\1", inside) if "\\" in inside else inside


def _without_item(text: str) -> str:
    match = _ITEM.match(text)
    return (
        text if match is None else match["text"].replace(match["quote"] * 2 or "''", match["quote"] or "''")
    )


def _is_numbered(text: str) -> bool:
    return len(text) == _CARD + 8 and text[_CARD:].isdecimal()


def _are_numbered(texts: list[str]) -> bool:
    """Return whether all full lines have rising sequence numbers in columns 73 to 80."""
    full = [text for text in texts if len(text) >= _CARD + 8]
    if not (full and texts[0] == full[0] and all(map(_is_numbered, full)) and len(full) > len(texts) // 2):
        return False
    numbers = [int(text[_CARD:]) for text in full]
    return all(one < other for one, other in pairwise(numbers))


def _may_be_cut(text: str) -> bool:
    """Return whether the text of a numbered line may be longer than its columns; a word that a family knows
    is whole.
    """
    if not _is_numbered(text) or text[_CARD - 1] == " ":
        return False
    last = text[:_CARD].rsplit(maxsplit=1)[-1]
    return not any(family.whole_word(last) for family in families())


def _are_controls(others: list[str]) -> bool:
    return bool(others) and all(other[0] in _CONTROLS for other in others)


def _repeated(before: str, others: list[str]) -> re.Pattern[str] | None:
    """Return the pattern of a prefix if the first lines after the heading repeat it."""
    pattern = _prefix_pattern(before)
    first = others[:_FIRST_LINES]
    repeating = [other for other in first if pattern.match(other)]
    if not repeating or 2 * len(repeating) < len(first):
        return None
    if before.strip().isdecimal() and not _rise([before, *repeating]):
        return None
    return pattern


_FIRST_LINES = 4


def _rise(texts: list[str]) -> bool:
    """Return whether the numbers with which the texts begin rise."""
    numbers = [int(match[0]) for text in texts if (match := re.match(r" *\d{1,9}", text, re.ASCII))]
    return all(one < other for one, other in pairwise(numbers))


_PREFIX_TOKEN = re.compile(r"(?P<number>[A-Za-z]*\d[A-Za-z\d]*)|(?P<blanks>[ \t]+)|(?P<other>.)", re.DOTALL)


def _prefix_pattern(before: str) -> re.Pattern[str]:
    """Return a pattern of prefixes that differ from this one in words with digits.

    >>> bool(_prefix_pattern("> 9: ").match("> 10:   LOCAL SOCKET"))
    True
    """
    visible, blanks = before.rstrip(), before[len(before.rstrip()) :]
    parts = []
    for token in _PREFIX_TOKEN.finditer(visible):
        match token.lastgroup:
            case "number":
                padded = visible.isdecimal() and visible.startswith("0")
                parts.append(rf"\d{{{len(visible)}}}" if padded else r"[A-Za-z\d]+")
            case "blanks":
                parts.append(r"[ \t]*" if token.start() == 0 else r"[ \t]+")
            case _:
                parts.append(re.escape(token[0]))
    if visible.strip().isdecimal() and not visible.startswith("0"):
        parts = [r"[ \t]*\d{1,9}"]
    after = rf"(?:{re.escape(blanks)}|[ \t]*$)" if blanks else ""
    return re.compile("".join(parts) + after)


_SYSLOGD = re.compile(r"[A-Z][a-z]{2} {1,2}\d{1,2} (?P<clock>\d\d:\d\d:\d\d) (?P<host>\S+)")
"""The form of RFC 3164, which shows no year."""


def _stamp(before: str) -> Stamp | None:
    """Return the system and the local time in a prefix.

    >>> _stamp("<27>1 2025-03-14T09:45:02.123+01:00 SYSA gsksrvr 77 - - ")
    Stamp(system='SYSA', day=datetime.date(2025, 3, 14), clock=datetime.time(9, 45, 2))
    """
    if before.strip().isdecimal():
        return None
    match = ISO_MOMENT.search(before) or _SYSLOGD.search(before)
    if match is None:
        plain = console_prefix(before)
        return Stamp(plain.system, plain.day, plain.clock) if plain else None
    parts = match.groupdict()
    host = parts["host"] if SYSTEM.fullmatch(parts["host"] or "") else None
    if parts.get("zone") == "Z":
        return Stamp(host)
    try:
        day = date.fromisoformat(parts["day"]) if parts.get("day") else None
        clock = datetime.strptime(parts["clock"], "%H:%M:%S").time()  # noqa: DTZ007 - local time has no zone
    except ValueError:
        return Stamp(host)
    return Stamp(host, day, clock)
