"""Texts in files for spreadsheets: none is a formula, and none has control characters.

Names of certificates, jobs and hosts come from strangers. A spreadsheet evaluates a cell that begins with
`=`, `+`, `-` or `@`, and a terminal obeys control characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable

_FORMULA = "^[\t\r\n]*[=+\\-@\uff1d\uff0b\uff0d\uff20]"
"""A spreadsheet ignores tabs and line ends before the sign; the wide signs are equal in Japanese versions."""
CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
"""Control characters except tabs and line ends, which CSV can contain."""
_UNSAFE = f"{_FORMULA}|{CONTROLS}"
_CONTROL = re.compile(CONTROLS)
_BEGINS_FORMULA = re.compile(_FORMULA)
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9.,:]*%?(?:[eE][+-]?[0-9]+)?")
"""Texts such as -5, -0.5%, 1e-5, +01:00 and a single -, which a spreadsheet does not evaluate further."""


def safe_texts(column: pa.Array) -> pa.Array:
    """Return the texts so that no spreadsheet or terminal takes them for more than texts.

    >>> safe_texts(pa.array(["=1+2", "-5", "CN=a", "a\\x1b[0m", None])).to_pylist()
    ["'=1+2", '-5', 'CN=a', 'a\\\\x1b[0m', None]
    """
    return replace_matching(column, _UNSAFE, safe_text)


def safe_text(text: str) -> str:
    """Return one text with control characters as escapes, and an apostrophe before a formula.

    >>> safe_text("@SUM(A1)"), safe_text("+01:00"), safe_text("-a")
    ("'@SUM(A1)", '+01:00', "'-a")
    """
    shown = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return f"'{shown}" if _BEGINS_FORMULA.match(shown) and not _PLAIN_NUMBER.fullmatch(shown) else shown


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of this type are texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def replace_matching(column: pa.Array, pattern: str, change: Callable[[str], str]) -> pa.Array:
    """Replace the texts that match a pattern; fast for a column without any."""
    matches = pc.fill_null(pc.match_substring_regex(column, pattern), fill_value=False)
    if not pc.any(matches).as_py():
        return column
    changed = pa.array([change(text) for text in column.filter(matches).to_pylist()], pa.string())
    return pc.replace_with_mask(column, matches, changed)
