"""What the columns of the Crypto Hardware Activity report are called, in the listing and as XML.

Neither form is published, so columns are known by the words of their headings, and in no other way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out

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
_LABELS = frozenset({"FUNCTION", "KEY", "SERVICE"})
FIGURE = re.compile(r"-{1,12}|\d{1,12}(\.\d{1,6})?", re.ASCII)
"""A figure in a listing; hyphens stand for none."""
_KEY_GENERATION = re.compile(r"KEY[- ]GEN(ERATION)?")
_FILLERS = frozenset({"TIME", "%", "LENGTH", "TOTAL"})
_KINDS = (("ICSF", "icsf"), ("PKCS11", "pkcs11"), ("CCA", "cca"), ("ACCELERATOR", "accelerator"))


@dataclass(frozen=True, slots=True)
class CryptoColumn:
    """What stands under one heading."""

    heading: str
    column: str = ""
    """Column of the table; empty for a label and for what is not known."""
    scope: str | None = None
    operation: str = ""
    label: bool = False
    """Whether the cells say what the figures behind them are about."""


def decimals(figure: str) -> int:
    """Digits behind the point; -1 where hyphens stand for a figure."""
    return -1 if figure.startswith("-") else len(figure.partition(".")[2])


def unit_kind(heading: str) -> str:
    """What kind of unit a part of the report is about; for one not known, its heading.

    >>> unit_kind("Cryptographic CCA Coprocessor")
    'cca'
    """
    words = heading.upper()
    return next((kind for word, kind in _KINDS if word in words), heading)


def crypto_column(heading: str) -> CryptoColumn:
    """What a heading says, whose words may be in any order.

    >>> crypto_column("CRT EXEC TIME").column, crypto_column("LPAR KEY-GEN RATE").column
    ('execution_ms', 'key_generation_rate')
    """
    words = _KEY_GENERATION.sub("KEYGEN", heading.upper().replace("%", " % ")).split()
    scope = next((word for word in words if word in SCOPES), None)
    rest = [word for word in words if word not in _FILLERS and word != scope]
    if len(rest) == 1 and rest[0] in _NAMES:
        return CryptoColumn(heading, _NAMES[rest[0]])
    if len(rest) == 1 and rest[0] in _LABELS:
        return CryptoColumn(heading, label=True)
    figures = [word for word in rest if word in _FIGURES]
    if len(figures) != 1:
        return CryptoColumn(heading)
    rest.remove(figures[0])
    if "KEYGEN" in rest and figures == ["RATE"]:
        rest.remove("KEYGEN")
        return CryptoColumn(heading, "key_generation_rate", scope, " ".join(rest))
    return CryptoColumn(heading, _FIGURES[figures[0]], scope, " ".join(rest))


@dataclass
class _Line:
    """What one line says."""

    names: dict[str, str] = field(default_factory=dict)
    label: str = ""
    rows: dict[tuple[str | None, str], dict[str, Any]] = field(default_factory=dict)
    """Figures by scope and operation."""
    extra: dict[str, str] = field(default_factory=dict)

    def take(self, column: CryptoColumn, text: str) -> None:
        if column.label:
            self.label = text
        elif not text:
            return
        elif column.column in _NAMES.values():
            self.names[column.column] = text
        elif column.column:
            operation = " ".join(filter(None, (column.operation, self.label))) or TOTAL
            row = self.rows.setdefault((column.scope, operation), {})
            if column.column in row:
                self.extra[column.heading] = text
            else:
                row[column.column] = text
        else:
            self.extra[column.heading] = text


@dataclass
class CryptoTable:
    """Makes rows of the lines of one part of the report."""

    kind: str
    out: Out
    seen: set[tuple[str | None, ...]] = field(default_factory=set)
    """What there are rows of; to be shared where a part goes on over several pages."""
    _card: dict[str, str] = field(default_factory=dict)
    """The last one: its kind is printed once for several alike, both only in the first line of a card."""

    def put(self, line: int, cells: Iterable[tuple[CryptoColumn, str]]) -> None:
        """Take one line: a row for each scope and operation that it has figures of."""
        said = _Line()
        for column, text in cells:
            said.take(column, text)
        if "card_type_name" in said.names:
            self._card = said.names
        elif "card_id" in said.names:
            self._card = self._card | said.names
        card = self._card if said.names or said.label else {}
        if said.extra and not said.rows:
            self.out.unknown(line, " ".join(said.extra.values()), self.kind)
        for (scope, operation), figures in said.rows.items():
            if self._is_another_card(card, scope, operation):
                text = f"{operation} of card {card['card_id']} comes twice: a line of another card is missing"
                self.out.issue(Code.REPORT_UNREADABLE, text, line, 1)
                continue
            made = {"unit_kind": self.kind, "crypto_scope_name": scope, "operation": operation}
            self.out.row("rmf_crypto", line, made | card | figures, said.extra)

    def _is_another_card(self, card: Mapping[str, str], scope: str | None, operation: str) -> bool:
        if "card_id" not in card:
            return False
        key = (self.kind, card.get("card_type_name"), card["card_id"], scope, operation)
        if key in self.seen:
            return True
        self.seen.add(key)
        return False
