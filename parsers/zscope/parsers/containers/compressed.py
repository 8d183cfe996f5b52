"""Decompress gzip, bzip2, xz, zstd and lz4, and recognize the archive formats that are not supported."""

from __future__ import annotations

import bz2
import lzma
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from zscope.parsers.containers.streams import PACKED_CHUNK, UNPACKED_CHUNK, DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zscope.parsers.containers.streams import ByteSource

_MOST_MEMORY = 256 << 20
"""An xz file names the memory that unpacking it takes, up to 4 GB."""


@dataclass(frozen=True, slots=True)
class Compression:
    """A way to compress a single file."""

    name: str
    signatures: tuple[bytes, ...]
    """What the file begins with, one of these."""
    pieces: Callable[[ByteSource], Iterator[bytes]]
    """Yields the content; raises a `DamagedError` where it cannot go on."""


def compression_of(head: bytes) -> Compression | None:
    """Return the compression of a file with these first bytes, if it is one that is read.

    >>> compression_of(bytes.fromhex("fd377a585a00")).name
    'xz'
    """
    return next((each for each in _COMPRESSIONS if head.startswith(each.signatures)), None)


class _Decompressor(Protocol):
    """What `bz2` and `lzma` have for one stream."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return some content."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes of the bytes so far."""

    @property
    def unused_data(self) -> bytes:
        """What follows the stream."""


def _gzip_pieces(file: ByteSource) -> Iterator[bytes]:
    """Yield the content of every member; zero bytes after the last one are padding."""
    pending = b""
    while pending := _without_padding(pending or file.read(PACKED_CHUNK), file):
        member = zlib.decompressobj(wbits=31)
        while True:
            before = member.copy()
            try:
                yield member.decompress(pending, UNPACKED_CHUNK)
            except zlib.error as error:
                yield from _good_part(before, pending)
                raise DamagedError(f"the gzip data are damaged: {error}") from error
            if member.eof:
                pending = member.unused_data
                break
            pending = member.unconsumed_tail or file.read(PACKED_CHUNK)
            if not pending:
                yield member.flush()
                _require_end(member)
                break


def _require_end(member: zlib._Decompress) -> None:
    if not member.eof:
        raise _cut("gzip")


def _good_part(member: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    """What can be unpacked byte by byte before the place that cannot."""
    for at in range(len(packed)):
        try:
            yield member.decompress(packed[at : at + 1])
        except zlib.error:
            return


def _bzip2_pieces(file: ByteSource) -> Iterator[bytes]:
    return _streams(file, "bzip2", bz2.BZ2Decompressor)


def _xz_pieces(file: ByteSource) -> Iterator[bytes]:
    return _streams(file, "xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MOST_MEMORY))


def _streams(file: ByteSource, name: str, begin: Callable[[], _Decompressor]) -> Iterator[bytes]:
    """Yield the content of every stream; zero bytes after one are padding."""
    pending = b""
    while pending := _without_padding(pending or file.read(PACKED_CHUNK), file):
        stream = begin()
        while not stream.eof:
            try:
                yield stream.decompress(pending, UNPACKED_CHUNK)
            except (lzma.LZMAError, OSError) as error:
                raise DamagedError(f"the {name} data cannot be unpacked further: {error}") from error
            pending = b""
            if _waits(stream) and not (pending := file.read(PACKED_CHUNK)):
                raise _cut(name)
        pending = stream.unused_data


def _waits(stream: _Decompressor) -> bool:
    """Return whether a stream has not ended, and yields nothing more without further bytes."""
    return not stream.eof and stream.needs_input


def _without_padding(packed: bytes, file: ByteSource) -> bytes:
    """Return the packed bytes after the zero bytes; none only at the end."""
    while packed and not packed.strip(b"\0"):
        packed = file.read(PACKED_CHUNK)
    return packed.lstrip(b"\0")


def _zstd_pieces(file: ByteSource) -> Iterator[bytes]:
    return _arrow_pieces(file, "zstd")


def _lz4_pieces(file: ByteSource) -> Iterator[bytes]:
    return _arrow_pieces(file, "lz4")


class _ArrowSource:
    """A source of packed bytes with what Arrow asks of a file."""

    closed = False

    def __init__(self, file: ByteSource) -> None:
        self.read = file.read

    def close(self) -> None:
        """Leave the file open, for those who opened it."""


def _arrow_pieces(file: ByteSource, name: str) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.PythonFile(_ArrowSource(file), "r"), name) as stream:
        while True:
            try:
                piece = stream.read(UNPACKED_CHUNK)
            except DamagedError:
                raise
            except (pa.ArrowException, OSError) as error:
                raise DamagedError(f"the {name} data cannot be unpacked further: {error}") from error
            if not piece:
                return
            yield piece


def _cut(name: str) -> DamagedError:
    return DamagedError(f"the {name} data end before they are complete")


_COMPRESSIONS = (
    Compression("gzip", (b"\x1f\x8b\x08",), _gzip_pieces),
    Compression("bzip2", tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)), _bzip2_pieces),
    Compression("xz", (b"\xfd7zXZ\0",), _xz_pieces),
    Compression("zstd", (b"\x28\xb5\x2f\xfd",), _zstd_pieces),
    Compression("lz4", (b"\x04\x22\x4d\x18",), _lz4_pieces),
)
_UNREAD = {
    b"7z\xbc\xaf\x27\x1c": ("7z", "7z x FILE"),
    b"Rar!\x1a\x07": ("RAR", "unrar x FILE"),
    b"MSCF\0\0\0\0": ("cabinet", "cabextract FILE"),
    b"\x1f\x9d": ("compress (.Z)", "uncompress FILE"),
    b"\x1f\xa0": ("pack (.z)", "unpack FILE, on the system that packed it"),
    b"LZIP": ("lzip", "lzip -d FILE"),
    b"\x89LZO\0\r\n\x1a\n": ("lzop", "lzop -d FILE"),
}
"""Packings by what a file begins with, and the command that unpacks it."""


def unread_packing(head: bytes) -> tuple[str, str] | None:
    """Return the name of a packing that is not read, and the command that unpacks it.

    >>> unread_packing(bytes.fromhex("377abcaf271c"))
    ('7z', '7z x FILE')
    """
    return next((named for signature, named in _UNREAD.items() if head.startswith(signature)), None)
