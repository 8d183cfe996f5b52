"""By what a file is recognised: a digest of its bytes, and of its beginnings that could be a shorter, older
file.

XXH3 of 128 bits is published and frozen, and many times as fast as a disk. It does not resist someone who
makes two files with one digest on purpose, and need not: all such a person gains is that the second of the
two is not loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from xxhash import xxh3_128

if TYPE_CHECKING:
    from collections.abc import Iterable

_CHUNK = 4 << 20


@dataclass(slots=True)
class ContentDigest:
    """Sums up a stream of bytes, and remembers the digest at certain lengths."""

    marks: list[int] = field(default_factory=list)
    """Lengths of interest, the longest first."""
    at_marks: dict[int, str] = field(default_factory=dict)
    size: int = 0
    _state: xxh3_128 = field(default_factory=xxh3_128)

    @classmethod
    def of_lengths(cls, lengths: Iterable[int]) -> ContentDigest:
        """A digest that also remembers what it was at these lengths."""
        return cls(sorted(set(lengths), reverse=True))

    def update(self, piece: memoryview) -> None:
        """Go on by some bytes."""
        while self.marks and self.marks[-1] <= self.size + len(piece):
            mark = self.marks.pop()
            head = piece[: mark - self.size]
            self._add(head)
            self.at_marks[mark] = self.digest()
            piece = piece[len(head) :]
        self._add(piece)

    def _add(self, piece: memoryview) -> None:
        self._state.update(piece)
        self.size += len(piece)

    def digest(self) -> str:
        """Of what there was so far.

        >>> content = ContentDigest.of_lengths([3])
        >>> content.update(memoryview(b"abcdef"))
        >>> content.at_marks[3] == xxh3_128(b"abc").hexdigest(), content.size
        (True, 6)
        """
        return str(self._state.hexdigest())


def digest_of_file(path: Path) -> str:
    """The digest of a file as it lies there."""
    with path.open("rb", buffering=0) as file:
        return digest_of(file).digest()


def digest_of(file: BinaryIO, lengths: Iterable[int] = ()) -> ContentDigest:
    """The digest of an open file from where it stands to its end."""
    content = ContentDigest.of_lengths(lengths)
    while piece := file.read(_CHUNK):
        content.update(memoryview(piece))
    return content
