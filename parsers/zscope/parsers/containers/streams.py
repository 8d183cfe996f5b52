"""Streams of unpacked bytes that end where data are damaged, and the signs of packed data."""

from __future__ import annotations

from io import BufferedIOBase, FileIO
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, Protocol

from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ARCHIVES: Final = frozenset({"zip", "tar"})
"""Packings that contain files with names of their own."""
Form = Literal["PACK", "SPACK"]
HEADER_SIZE: Final = 12
VERSIONS: Final[dict[int, Form]] = {0x02: "PACK", 0x05: "SPACK"}
FLAG_MVS: Final = 0x04
_FOREIGN_VERSIONS: Final = (b"\x01", b"\x07")
_FOREIGN_SIGNATURE: Final = b"\x89\x69\xa5"
_SEGMENT_CODES: Final = (0x0100, 0x0200, 0x0300)

PACKED_CHUNK = 1 << 18
UNPACKED_CHUNK = 1 << 20
"""The most bytes that one step of unpacking yields."""


class DamagedError(Error):
    """Packed data that cannot be unpacked further."""


class ByteSource(Protocol):
    """A source of packed bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes; none only at the end."""


def unreadable(error: OSError) -> str:
    """Return the text for an error of the operating system."""
    return f"cannot be read: {error.strerror or type(error).__name__}"


class PeekableStream:
    """A stream of pieces that can be peeked into.

    When the pieces end in a `DamagedError`, everything before it is delivered and the damage is reported,
    with whether there was anything before it: for the reader the file ends there.

    If the pieces are the bytes of a file, the file can be passed as well: large reads then go directly to
    the caller's buffer without a copy.

    The first end is final. Bytes that another program appends later are in no read, so that all who read the
    stream see the same content.
    """

    def __init__(
        self, pieces: Iterator[bytes], on_damage: Callable[[str, bool], None], file: BinaryIO | None = None
    ) -> None:
        self._pieces = pieces
        self._anything = False
        self.damaged = False
        self._direct = file if isinstance(file, FileIO | BufferedIOBase) else None
        self._on_damage = on_damage
        self._buffer = memoryview(b"")
        self._ended = False
        self._listener: Callable[[memoryview], object] | None = None

    def listen(self, listener: Callable[[memoryview], object]) -> None:
        """Pass all bytes of the stream to a listener, once and in order; call it before the first read."""
        self._listener = listener
        listener(self._buffer)

    def peek(self, count: int) -> bytes:
        """Return the next bytes without consuming them; fewer than `count` only at the end of the stream."""
        parts, size = [self._buffer], len(self._buffer)
        while size < count and (piece := self._next()):
            parts.append(memoryview(piece))
            size += len(piece)
        if len(parts) > 1:
            self._buffer = memoryview(b"".join(parts))
        return bytes(self._buffer[:count])

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or all of them; none only at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(UNPACKED_CHUNK), b""))
        buffer = bytearray(min(size, UNPACKED_CHUNK))
        return bytes(buffer[: self.readinto(memoryview(buffer))])

    def readinto(self, buffer: memoryview, /) -> int:
        """Read some bytes; none only at the end."""
        if not self._buffer:
            if self._direct and not self._ended and len(buffer) >= UNPACKED_CHUNK:
                return self._read_directly(self._direct, buffer)
            self._buffer = memoryview(self._next())
        count = min(len(buffer), len(self._buffer))
        buffer[:count] = self._buffer[:count]
        self._buffer = self._buffer[count:]
        return count

    def _read_directly(self, file: FileIO | BufferedIOBase, buffer: memoryview) -> int:
        try:
            count = file.readinto(buffer) or 0
        except OSError as error:
            self._end(unreadable(error))
            return 0
        self._ended = count == 0
        if self._listener:
            self._listener(buffer[:count])
        return count

    def _end(self, damage: str) -> None:
        self._ended = self.damaged = True
        self._on_damage(damage, self._anything)

    def _next(self) -> bytes:
        """The next piece that is not empty, or nothing at the end."""
        while not self._ended:
            try:
                piece = next(self._pieces, None)
            except DamagedError as error:
                self._end(str(error))
                piece = None
            if piece is None:
                self._ended = True
            elif piece:
                self._anything = True
                if self._listener:
                    self._listener(memoryview(piece))
                return piece
        return b""


def plain_pieces(file: ByteSource) -> Iterator[bytes]:
    """Yield the bytes of a plain file."""
    try:
        while piece := file.read(UNPACKED_CHUNK):
            yield piece
    except OSError as error:
        raise DamagedError(unreadable(error)) from error


def looks_tersed(head: bytes) -> bool:
    """Return whether the first 12 bytes are of a packed file, and not of an RDW stream of SMF records.

    >>> looks_tersed(bytes.fromhex("020100fb0c006d5e00000000"))
    True
    >>> looks_tersed(bytes.fromhex("020000005e7700112233012f"))
    False
    """
    if len(head) < HEADER_SIZE or head[0] not in VERSIONS or head[1] > 1 or not head[4] & FLAG_MVS:
        return False
    short, long = int.from_bytes(head[2:4]), int.from_bytes(head[8:12])
    # In an RDW stream bytes 2-3 are zero or a segment code. With such a code bytes 10-11 decide: there the
    # SMF header has century and year, never zero but X'0100' in 2000, as if the length were repeated.
    return short != 0 and (long == 0 or (long == short and short not in _SEGMENT_CODES))


def foreign_terse(head: bytes) -> bool:
    """Return whether TERSE on another platform wrote the file, a form that is not documented or supported."""
    return head[:1] in _FOREIGN_VERSIONS and head[1:4] == _FOREIGN_SIGNATURE
