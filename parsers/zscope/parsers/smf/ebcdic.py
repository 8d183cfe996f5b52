"""EBCDIC to text and back by table, because Python knows code page 037 but not 1047.

The two agree on letters, digits and the blank; 1047, the code page of z/OS UNIX and of most C programs,
places six other characters differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

DEFAULT_CODE_PAGE = "1047"
CODE_PAGES = ("1047", "037")

BLANK = 0x40

_MOVED_IN_1047 = {0x5F: "^", 0xB0: "\xac", 0xBA: "\xdd", 0xBB: "\xa8", 0xAD: "[", 0xBD: "]"}


@dataclass(frozen=True, slots=True)
class CodePage:
    """One EBCDIC code page."""

    name: str
    characters: str
    """The 256 characters in the order of their codes."""

    def decode(self, raw: bytes) -> str:
        """Return the text of an EBCDIC field without its padding (blanks, binary zeros)."""
        return raw.decode("latin-1").translate(_decoder(self.name)).rstrip(" \0")

    def encode(self, text: str, length: int | None = None) -> bytes:
        """Return EBCDIC bytes, padded with blanks to a length; unknown characters are an error."""
        raw = bytes(_encoder(self.name)[character] for character in text)
        if length is None:
            return raw
        if len(raw) > length:
            raise ValueError(f"{text!r} is longer than its field of {length} bytes")
        return raw.ljust(length, bytes((BLANK,)))


@cache
def code_page(name: str = DEFAULT_CODE_PAGE) -> CodePage:
    """Return the code page with this number.

    >>> code_page().decode(bytes.fromhex("c3f0f2c64040"))
    'C02F'
    >>> code_page("037").decode(b"\\xba"), code_page("1047").decode(b"\\xad")
    ('[', '[')
    """
    if name not in CODE_PAGES:
        raise ValueError(f"code page {name!r} is not one of {', '.join(CODE_PAGES)}")
    characters = list(bytes(range(256)).decode("cp037"))
    if name == "1047":
        for code, character in _MOVED_IN_1047.items():
            characters[code] = character
    return CodePage(name, "".join(characters))


@cache
def _decoder(name: str) -> dict[int, str]:
    return dict(enumerate(code_page(name).characters))


@cache
def _encoder(name: str) -> dict[str, int]:
    return {character: code for code, character in enumerate(code_page(name).characters)}
