"""Read a stream of bytes as windows of whole records, for all framings and with all kinds of damage.

A window is a buffer and the places of the records in it. Unsegmented records are not copied; those in
segments are assembled after them. No number in the file decides how much is read or stored: windows have a
fixed size, and a record that is too long for its two-byte length is dropped.

The walker goes from record to record, across segments, blocks and damage. A length is used only if it leads
to a plausible place. If it does not, either the length is wrong, which shows in records that begin inside, or
the following bytes are damaged. Then the walker searches the next record and reports the bytes between as a
damaged range.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.smf import chain
from zscope.parsers.smf.chain import (
    DESCRIPTOR,
    FIRST,
    MIDDLE,
    NULL,
    SHORTEST_SEGMENT,
    Assembler,
    Buffer,
    MoreNeeded,
    single,
)
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.header import HEADER_LENGTH, Bytes, Mask, Positions, gather, header_at, sliding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


TRANSFER_AGAIN = "transfer the file again in binary"


@dataclass(slots=True)
class DamagedRange:
    """A range of bytes without valid records, and the issue that reports it."""

    begin: int
    """Offset in the file."""
    reason: str
    where_block_should_be: bool
    """Whether the previous block ends here."""
    zeros: bool
    """Whether it may be padding: all bytes so far are zero, and no block is unfinished."""

    def before(self, end: int) -> tuple[Code, str]:
        """Return the issue if valid records follow at this offset."""
        text = (
            f"{counted(end - self.begin)} skipped: {self.reason}; the records before and after were read; "
            f"{TRANSFER_AGAIN}"
        )
        return Code.DAMAGED_RANGE, text

    def at_end(self, end: int) -> tuple[Code, str]:
        """Return the issue if the file ends without another record: the range is padding or damage."""
        size = counted(end - self.begin)
        if self.zeros:
            return Code.ZERO_PADDING, f"{size} of zeros at the end of the file ignored"
        text = (
            f"{size} at the end of the file skipped: {self.reason}; the records before were read; "
            f"{TRANSFER_AGAIN}"
        )
        return Code.DAMAGED_RANGE, text


def counted(count: int) -> str:
    """Return a number of bytes as text."""
    return "1 byte" if count == 1 else f"{count:,} bytes"


def too_few(rest: int, wanted: str) -> str:
    """Return the reason for a rest of a file that is too short."""
    return f"{counted(rest)} {'is' if rest == 1 else 'are'} left, too few for a {wanted}"


def wrong_length(length: int) -> str:
    """Return the reason for a record whose length includes other records."""
    return f"the length word of a record, {length:,}, is wrong: others begin inside it"


ENDLESS = 1 << 62
SHORT_REACH = 1 << 9
"""Walking begins with a short distance that grows while no damage is met. With the rest of the buffer from
the start, a file with much damage would take time that grows with the square of its size."""
LONG_REACH = 1 << 17
"""Above this length, walking many records at once is faster."""


class Walker:
    """Walks through one buffer after the other; its state is the place in the structure of the file."""

    def __init__(
        self,
        report: Callable[[Code, str, int, int | None], None],
        *,
        blocks: bool,
        begin: int = 0,
        block: tuple[int, int] | None = None,
    ) -> None:
        self._report = report
        self._segments = Assembler(report)
        self._reach = SHORT_REACH
        # Results for the current buffer: starts of records (-1: the record is in `assembled`), and which of
        # them have their descriptor twice.
        self.starts = array("q")
        self.assembled: list[tuple[int, int, bytes]] = []
        self.doubled: set[int] = set()
        self.position = 0
        """Place in the buffer; everything before it is done."""
        # Offsets in the file of the current block and its end, and the damaged range that is being skipped.
        self._block, self._block_end = block or (begin, begin if blocks else ENDLESS)
        self.block_changes: list[tuple[int, int, int]] = []
        """Block and its end, and the index of the record from which on they are the current ones."""
        self._damaged: DamagedRange | None = None
        self._passed = begin
        """Offset in the file before which records with damaged headers were accepted for their lengths."""

    def walk(self, data: Bytes, buffer: Buffer, base: int) -> None:
        """Walk as far as this buffer allows; its first byte is at offset `base` of the file."""
        self._data, self._buffer, self._base = data, buffer, base
        self.starts, self.assembled, self.doubled = array("q"), [], set()
        self.position = 0
        self.block_changes = [(-1, self._block, self._block_end)]
        try:
            while self.position < buffer.end or self._damaged is not None:
                self._step()
        except MoreNeeded as more:
            if self._damaged is not None and more.place is not None:
                self._damaged.zeros = self._damaged.zeros and not data[self.position : more.place].any()
                self.position = more.place

    def finish(self) -> None:
        """Report what is incomplete at the end of the file."""
        end = self._base + self._buffer.end
        if end < self._block_end < ENDLESS:
            missing = counted(self._block_end - end)
            text = f"the file ends inside a block: {missing} missing; transfer the file again"
            self._report(Code.TRUNCATED, text, end, self._block_end)
        self._segments.finish(end)

    def _step(self) -> None:
        """Advance by at least one byte or change the expectation at this place, or raise `MoreNeeded`."""
        if self._damaged is not None:
            self._search(self._damaged)
            return
        here, buffer = self.position, self._buffer
        buffer.require(here)
        edge = self._block_end - self._base
        if here == edge:
            self._next_block(here)
            return
        if self._block_end == ENDLESS and buffer.block(here):
            self._enter(here)
            return
        limit = min(edge, buffer.limit)
        after = buffer.end_of_complete(here)
        if not here < after <= limit:
            self._irregular(here, edge)
            return
        known = len(self.starts)
        stop = min(limit, max(after, here + self._reach))
        if stop - here < LONG_REACH:
            reached = chain.follow(buffer.view, here, stop, stop, buffer.extra, self.starts)
        else:
            reached = chain.walk(buffer.view, here, stop, buffer.extra, self.starts)
        self._reach = min(4 * self._reach, ENDLESS)
        self._accept(known, reached, edge)

    def _accept(self, known: int, reached: int, edge: int) -> None:
        """Accept the records just walked as long as each leads to a plausible place."""
        starts, buffer = self.starts, self._buffer
        passed = self._passed - self._base
        suspects = chain.suspects(buffer.view, starts, known)
        for index, place in [*((i, starts[i]) for i in suspects), (len(starts), reached)]:
            walked = index < len(starts)
            if place < passed or (walked and self._believable(place)):
                continue
            if walked and buffer.block(place):
                self._keep(known, index, place)
                self._enter_unexpected(place)
                return
            try:
                if not walked and buffer.certain(place, edge):
                    continue
                if index > known and buffer.swallows_others(starts[index - 1], place):
                    begin = starts[index - 1]
                    self._keep(known, index - 1, begin)
                    self._damage(begin, wrong_length(buffer.length(begin) - buffer.extra))
                    return
                if walked:
                    passed = buffer.end_of_doubtful(place, edge)
                    if passed < 0:
                        self._keep(known, index, place)
                        self._damage(place, "no SMF header follows a length word")
                        return
                    self._passed = self._base + passed
            except MoreNeeded:
                before = max(index - 1, known)
                self._keep(known, before, starts[before])
                raise
        self._keep(known, len(starts), reached)

    def _believable(self, place: int) -> bool:
        """Whether a suspect record has a believable header."""
        buffer = self._buffer
        if header_at(buffer.view, place, buffer.end):
            return True
        if buffer.doubled(place):
            self.doubled.add(place)
            return True
        return False

    def _keep(self, known: int, index: int, position: int) -> None:
        """Accept the records just walked before this index, and continue at this position."""
        del self.starts[index:]
        if index > known:
            self._segments.drop("a complete record")
        self.position = position

    def _irregular(self, here: int, edge: int) -> None:
        """Handle a place without a complete, unsegmented record."""
        buffer = self._buffer
        if buffer.block(here):
            self._enter_unexpected(here)
            return
        rest = buffer.end - here
        length, code, zero = chain.descriptor(buffer.view, here) if rest >= DESCRIPTOR else (0, 0, 0)
        total = length + buffer.extra
        shortest = SHORTEST_SEGMENT if code else HEADER_LENGTH
        if not zero and code <= MIDDLE and total >= shortest:
            self._piece(here, total, code, edge)
        elif code == NULL and not zero and length <= edge - here <= chain.LONGEST_IN_FILE:
            self._null_segment(here, edge)
        elif rest < HEADER_LENGTH and (self._block_end < ENDLESS or self._data[here : buffer.end].any()):
            self._cut_off(here, too_few(rest, "record"), self._segments.expecting)
        elif zero or code:
            self._damage(here, "there is no length word where a record should begin")
        else:
            self._damage(here, f"a length word of {length} is too small for a record")

    def _piece(self, here: int, total: int, code: int, edge: int) -> None:
        """Handle a segment, or a record that extends past the buffer."""
        buffer, after = self._buffer, here + total
        buffer.require(after)
        if after > edge:
            self._crossing(here, after, edge)
        elif after > buffer.end:
            if code <= FIRST and buffer.end - here >= HEADER_LENGTH and not buffer.head(here):
                self._damage(here, "no SMF header follows a length word")
            elif buffer.swallows_others(here, buffer.end):
                self._damage(here, wrong_length(buffer.length(here) - buffer.extra))
            else:
                inside = code > FIRST and self._segments.expecting
                self._cut_off(here, f"{total:,} bytes expected, {buffer.end - here:,} present", inside)
        else:
            self._segment(here, code, after, edge)

    def _crossing(self, here: int, after: int, edge: int) -> None:
        """Handle a record that extends past its block: one of the two lengths is wrong."""
        buffer = self._buffer
        if not buffer.block(edge) and buffer.sound(after):
            self._report_wrong_block()
        else:
            self._damage(here, "a record extends past the end of its block")

    def _segment(self, here: int, code: int, after: int, edge: int) -> None:
        buffer = self._buffer
        leads_on = buffer.makes_sense(after, edge) or (after != edge and buffer.continuation(after))
        starts = code == FIRST and (after - here < HEADER_LENGTH or buffer.head(here))
        expected = starts or (code != FIRST and self._segments.expecting)
        if not (leads_on and expected):
            if buffer.swallows_others(here, after):
                self._damage(here, wrong_length(buffer.length(here) - buffer.extra))
                return
            if not leads_on and not expected:
                self._damage(here, "a segment belongs to no record")
                return
        complete = self._segments.take(code, buffer.view[here + DESCRIPTOR : after], self._base + here)
        if complete:
            offset, record = complete
            self.assembled.append((len(self.starts), offset, single(record)))
            self.starts.append(-1)
        self.position = after

    def _cut_off(self, here: int, detail: str, inside_segments: bool) -> None:
        """Report that the file ends here; `finish` reports it for a record in segments."""
        end = self._buffer.end
        if not inside_segments:
            self._segments.drop("another record")
            text = f"the file ends inside a record: {detail}; transfer the file again"
            self._report(Code.TRUNCATED, text, self._base + here, self._base + end)
        self._set_block_end(ENDLESS)
        self.position = end

    def _next_block(self, here: int) -> None:
        """Handle the end of a block, where the next one should begin."""
        buffer = self._buffer
        if buffer.block(here) or buffer.block_by_its_end(here):
            self._enter(here)
        elif buffer.head(here):
            self._report_wrong_block()
        elif self._segments.expecting and buffer.leads_on(here + DESCRIPTOR):
            self._block = self._base + here
            self._report_wrong_block()
            self.position = here + DESCRIPTOR
        elif (rest := buffer.end - here) < DESCRIPTOR + HEADER_LENGTH and self._data[here : buffer.end].any():
            self._cut_off(here, too_few(rest, "block"), self._segments.expecting)
        else:
            self._damage(here, "no block begins where the previous one ends")

    def _enter(self, place: int) -> None:
        self._block = self._base + place
        self._set_block_end(self._block + self._buffer.stated_block(place))
        self.position = place + DESCRIPTOR

    def _set_block_end(self, end: int) -> None:
        self._block_end = end
        self.block_changes.append((len(self.starts), self._block, end))

    def _enter_unexpected(self, place: int) -> None:
        """Enter a block before the current one has ended."""
        if self._block_end < ENDLESS:
            self._report_wrong_block()
        self._enter(place)

    def _report_wrong_block(self) -> None:
        text = "the length word of a block is wrong; its records were read"
        self._report(Code.DAMAGED_RANGE, text, self._block, self._block + DESCRIPTOR)
        self._set_block_end(ENDLESS)
        self._reach = SHORT_REACH

    def _null_segment(self, here: int, edge: int) -> None:
        """Skip the rest of a block after a null segment, if the next block begins at its end."""
        buffer = self._buffer
        buffer.require(edge)
        if buffer.sound(edge) and not buffer.swallows_others(here, edge):
            self.position = edge
        else:
            self._damage(here, "other data follow a null segment in its block")

    def _damage(self, place: int, reason: str) -> None:
        """Start a damaged range; nothing begins at its first byte."""
        self._segments.drop("damaged data")
        begin = self._base + place
        at_block = begin == self._block_end
        in_block = self._block_end < ENDLESS and not at_block
        self._damaged = DamagedRange(begin, reason, at_block, zeros=not in_block and not self._data[place])
        self._set_block_end(ENDLESS)
        self._reach = SHORT_REACH
        self.position = place + 1

    def _search(self, damaged: DamagedRange) -> None:
        """Search the place after a damaged range where valid records follow."""
        buffer = self._buffer
        place_after = buffer.resume(self.position)
        self._damaged = None
        if place_after is None:
            damaged.zeros = damaged.zeros and not self._data[self.position : buffer.end].any()
            self.position = buffer.end
            end = self._base + buffer.end
            self._report(*damaged.at_end(end), damaged.begin, end)
            return
        self.position = place_after
        for place in (place_after - DESCRIPTOR, place_after):
            if self._base + place > damaged.begin and buffer.block(place):
                self._enter(place)
                place_after = place
                break
        end = self._base + place_after
        if damaged.where_block_should_be and end == damaged.begin + DESCRIPTOR:
            self._block = damaged.begin
            self._report_wrong_block()
        else:
            self._report(*damaged.before(end), damaged.begin, end)


WINDOW_BYTES = 16 << 20
FIRST_ROWS_BYTES = 1 << 20
"""Size of windows if only the first rows are wanted."""
SLACK = 1 << 16
"""Zero bytes after the data, so that sections are gathered without testing for the end of the buffer."""
GRAIN = 1 << 20
"""The length of buffers is a multiple of this, so that the memory of one is reused for the next instead of
requesting new pages from the system."""
SMALLEST_WINDOW = 4 * SLACK
"""Several records of the greatest length, or the same bytes would be copied from window to window."""
DUMP_HEADER, DUMP_TRAILER = 2, 3


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file that is read by itself, as a walk through the whole file reads it.

    Begin and end must be places where that walk arrives with nothing unfinished; `spans` finds such places.
    """

    begin: int = 0
    """Offset of its first byte, at which the stream is."""
    end: int | None = None
    """Offset after its last byte; None: the end of the file. The stream goes on after it."""
    first_record: int = 1
    """Number of its first record in the file."""
    open_dump: tuple[int, int] | None = None
    """Number and offset of a dump header before it that has no trailer before it."""
    block: tuple[int, int] | None = None
    """Offsets of the block in which it begins and of its end; None if it begins with a block, or without."""


WHOLE = Span()


class Readable(Protocol):
    """The part of a stream that the reader uses."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill the buffer, or some of it; 0 at the end."""


@dataclass(frozen=True, slots=True)
class Window:
    """Whole records, in the order of the file."""

    data: Bytes
    starts: Positions
    lengths: Positions
    offsets: Positions
    """Where each record begins in the (unpacked) file."""
    spanned: Mask
    """Which records were in segments."""
    first_record: int
    """Number of the first record, counted from 1."""
    end_offset: int
    """How far the file has been read."""

    def from_offset(self, begin: int) -> Window | None:
        """Return the records that begin at an offset of the file or after it; None without any."""
        if self.offsets.min() >= begin:
            return self
        if not (later := np.flatnonzero(self.offsets >= begin)).size:
            return None
        first = int(later[0])
        return Window(
            self.data, self.starts[first:], self.lengths[first:], self.offsets[first:], self.spanned[first:],
            self.first_record + first, self.end_offset,
        )  # fmt: skip

    def before(self, end: int) -> Window | None:
        """Return the records that begin before an offset of the file; None without any."""
        count = int(np.count_nonzero(self.offsets < end))
        if count == len(self.offsets):
            return self
        if not count:
            return None
        return Window(
            self.data, self.starts[:count], self.lengths[:count], self.offsets[:count], self.spanned[:count],
            self.first_record, min(self.end_offset, end),
        )  # fmt: skip


class FrameReader:
    """Reads one stream, or a span of it, window by window; iterate over it once."""

    def __init__(
        self,
        stream: Readable,
        framing: Framing,
        issues: Issues,
        file: str = "",
        window: int = WINDOW_BYTES,
        span: Span = WHOLE,
    ) -> None:
        self._stream = stream
        self._blocks = framing is Framing.BLOCKS
        self._extra = framing.extra
        self._issues = issues
        self._file = file
        self._window_bytes = max(window, SMALLEST_WINDOW)
        self._span = span
        self._walker = Walker(self._report, blocks=self._blocks, begin=span.begin, block=span.block)
        self._records = span.first_record - 1
        self._data: Bytes = np.empty(0, np.uint8)
        self._base, self._end, self._final = span.begin, 0, False
        self._open_dump = span.open_dump
        """Number and offset of a dump header without a trailer so far."""

    def __iter__(self) -> Iterator[Window]:
        """Yield every window of the stream; damage is reported as issues."""
        walker = self._walker
        while not self._final and not self._after(self._base + walker.position):
            self._fill()
            buffer = Buffer(self._data.data, self._end, self._final, self._extra, self._blocks)
            walker.walk(self._data, buffer, self._base)
            if walker.starts and (window := self._window()):
                yield window
        if self._extra and not self._span.begin:
            text = "the length words do not include their own four bytes; they were read accordingly"
            self._issues.add(Issue(Code.EXCLUSIVE_LENGTHS, text, self._file, offset=0))
        if self._span.end is not None:
            return
        walker.finish()
        if self._open_dump:
            number, offset = self._open_dump
            text = (
                "the dump that begins here has no trailer (record type 3): the file may have been truncated; "
                "compare its size with that of the data set, or transfer it again"
            )
            self._issues.add(Issue(Code.TRAILER_MISSING, text, self._file, number, offset))

    def block_changes(self) -> list[tuple[int, int, int]]:
        """Return the blocks of the last window: index of the record from which on it counts, begin, end.

        Records between two changes follow each other in one block, or after damage in none.
        """
        return self._walker.block_changes

    def _after(self, offset: int) -> bool:
        """Whether the span ends before this offset. The walk sees what follows, as one of the whole file."""
        return self._span.end is not None and offset >= self._span.end

    def _fill(self) -> None:
        """Read into a new buffer, after the rest of the last one, which other threads may still use."""
        done = self._walker.position
        left = self._data[done : self._end]
        self._base += done
        limit = len(left) + self._window_bytes
        if self._span.end is not None:
            limit = min(limit, max(self._span.end - self._base, len(left)) + SMALLEST_WINDOW)
        self._data = np.empty(-(-(limit + SLACK) // GRAIN) * GRAIN, np.uint8)
        self._data[: len(left)] = left
        view = self._data.data
        self._end = len(left)
        while self._end < limit and not self._final:
            count = self._stream.readinto(view[self._end : limit]) or 0
            self._final = not count
            self._end += count
        self._data[self._end : self._end + SLACK] = 0

    def _window(self) -> Window | None:
        walker = self._walker
        starts = np.array(walker.starts, np.int64)
        data = self._data[: self._end + SLACK]
        if walker.doubled:
            self._drop_outer_descriptors(starts)
        offsets = starts + self._base
        spanned = np.zeros(len(starts), np.bool_)
        if walker.assembled:
            pieces, place = [data[: self._end]], self._end
            for index, offset, record in walker.assembled:
                pieces.append(np.frombuffer(record, np.uint8))
                starts[index], offsets[index], spanned[index] = place, offset, True
                place += len(record)
            data = np.concatenate([*pieces, np.zeros(SLACK, np.uint8)])
        lengths = sliding(data, 2)[starts].view(">u2").astype(np.int64)
        lengths[~spanned] += self._extra
        first = self._records + 1
        self._records += len(starts)
        window = Window(data, starts, lengths, offsets, spanned, first, self._base + self._end)
        if (last := last_dump_mark(window)) is not None:
            self._open_dump = last[1]
        return window if self._span.end is None else window.before(self._span.end)

    def _drop_outer_descriptors(self, starts: Positions) -> None:
        """Start records that have their descriptor twice at the inner one, with the right length."""
        indices = np.flatnonzero(np.isin(starts, list(self._walker.doubled)))
        words = gather(self._data, starts[indices], 2).view(">u2").ravel()
        starts[indices] += DESCRIPTOR
        for index, length in zip(indices.tolist(), words.tolist(), strict=True):
            descriptor = (length - DESCRIPTOR).to_bytes(2, "big") + b"\0\0"
            place = int(starts[index])
            self._data[place : place + DESCRIPTOR] = np.frombuffer(descriptor, np.uint8)

    def _report(self, code: Code, text: str, offset: int, end: int | None = None) -> None:
        # What is only seen after the end is reported by who reads on from there.
        if not self._after(self._base + self._walker.position):
            self._issues.add(Issue(code, text, self._file, offset=offset, end=end))


def last_dump_mark(window: Window) -> tuple[int, tuple[int, int] | None] | None:
    """Return the index of the last header or trailer of a dump, and number and offset of a header.

    They are the shortest records possible. Signatures of records are of type 2 as well, but longer.
    """
    kinds = window.data[window.starts + 5]
    ends = (window.lengths == HEADER_LENGTH) & ((kinds == DUMP_HEADER) | (kinds == DUMP_TRAILER))
    places = np.flatnonzero(ends)
    if not len(places):
        return None
    last = int(places[-1])
    place = window.first_record + last, int(window.offsets[last])
    return last, place if kinds[last] == DUMP_HEADER else None
