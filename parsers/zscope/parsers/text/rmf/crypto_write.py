"""Write the Crypto Hardware Activity listing from rows.

The column positions are our own, as no listing of it is published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from zscope.parsers.text.rmf.crypto import SERVICES, has_size
from zscope.parsers.text.rmf.crypto_columns import SCOPES, TOTAL

Row = Mapping[str, Any]

_TITLES = {
    "cca": "CRYPTOGRAPHIC CCA COPROCESSOR",
    "pkcs11": "CRYPTOGRAPHIC PKCS11 COPROCESSOR",
    "accelerator": "CRYPTOGRAPHIC ACCELERATOR",
    "icsf": "ICSF SERVICES",
}
_WIDTH = 132
_FIGURES = {"operation_rate": "{:.2f}", "execution_ms": "{:.3f}", "utilisation_pct": "{:.1f}"}
_FIGURE_NAMES = ("RATE", "EXEC TIME", "UTIL%")
_FORMATS = ("ME", "CRT")

Line = list[str]


def crypto_lines(rows: Sequence[Row], heading: Sequence[str] = (), *, gap: int = 3) -> list[str]:
    """Return the lines of a report below its heading; `gap` is the distance between columns."""
    lines = list(heading)
    for kind in dict.fromkeys(row["unit_kind"] for row in rows):
        of_kind = [row for row in rows if row["unit_kind"] == kind]
        title = f"-------- {_TITLES[kind]} "
        lines += ["", title.ljust(100, "-")]
        lines += _PARTS[kind](of_kind, gap)
    return lines


def _cca(rows: Sequence[Row], gap: int) -> list[str]:
    scopes = [scope for scope in SCOPES if any(row.get("crypto_scope_name") == scope for row in rows)]
    with_none: list[str | None] = [*scopes] or [None]
    groups = [*scopes, *(f"{scope} KEY-GEN" for scope in scopes)] or ["", "KEY-GEN"]
    names = ["TYPE", "ID"]
    for group in groups:
        names += ["RATE"] if "KEY-GEN" in group else _FIGURE_NAMES
    if not scopes:
        names[-1] = "KEY-GEN RATE"
    table: list[Line] = []
    for card, parts in _by_card(rows).items():
        by_scope = {row.get("crypto_scope_name"): row for row in parts}
        ordered = [by_scope[scope] for scope in with_none]
        figures = [text for row in ordered for text in _figures(row)]
        table.append([*card, *figures, *(_two(row["key_generation_rate"]) for row in ordered)])
    table = [names, *_types_once(table)]
    widths = _widths(table, least=12)
    return [*([_above(groups, widths, gap)] if scopes else []), *_aligned(table, widths, gap)]


def _above(groups: Sequence[str], widths: Sequence[int], gap: int) -> str:
    """Return the line of group titles over their columns, with hyphens to the ends."""
    cells = [" " * widths[0], " " * widths[1]]
    at = 2
    for group in groups:
        columns = 1 if "KEY-GEN" in group else len(_FIGURE_NAMES)
        width = sum(widths[at : at + columns]) + gap * (columns - 1)
        cells.append(f" {group} ".center(width, "-") if columns > 1 else group.rjust(width))
        at += columns
    return (" " * gap).join(cells)


def _pkcs11(rows: Sequence[Row], gap: int) -> list[str]:
    names = ["TYPE", "ID", *_FIGURE_NAMES, "FUNCTION", *_FIGURE_NAMES]
    table: list[Line] = []
    for card, parts in _by_card(rows).items():
        total, *functions = parts
        leading = [*card, *_figures(total)]
        for function in functions:
            table.append([*leading, function["operation"], *_figures(function)])
            leading = [""] * len(leading)
    table = [names, *_types_once(table)]
    return _aligned(table, _widths(table), gap)


def _accelerator(rows: Sequence[Row], gap: int) -> list[str]:
    names = ["TYPE", "ID", *_FIGURE_NAMES, "KEY"]
    for form in _FORMATS:
        names += [f"{form} RATE", *_FIGURE_NAMES[1:]]
    table: list[Line] = []
    for card, parts in _by_card(rows).items():
        by_operation = {row["operation"]: row for row in parts}
        leading = [*card, *_figures(by_operation[TOTAL])]
        for key in dict.fromkeys(operation.split()[1] for operation in by_operation if operation != TOTAL):
            figures = [text for form in _FORMATS for text in _figures(by_operation[f"{form} {key}"])]
            table.append([*leading, key, *figures])
            leading = [""] * len(leading)
    table = [names, *_types_once(table)]
    return _aligned(table, _widths(table), gap)


def _icsf(rows: Sequence[Row], gap: int) -> list[str]:
    """Return the ICSF services, as many groups side by side as fit the page."""
    by_operation = {row["operation"]: row for row in rows}
    names = ["", "", "RATE", "SIZE"]
    lines: list[str] = []
    block = names
    for group in (group for group in SERVICES if f"{group} {SERVICES[group][0]}" in by_operation):
        joined = [
            line.ljust(4) + " " * gap + more
            for line, more in zip(block, _services(group, by_operation), strict=True)
        ]
        if len(joined[0]) > _WIDTH:
            lines += block
            joined = [
                line.ljust(4) + " " * gap + more
                for line, more in zip(names, _services(group, by_operation), strict=True)
            ]
        block = joined
    return [line.rstrip() for line in (*lines, *block)]


def _services(group: str, by_operation: Mapping[str, Row]) -> list[str]:
    """Return four lines of one width: the group, its services, rates and sizes."""
    services = SERVICES[group]
    of_group = [by_operation[f"{group} {name}"] for name in services]
    rates = [_two(row["operation_rate"]) for row in of_group]
    sizes = [_two(row["average_size_bytes"]) if has_size(group) else "" for row in of_group]
    lines = [" ".join(cell.rjust(10) for cell in cells) for cells in (services, rates, sizes)]
    width = max(len(group), len(lines[0]))
    return [group.center(width), *(line.rjust(width) for line in lines)]


def _by_card(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    cards: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        cards.setdefault((row["card_type_name"], row["card_id"]), []).append(row)
    return cards


def _types_once(table: list[Line]) -> Iterator[Line]:
    last = ""
    for line in table:
        yield ["" if line[0] == last else line[0], *line[1:]]
        last = line[0] or last


def _figures(row: Row) -> list[str]:
    return [printed.format(row[column]) for column, printed in _FIGURES.items()]


def _two(value: float) -> str:
    return f"{value:.2f}"


def _widths(table: Sequence[Line], least: int = 0) -> list[int]:
    """Return the widths of the columns; those of figures are at least `least`."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [*widths[:2], *(max(width, least) for width in widths[2:])]


def _aligned(table: Sequence[Line], widths: Sequence[int], gap: int) -> list[str]:
    """Align the card type to the left, everything else to the right."""
    lines = []
    for first, *others in table:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append((" " * gap).join([first.ljust(widths[0]), *cells]))
    return lines


_PARTS: Mapping[str, Callable[[Sequence[Row], int], list[str]]] = {
    "cca": _cca,
    "pkcs11": _pkcs11,
    "accelerator": _accelerator,
    "icsf": _icsf,
}
