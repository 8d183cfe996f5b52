"""A family of reports as one object: how its reports begin, go on and end, and the grammars that read them.

Each folder beside this module has a module `<folder>_family` with the tuple `FAMILIES`, which `families.py`
finds. No module beside this one imports a module of a folder, and a grammar is imported when its first report
is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import (
        Grammar,
        KnownFrom,
        Line,
        ObjectGrammar,
        Origin,
        ReportSource,
    )
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable

ProblemReporter = Callable[[int, str], None]
"""Receives line and text of a problem."""
ColumnNames = tuple[tuple[str, str], ...]
"""Names of columns, and what a file calls them."""
NEVER = re.compile(r"(?!)")
"""Matches no text."""


@dataclass(frozen=True, slots=True)
class ReportHeading:
    """The first line of a report, with the facts from the text before it."""

    family: ReportFamily
    text: str
    """From the first character of the heading on."""
    column: int
    """Position of that character, from 0."""
    source: ReportSource
    control: bool = False
    """Whether the line begins with a carriage control character."""
    system: str | None = None
    system_from: KnownFrom | None = None
    day: date | None = None
    clock: time | None = None


class FoundHeading(NamedTuple):
    """The first line of a report, as its family finds it."""

    text: str
    source: ReportSource
    control: bool = False
    """Whether a carriage control character before the text is removed."""


HeadingFinder = Callable[[str, str, ColumnNames], FoundHeading | None]
"""Finds a heading in a line, which is given without and with its tabs, and with the options for columns."""


@dataclass(frozen=True, slots=True)
class DisplayHeading:
    """The heading of a display, which can be after the prefix of a console and inside an envelope."""

    heading: str
    """Regular expression of its begin; case is ignored."""
    words: tuple[str, ...]
    """Every line with this heading has one of these words, as written here."""
    capitals: str
    """Every line with this heading has this word, if it is in upper case."""
    begins: tuple[str, ...]
    """Begins of headings: a line that differs in one or two characters is reported."""
    console: re.Pattern[str] = NEVER
    """Matches headings of replies on the console."""
    has_end: bool = False
    """Whether a reply on the console has a last line."""
    body: str = r"(?!)"
    """Regular expression of the first line after the heading; case is ignored."""


class PlainRow(NamedTuple):
    """A form of rows that can be nothing but rows of a table."""

    pattern: re.Pattern[str]
    """Matches the lines of one row, with a line feed between two of them."""
    lines: int = 1


class MessageCollector(Protocol):
    """Collects the lines of messages that are among other lines."""

    def may_take(self, text: str) -> bool:
        """Return whether a line begins a message or can continue one."""

    def take(self, no: int, text: str) -> tuple[list[list[Line]], bool]:
        """Read a line; return the finished messages, and whether the line is part of a message."""

    def finish(self) -> list[list[Line]]:
        """Return the open message, if there is one."""


@dataclass(frozen=True, slots=True)
class MessageKind:
    """Messages of one or several lines, which can be anywhere in a log and in other reports."""

    collector: Callable[[ProblemReporter], MessageCollector]
    begins: Callable[[str], bool]
    """Returns whether a line begins a message."""
    concerns: Callable[[str], bool]
    """Returns whether a collector without an open message does anything with a line."""
    nearly_begins: Callable[[str], bool]
    """Returns whether a line seems to be a message with a damaged identifier."""
    identifier: str
    """Regular expression of the identifiers, to find texts that may have a message."""


class XmlGrammar(Protocol):
    """Reads the reports of one XML file."""

    def read(self, chunks: Iterator[bytes]) -> Iterator[int]:
        """Read the file; yield the number of bytes read so far."""


def _nothing() -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReportFamily:
    """The declaration of one family. All but the first fields have defaults that fit most families."""

    name: str
    place: int
    """Families are tried in this order: first those whose headings are the most certain."""
    described: str
    """What users can name, for the message about a file without a report."""
    grammar: Callable[[FileRows, ReadOptions], Grammar]
    """Returns the grammar for the reports of one text."""
    has_table: Callable[[ReportTable], bool]
    """Returns whether its reports give rows of a table."""

    object_grammar: Callable[[FileRows, ReadOptions, Origin], ObjectGrammar] | None = None
    """Returns the grammar for objects, if the family also comes as JSON."""
    xml_grammar: Callable[[FileRows], XmlGrammar] | None = None
    """Returns the grammar for an XML file, if the family also comes as XML."""

    # How a report begins.
    display: DisplayHeading | None = None
    messages: MessageKind | None = None
    find_heading: HeadingFinder | None = None
    """Finds another heading in a line."""
    page_title: re.Pattern[str] = NEVER
    """Matches the titles of pages, which end the envelope of a display."""
    headless: re.Pattern[str] = NEVER
    """Matches first lines of reports that were captured without their heading. It can have a group for each
    kind of report: a line of another kind than the report before begins another one.
    """
    once: re.Pattern[str] = NEVER
    """Matches column headings that a report has only once: a second one begins another report."""
    row_above: Callable[[str, ColumnNames], Callable[[str], bool]] | None = None
    """Returns, for a heading, the test for rows above it, as if pieces were joined in the wrong order."""
    separators: tuple[str, ...] = ()
    """Characters of which these rows have one."""
    repeats_heading: bool = False
    """Whether other lines of the report look like its heading."""

    # How a report goes on.
    uninterrupted: bool = False
    """Whether all lines up to the next heading are part of the report."""
    interruption: re.Pattern[str] | None = None
    """Matches lines that interrupt a report; None: prompts and messages do."""
    has_margin: bool = True
    """Whether lines have the margin and the message identifier of the heading."""
    keeps_tabs: bool = False
    """Whether tabs separate values."""
    has_controls: bool = False
    """Whether the lines of a page can begin with carriage control characters."""
    has_print_headings: bool = False
    """Whether a print program can add a heading to each page."""
    plain_rows: tuple[PlainRow, ...] = ()
    """The forms of rows that are taken in stretches, which is ten times faster."""
    rows_apart: bool = False
    """Whether each line is independent of the others: millions of lines are read in pieces."""
    is_page: bool = False
    """Whether a report is a page, which has dozens of lines, or in one piece one for each virtual machine."""
    continues: re.Pattern[str] = NEVER
    """Matches lines that occur inside reports, as far as lines of other programs look different."""
    refused: re.Pattern[str] = NEVER
    """Matches first lines of reports that are refused, whatever tables are selected."""

    # What its lines look like without their heading.
    certain: str = r"(?!)"
    """Regular expression of lines that can only be part of a report; case is ignored."""
    rows: str = r"(?!)"
    """Regular expression of rows and column headings that no other program prints; case is ignored."""
    page_lines: str = r"(?!)"
    """Regular expression of other lines that no other program prints."""
    labels: Callable[[], Iterable[str]] = _nothing
    """Returns labels that other programs hardly have."""
    statements: Callable[[], Iterable[str]] = _nothing
    """Returns words with which lines of a report begin."""
    whole_word: Callable[[str], bool] = field(default=lambda _: False)
    """Returns whether a word at the end of a line of full width is known, and so was not cut."""

    @property
    def in_json(self) -> bool:
        """Whether a JSON file can contain reports, as objects or as texts."""
        return self.object_grammar is not None or self.display is not None or self.messages is not None

    def kind_of(self, text: str) -> str | None:
        """Return the kind of the report that begins with this line, as the pattern names it."""
        match = self.headless.match(text)
        return match.lastgroup if match else None

    def form_of_row(self, lines: Sequence[Line]) -> PlainRow | None:
        """Return the form of the row that these lines end with."""
        for form in self.plain_rows:
            if form.pattern.fullmatch("\n".join(line.text for line in lines[-form.lines :])):
                return form
        return None

    def __repr__(self) -> str:
        """Return the name."""
        return self.name
