"""Columns of the Crypto Hardware Activity report, in the listing and in XML.

Neither form is published, so columns are identified by the words of their headings. XML prints the scope in
parentheses after them: Total Rate (LPAR), Key-Gen Rate (CPC).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zscope.parsers.text.report_rows import ReportRows

TOTAL = "total"
SCOPES = ("LPAR", "CPC")
_FIGURES = {
    "RATE": "operation_rate",
    "EXEC": "execution_ms",
    "EXECUTION": "execution_ms",
    "UTIL": "utilisation_pct",
    "UTILIZATION": "utilisation_pct",
    "SIZE": "average_size_bytes",
}
_NAMES = {"TYPE": "card_type_name", "ID": "card_id"}
_LABELS = (["FUNCTION"], ["KEY"], ["SERVICE"], ["ICSF", "SERVICE"])
FIGURE = re.compile(r"-{1,12}|\d{1,12}(\.\d{1,6})?", re.ASCII)
"""A figure in a listing; hyphens mean that there is none."""
_KEY_GENERATION = re.compile(r"KEY[- ]GEN(ERATION)?")
_FILLERS = frozenset({"TIME", "%", "LENGTH", "TOTAL"})
_OPERATION_WORDS = frozenset(
    {"RSA", "ME", "CRT", "ME-FORMAT", "CRT-FORMAT", "FORMAT", "KEY", "OPERATIONS", "FUNCTION"}
    | {"ASYM", "ASYMMETRIC", "SYMM", "SYMMETRIC", "FAST", "SLOW", "GEN", "GENERATION", "COMPLETE", "PARTIAL"}
)
_PARENTHESES = str.maketrans("()", "  ")
ICSF = "icsf"
_KINDS = (("ICSF", ICSF), ("PKCS11", "pkcs11"), ("CCA", "cca"), ("ACCELERATOR", "accelerator"))
UNIT_KINDS = frozenset(kind for _, kind in _KINDS)


@dataclass(frozen=True, slots=True)
class CryptoColumn:
    """The meaning of one heading."""

    heading: str
    column: str = ""
    """Column of the table; empty for a label and for an unknown heading."""
    scope: str | None = None
    operation: str = ""
    label: bool = False
    """Whether the cells are labels of the figures after them."""


def decimals(figure: str) -> int:
    """Return the digits after the decimal point; -1 for hyphens."""
    return -1 if figure.startswith("-") else len(figure.partition(".")[2])


def unit_kind(heading: str) -> str:
    """Return the kind of unit of a part of the report; the heading itself if it is not known.

    >>> unit_kind("Cryptographic CCA Coprocessor")
    'cca'
    """
    words = heading.upper()
    return next((kind for word, kind in _KINDS if word in words), heading)


def crypto_column(heading: str) -> CryptoColumn:
    """Return the meaning of a heading; its words can be in any order.

    >>> crypto_column("CRT EXEC TIME").column, crypto_column("LPAR KEY-GEN RATE").column
    ('execution_ms', 'key_generation_rate')
    >>> crypto_column("Total Util % (CPC)").scope, crypto_column("ICSF Service").label
    ('CPC', True)
    """
    plain = heading.upper().replace("%", " % ").translate(_PARENTHESES)
    words = _KEY_GENERATION.sub("KEYGEN", plain).split()
    scope = next((word for word in words if word in SCOPES), None)
    rest = [word for word in words if word not in _FILLERS and word != scope]
    if len(rest) == 1 and rest[0] in _NAMES:
        return CryptoColumn(heading, _NAMES[rest[0]])
    if rest in _LABELS:
        return CryptoColumn(heading, label=True)
    figures = [word for word in rest if word in _FIGURES]
    if len(figures) != 1:
        return CryptoColumn(heading)
    rest.remove(figures[0])
    if "KEYGEN" in rest and figures == ["RATE"]:
        rest.remove("KEYGEN")
        return CryptoColumn(heading, "key_generation_rate", scope, " ".join(rest))
    return CryptoColumn(heading, _FIGURES[figures[0]], scope, " ".join(rest))


def is_known(column: CryptoColumn) -> bool:
    """Return whether all words of a heading are known, also those of the operation.

    >>> is_known(crypto_column("ME Rate (2048)")), is_known(crypto_column("Total Rate (LXAR)"))
    (True, False)
    """
    words = column.operation.split()
    return column.label or bool(column.column and all(w in _OPERATION_WORDS or w.isdigit() for w in words))


@dataclass
class _Line:
    """The contents of one line."""

    names: dict[str, str] = field(default_factory=dict)
    label: str = ""
    rows: dict[tuple[str | None, str], dict[str, Any]] = field(default_factory=dict)
    """Figures by scope and operation."""
    extra: dict[str, str] = field(default_factory=dict)

    def operation(self, column: CryptoColumn) -> str:
        """Return what the figures of a column count."""
        return " ".join(filter(None, (column.operation, self.label))) or TOTAL

    def add_cell(self, column: CryptoColumn, text: str) -> None:
        if column.label:
            self.label = text
        elif not text:
            return
        elif column.column in _NAMES.values():
            self.names[column.column] = text
        elif column.column:
            row = self.rows.setdefault((column.scope, self.operation(column)), {})
            if column.column in row:
                self.extra[column.heading] = text
            else:
                row[column.column] = text
        else:
            self.extra[column.heading] = text


@dataclass
class CryptoTable:
    """Adds the rows of one part of the report."""

    kind: str
    out: ReportRows
    seen: set[tuple[str | None, ...]] = field(default_factory=set)
    """Keys of the rows so far; shared by the parts that continue on further pages."""
    _card: dict[str, str] = field(default_factory=dict)
    """The last card: its type is printed once for several cards, both only in the first line of a card."""

    def read_cells(self, line: int, cells: Iterable[tuple[CryptoColumn, str]]) -> None:
        """Read one line: add a row for each scope and operation that has figures."""
        parsed = _Line()
        for column, text in cells:
            parsed.add_cell(column, text)
        if "card_type_name" in parsed.names:
            self._card = parsed.names
        elif "card_id" in parsed.names:
            self._card = self._card | parsed.names
        card = self._card if parsed.names or parsed.label else {}
        if parsed.extra and not parsed.rows:
            self.out.add_unknown_line(line, " ".join(parsed.extra.values()), self.kind)
        for (scope, operation), figures in parsed.rows.items():
            if self._is_another_card(card, scope, operation):
                text = f"{operation} of card {card['card_id']} is repeated: a line of another card is missing"
                self.out.issue(Code.REPORT_UNREADABLE, text, line, 1)
                continue
            key_columns: dict[str, str | None] = {
                "unit_kind": self.kind,
                "crypto_scope_name": scope,
                "operation": operation,
            }
            if self.kind == ICSF:
                key_columns["service"] = parsed.label or None
                if not parsed.label:
                    key_columns["operation"] = None
                    text = "the line names no ICSF service; the column is null"
                    self.out.issue(Code.BAD_VALUE, text, line, field="ICSF SERVICE", table="rmf_crypto")
            self.out.row("rmf_crypto", line, key_columns | card | figures, parsed.extra)

    def _is_another_card(self, card: Mapping[str, str], scope: str | None, operation: str) -> bool:
        if "card_id" not in card:
            return False
        key = (self.kind, card.get("card_type_name"), card["card_id"], scope, operation)
        if key in self.seen:
            return True
        self.seen.add(key)
        return False
