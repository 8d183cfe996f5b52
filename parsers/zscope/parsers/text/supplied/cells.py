"""The values of a line of CSV, as spreadsheets, programs and people separate them."""

from __future__ import annotations

import csv
import re

SEPARATORS = (",", ";", "\t")
COMMENT = "#"
_TELLS_SEPARATOR = re.compile(r'"?sep=.?"?[,;\s]*', re.IGNORECASE)


def cells(text: str, separator: str) -> list[str]:
    """The values of a line, without blanks around them; a line that is no CSV is one value.

    >>> cells('SYSA; "one; two" ;', ";")
    ['SYSA', 'one; two', '']
    """
    try:
        rows = csv.reader([text], delimiter=separator, skipinitialspace=True)
        return [cell.strip() for row in rows for cell in row]
    except csv.Error:
        return [text]


def says_something(text: str) -> bool:
    """Whether a line is neither blank nor a comment, nor the one that tells a spreadsheet the separator.

    >>> says_something("sep=;"), says_something("  # counted"), says_something("a,b")
    (False, False, True)
    """
    plain = text.strip()
    return bool(plain) and not plain.startswith(COMMENT) and _TELLS_SEPARATOR.fullmatch(plain) is None
