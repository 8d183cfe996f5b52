"""Detect how a dump is framed, and refuse other data with a remedy."""

from __future__ import annotations

from array import array
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, product
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, InputError, Issue
from zscope.parsers.smf.chain import DESCRIPTOR, FIRST, MIDDLE, Buffer, MoreNeeded, descriptor, walk
from zscope.parsers.smf.header import HEADER_LENGTH, find_headers, header_at
from zscope.parsers.text.coding import CODE_PAGES, code_page

if TYPE_CHECKING:
    from collections.abc import Iterator


TRANSFER_AGAIN = "transfer it again in binary with the record lengths (FTP: binary, quote SITE RDW, get)"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One kind of data that cannot be used."""

    wrong: str
    shown_by: str
    remedy: str

    def text(self) -> str:
        """Return the text of the issue."""
        return f"{self.wrong}: {self.shown_by}; {self.remedy}"


_REFUSALS = {
    Code.RDW_STRIPPED: Refusal(
        "the record lengths were not transferred",
        "the file begins with an SMF header but no length word, so the ends of the records are unknown",
        TRANSFER_AGAIN,
    ),
    Code.LINE_ENDS: Refusal(
        "a text tool changed line ends inside the binary data",
        "X'0A' became X'0D0A', and with that undone the record lengths lead from record to record again",
        "copy the original again without conversion (git: mark it -text), or " + TRANSFER_AGAIN,
    ),
    Code.XMIT: Refusal(
        "the file is in TSO TRANSMIT (XMIT) form",
        "it begins with the control record INMR01",
        "on z/OS RECEIVE it and transfer the data set itself in binary with SITE RDW, or pack the data set "
        "with AMATERSE, which zscope reads directly",
    ),
    Code.MONITOR_III: Refusal(
        "the file is an RMF Monitor III report in XML",
        "it has a report but no postprocessor element",
        "zscope reads Postprocessor reports: ask the data server for the Postprocessor report CPU instead",
    ),
    Code.TERSE_FOREIGN: Refusal(
        "the file was packed by a TERSE program of another platform, whose form is not published",
        "its first bytes are those of native TERSE",
        "pack the dump with AMATERSE on z/OS and transfer that in binary",
    ),
}

_XMIT_MARK = bytes.fromhex("c9d5d4d9f0f1")
_TEXT_BYTES = bytes([0x09, 0x0A, 0x0C, 0x0D, *range(0x20, 0x7F)])
_SAMPLE = 1 << 16
_LINES = 50
_FAILED_CONVERSION = b"\xef\xbf\xbd"


def refuse(head: bytes, file: str, code: Code | None = None) -> Issue:
    """Return the issue that states why these data are not an SMF dump."""
    sample = head[:_SAMPLE]
    code = code or foreign(sample) or (Code.RDW_STRIPPED if _header_without_length(sample) else None)
    if code is not None:
        return Issue(code, _REFUSALS[code].text(), file, offset=0)
    if sign := _sign_of_translation(sample):
        translated = (
            "the file was transferred in text mode and cannot be recovered, as several bytes became one"
        )
        return Issue(Code.TEXT_MODE, Refusal(translated, sign, TRANSFER_AGAIN).text(), file, offset=0)
    return Issue(Code.UNKNOWN_DATA, _unknown(sample), file, offset=0)


def foreign(head: bytes) -> Code | None:
    """Return the code of a known format that is not a dump."""
    if head[2:8] == _XMIT_MARK:
        return Code.XMIT
    opening = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    if opening.startswith((b"<?xml", b"<ddsml")) and b"<report" in head and b"<postprocessor" not in head:
        return Code.MONITOR_III
    return None


def _header_without_length(head: bytes) -> bool:
    return header_at(memoryview(b"\0\0\0\0" + head[:HEADER_LENGTH]), 0, 4 + len(head[:HEADER_LENGTH]))


def _sign_of_translation(head: bytes) -> str:
    """The sign that binary data were translated to ASCII or UTF-8; empty without one.

    Either undoing the translation gives a header at the start of a line, or the file contains marks of failed
    conversions, or too many ASCII blanks and line ends among binary bytes.
    """
    if _readable(head):
        return ""
    for coding, page in product(("latin-1", "utf-8"), CODE_PAGES):
        text = head.decode(coding, errors="replace")
        if any(_header_without_length(raw) for raw in _undone(text, page)):
            return f"undoing the translation from EBCDIC (IBM-{page}) brings SMF headers to light"
    if (failed := head.count(_FAILED_CONVERSION)) * 256 > len(head):
        return f"X'EFBFBD', the sign of a failed conversion to UTF-8, occurs {failed:,} times"
    line_ends, blanks, ebcdic_blanks = head.count(0x0A), head.count(0x20), head.count(0x40)
    if line_ends * 512 > len(head) and blanks > 4 * ebcdic_blanks and blanks * 50 > len(head):
        return f"line ends ({line_ends:,}) and ASCII blanks ({blanks:,}) are too many for SMF data"
    return ""


def _undone(text: str, page: str) -> Iterator[bytes]:
    """The first bytes of the first lines, translated back to EBCDIC."""
    back = code_page(page)
    for line in islice(text.split("\n"), _LINES):
        yield back.encode("".join(c if ord(c) < 256 else "\0" for c in line[:HEADER_LENGTH]))


def _readable(head: bytes) -> bool:
    """Whether nearly all bytes are text, as in a report or a listing."""
    return len(head.translate(None, _TEXT_BYTES)) * 50 <= len(head)


def _unknown(head: bytes) -> str:
    if _readable(head):
        first = head[:60].decode("ascii", errors="replace").splitlines()
        return (
            f"the file is readable text, not a binary SMF dump (it begins {first[0] if first else ''!r}); "
            "name the dump itself"
        )
    shown = " ".join(f"{byte:02X}" for byte in head[:32])
    return (
        f"the file is not recognised as SMF data; it begins with {shown}; check that it is an SMF dump and "
        + TRANSFER_AGAIN
    )


HEAD_BYTES = 1 << 20
"""The number of bytes at the start of a file used for detection."""
ENOUGH_RECORDS = 10
FEWEST_FITTING = 2
"""The least number of records that lead to the next one, where the beginning is damaged."""


class Framing(StrEnum):
    """The framing of records in a file."""

    RDW = "rdw"
    """A length word before each record or segment."""
    RDW_EXCLUSIVE = "rdw-exclusive"
    """Length words that do not include their own four bytes."""
    BLOCKS = "bdw"
    """Blocks with length words, of records with length words."""

    @property
    def extra(self) -> int:
        """Return what must be added to a length word."""
        return 4 if self is Framing.RDW_EXCLUSIVE else 0


def detect(head: bytes, *, whole: bool, file: str = "") -> Framing:
    """Return the framing of the file that begins with these bytes; `whole`: they are the whole file."""
    if not head:
        raise InputError(Issue(Code.EMPTY, "the file is empty: transfer it again", file, offset=0))
    framing = _framing(head, whole=whole)
    if b"\r\n" in head and _line_ends_changed(head, framing, whole=whole):
        raise InputError(refuse(head, file, Code.LINE_ENDS))
    if framing is None:
        raise InputError(refuse(head, file))
    return framing


def _framing(head: bytes, *, whole: bool) -> Framing | None:
    """The framing in which the beginning is valid, or else most places that look like records."""
    buffers = _readings(head, whole=whole)
    framing = _by_beginning(buffers)
    return framing if framing or foreign(head) else _by_vote(buffers)


def _by_beginning(buffers: dict[Framing, Buffer]) -> Framing | None:
    """Blocks are tried first, because a block looks like a record that has its descriptor twice."""
    blocks = buffers[Framing.BLOCKS]
    if blocks.block(0) and blocks.head(DESCRIPTOR):
        return Framing.BLOCKS
    for framing in (Framing.RDW, Framing.RDW_EXCLUSIVE):
        if _reads_well(buffers[framing]):
            return framing
    return None


def _by_vote(buffers: dict[Framing, Buffer]) -> Framing | None:
    """The framing of a file with a damaged beginning, if enough of its records fit together."""
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
    """Whether the first block is valid except for its first header."""
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
    """Whether the bytes begin with ten records, or contain only records and zero padding."""
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
    """Whether one record that ends four bytes late may be a good one before a truncated descriptor."""
    _, code, zero = descriptor(buffer.view, buffer.end - DESCRIPTOR)
    return buffer.extra > 0 and not zero and code <= MIDDLE


@dataclass(frozen=True, slots=True)
class Votes:
    """The framing in which most apparent records fit together, and how many do."""

    framing: Framing
    fitting: int
    """Number of headers of records whose length leads to a plausible place."""
    broken: int
    """Number of all other headers."""


def _vote(buffers: dict[Framing, Buffer]) -> Votes:
    rdw = buffers[Framing.RDW]
    fitting = Counter[Framing]()
    seen = 0
    # The last records may be truncated by the end of the head and not of the file: they do not count.
    with suppress(MoreNeeded):
        for place in find_headers(rdw.view, 0, rdw.end, rdw.end):
            fitting.update([framing for framing, buffer in buffers.items() if _fits(buffer, place)])
            seen += 1
    best = max(Framing, key=lambda framing: fitting[framing])
    return Votes(best, fitting[best], seen - fitting[best])


def _fits(buffer: Buffer, place: int) -> bool:
    """Whether the record whose header or second descriptor is here leads to a valid place."""
    outer = place - DESCRIPTOR
    return buffer.confirmed(outer if outer >= 0 and buffer.doubled(outer) else place)


def _line_ends_changed(head: bytes, framing: Framing | None, *, whole: bool) -> bool:
    """Whether a text tool turned line feeds into CR LF.

    The chain breaks in every record with such a byte; with the change undone it is much longer.
    """
    readings = _readings(head, whole=whole)
    if framing is Framing.RDW and _unbroken(readings[framing]):
        return False
    votes = _vote(readings)
    mended = _vote(_readings(head.replace(b"\r\n", b"\n"), whole=whole))
    return mended.fitting > votes.fitting and 2 * mended.broken < max(votes.broken, 1)


def _unbroken(buffer: Buffer) -> bool:
    """Whether complete records follow each other to the end of the bytes, which is a fast test."""
    reached = walk(buffer.view, 0, buffer.end, buffer.extra, array("q"))
    return reached == buffer.end or (not buffer.final and buffer.end_of_complete(reached) > buffer.end)
