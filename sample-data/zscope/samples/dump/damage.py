"""Deliberate damage to dumps, such as it occurs in transfers, and the issue expected for each kind.

Ordinary records are never damaged. Damage is done to specimens, which are additional records of subtype 1, or
inserted between records. So the expected result of reading the rest is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from zscope.parsers.issues import Code
from zscope.parsers.smf.chain import FIRST, MIDDLE
from zscope.parsers.smf.record_writer import (
    DESCRIPTOR,
    TCPIP_FIRST_TRIPLET,
    TCPIP_TRIPLET_COUNT,
    as_blocks,
    as_exclusive,
    as_segments,
    as_stream,
    block,
    segment,
    with_descriptor,
)
from zscope.parsers.text.coding import code_page
from zscope.schemas.model import TRIPLET_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy as np


Place = Literal["record", "between", "end", "file"]


@dataclass(frozen=True, slots=True)
class DamageKind:
    """A kind of damage and the issue that a reader should report."""

    place: Place
    """Damage in records, which any packing can contain; between them; at the end; or of the whole file, which
    a reader refuses.
    """
    text: str
    code: Code | None
    """None: the dump is valid, although some tools reject it."""
    specimens: int = 0
    """Number of records added to the dump that a reader counts."""
    rows: int = 0
    """Number of rows that a reader decodes from them."""


EACH = 3
DAMAGES: Mapping[str, DamageKind] = {
    "triplet-outside": DamageKind(
        "record", "a triplet points outside its record", Code.SECTION_OUTSIDE, EACH, 0
    ),
    "absurd-count": DamageKind("record", "a triplet counts 65,535 sections", Code.SECTION_COUNT, EACH, EACH),
    "absurd-triplets": DamageKind(
        "record", "a record claims 65,535 triplets", Code.TRIPLETS_OUTSIDE, EACH, EACH
    ),
    "bad-date": DamageKind("record", "the date of a header is not packed decimal", Code.BAD_DATE, EACH, EACH),
    "doubled-header": DamageKind("record", "a record has its descriptor twice", None, EACH, EACH),
    "no-own-length": DamageKind(
        "record", "the same, and the inner descriptor has no length", None, EACH, EACH
    ),
    "duplicate-records": DamageKind("record", "records occur twice", None, 2 * EACH, 2 * EACH),
    "concatenated": DamageKind("record", "two dumps, one behind the other", None),
    "mid-garbage": DamageKind("between", "random bytes between two records", Code.DAMAGED_RANGE),
    "zero-length": DamageKind("between", "a length word of zero with data behind it", Code.DAMAGED_RANGE),
    "segment-order": DamageKind("between", "segments without the rest of their record", Code.SEGMENT_ORDER),
    "trailing-zeros": DamageKind("end", "zero bytes at the end of the file", Code.ZERO_PADDING),
    "truncated": DamageKind("end", "the file ends inside a record", Code.TRUNCATED),
    "crlf": DamageKind("file", "X'0A' became X'0D0A' throughout", Code.LINE_ENDS),
    "ascii": DamageKind("file", "transferred in text mode", Code.TEXT_MODE),
    "no-rdw": DamageKind("file", "transferred without record lengths", Code.RDW_STRIPPED),
}
FEWEST_RECORDS = 100
"""Records needed for each kind, to keep damage away from the ends of the file and from other damage."""
_GARBAGE_BYTES = 1_500
_ZERO_BYTES = 4_096


def at_place(kinds: Iterable[str], *places: Place) -> list[str]:
    """Return the kinds of damage at these places."""
    return [kind for kind in kinds if DAMAGES[kind].place in places]


def positions(kinds: Iterable[str], records: int) -> list[tuple[int, str]]:
    """Return for each piece of damage the number of ordinary records before it, evenly distributed."""
    pieces: list[str] = []
    for kind in at_place(kinds, "record", "between"):
        pieces += [kind] * (EACH if DAMAGES[kind].specimens else 1)
    return [(records * (at + 1) // (len(pieces) + 1), kind) for at, kind in enumerate(pieces)]


def damaged(kind: str, specimen: bytes) -> list[bytes]:
    """Return the damaged records made from a specimen."""
    if kind == "duplicate-records":
        return [specimen, specimen]
    if kind == "doubled-header":
        return [with_descriptor(specimen)]
    record = _overwritten(specimen, *_OVERWRITTEN[kind])
    return [with_descriptor(record) if kind == "no-own-length" else record]


_TRIPLET = TCPIP_FIRST_TRIPLET + TRIPLET_BYTES
_OVERWRITTEN = {
    "triplet-outside": (_TRIPLET, b"\x00\xff\xff\xff"),
    "absurd-count": (_TRIPLET + 6, b"\xff\xff"),
    "absurd-triplets": (TCPIP_TRIPLET_COUNT, b"\xff\xff"),
    "bad-date": (10, b"\xff\xff\xff\xff"),
    "no-own-length": (0, b"\0\0"),
}
"""Offset in a specimen and the bytes written there."""


def _overwritten(record: bytes, offset: int, data: bytes) -> bytes:
    return record[:offset] + data + record[offset + len(data) :]


def between_records(kind: str, specimen: bytes, framing: str, rng: np.random.Generator) -> bytes:
    """Return the bytes to insert between two records (or blocks) of a file."""
    if kind == "mid-garbage":
        return b"\xff\xff\xff\xff" + rng.bytes(_GARBAGE_BYTES - 4)
    if kind == "zero-length":
        return bytes(4) + b"\xee" * 60
    content = specimen[DESCRIPTOR:]
    pieces = [segment(content[20:80], MIDDLE), segment(content[:60], FIRST)]
    if framing.startswith("bdw"):
        return block(pieces)
    if framing == "rdw-exclusive":
        pieces = list(as_exclusive(pieces))
    return b"".join(pieces)


def at_end(kind: str, specimen: bytes, frame: Callable[[Iterable[bytes]], Iterator[bytes]]) -> bytes:
    """Return the bytes at the end of the file, in place of the trailer or after it."""
    if kind == "trailing-zeros":
        return bytes(_ZERO_BYTES)
    whole = b"".join(frame([specimen]))
    return whole[: len(whole) // 2]


def framer(framing: str, size: int, damage: Iterable[str]) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """Return the function that turns records into the bytes of a file."""
    for kind in at_place(damage, "file"):
        return _REPLACED[kind]
    framers: Mapping[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
        "segments": lambda records: as_segments(records, size),
        "bdw": lambda records: as_blocks(records, size),
        "bdw-spanned": lambda records: as_blocks(records, size, spanned=True),
        "bdw-extended": lambda records: as_blocks(records, size, extended=True),
        "rdw-exclusive": as_exclusive,
    }
    return framers.get(framing, as_stream)


def _with_line_ends(records: Iterable[bytes]) -> Iterator[bytes]:
    for record in records:
        yield record.replace(b"\n", b"\r\n")


def _as_text(records: Iterable[bytes]) -> Iterator[bytes]:
    """Remove the record lengths, translate each byte, and end each record with a line end."""
    table = code_page().characters.encode("latin-1")
    for record in records:
        yield record[DESCRIPTOR:].translate(table) + b"\r\n"


def _without_lengths(records: Iterable[bytes]) -> Iterator[bytes]:
    for record in records:
        yield record[DESCRIPTOR:]


_REPLACED: Mapping[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
    "crlf": _with_line_ends,
    "ascii": _as_text,
    "no-rdw": _without_lengths,
}
