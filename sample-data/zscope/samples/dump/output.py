"""Write the bytes of a dump: count, hash and pack them in pieces that do not grow with the dump."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Protocol

from zscope.parsers.containers import terse_write
from zscope.parsers.smf.chain import LONGEST_IN_FILE
from zscope.parsers.smf.record_writer import DESCRIPTOR
from zscope.samples.dump.recipe import TERSE_LIMIT, RecipeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.containers.streams import Form

PIECE_BYTES = 1 << 20
MEMBER = "dump.smf"
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_PACKED_LEVEL = 9


class Writable(Protocol):
    """Anything that bytes can be written to."""

    def write(self, data: bytes, /) -> object:
        """Write all bytes."""


class HashingWriter(io.RawIOBase):
    """Passes bytes on and computes their number and hash."""

    def __init__(self, out: BinaryIO) -> None:
        super().__init__()
        self._out = out
        self._hash = hashlib.sha256()
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write all bytes."""
        self._out.write(data)
        self._hash.update(data)
        self.count += len(data)
        return len(data)

    @property
    def sha256(self) -> str:
        """Hash of the bytes written so far, in hexadecimal digits."""
        return self._hash.hexdigest()


class PieceWriter:
    """Collects small pieces of bytes and writes large ones."""

    def __init__(self, out: Writable) -> None:
        self._out = out
        self._pieces: list[bytes] = []
        self._waiting = 0
        self.count = 0

    def take(self, pieces: Iterable[bytes]) -> None:
        """Write pieces one by one."""
        for piece in pieces:
            self._pieces.append(piece)
            self._waiting += len(piece)
            self.count += len(piece)
            if self._waiting >= PIECE_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write the collected pieces."""
        self._out.write(b"".join(self._pieces))
        self._pieces, self._waiting = [], 0


class _TerseWriter:
    """Collects all bytes, because the encoder needs all records at once."""

    def __init__(self, out: Writable, form: Form) -> None:
        self._out = out
        self._form = form
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        """Add bytes, up to the limit."""
        self._data += data
        if len(self._data) > TERSE_LIMIT:
            raise RecipeError(
                f"TERSE is slow: the dump is larger than {TERSE_LIMIT >> 20} MB; "
                "generate fewer records or use gzip"
            )
        return len(data)

    def finish(self) -> None:
        """Pack the records without their descriptors, which unpacking adds again."""
        records = [bytes(record) for record in _records(memoryview(self._data))]
        longest = LONGEST_IN_FILE - DESCRIPTOR
        self._out.write(terse_write.pack(records, variable=True, record_length=longest, form=self._form))


def _records(data: memoryview) -> Iterator[memoryview]:
    offset = 0
    while offset < len(data):
        length = int.from_bytes(data[offset : offset + 2], "big")
        yield data[offset + DESCRIPTOR : offset + length]
        offset += length


@contextmanager
def packed(packing: str, out: HashingWriter) -> Iterator[Writable]:
    """Return a stream that packs the bytes of a dump on their way to `out`."""
    match packing:
        case "gzip":
            # Without name and time, so that the same recipe gives the same bytes.
            with gzip.GzipFile("", "wb", _PACKED_LEVEL, out, mtime=0) as archive:
                yield archive
        case "zip":
            info = zipfile.ZipInfo(MEMBER, _ZIP_EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            with (
                zipfile.ZipFile(out, "w") as archive_file,
                archive_file.open(info, "w", force_zip64=True) as member,
            ):
                yield member
        case "terse-pack" | "terse-spack":
            keeper = _TerseWriter(out, "PACK" if packing == "terse-pack" else "SPACK")
            yield keeper
            keeper.finish()
        case _:
            yield out
