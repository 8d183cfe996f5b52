"""Telling by content how a dump is framed, and refusing what is no dump with a word on how to get one."""

from __future__ import annotations

from array import array
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from zscope.parsers.issues import Code, InputError, Issue
from zscope.parsers.smf.buffer import DESCRIPTOR, Buffer, MoreNeeded
from zscope.parsers.smf.chain import descriptor, walk
from zscope.parsers.smf.header import find_headers
from zscope.parsers.smf.refusal import foreign, refuse
from zscope.parsers.smf.segments import FIRST, MIDDLE

HEAD_BYTES = 1 << 20
"""So much of a file is looked at before it is read."""
ENOUGH_RECORDS = 10
FEWEST_FITTING = 2
"""So many records of which each leads to the next are needed where the beginning does not read well."""


class Framing(StrEnum):
    """How records follow each other in a file."""

    RDW = "rdw"
    """A length word before each record or segment."""
    RDW_EXCLUSIVE = "rdw-exclusive"
    """Length words that do not count their own four bytes."""
    BLOCKS = "bdw"
    """Blocks, each with a length word of its own, of records with length words."""

    @property
    def extra(self) -> int:
        """What has to be added to a length word."""
        return 4 if self is Framing.RDW_EXCLUSIVE else 0


def detect(head: bytes, *, whole: bool, file: str = "") -> Framing:
    """How the file that begins with these bytes is framed; `whole` says that they are all of it."""
    if not head:
        raise InputError(Issue(Code.EMPTY, "the file is empty: transfer it again", file, offset=0))
    framing = _framing(head, whole=whole)
    if b"\r\n" in head and _line_ends_changed(head, framing, whole=whole):
        raise InputError(refuse(head, file, Code.LINE_ENDS))
    if framing is None:
        raise InputError(refuse(head, file))
    return framing


def _framing(head: bytes, *, whole: bool) -> Framing | None:
    """The framing in which the beginning reads well, or else most of what looks like records."""
    buffers = _readings(head, whole=whole)
    framing = _by_beginning(buffers)
    return framing if framing or foreign(head) else _by_vote(buffers)


def _by_beginning(buffers: dict[Framing, Buffer]) -> Framing | None:
    """Blocks are tried first, because a block looks like a record whose descriptor stands there twice."""
    blocks = buffers[Framing.BLOCKS]
    if blocks.block(0) and blocks.head(DESCRIPTOR):
        return Framing.BLOCKS
    for framing in (Framing.RDW, Framing.RDW_EXCLUSIVE):
        if _reads_well(buffers[framing]):
            return framing
    return None


def _by_vote(buffers: dict[Framing, Buffer]) -> Framing | None:
    """The framing of a file whose beginning is damaged, if enough of it fits together."""
    if _begins_with_block(buffers[Framing.BLOCKS]):
        return Framing.BLOCKS
    votes = _vote(buffers)
    if votes.fitting >= FEWEST_FITTING and 2 * votes.fitting >= votes.broken:
        return votes.framing
    possible = [framing for framing, buffer in buffers.items() if buffer.head(0)]
    if votes.framing in possible and votes.fitting + votes.broken > 1:
        return votes.framing
    return possible[0] if possible else None


def _begins_with_block(buffer: Buffer) -> bool:
    """Whether the first block reads well but for its first header."""
    try:
        return buffer.block_by_its_end(0)
    except MoreNeeded:
        return False


def _readings(head: bytes, *, whole: bool) -> dict[Framing, Buffer]:
    view = memoryview(head)
    return {
        framing: Buffer(view, len(head), whole, framing.extra, framing is Framing.BLOCKS)
        for framing in Framing
    }


def _reads_well(buffer: Buffer) -> bool:
    """Whether the bytes start with ten records in a row, or hold nothing but records and zero padding."""
    place, seen, open_record = 0, 0, False
    try:
        while seen < ENOUGH_RECORDS:
            buffer.require(place)
            if place == buffer.end:
                return seen > 1 or (seen == 1 and not _cut_after_one(buffer))
            if open_record and buffer.continuation(place):
                open_record = descriptor(buffer.view, place)[1] == MIDDLE
            elif buffer.head(place) and not open_record:
                open_record = descriptor(buffer.view, place)[1] == FIRST
                seen += 1
            else:
                return 0 < place < buffer.end and not any(buffer.view[place:])
            place += buffer.length(place)
    except MoreNeeded:
        return seen > 0
    return True


def _cut_after_one(buffer: Buffer) -> bool:
    """Whether one record that ends four bytes late may be a good one with a cut-off descriptor behind it."""
    _, code, zero = descriptor(buffer.view, buffer.end - DESCRIPTOR)
    return buffer.extra > 0 and not zero and code <= MIDDLE


@dataclass(frozen=True, slots=True)
class Votes:
    """How well what looks like records fits together in the framing in which it does best."""

    framing: Framing
    fitting: int
    """Headers of records whose length leads to a place that makes sense."""
    broken: int
    """All other headers."""


def _vote(buffers: dict[Framing, Buffer]) -> Votes:
    rdw = buffers[Framing.RDW]
    fitting = Counter[Framing]()
    seen = 0
    # The last records may be cut off by the end of the head, not by that of the file: they have no vote.
    with suppress(MoreNeeded):
        for place in find_headers(rdw.view, 0, rdw.end, rdw.end):
            fitting.update([framing for framing, buffer in buffers.items() if _fits(buffer, place)])
            seen += 1
    best = max(Framing, key=lambda framing: fitting[framing])
    return Votes(best, fitting[best], seen - fitting[best])


def _fits(buffer: Buffer, place: int) -> bool:
    """Whether the record whose header, or whose second descriptor, is here leads to a sound place."""
    outer = place - DESCRIPTOR
    return buffer.confirmed(outer if outer >= 0 and buffer.doubled(outer) else place)


def _line_ends_changed(head: bytes, framing: Framing | None, *, whole: bool) -> bool:
    """Whether a text tool turned line feeds into CR LF.

    The chain breaks in every record with such a byte; read the other way round it holds much further.
    """
    readings = _readings(head, whole=whole)
    if framing is Framing.RDW and _unbroken(readings[framing]):
        return False
    votes = _vote(readings)
    mended = _vote(_readings(head.replace(b"\r\n", b"\n"), whole=whole))
    return mended.fitting > votes.fitting and 2 * mended.broken < max(votes.broken, 1)


def _unbroken(buffer: Buffer) -> bool:
    """Whether complete records follow each other to the end of the bytes; this is quick to find out."""
    reached = walk(buffer.view, 0, buffer.end, buffer.extra, array("q"))
    return reached == buffer.end or (not buffer.final and buffer.behind_complete(reached) > buffer.end)
