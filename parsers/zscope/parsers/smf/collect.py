"""Records put aside until there are enough of their kind.

To decode a table costs a few milliseconds however few its rows are, which is more than a few records take. In
a dump where each of many kinds has few records per window, that would be most of the time. So the few are
copied out of the window, and decoded together with those of the next ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.frames import SLACK, Window
from zscope.parsers.smf.groups import RecordGroup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zscope.parsers.issues import Issues
    from zscope.parsers.smf.header import Positions

ENOUGH_RECORDS = 1 << 14
ENOUGH_BYTES = 1 << 23


class Items:
    """The records of a window as one Arrow column of bytes, for which nothing is copied.

    Each item reaches up to the next record. Taking some items of a column is what Arrow is good at.
    """

    def __init__(self, window: Window) -> None:
        self.window = window

    @cached_property
    def _places(self) -> Positions:
        """Where in the column each record is: in the order in which they lie in the buffer."""
        count = len(self.window.starts)
        if not self.window.spanned.any():
            return np.arange(count)
        # Records put together from segments lie behind all others.
        places = np.empty(count, np.int64)
        places[np.argsort(self.window.starts)] = np.arange(count)
        return places

    @cached_property
    def _column(self) -> pa.Array:
        starts, lengths = self.window.starts, self.window.lengths
        bounds = np.empty(len(starts) + 1, np.int32)
        bounds[self._places] = starts
        bounds[-1] = (starts + lengths).max()
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(self.window.data)]
        return pa.Array.from_buffers(pa.binary(), len(starts), buffers)

    def take(self, index: Positions) -> Window:
        """A copy of some records, without the rest of the window."""
        _, bounds, content = self._column.take(pa.array(self._places[index])).buffers()
        starts = np.frombuffer(bounds, np.int32)[: len(index)].astype(np.int64)
        whole = self.window
        return Window(
            np.frombuffer(content, np.uint8), starts, whole.lengths[index], whole.offsets[index],
            whole.spanned[index], 0, 0,
        )  # fmt: skip


@dataclass(slots=True)
class Waiting:
    """Records of one kind from several windows, in order."""

    windows: list[Window] = field(default_factory=list)
    """What is left of them: only these records, one behind the other."""
    numbers: list[Positions] = field(default_factory=list)
    records: int = 0
    bytes: int = 0

    def put(self, items: Items, index: Positions) -> None:
        """Copy some records of a window."""
        copied = items.take(index)
        self.windows.append(copied)
        self.numbers.append(index + items.window.first_record)
        self.records += len(index)
        self.bytes += len(copied.data)


def enough(records: int, size: int) -> bool:
    """Whether so many records of so many bytes are worth decoding by themselves."""
    return records >= ENOUGH_RECORDS or size >= ENOUGH_BYTES


@dataclass(frozen=True, slots=True)
class Collector:
    """Groups of records that are worth decoding, from windows in the order of the file."""

    issues: Issues
    file: str
    _waiting: dict[int, Waiting] = field(default_factory=dict)

    def add(self, window: Window, kinds: Mapping[int, Positions]) -> Iterator[tuple[int, RecordGroup]]:
        """Take records of a window, by their kind; gives the groups that are complete now."""
        items = Items(window)
        for kind, index in kinds.items():
            waiting = self._waiting.pop(kind, None) or Waiting()
            in_place = enough(len(index), int(window.lengths[index].sum()))
            if not in_place:
                waiting.put(items, index)
            if waiting.records and (in_place or enough(waiting.records, waiting.bytes)):
                yield kind, self._group(waiting)
            elif waiting.records:
                self._waiting[kind] = waiting
            if in_place:
                yield kind, RecordGroup(window, index, self.issues, self.file)

    def rest(self) -> Iterator[tuple[int, RecordGroup]]:
        """What still waits at the end of the file."""
        for kind, waiting in self._waiting.items():
            yield kind, self._group(waiting)

    def _group(self, waiting: Waiting) -> RecordGroup:
        parts = waiting.windows
        begins = np.cumsum([0, *(len(part.data) for part in parts)]).tolist()
        together = Window(
            np.concatenate([*(part.data for part in parts), np.zeros(SLACK, np.uint8)]),
            np.concatenate([part.starts + begin for part, begin in zip(parts, begins[:-1], strict=True)]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.offsets for part in parts]),
            np.concatenate([part.spanned for part in parts]),
            first_record=0,
            end_offset=0,
        )
        numbers = np.concatenate(waiting.numbers)
        return RecordGroup(together, np.arange(waiting.records), self.issues, self.file, numbers)
