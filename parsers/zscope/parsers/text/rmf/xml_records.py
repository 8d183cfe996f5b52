"""Join the lines of a document that was cut into records of one length, in the middle of words or tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST, _FEWEST = 40, 3
"""Records are at least so long, and a document has so many full ones, unless a tag was cut."""
_SAMPLE = 1 << 16
"""So many characters of a document show whether it was cut."""
_CONTINUED = re.compile(r"[^>\s]\n[^<\s]")
"""A line end inside a word or a tag."""
_CUT_TAG = re.compile(r".*</?[\w:.-]*\n[\w:.-]*>", re.ASCII)
"""A line end inside the name of a tag, where none can be."""


def joined_records(texts: Iterator[str]) -> Iterator[str]:
    """Yield the text of a document, with full records joined if it was cut into records.

    A line end inside the document is moved to the end of the last tag before it, so that lines are counted.
    """
    first = ""
    for text in texts:
        first += text
        if len(first) >= _SAMPLE:
            break
    width = record_width(first)
    if width is None:
        yield first
        yield from texts
        return
    joiner = _Joiner(width)
    yield joiner.joined(first)
    for text in texts:
        yield joiner.joined(text)
    yield joiner.rest


def record_width(text: str) -> int | None:
    """Return the length of the records into which a document was cut; None if its lines are whole.

    >>> record_width(("<row><col>" + "9" * 50)[:45] + chr(10) + "9" * 45 + chr(10) + "9" * 45 + chr(10))
    45
    >>> record_width("<row>" * 20 + chr(10) + "<col>" * 20 + chr(10) + "<col>" * 20 + chr(10)) is None
    True
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")[:-1]]
    width = max(map(len, lines), default=0)
    full = [at for at, line in enumerate(lines) if len(line) == width]
    if width < _SHORTEST:
        return None
    pairs = [f"{lines[at]}\n{lines[at + 1]}" for at in full if at + 1 < len(lines)]
    evidence = _CONTINUED.search if len(full) >= _FEWEST else _CUT_TAG.match
    return width if any(map(evidence, pairs)) else None


class _Joiner:
    """Joins full lines with the ones after them."""

    def __init__(self, width: int) -> None:
        self.rest = ""
        """The line whose end is not there yet."""
        self._width = width
        self._moved = 0
        """Line ends that wait for the end of a tag."""

    def joined(self, text: str) -> str:
        """Return the whole lines of a text."""
        *lines, self.rest = (self.rest + text).split("\n")
        return "".join(map(self._line, lines))

    def _line(self, line: str) -> str:
        bare = line.removesuffix("\r")
        self._moved += 1
        end = bare.rfind(">") + 1 if len(bare) == self._width else len(bare)
        if not end:
            return bare
        ends, self._moved = "\n" * self._moved, 0
        return bare[:end] + ends + bare[end:]
