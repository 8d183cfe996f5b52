"""Texts from the data as one printable line: names of certificates, jobs and files come from strangers."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
"""Control characters, invisible ones, those that change the direction of text, and halves of characters."""


def one_line(text: object, longest: int) -> str:
    """Return a text without characters that are not printed; the rest of a long one is cut off.

    >>> one_line("two\\nlines", 80), one_line("\\u202egnp.exe", 80), one_line("abcdef", 4)
    ('two\\ufffdlines', '\\ufffdgnp.exe', 'abc…')
    """
    shown = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
