"""Where the bytes go: counted, hashed and packed on the way, in pieces that do not grow with the dump."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Protocol

from zscope.parsers.containers import terse_write
from zscope.parsers.smf.chain import LONGEST_IN_FILE
from zscope.parsers.smf.frame import DESCRIPTOR
from zscope.parsers.synthetic.recipe import TERSE_LIMIT, RecipeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.containers.terse import Form

PIECE_BYTES = 1 << 20
MEMBER = "dump.smf"
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_PACKED_LEVEL = 6


class Writable(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take them all."""


class HashingWriter(io.RawIOBase):
    """Hands bytes on, and knows how many there were and their hash."""

    def __init__(self, out: BinaryIO) -> None:
        super().__init__()
        self._out = out
        self._hash = hashlib.sha256()
        self.count = 0

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Take them all."""
        self._out.write(data)
        self._hash.update(data)
        self.count += len(data)
        return len(data)

    @property
    def sha256(self) -> str:
        """The hash of what was written so far, in hexadecimal digits."""
        return self._hash.hexdigest()


class PieceWriter:
    """Collects small pieces and hands on big ones."""

    def __init__(self, out: Writable) -> None:
        self._out = out
        self._pieces: list[bytes] = []
        self._waiting = 0
        self.count = 0

    def take(self, pieces: Iterable[bytes]) -> None:
        """Take pieces one by one."""
        for piece in pieces:
            self._pieces.append(piece)
            self._waiting += len(piece)
            self.count += len(piece)
            if self._waiting >= PIECE_BYTES:
                self.flush()

    def flush(self) -> None:
        """Hand on what there is."""
        self._out.write(b"".join(self._pieces))
        self._pieces, self._waiting = [], 0


class _TerseWriter:
    """Keeps everything to the end: the encoder needs all records at once."""

    def __init__(self, out: Writable, form: Form) -> None:
        self._out = out
        self._form = form
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        """Take them all, up to the limit."""
        self._data += data
        if len(self._data) > TERSE_LIMIT:
            raise RecipeError(
                f"TERSE is slow: the dump grew beyond {TERSE_LIMIT >> 20} MB; make fewer records or use gzip"
            )
        return len(data)

    def finish(self) -> None:
        """Pack the records, whose descriptors TERSE makes anew on unpacking."""
        records = [bytes(record) for record in _records(memoryview(self._data))]
        longest = LONGEST_IN_FILE - DESCRIPTOR
        self._out.write(terse_write.pack(records, variable=True, record_length=longest, form=self._form))


def _records(data: memoryview) -> Iterator[memoryview]:
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 2], "big")
        yield data[at + DESCRIPTOR : at + length]
        at += length


@contextmanager
def packed(packing: str, out: HashingWriter) -> Iterator[Writable]:
    """Takes the bytes of a dump and puts them, packed, where they go."""
    match packing:
        case "gzip":
            # No name and no time in it: the same recipe makes the same bytes.
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
