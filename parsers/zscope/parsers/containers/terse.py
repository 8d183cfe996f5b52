"""AMATERSE (TERSE) packed data sets: check of the header, and unpacking with an RDW before each record.

Everything before damaged data is passed on first. The codes are decoded by the dictionaries in
`terse_phrases`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

from zscope.parsers.containers.streams import FLAG_MVS, HEADER_SIZE, VERSIONS, Form, foreign_terse
from zscope.parsers.containers.terse_phrases import END_CODE, MARK, BadCodeError, Pack, Spack
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.streams import ByteSource

Words = npt.NDArray[np.uint16]


RDW_SIZE: Final = 4
MAX_RDW_DATA: Final = 0xFFFF - RDW_SIZE
BATCH: Final = 1024
"""Codes decoded between two looks at the output: at most BATCH * KEPT_PHRASE bytes can pile up."""

_TRIPLE: Final = 3
_WIDE_MARK: Final = MARK - 1
"""The record mark among symbols of two bytes, where 0 to 255 are the bytes."""
_LEAST_GATHERED: Final = 1 << 16
"""Output is not passed on in smaller pieces, because copying an unclosed record would dominate."""


class TerseError(Error):
    """The packed data cannot be read on: `reason`, noticed at byte `offset` of the packed stream."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(offset, reason)
        self.offset = offset
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.reason} (byte {self.offset} of the packed data)"


@dataclass(frozen=True, slots=True)
class TerseHeader:
    """The header of a packed file: attributes of the original data set."""

    packed: Form
    variable: bool
    record_length: int
    """Longest data: LRECL of fixed records, LRECL - 4 of variable ones (the RDW is not counted)."""
    block_size: int
    flags: int


def parse_header(head: bytes) -> TerseHeader:
    """Read the 12-byte header; raise a TerseError if it is impossible."""
    if foreign_terse(head):
        raise TerseError(0, "packed by TERSE on another platform than z/OS, a form that is not supported")
    if len(head) < HEADER_SIZE:
        raise TerseError(len(head), f"the packed data ends inside its {HEADER_SIZE}-byte header")
    packed = VERSIONS.get(head[0])
    if packed is None:
        raise TerseError(0, f"version X'{head[0]:02X}' is not PACK or SPACK: not packed, or sent as text")
    if head[1] > 1:
        raise TerseError(1, f"record type X'{head[1]:02X}' is neither fixed nor variable")
    flags, block_size = head[4], int.from_bytes(head[6:8])
    if not flags & FLAG_MVS and any(head[4:8]):
        raise TerseError(4, f"flags, ratio or block size are set, but flags X'{flags:02X}' do not say MVS")
    return TerseHeader(packed, head[1] == 1, _record_length(head), block_size, flags)


def _record_length(head: bytes) -> int:
    short, long = int.from_bytes(head[2:4]), int.from_bytes(head[8:12])
    if not short and not long:
        raise TerseError(2, "the header gives no record length")
    if short and long and short != long:
        raise TerseError(8, f"the header gives two record lengths, {short} and {long}")
    return short or long


def unpack(stream: ByteSource, chunk: int = 1 << 20) -> Iterator[bytes]:
    """Unpack a stream positioned at the header: variable records with RDWs, fixed data unchanged.

    `chunk` is how many packed bytes are read at a time, and roughly how many unpacked ones are passed on.
    An invalid header raises TerseError immediately. Later damage raises it after everything before the damage
    was passed on, except an incomplete variable record: with an RDW it would look complete.
    """
    header = parse_header(_read_header(stream))
    codes = _CodeReader(stream, chunk)
    symbols = _decode(codes, _decoder(header))
    if header.variable:
        return _as_records(symbols, codes, chunk)
    return _as_bytes(symbols, codes, chunk, header.record_length)


def _read_header(stream: ByteSource) -> bytes:
    head = b""
    while len(head) < HEADER_SIZE and (more := stream.read(HEADER_SIZE - len(head))):
        head += more
    return head


class _CodeReader:
    """Batches of codes up to the end code, and the packed offset of the current batch."""

    def __init__(self, stream: ByteSource, chunk: int) -> None:
        self._stream = stream
        self._chunk = max(chunk, _TRIPLE)
        self.taken = 0

    def offset(self, ahead: int = 0) -> int:
        return HEADER_SIZE + (self.taken + ahead) * _TRIPLE // 2

    def __iter__(self) -> Iterator[list[int]]:
        rest = b""
        while more := self._stream.read(self._chunk):
            packed = rest + more
            whole = len(packed) - len(packed) % _TRIPLE
            rest = packed[whole:]
            codes = split_codes(packed[:whole])
            ends = np.flatnonzero(codes == END_CODE)
            yield from self._batches(codes[: ends[0]] if ends.size else codes)
            if ends.size:
                return
        if len(rest) == 1:
            raise TerseError(self.offset(), "the packed data ends inside a code, without an end code")
        if rest:
            last = split_codes(rest + b"\x00")[:1]
            if last[0] == END_CODE:
                return
            yield from self._batches(last)
        raise TerseError(self.offset(), "the packed data ends without an end code: the file was cut off")

    def _batches(self, codes: Words) -> Iterator[list[int]]:
        for start in range(0, codes.size, BATCH):
            batch: list[int] = codes[start : start + BATCH].tolist()
            yield batch
            self.taken += len(batch)


def split_codes(packed: bytes) -> Words:
    """Split whole triples of bytes into their two 12-bit codes."""
    triples = np.frombuffer(packed, np.uint8).reshape(-1, _TRIPLE).astype(np.uint16)
    codes = np.empty((len(triples), 2), np.uint16)
    codes[:, 0] = triples[:, 0] << 4 | triples[:, 1] >> 4
    codes[:, 1] = (triples[:, 1] & 0xF) << 8 | triples[:, 2]
    return codes.reshape(-1)


class _Decoder(Protocol):
    def decode(self, codes: list[int]) -> Iterator[bytes]: ...


def _decode(reader: _CodeReader, decoder: _Decoder) -> Iterator[bytes]:
    for codes in reader:
        try:
            yield from decoder.decode(codes)
        except BadCodeError as bad:
            raise TerseError(reader.offset(bad.index), bad.reason) from None


def _decoder(header: TerseHeader) -> _Decoder:
    # Two bytes per symbol have room for the record mark, and numpy can search joined phrases for it. Fixed
    # data have no marks, so one byte per symbol is enough and marks are empty.
    if header.variable:
        singles = [b"", *(n.to_bytes(2, "little") for n in range(_WIDE_MARK + 1))]
    else:
        singles = [b"", *(bytes((n,)) for n in range(_WIDE_MARK)), b""]
    return Pack(singles) if header.packed == "PACK" else Spack(singles)


def _as_bytes(symbols: Iterator[bytes], codes: _CodeReader, chunk: int, length: int) -> Iterator[bytes]:
    size = 0
    for data in _gather(symbols, chunk):
        size += len(data)
        yield data
    if rest := size % length:
        raise TerseError(codes.offset(), f"{rest} bytes are left over after the last {length}-byte record")


def _as_records(symbols: Iterator[bytes], codes: _CodeReader, chunk: int) -> Iterator[bytes]:
    unclosed, count = b"", 0
    for data in _gather(symbols, chunk):
        joined = unclosed + data
        wide: Words = np.frombuffer(joined, "<u2")
        marks = np.flatnonzero(wide == _WIDE_MARK)
        lengths = np.diff(marks, prepend=-1) - 1
        too_long = np.flatnonzero(lengths > MAX_RDW_DATA)
        good = int(too_long[0]) if too_long.size else marks.size
        count += good
        if good:
            yield _with_rdws(wide[: marks[good - 1] + 1], lengths[:good])
        unclosed = joined[2 * int(marks[good - 1] + 1) if good else 0 :]
        if too_long.size or len(unclosed) > 2 * MAX_RDW_DATA:
            reason = f"record {count + 1} is longer than {MAX_RDW_DATA} bytes, the most an RDW can express"
            raise TerseError(codes.offset(), reason)
    if unclosed:
        yield (len(unclosed) // 2 + RDW_SIZE).to_bytes(2) + b"\x00\x00" + unclosed[::2]


def _with_rdws(wide: Words, lengths: npt.NDArray[np.intp]) -> bytes:
    """Insert an RDW before each complete record, and remove the marks."""
    output = np.zeros(len(wide) + (RDW_SIZE - 1) * len(lengths), np.uint8)
    totals = lengths + RDW_SIZE
    starts = np.cumsum(totals) - totals
    is_data = np.ones(len(output), np.bool_)
    for position in range(RDW_SIZE):
        is_data[starts + position] = False
    output[is_data] = wide[wide != _WIDE_MARK]
    output[starts] = totals >> 8
    output[starts + 1] = totals & 0xFF
    return output.tobytes()


def _gather(symbols: Iterator[bytes], chunk: int) -> Iterator[bytes]:
    """Join small pieces, and pass everything before damage on ahead of the error."""
    pieces, size, fault = list[bytes](), 0, None
    try:
        for piece in symbols:
            pieces.append(piece)
            size += len(piece)
            if size >= max(chunk, _LEAST_GATHERED):
                yield b"".join(pieces)
                pieces, size = [], 0
    except TerseError as error:
        fault = error
    if size:
        yield b"".join(pieces)
    if fault:
        raise fault
