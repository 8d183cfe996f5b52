"""Texts and names in SQL statements."""

from __future__ import annotations

import re

_READ = re.compile(r'\b(?:FROM|JOIN)\s+"?(\w+)', re.IGNORECASE)


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


def relations_named(sql: str) -> list[str]:
    """Return the names that follow FROM or JOIN in a statement: of tables, views, and what it names itself.

    >>> relations_named('from Hours JOIN "load" USING (system), (SELECT * FROM read_csv(x))')
    ['hours', 'load', 'read_csv']
    """
    return [name.lower() for name in _READ.findall(sql)]
