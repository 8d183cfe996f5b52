"""Read the Crypto Hardware Activity report as a listing.

No listing of it is published. Parts are therefore identified by their titles and columns by the words and the
order of the headings. A line is read only if it has exactly the values that the headings require. ICSF
services are side by side, with their rates and sizes below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import pyparsing as pp

from zscope.parsers.issues import Code
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.rmf.crypto_columns import (
    FIGURE,
    ICSF,
    CryptoColumn,
    CryptoTable,
    crypto_column,
    decimals,
    unit_kind,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.parsers.text.captured_report import CapturedReport, Line
    from zscope.parsers.text.report_rows import ReportRows
    from zscope.parsers.text.rmf.page_heading import RmfHeading


_LONGEST = 400
"""Longer lines are not headings."""

ColumnName = str | tuple[str, tuple[str, ...]]
"""A name, or the words before a rate with the names of its figures."""


def _word(text: str) -> pp.ParserElement:
    return pp.CaselessKeyword(text, ident_chars=pp.alphanums + "-%")


_HYPHENS = pp.Suppress(pp.ZeroOrMore(pp.Word("-")))
_PART = (
    _HYPHENS
    + (
        _word("ICSF") + _word("SERVICES")
        | _word("CRYPTOGRAPHIC") + pp.OneOrMore(pp.Word(pp.alphas, pp.alphanums))
    )
    + _HYPHENS
    + pp.StringEnd()
)
_QUALIFIER = _word("LPAR") | _word("CPC") | _word("ME") | _word("CRT")
_ABOVE = (
    pp.OneOrMore(_HYPHENS + pp.Group(_QUALIFIER + pp.Opt(_word("KEY-GEN")) | _word("KEY-GEN")) + _HYPHENS)
    + pp.StringEnd()
)
_FIGURES = pp.Group(
    pp.Group(pp.ZeroOrMore(_QUALIFIER | _word("KEY-GEN")))
    + pp.Group(_word("RATE") + pp.Opt(_word("EXEC") + pp.Suppress(_word("TIME"))) + pp.Opt(_word("UTIL%")))
)
_LEADING = _word("TYPE") | _word("ID") | _word("KEY") | _word("FUNCTION")
_NAMES = pp.OneOrMore(_LEADING | _FIGURES) + pp.StringEnd()


def part_title(text: str) -> str | None:
    """Return the title of a part of the report, if the line is one.

    >>> part_title("----- CRYPTOGRAPHIC ACCELERATOR -----")
    'CRYPTOGRAPHIC ACCELERATOR'
    """
    result = _parsed(_PART, text)
    return " ".join(result).upper() if result else None


def above_columns(text: str) -> tuple[str, ...] | None:
    """Return the titles above groups of columns, if the line has only such titles.

    >>> above_columns("--- LPAR ---   --- CPC ---   LPAR KEY-GEN")
    ('LPAR', 'CPC', 'LPAR KEY-GEN')
    """
    result = _parsed(_ABOVE, text)
    return tuple(" ".join(words).upper() for words in result) if result else None


def column_names(text: str) -> list[ColumnName] | None:
    """Return the column names of a heading line; figures are grouped with their rate.

    >>> column_names("TYPE  ID  RATE  EXEC TIME  UTIL%")
    ['TYPE', 'ID', ('', ('RATE', 'EXEC', 'UTIL%'))]
    """
    result = _parsed(_NAMES, text)
    if not result:
        return None
    return [
        name.upper() if isinstance(name, str) else (" ".join(name[0]).upper(), tuple(name[1]))
        for name in result
    ]


def columns_under(above: Sequence[str], names: Sequence[ColumnName]) -> list[CryptoColumn] | None:
    """Return the columns in order, or None if the titles above do not fit the names.

    Each title above applies to one group of figures, from left to right.
    """
    groups = sum(not isinstance(name, str) for name in names)
    if above and len(above) != groups:
        return None
    waiting = iter(above or [""] * groups)
    columns: list[CryptoColumn] = []
    for name in names:
        if isinstance(name, str):
            columns.append(crypto_column(name))
        else:
            qualifier = f"{next(waiting)} {name[0]}"
            columns += [crypto_column(f"{qualifier} {figure}") for figure in name[1]]
    return columns if _distinct(columns) else None


def _distinct(columns: list[CryptoColumn]) -> bool:
    """Return whether the headings distinguish all figures, separately before and after a label."""
    labels = [at for at, column in enumerate(columns) if column.label]
    after_label = labels[0] if labels else len(columns)
    kinds = {(c.column, c.scope, c.operation, at > after_label) for at, c in enumerate(columns)}
    return len(labels) < 2 and len(kinds) == len(columns)


def _parsed(grammar: pp.ParserElement, text: str) -> pp.ParseResults | None:
    if len(text) > _LONGEST:
        return None
    try:
        return grammar.parse_string(text)
    except pp.ParseException:
        return None


_CARD = re.compile(r"[A-Z][A-Z0-9]{2,7}", re.ASCII)
_CARD_ID = re.compile(r"[0-9A-F]{1,3}", re.ASCII)
_KEY = re.compile(r"\d{3,5}", re.ASCII)
_FUNCTION = re.compile(r"[A-Z][A-Z0-9-]{0,11}", re.ASCII)
_MOST_WORDS = 3
"""In the name of a function."""

Cells = list[tuple["CryptoColumn", str]]


class _CardLine(NamedTuple):
    line: Line
    cells: Cells


class CardLines:
    """The lines below one line of column names."""

    def __init__(self, columns: Sequence[CryptoColumn]) -> None:
        self._line_forms = list(_line_forms(columns))
        self._card_lines: list[_CardLine] = []

    @property
    def empty(self) -> bool:
        """Return whether no line was read."""
        return not self._card_lines

    def read_line(self, line: Line) -> bool:
        """Read a line if it has the values that the headings require."""
        words = line.text.upper().split()
        for form in self._line_forms:
            if (cells := _cells_of(form, words)) is not None:
                self._card_lines.append(_CardLine(line, cells))
                return True
        return False

    def complete_lines(self, out: ReportRows) -> Iterator[tuple[int, Cells]]:
        """Yield the lines, except those that seem to be cut.

        A cut line ends with fewer decimals than its other figures of the kind, or with fewer than another
        line and further left.
        """
        end = max((len(card_line.line.text) for card_line in self._card_lines), default=0)
        usual = max((_last_decimals(card_line) for card_line in self._card_lines), default=0)
        for card_line in self._card_lines:
            shorter = len(card_line.line.text) < end and -1 < _last_decimals(card_line) < usual
            if shorter or last_is_shorter(_alike(card_line)):
                text = f"the line {quoted(card_line.line.text)} seems to be cut off; it was skipped"
                out.issue(Code.REPORT_CUT, text, card_line.line.no, len(card_line.line.text) + 1)
            else:
                out.used(card_line.line.no)
                yield card_line.line.no, card_line.cells


def last_is_shorter(figures: Sequence[str]) -> bool:
    """Return whether the last of these figures has fewer decimals than all others."""
    others = [count for count in map(decimals, figures[:-1]) if count >= 0]
    return bool(others) and -1 < decimals(figures[-1]) < min(others)


def _last_decimals(card_line: _CardLine) -> int:
    return decimals(card_line.cells[-1][1])


def _alike(card_line: _CardLine) -> list[str]:
    last = card_line.cells[-1][0].column
    return [text for column, text in card_line.cells if column.column == last]


def _line_forms(columns: Sequence[CryptoColumn]) -> Iterator[Sequence[CryptoColumn]]:
    """Yield the columns a line can have: a card type is printed once, a card once for all functions."""
    yield columns
    if columns[0].column == "card_type_name":
        yield columns[1:]
    labels = [at for at, column in enumerate(columns) if column.label]
    if labels and labels[0] > 0:
        yield columns[labels[0] :]


def _cells_of(form: Sequence[CryptoColumn], words: Sequence[str]) -> Cells | None:
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
    """Return how many of the next words are the value of this column; 0 if the next word is not a valid
    value.
    """
    if not words:
        return 0
    if column.label and column.heading == "FUNCTION":
        return next((at for at, word in enumerate(words) if not _FUNCTION.fullmatch(word)), len(words))
    kinds = {"card_type_name": _CARD, "card_id": _CARD_ID}
    kind = _KEY if column.label else kinds.get(column.column, FIGURE)
    return 1 if kind.fullmatch(words[0]) else 0


_CIPHERS = ("SDES", "TDES", "AES")
_GENERATE = ("GENERATE", "VERIFY")
SERVICES: dict[str, tuple[str, ...]] = {
    "ENCRYPTION": _CIPHERS,
    "DECRYPTION": _CIPHERS,
    "HASH": ("SHA-1", "SHA-256", "SHA-512"),
    "PIN": ("TRANSLATE", "VERIFY"),
    "MAC": _GENERATE,
    "AES MAC": _GENERATE,
    "RSA DSIG": _GENERATE,
    "ECC DSIG": _GENERATE,
    "QSA DSIG": _GENERATE,
    "FORMAT PRESERVING ENCRYPTION": ("ENCIPHER", "DECIPHER", "TRANSLATE"),
    "FFX": ("ENCIPHER", "DECIPHER", "TRANSLATE"),
}
"""The services below each group name."""
_SIGNATURES = "DSIG"
_LONGEST = 400
_GROUPS = (
    pp.OneOrMore(
        pp.Suppress(pp.ZeroOrMore(pp.Word("-")))
        + pp.MatchFirst(
            [
                pp.Combine(pp.And([pp.CaselessKeyword(word) for word in name.split()]), " ", adjacent=False)
                for name in sorted(SERVICES, key=len, reverse=True)
            ]
        )
        + pp.Suppress(pp.ZeroOrMore(pp.Word("-")))
    )
    + pp.StringEnd()
)


def has_size(service: str) -> bool:
    """Return whether the report has sizes for the service; signatures have none.

    >>> has_size("RSA DSIG VERIFY")
    False
    """
    return _SIGNATURES not in service


class IcsfServices:
    """Reads the lines of the ICSF part."""

    def __init__(self, out: ReportRows) -> None:
        self._out = out
        self._groups: list[str] = []
        self._services: list[str] = []
        self._rates: tuple[int, dict[str, str]] | None = None

    def read_line(self, line: Line) -> bool:
        """Read a line; return False if it is of no known kind."""
        words = line.text.upper().split()
        if words[0] in {"RATE", "SIZE"} and self._services:
            return self._figures(line, words[0], words[1:])
        if groups := _groups(line.text):
            self.finish()
            self._out.furniture(line.no)
            self._groups, self._services = groups, []
            return True
        return bool(self._groups) and not self._services and self._names(line, words)

    def finish(self) -> None:
        """Finish the current group of services."""
        if self._rates:
            self._add_rows({})
        self._services, self._groups = [], []

    def _names(self, line: Line, words: list[str]) -> bool:
        expected = [(group, name) for group in self._groups for name in SERVICES[group]]
        if words != [name for _, name in expected]:
            return False
        self._out.furniture(line.no)
        self._services = [f"{group} {name}" for group, name in expected]
        return True

    def _figures(self, line: Line, kind: str, words: list[str]) -> bool:
        sized = [service for service in self._services if has_size(service)]
        services = sized if kind == "SIZE" and len(words) == len(sized) else self._services
        if len(words) != len(services) or not all(map(FIGURE.fullmatch, words)):
            return False
        if last_is_shorter(words):
            return False
        figures = dict(zip(services, words, strict=True))
        self._out.used(line.no)
        if kind == "RATE":
            if self._rates:
                return False
            self._rates = (line.no, figures)
        elif self._rates:
            self._add_rows(figures, line.no)
        else:
            return False
        return True

    def _add_rows(self, sizes: dict[str, str], size_line: int | None = None) -> None:
        if self._rates is None:
            return
        line, rates = self._rates
        self._rates = None
        for service, rate in rates.items():
            values = {
                "unit_kind": ICSF,
                "operation": service,
                "service": service,
                "operation_rate": rate,
            }
            lines = None
            if size_line is not None and service in sizes:
                values["average_size_bytes"] = sizes[service]
                lines = {"average_size_bytes": size_line}
            self._out.row("rmf_crypto", line, values, lines=lines)


def _groups(text: str) -> list[str]:
    if len(text) > _LONGEST:
        return []
    try:
        return [name.upper() for name in _GROUPS.parse_string(text)]
    except pp.ParseException:
        return []


_TITLE = "CRYPTOHARDWAREACTIVITY"
_ABOUT_PAGE = re.compile(r"(?:^|\s)(?:SYSTEM ID|RPT VERSION|PAGE +\d+$)", re.ASCII | re.IGNORECASE)
_OF_HEADINGS = re.compile(r"(?:^|\s)(?:RATE|EXEC|UTIL)(?:\s|%|$)", re.ASCII | re.IGNORECASE)
_RULE = re.compile(r"[-\s]*", re.ASCII)


def read_crypto_listing(pages: list[CapturedReport], heading: RmfHeading, out: ReportRows) -> None:
    """Add the rows of one interval, from all its pages."""
    part: _CardPart | IcsfServices | None = None
    seen: set[tuple[str | None, ...]] = set()
    for line in (line for page in pages for line in page.lines):
        if _of_page(line.text):
            out.furniture(line.no)
        elif title := part_title(line.text):
            out.furniture(line.no)
            if part:
                part.finish()
            kind = unit_kind(title)
            part = IcsfServices(out) if kind == ICSF else _CardPart(kind, out, seen)
        elif part is None or not part.read_line(line):
            out.add_unknown_line(line.no, line.text, heading.title)
    if part:
        part.finish()
    else:
        problem = "the report has no known part; expected: CRYPTOGRAPHIC ... or ICSF SERVICES"
        out.issue(Code.REPORT_UNREADABLE, problem, heading.line_no, 1)


def _of_page(text: str) -> bool:
    """Return whether the line belongs to the top of a page, or only separates others."""
    return bool(_RULE.fullmatch(text) or _ABOUT_PAGE.search(text)) or _TITLE in "".join(text.split()).upper()


class _CardPart:
    """Reads the lines of a part about cards."""

    def __init__(self, kind: str, out: ReportRows, seen: set[tuple[str | None, ...]]) -> None:
        self._out = out
        self._table = CryptoTable(kind, out, seen)
        self._above: tuple[str, ...] = ()
        self._lines: CardLines | None = None
        self._refused = False

    def read_line(self, line: Line) -> bool:
        """Read a line; return False if it does not fit the headings."""
        if above := above_columns(line.text):
            self.finish()
            self._out.furniture(line.no)
            self._above = (*self._above, *above)
            return True
        if names := column_names(line.text):
            if self._lines is not None and self._lines.empty:
                return self._refuse(line, "two lines of column names follow each other")
            self.finish()
            columns = columns_under(self._above, names)
            self._above = ()
            if columns is None:
                return self._refuse(line, "the column names do not fit the line above them")
            self._lines, self._refused = CardLines(columns), False
            self._out.furniture(line.no)
            return True
        if _OF_HEADINGS.search(line.text):
            return self._refuse(line, "these column names are not known")
        if self._refused:
            self._out.skipped([line])
        return self._refused or (self._lines is not None and self._lines.read_line(line))

    def finish(self) -> None:
        """Finish the lines below the current headings."""
        if self._lines is not None:
            for number, cells in self._lines.complete_lines(self._out):
                self._table.read_cells(number, cells)
        self._lines = None

    def _refuse(self, line: Line, why: str) -> bool:
        self.finish()
        self._refused = True
        problem = f"{why} ({quoted(line.text)}): the lines below are skipped"
        self._out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1)
        return True
