"""Assemble records that were written in segments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.smf.header import HEADER_LENGTH, LONGEST_RECORD

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST, LAST, MIDDLE = 1, 2, 3
"""Segment codes; note that `last` is 2 and `middle` is 3."""
NULL = 0x80
"""Code of a null segment: the rest of the block is empty."""

_ORPHANS = "segments came without the first one of their record and were dropped"
_TOO_LONG = f"the segments have more than the {LONGEST_RECORD:,} bytes of the longest record and were dropped"
_TOO_SHORT = f"the segments have less than the {HEADER_LENGTH} bytes of the shortest record and were dropped"


@dataclass(slots=True)
class Assembler:
    """Collects the segments of the record that is being read.

    Segments that cannot become a record are followed to the last one, so that they are reported once.
    """

    report: Callable[[Code, str, int, int | None], None]
    """Called with a code, a text, and the range in the file."""
    _offset: int = -1
    """Where the open record begins in the file; -1: none is open."""
    _end: int = 0
    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0
    _fault: tuple[Code, str] | None = None
    """Why the open segments are no record."""

    @property
    def expecting(self) -> bool:
        """Return whether a middle or last segment must come next."""
        return self._offset >= 0

    def take(self, code: int, data: memoryview, offset: int) -> tuple[int, bytes] | None:
        """Add the data of one segment; return offset and bytes of the record when it is complete."""
        if code == FIRST:
            self.drop("another first segment")
        if self._offset < 0:
            self._offset, self._size = offset, 4
            if code != FIRST:
                self._fault = Code.SEGMENT_ORDER, _ORPHANS
        self._end = offset + 4 + len(data)
        if self._fault is None:
            self._size += len(data)
            self._parts.append(bytes(data))
            if self._size > LONGEST_RECORD:
                self._fault, self._parts = (Code.RECORD_TOO_LONG, _TOO_LONG), []
        return self._complete() if code == LAST else None

    def _complete(self) -> tuple[int, bytes] | None:
        if self._fault is None and self._size < HEADER_LENGTH:
            self._fault = Code.RECORD_TOO_SHORT, _TOO_SHORT
        if self._fault is not None:
            self._report_fault()
            return None
        whole = self._offset, self._size.to_bytes(2, "big") + b"\0\0" + b"".join(self._parts)
        self._forget()
        return whole

    def drop(self, what_came: str) -> None:
        """Drop the open record, if there is one, because something else follows."""
        if self._offset >= 0 and self._fault is None:
            text = f"{what_came} came before the last segment of a record; its segments were dropped"
            self._fault = Code.SEGMENT_ORDER, text
        self._report_fault()

    def finish(self, end: int) -> None:
        """Drop the open record at the end of the file."""
        if self._offset >= 0 and self._fault is None:
            text = (
                "the file ends before the last segment of a record; its segments were dropped; "
                "transfer the file again"
            )
            self._fault, self._end = (Code.TRUNCATED, text), end
        self._report_fault()

    def _report_fault(self) -> None:
        if self._fault is not None:
            self.report(*self._fault, self._offset, self._end)
            self._forget()

    def _forget(self) -> None:
        self._offset, self._parts, self._size, self._fault = -1, [], 0, None
