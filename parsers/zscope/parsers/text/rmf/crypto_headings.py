"""The heading lines inside the listing of the Crypto Hardware Activity report."""

from __future__ import annotations

from collections.abc import Sequence

import pyparsing as pp

from zscope.parsers.text.rmf.crypto_columns import CryptoColumn, crypto_column

_LONGEST = 400
"""Longer lines are no headings."""

ColumnName = str | tuple[str, tuple[str, ...]]
"""A name, or what stands before a rate with the names of the figures that belong to it."""


def _word(text: str) -> pp.ParserElement:
    return pp.CaselessKeyword(text, ident_chars=pp.alphanums + "-%")


_RULE = pp.Suppress(pp.ZeroOrMore(pp.Word("-")))
_PART = (
    _RULE
    + (
        _word("ICSF") + _word("SERVICES")
        | _word("CRYPTOGRAPHIC") + pp.OneOrMore(pp.Word(pp.alphas, pp.alphanums))
    )
    + _RULE
    + pp.StringEnd()
)
_QUALIFIER = _word("LPAR") | _word("CPC") | _word("ME") | _word("CRT")
_ABOVE = (
    pp.OneOrMore(_RULE + pp.Group(_QUALIFIER + pp.Opt(_word("KEY-GEN")) | _word("KEY-GEN")) + _RULE)
    + pp.StringEnd()
)
_FIGURES = pp.Group(
    pp.Group(pp.ZeroOrMore(_QUALIFIER | _word("KEY-GEN")))
    + pp.Group(_word("RATE") + pp.Opt(_word("EXEC") + pp.Suppress(_word("TIME"))) + pp.Opt(_word("UTIL%")))
)
_LEADING = _word("TYPE") | _word("ID") | _word("KEY") | _word("FUNCTION")
_NAMES = pp.OneOrMore(_LEADING | _FIGURES) + pp.StringEnd()


def part_title(text: str) -> str | None:
    """The title of a part of the report, if the line is one.

    >>> part_title("----- CRYPTOGRAPHIC ACCELERATOR -----")
    'CRYPTOGRAPHIC ACCELERATOR'
    """
    found = _parsed(_PART, text)
    return " ".join(found).upper() if found else None


def above_columns(text: str) -> tuple[str, ...] | None:
    """What stands above groups of columns, if the line is of that kind.

    >>> above_columns("--- LPAR ---   --- CPC ---   LPAR KEY-GEN")
    ('LPAR', 'CPC', 'LPAR KEY-GEN')
    """
    found = _parsed(_ABOVE, text)
    return tuple(" ".join(words).upper() for words in found) if found else None


def column_names(text: str) -> list[ColumnName] | None:
    """The names of columns, if the line has them: figures together with the rate they belong to.

    >>> column_names("TYPE  ID  RATE  EXEC TIME  UTIL%")
    ['TYPE', 'ID', ('', ('RATE', 'EXEC', 'UTIL%'))]
    """
    found = _parsed(_NAMES, text)
    if not found:
        return None
    return [
        name.upper() if isinstance(name, str) else (" ".join(name[0]).upper(), tuple(name[1]))
        for name in found
    ]


def columns_under(above: Sequence[str], names: Sequence[ColumnName]) -> list[CryptoColumn] | None:
    """The columns in order; None where the line above does not go with the names.

    Each group above goes with one group of figures, from left to right.
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
    """Whether the headings tell all figures apart, those behind a label from those before it included."""
    labels = [at for at, column in enumerate(columns) if column.label]
    behind = labels[0] if labels else len(columns)
    kinds = {(c.column, c.scope, c.operation, at > behind) for at, c in enumerate(columns)}
    return len(labels) < 2 and len(kinds) == len(columns)


def _parsed(grammar: pp.ParserElement, text: str) -> pp.ParseResults | None:
    if len(text) > _LONGEST:
        return None
    try:
        return grammar.parse_string(text)
    except pp.ParseException:
        return None
