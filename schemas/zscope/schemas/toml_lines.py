"""The lines of the keys of a TOML text, which the parser of the standard library does not report."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping

KeyPath = tuple[str | int, ...]
"""The place of a value in a TOML text: names of keys, and positions in lists counted from 0."""

_TOKEN = re.compile(
    r'"{3}(?:\\.|[^\\])*?"{3}(?!")'  # a text of several lines
    r"|'{3}.*?'{3}(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|[\[\]{}=,.\n]"
    r"|#[^\n]*"
    r"|[^\s\[\]{}=,.#\"']+"  # a bare key, a number, a time
    r"|[ \t\r]+",
    re.DOTALL,
)
_ENDS_OF_VALUES = frozenset({",", "]", "}", "\n"})


def key_lines(text: str) -> Mapping[KeyPath, int]:
    """Return the line of each key and each element of a list in a valid TOML text, counted from 1.

    >>> key_lines("[load]\\nfolders = [\\n  'new',\\n]")
    {('load',): 1, ('load', 'folders'): 2, ('load', 'folders', 0): 3}
    """
    return _TomlScanner(text).lines


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield the tokens with their lines; blanks and comments are left out."""
    line = 1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] not in " \t\r#":
            yield token, line
        line += token.count("\n")


class _TomlScanner:
    """Follows the structure of a text; it need not detect errors, because the text was parsed before."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._tokens = list(_tokens(text))
        self._at = 0
        self._elements: Counter[KeyPath] = Counter()
        """The number of `[[name]]` by the path of the name."""
        table: KeyPath = ()
        while self._at < len(self._tokens):
            if self._skipped("\n"):
                continue
            if self._skipped("["):
                table = self._heading()
            else:
                self._pair(table)

    def _token(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "\n"

    def _line(self) -> int:
        return self._tokens[self._at][1]

    def _skipped(self, *tokens: str) -> bool:
        if self._at < len(self._tokens) and self._token() in tokens:
            self._at += 1
            return True
        return False

    def _heading(self) -> KeyPath:
        """Read `name]` or `[name]]`, and return the path of its table."""
        line, repeated = self._line(), self._skipped("[")
        path: KeyPath = ()
        names = self._key()
        while self._skipped("]"):
            pass
        for position, name in enumerate(names, start=1):
            path = (*path, name)
            self.lines.setdefault(path, line)
            if repeated and position == len(names):
                self._elements[path] += 1
            if path in self._elements:
                path = (*path, self._elements[path] - 1)
                self.lines.setdefault(path, line)
        return path

    def _key(self) -> list[str]:
        """Read a key up to `=` or `]`: its names, which are several in a dotted key."""
        names = []
        while (token := self._token()) not in {"=", "]"}:
            if token != ".":
                names.append(tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token)
            self._at += 1
        return names

    def _pair(self, path: KeyPath) -> None:
        """Read a key and its value."""
        line = self._line()
        for name in self._key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self._at += 1  # the equals sign
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        if self._skipped("{"):
            while not self._skipped("}"):
                if not self._skipped(",", "\n"):
                    self._pair(path)
        elif self._skipped("["):
            position = 0
            while not self._skipped("]"):
                if not self._skipped(",", "\n"):
                    self.lines[*path, position] = self._line()
                    self._value((*path, position))
                    position += 1
        else:
            while self._token() not in _ENDS_OF_VALUES:
                self._at += 1
