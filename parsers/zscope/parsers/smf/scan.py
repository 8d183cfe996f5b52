"""Decode whole files into batches of tables: one thread reads windows, others decode them in order.

Decoding a table costs a few milliseconds even for few rows, which is more than a few records take. So records
of kinds that are rare in a window are copied and decoded together with those of the next windows.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.ebcdic import CodePage, code_page
from zscope.parsers.smf.frames import SLACK, Window
from zscope.parsers.smf.sections import RecordGroup
from zscope.parsers.smf.tables import (
    LayoutPlan,
    TableBuilder,
    digest_batch,
    distinct_kinds,
    kind_of,
    raw_batches,
    record_batch,
    record_kinds,
    type_and_subtype,
)
from zscope.schemas import catalog
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, RAW_TABLE, RECORD_TABLE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from zscope.parsers.issues import Issues
    from zscope.parsers.select import Selection
    from zscope.parsers.smf.header import Positions
    from zscope.parsers.smf.tables import Kinds
    from zscope.schemas import RecordLayout


ENOUGH_RECORDS = 1 << 14
ENOUGH_BYTES = 1 << 23


class WindowItems:
    """The records of a window as one Arrow column of bytes, without copying them.

    Each item extends to the next record, so Arrow can copy some of them quickly.
    """

    def __init__(self, window: Window) -> None:
        self.window = window

    @cached_property
    def _places(self) -> Positions:
        """The index of each record in the column, which is in the order of the buffer."""
        count = len(self.window.starts)
        if not self.window.spanned.any():
            return np.arange(count)
        # Records assembled from segments come after all others.
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
        """Copy some records into a window of their own."""
        _, bounds, content = self._column.take(pa.array(self._places[index])).buffers()
        starts = np.frombuffer(bounds, np.int32)[: len(index)].astype(np.int64)
        whole = self.window
        return Window(
            np.frombuffer(content, np.uint8), starts, whole.lengths[index], whole.offsets[index],
            whole.spanned[index], 0, 0,
        )  # fmt: skip


@dataclass(slots=True)
class WaitingRecords:
    """Records of one kind from several windows, in order."""

    windows: list[Window] = field(default_factory=list)
    """Windows with only these records."""
    numbers: list[Positions] = field(default_factory=list)
    records: int = 0
    bytes: int = 0

    def add(self, items: WindowItems, index: Positions) -> None:
        """Copy some records of a window."""
        copied = items.take(index)
        self.windows.append(copied)
        self.numbers.append(index + items.window.first_record)
        self.records += len(index)
        self.bytes += len(copied.data)


def enough(records: int, size: int) -> bool:
    """Return whether this many records of this many bytes are worth decoding by themselves."""
    return records >= ENOUGH_RECORDS or size >= ENOUGH_BYTES


@dataclass(frozen=True, slots=True)
class Collector:
    """Collects the records of windows into groups that are worth decoding."""

    issues: Issues
    file: str
    _waiting: dict[int, WaitingRecords] = field(default_factory=dict)

    def add(self, window: Window, kinds: Mapping[int, Positions]) -> Iterator[tuple[int, RecordGroup]]:
        """Add records of a window by kind, and yield the groups that are complete."""
        items = WindowItems(window)
        for kind, index in kinds.items():
            waiting = self._waiting.pop(kind, None) or WaitingRecords()
            in_place = enough(len(index), int(window.lengths[index].sum()))
            if not in_place:
                waiting.add(items, index)
            if waiting.records and (in_place or enough(waiting.records, waiting.bytes)):
                yield kind, self._group(waiting)
            elif waiting.records:
                self._waiting[kind] = waiting
            if in_place:
                yield kind, RecordGroup(window, index, self.issues, self.file)

    def rest(self) -> Iterator[tuple[int, RecordGroup]]:
        """Yield the remaining groups at the end of the file."""
        for kind, waiting in self._waiting.items():
            yield kind, self._group(waiting)

    def _group(self, waiting: WaitingRecords) -> RecordGroup:
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


Batches = list[tuple[str, "pa.RecordBatch"]]
Task = Callable[[], Batches]


@dataclass(frozen=True, slots=True)
class Decoder:
    """Turns the windows of one file into batches of the selected tables."""

    selection: Selection
    issues: Issues
    file: str
    page: CodePage
    _plans: dict[int, LayoutPlan] = field(default_factory=dict)
    """By kind, for records that fill a selected table."""

    def __post_init__(self) -> None:
        for layout in catalog().records.values():
            if any(table.name in self.selection.columns for table in layout.tables):
                self._plans[kind_of(layout.type, layout.subtype)] = LayoutPlan(layout)

    def tasks(self, reader: Iterable[Window]) -> Iterator[tuple[Window, list[Task]]]:
        """Yield the windows of a file with the tasks that decode the groups complete by then."""
        collector = Collector(self.issues, self.file)
        last: tuple[Window, list[Task]] | None = None
        for window in reader:
            if last:
                yield last
            last = window, list(self._tasks_of(window, collector))
        if last:
            last[1].extend(partial(self._decode, kind, group) for kind, group in collector.rest())
            yield last

    def _tasks_of(self, window: Window, collector: Collector) -> Iterator[Task]:
        kinds = record_kinds(window)
        present = distinct_kinds(kinds)
        wanted = {kind: np.flatnonzero(kinds == kind) for kind in present if kind in self._plans}
        for kind, group in collector.add(window, wanted):
            yield partial(self._decode, kind, group)
        if self.selection.columns.keys() & set(ANY_RECORD_TABLES):
            covered = [kind for kind in present if self.selection.wants_record(*type_and_subtype(kind))]
            yield partial(self._decode_any, window, kinds, covered)

    def _decode(self, kind: int, group: RecordGroup) -> Batches:
        """Build the tables of records of one kind."""
        plan = self._plans[kind]
        group = _with_triplets(group, plan.record)
        builder = TableBuilder(group, plan, self.page)
        wanted = self.selection.columns
        tables = [table for table in plan.record.tables if table.name in wanted]
        batches = [(table.name, builder.build(table, wanted[table.name])) for table in tables]
        group.report_without_rows(plan.record.row_sections)
        return [(name, batch) for name, batch in batches if batch is not None]

    def _decode_any(self, window: Window, kinds: Kinds, covered: list[int]) -> Batches:
        """Build the tables of records of any kind."""
        wanted = self.selection.columns
        batches: Batches = []
        for table, make in ((RECORD_TABLE, record_batch), (DIGEST_TABLE, digest_batch)):
            if table in wanted and covered:
                group = RecordGroup(window, np.flatnonzero(np.isin(kinds, covered)), self.issues, self.file)
                batches.append((table, make(group, wanted[table], self.page)))
        if RAW_TABLE in wanted:
            for kind in sorted(covered):
                group = RecordGroup(window, np.flatnonzero(kinds == kind), self.issues, self.file)
                record_type, subtype = type_and_subtype(kind)
                layout = None if subtype is None else catalog().records.get((record_type, subtype))
                for batch in raw_batches(_with_triplets(group, layout), layout, wanted[RAW_TABLE], self.page):
                    batches.append((RAW_TABLE, batch))
        return batches


def _with_triplets(group: RecordGroup, layout: RecordLayout | None) -> RecordGroup:
    """The records with the place of their triplets."""
    return group if layout is None or layout.triplets is None else replace(group, area=layout.triplets)


def decode_windows(
    reader: Iterable[Window], decoder: Decoder, jobs: int | None = None
) -> Generator[tuple[Window, Batches], None, None]:
    """Decode windows on several threads while the next ones are read, and yield results in file order.

    Numpy and Arrow release the interpreter lock. Only a few windows are in work at a time, so memory does not
    grow with the file. The batches of a window can contain rows of earlier windows.
    """
    workers = jobs or os.cpu_count() or 1
    if workers == 1:
        for window, tasks in decoder.tasks(reader):
            yield window, [batch for task in tasks for batch in task()]
        return
    waiting: deque[tuple[Window, list[Future[Batches]]]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="zscope-decode") as pool:
        try:
            for window, tasks in decoder.tasks(reader):
                waiting.append((window, [pool.submit(task) for task in tasks]))
                if len(waiting) > workers:
                    yield _finished(*waiting.popleft())
            while waiting:
                yield _finished(*waiting.popleft())
        finally:
            for _, futures in waiting:
                for future in futures:
                    future.cancel()


def _finished(window: Window, futures: list[Future[Batches]]) -> tuple[Window, Batches]:
    return window, [batch for future in futures for batch in future.result()]


def default_decoder(selection: Selection, issues: Issues, file: str = "", page: str = "1047") -> Decoder:
    """Return a decoder for one file."""
    return Decoder(selection, issues, file, code_page(page))
