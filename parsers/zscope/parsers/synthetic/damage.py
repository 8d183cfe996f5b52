"""What can go wrong with a dump on its way, done on purpose and noted down.

Damage never touches the ordinary records of a dump: it is done to specimens, which are records of subtype 1
made for it, or put between records. So what a reader must still find is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.smf.ebcdic import code_page
from zscope.parsers.smf.frame import (
    DESCRIPTOR,
    as_blocks,
    as_exclusive,
    as_segments,
    as_stream,
    block,
    segment,
)
from zscope.parsers.smf.segments import FIRST, MIDDLE
from zscope.parsers.smf.triplets import FIRST_TRIPLET, TRIPLET_BYTES, TRIPLET_COUNT
from zscope.parsers.smf.write import with_descriptor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy as np


@dataclass(frozen=True, slots=True)
class DamageKind:
    """One way to damage a dump and the issue a reader should report."""

    text: str
    code: Code | None
    """None: nothing is wrong with such a dump, though some tools think so."""
    specimens: int = 0
    """How many records it puts into the dump that a reader counts."""
    rows: int = 0
    """How many rows of the specimens' table a reader makes of them."""


EACH = 3
DAMAGES: Mapping[str, DamageKind] = {
    "triplet-outside": DamageKind("a triplet points outside its record", Code.SECTION_OUTSIDE, EACH, 0),
    "absurd-count": DamageKind("a triplet counts 65,535 sections", Code.SECTION_COUNT, EACH, EACH),
    "absurd-triplets": DamageKind("a record claims 65,535 triplets", Code.TRIPLETS_OUTSIDE, EACH, EACH),
    "bad-date": DamageKind("the date of a header is not packed decimal", Code.BAD_DATE, EACH, EACH),
    "doubled-header": DamageKind("a record has its descriptor twice", None, EACH, EACH),
    "no-own-length": DamageKind("the same, and the inner descriptor has no length", None, EACH, EACH),
    "duplicate-records": DamageKind("records occur twice", None, 2 * EACH, 2 * EACH),
    "concatenated": DamageKind("two dumps, one behind the other", None),
    "mid-garbage": DamageKind("random bytes between two records", Code.DAMAGED_RANGE),
    "zero-length": DamageKind("a length word of zero with data behind it", Code.DAMAGED_RANGE),
    "segment-order": DamageKind("segments without the rest of their record", Code.SEGMENT_ORDER),
    "trailing-zeros": DamageKind("zero bytes at the end of the file", Code.ZERO_PADDING),
    "truncated": DamageKind("the file ends inside a record", Code.TRUNCATED),
    "crlf": DamageKind("X'0A' became X'0D0A' throughout", Code.LINE_ENDS),
    "ascii": DamageKind("transferred in text mode", Code.TEXT_MODE),
    "no-rdw": DamageKind("transferred without record lengths", Code.RDW_STRIPPED),
}
REPLACING = frozenset({"crlf", "ascii", "no-rdw"})
"""Such a file is refused as a whole."""
AT_END = frozenset({"trailing-zeros", "truncated"})
ON_RECORDS = frozenset(
    {
        "triplet-outside",
        "absurd-count",
        "absurd-triplets",
        "bad-date",
        "doubled-header",
        "no-own-length",
        "duplicate-records",
        "concatenated",
    }
)
"""These change records only, so any packing can hold them."""
FEWEST_RECORDS = 100
"""So many records are needed for each kind, to keep damage away from the ends and from other damage."""
_GARBAGE_BYTES = 1_500
_ZERO_BYTES = 4_096


def positions(kinds: Iterable[str], records: int) -> list[tuple[int, str]]:
    """Behind how many ordinary records each single piece of damage comes, evenly spread."""
    pieces: list[str] = []
    for kind in kinds:
        if kind not in REPLACING | AT_END:
            pieces += [kind] * (EACH if DAMAGES[kind].specimens else 1)
    return [(records * (at + 1) // (len(pieces) + 1), kind) for at, kind in enumerate(pieces)]


def damaged(kind: str, specimen: bytes) -> list[bytes]:
    """The records that a specimen becomes."""
    if kind == "duplicate-records":
        return [specimen, specimen]
    if kind == "doubled-header":
        return [with_descriptor(specimen)]
    record = _overwritten(specimen, *_OVERWRITTEN[kind])
    return [with_descriptor(record) if kind == "no-own-length" else record]


_TRIPLET = FIRST_TRIPLET + TRIPLET_BYTES
_OVERWRITTEN = {
    "triplet-outside": (_TRIPLET, b"\x00\xff\xff\xff"),
    "absurd-count": (_TRIPLET + 6, b"\xff\xff"),
    "absurd-triplets": (TRIPLET_COUNT, b"\xff\xff"),
    "bad-date": (10, b"\xff\xff\xff\xff"),
    "no-own-length": (0, b"\0\0"),
}
"""Where in a specimen something else is put, and what."""


def _overwritten(record: bytes, at: int, data: bytes) -> bytes:
    return record[:at] + data + record[at + len(data) :]


def between_records(kind: str, specimen: bytes, framing: str, rng: np.random.Generator) -> bytes:
    """What stands between two records (or blocks) of a file."""
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
    """What the file ends with in place of the trailer, or behind it."""
    if kind == "trailing-zeros":
        return bytes(_ZERO_BYTES)
    whole = b"".join(frame([specimen]))
    return whole[: len(whole) // 2]


def framer(framing: str, size: int, damage: Iterable[str]) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """How records become the bytes of a file."""
    for kind in damage:
        if kind in REPLACING:
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
    """The record lengths are gone, each byte is translated, and each record ends like a line."""
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
