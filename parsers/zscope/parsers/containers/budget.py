"""Limits of what one packed file can become: small files can unpack to nearly any size.

The work of all layers counts: a member of a zip in a zip is unpacked twice. A file that exceeds a limit ends
there, with an issue that names the limit and how to raise it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from zscope.parsers.containers.streams import DamagedError
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.streams import ByteSource

OPTION = "--unpack-limits"
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_NUMBER = re.compile(r"([0-9]{1,15})\s*([KMGT]?)B?", re.IGNORECASE)
_RATIO_FROM_BYTES = 32 << 20
"""Less than this is quickly read, however small it was packed."""


class LimitsError(Error, ValueError):
    """Limits that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class UnpackLimits:
    """The limits for one file."""

    bytes: int = 10**12
    """Unpacked bytes, of all layers together."""
    members: int = 10_000
    """Files in zip archives, also in archives in archives."""
    nesting: int = 8
    """Layers of packing."""
    ratio: int = 250
    """Unpacked bytes for each byte of the file, from 32 MB on. SMF dumps have about 10, reports up to 50."""
    seconds: int = 4 * 3600
    """Time of unpacking, without the time of reading what is unpacked."""

    @classmethod
    def parse(cls, text: str) -> UnpackLimits:
        """Return the defaults with some limits replaced.

        >>> UnpackLimits.parse("bytes=2TB, ratio=1000").bytes
        2000000000000
        >>> UnpackLimits.parse("depth=9")
        Traceback (most recent call last):
        ...
        zscope.parsers.containers.budget.LimitsError: 'depth=9' is not a limit such as bytes=2TB: \
the limits are bytes, members, nesting, ratio, seconds
        """
        known = [each.name for each in fields(cls)]
        chosen: dict[str, int] = {}
        for part in filter(None, (each.strip() for each in text.split(","))):
            name, _, number = (each.strip() for each in part.partition("="))
            match = _NUMBER.fullmatch(number)
            if name not in known or match is None or not int(match[1]):
                raise LimitsError(
                    f"{part!r} is not a limit such as bytes=2TB: the limits are {', '.join(known)}"
                )
            chosen[name] = int(match[1]) * _UNITS[match[2].upper()]
        return replace(cls(), **chosen)


class LimitReachedError(DamagedError):
    """A packed file exceeds a limit."""


@dataclass(slots=True)
class UnpackBudget:
    """What unpacking one file has used of its limits."""

    limits: UnpackLimits
    packed: int = 0
    """Size of the file; for a pipe what was read of it so far."""
    unpacked: int = 0
    members: int = 0
    seconds: float = 0.0
    exceeded: str | None = None
    """What was exceeded, after that happened."""
    reported: bool = False
    _inside: bool = False

    def pieces(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield unpacked pieces; raise LimitReachedError if there are too many."""
        while True:
            self.check()
            outermost, self._inside = not self._inside, True
            started = time.perf_counter()
            try:
                piece = next(pieces, None)
            finally:
                if outermost:
                    self._inside = False
                    self.seconds += time.perf_counter() - started
            if piece is None:
                return
            self.unpacked += len(piece)
            yield piece

    def add_members(self, count: int) -> None:
        """Count the members of an archive before the first is unpacked."""
        self.members += count
        self.check()

    def check(self) -> None:
        """Raise LimitReachedError if a limit is exceeded."""
        limits = self.limits
        if self.unpacked > limits.bytes:
            self._exceed(f"more than {limits.bytes:,} bytes", "bytes")
        if self.unpacked > max(_RATIO_FROM_BYTES, limits.ratio * self.packed):
            self._exceed(f"more than {limits.ratio:,} times its size", "ratio")
        if self.members > limits.members:
            self._exceed(f"more than {limits.members:,} files", "members")
        if self.seconds > limits.seconds:
            self._exceed(f"what takes more than {limits.seconds:,} seconds to unpack", "seconds")

    def check_nesting(self, layers: int) -> None:
        """Raise LimitReachedError if there are too many layers of packing."""
        if layers > self.limits.nesting:
            self._exceed(f"more than {self.limits.nesting} layers of packing", "nesting")

    def _exceed(self, what: str, limit: str) -> None:
        self.exceeded = (
            f"contains {what}, so it was not read to its end; if you trust it, raise this limit with "
            f"{OPTION} {limit}=N"
        )
        raise LimitReachedError(self.exceeded)

    def counted(self, source: ByteSource) -> ByteSource:
        """Return a source that counts the packed bytes, for a file whose size is not known."""
        return _CountedSource(source, self)


@dataclass(frozen=True, slots=True)
class _CountedSource:
    source: ByteSource
    budget: UnpackBudget

    def read(self, size: int = -1, /) -> bytes:
        piece = self.source.read(size)
        self.budget.packed += len(piece)
        return piece
