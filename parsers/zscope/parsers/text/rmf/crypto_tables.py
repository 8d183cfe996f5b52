"""Crypto rows arranged as tables with one line for each card and operation, for writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from zscope.parsers.text.rmf.crypto_columns import TOTAL
from zscope.parsers.text.rmf.xml_parts import Table

Row = Mapping[str, Any]

_TITLES = {
    "cca": "Cryptographic CCA Coprocessor",
    "pkcs11": "Cryptographic PKCS11 Coprocessor",
    "accelerator": "Cryptographic Accelerator",
    "icsf": "ICSF Services",
}
FIGURES = (
    ("operation_rate", "Rate", "{:.2f}"),
    ("execution_ms", "Execution Time", "{:.3f}"),
    ("utilisation_pct", "Util%", "{:.1f}"),
    ("key_generation_rate", "Key-Gen Rate", "{:.2f}"),
    ("average_size_bytes", "Size", "{:.2f}"),
)


def crypto_tables(rows: Sequence[Row]) -> Iterator[tuple[str, Table]]:
    """The title and the table of each part of the report."""
    for kind in dict.fromkeys(row["unit_kind"] for row in rows):
        yield _TITLES.get(kind, kind), _table(kind, [row for row in rows if row["unit_kind"] == kind])


def _table(kind: str, rows: Sequence[Row]) -> Table:
    leading = [("Service", "T")] if kind == "icsf" else [("Type", "T"), ("ID", "T"), ("Function", "T")]
    scopes = list(dict.fromkeys(row.get("crypto_scope_name") for row in rows))
    figures = [
        (scope, column, " ".join(filter(None, (scope, name))), printed)
        for scope in scopes
        for column, name, printed in FIGURES
        if any(row.get(column) is not None for row in rows if row.get("crypto_scope_name") == scope)
    ]
    lines: dict[tuple[str, ...], dict[str | None, Row]] = {}
    for row in rows:
        lines.setdefault(_names(kind, row), {})[row.get("crypto_scope_name")] = row
    headings = [*leading, *((name, "N") for _, _, name, _ in figures)]
    return Table(
        headings, [([*names, *_cells(by_scope, figures)], False) for names, by_scope in lines.items()]
    )


def _names(kind: str, row: Row) -> tuple[str, ...]:
    if kind == "icsf":
        return (row["operation"],)
    label = "" if row["operation"] == TOTAL else row["operation"]
    return (row.get("card_type_name") or "", row.get("card_id") or "", label)


def _cells(
    by_scope: Mapping[str | None, Row], figures: Iterable[tuple[str | None, str, str, str]]
) -> list[str]:
    cells = []
    for scope, column, _, printed in figures:
        value = by_scope.get(scope, {}).get(column)
        cells.append("" if value is None else printed.format(value))
    return cells
