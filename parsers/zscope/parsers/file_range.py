"""A part of a dump that can be read apart from the rest of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.smf.walker import WHOLE, Span

if TYPE_CHECKING:
    from zscope.parsers.smf.framing import Framing


@dataclass(frozen=True, slots=True)
class FileRange:
    """A part of a dump, or a whole file, that can be read in another process or on another machine.

    `plan_ranges` makes them. `read` and `scan` take a range like a path: rows and issues are those that the
    whole file has in this part, with its record numbers and offsets.
    """

    path: str
    span: Span = WHOLE
    """The bytes, and what the reader has to know about those before them."""
    framing: Framing | None = None
    """Framing of the dump; None for a whole file."""
    size: int | None = None
    """Size of the file when its ranges were planned; None if it is not known."""
    named: bool = True
    """False for a file in a named folder."""

    @property
    def whole(self) -> bool:
        """Whether this is the whole file."""
        return self.span == WHOLE

    @property
    def length(self) -> int | None:
        """Number of bytes, for a scheduler; of a packed file before it is unpacked."""
        end = self.size if self.span.end is None else self.span.end
        return None if end is None else end - self.span.begin

    def __str__(self) -> str:
        """Return path and bytes.

        >>> str(FileRange("dump.smf", Span(0, 800), size=1000)), str(FileRange("dump.smf"))
        ('dump.smf, bytes 0 to 800', 'dump.smf')
        """
        if self.whole:
            return self.path
        return f"{self.path}, bytes {self.span.begin} to {self.span.end or self.size}"
