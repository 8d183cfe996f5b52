"""Texts and names in SQL statements."""

from __future__ import annotations


def literal(text: str) -> str:
    """Return a text as an SQL literal.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return the name of a table or column as SQL has it, whatever characters it contains.

    >>> identifier("file")
    '"file"'
    """
    return '"' + name.replace('"', '""') + '"'
