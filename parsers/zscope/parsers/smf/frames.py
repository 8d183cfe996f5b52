"""Read a stream of bytes as windows of whole records, for all framings and with all kinds of damage.

A window is a buffer and the places of the records in it. Unsegmented records are not copied; those in
segments are assembled after them. No number in the file decides how much is read or stored: windows have a
fixed size, and a record that is too long for its two-byte length is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.smf.buffer import DESCRIPTOR, Buffer
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.header import HEADER_LENGTH, Bytes, Mask, Positions, gather, sliding
from zscope.parsers.smf.walker import Walker

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOW_BYTES = 16 << 20
SLACK = 1 << 16
"""Zero bytes after the data, so that sections are gathered without testing for the end of the buffer."""
GRAIN = 1 << 20
"""The length of buffers is a multiple of this, so that the memory of one is reused for the next instead of
requesting new pages from the system."""
SMALLEST_WINDOW = 4 * SLACK
"""Several records of the greatest length, or the same bytes would be copied from window to window."""
DUMP_HEADER, DUMP_TRAILER = 2, 3


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


class FrameReader:
    """Reads one stream window by window; iterate over it once."""

    def __init__(
        self, stream: Readable, framing: Framing, issues: Issues, file: str = "", window: int = WINDOW_BYTES
    ) -> None:
        self._stream = stream
        self._blocks = framing is Framing.BLOCKS
        self._extra = framing.extra
        self._issues = issues
        self._file = file
        self._window_bytes = max(window, SMALLEST_WINDOW)
        self._walker = Walker(self._report, blocks=self._blocks)
        self._records = 0
        self._data: Bytes = np.empty(0, np.uint8)
        self._base, self._end, self._final = 0, 0, False
        self._open_dump: tuple[int, int] | None = None
        """Number and offset of a dump header without a trailer so far."""

    def __iter__(self) -> Iterator[Window]:
        """Yield every window of the stream; damage is reported as issues."""
        walker = self._walker
        while not self._final:
            self._fill()
            buffer = Buffer(self._data.data, self._end, self._final, self._extra, self._blocks)
            walker.walk(self._data, buffer, self._base)
            if walker.starts:
                yield self._window()
        walker.finish()
        if self._extra:
            text = "the length words do not include their own four bytes; they were read accordingly"
            self._report(Code.EXCLUSIVE_LENGTHS, text, 0)
        if self._open_dump:
            number, offset = self._open_dump
            text = (
                "the dump that begins here has no trailer (record type 3): the file may have been truncated; "
                "compare its size with that of the data set, or transfer it again"
            )
            self._issues.add(Issue(Code.TRAILER_MISSING, text, self._file, number, offset))

    def _fill(self) -> None:
        """Read into a new buffer, after the rest of the last one, which other threads may still use."""
        done = self._walker.position
        left = self._data[done : self._end]
        self._base += done
        limit = len(left) + self._window_bytes
        self._data = np.empty(-(-(limit + SLACK) // GRAIN) * GRAIN, np.uint8)
        self._data[: len(left)] = left
        view = self._data.data
        self._end = len(left)
        while self._end < limit and not self._final:
            count = self._stream.readinto(view[self._end : limit]) or 0
            self._final = not count
            self._end += count
        self._data[self._end : self._end + SLACK] = 0

    def _window(self) -> Window:
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
        self._note_dumps(window)
        return window

    def _drop_outer_descriptors(self, starts: Positions) -> None:
        """Start records that have their descriptor twice at the inner one, with the right length."""
        indices = np.flatnonzero(np.isin(starts, list(self._walker.doubled)))
        words = gather(self._data, starts[indices], 2).view(">u2").ravel()
        starts[indices] += DESCRIPTOR
        for index, length in zip(indices.tolist(), words.tolist(), strict=True):
            descriptor = (length - DESCRIPTOR).to_bytes(2, "big") + b"\0\0"
            place = int(starts[index])
            self._data[place : place + DESCRIPTOR] = np.frombuffer(descriptor, np.uint8)

    def _note_dumps(self, window: Window) -> None:
        """Remember whether a dump is open: its header and trailer are the shortest records possible.

        Signatures of records are of type 2 as well, but longer.
        """
        kinds = window.data[window.starts + 5]
        ends = (window.lengths == HEADER_LENGTH) & ((kinds == DUMP_HEADER) | (kinds == DUMP_TRAILER))
        places = np.flatnonzero(ends)
        if len(places):
            last = int(places[-1])
            place = window.first_record + last, int(window.offsets[last])
            self._open_dump = place if kinds[last] == DUMP_HEADER else None

    def _report(self, code: Code, text: str, offset: int, end: int | None = None) -> None:
        self._issues.add(Issue(code, text, self._file, offset=offset, end=end))
