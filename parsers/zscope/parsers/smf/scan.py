"""Whole files as batches of tables: windows are read by one thread and decoded by others, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.collect import Collector
from zscope.parsers.smf.ebcdic import CodePage, code_page
from zscope.parsers.smf.groups import RecordGroup
from zscope.parsers.smf.kinds import distinct_kinds, kind_of, record_kinds, type_and_subtype
from zscope.parsers.smf.records import digest_batch, raw_batches, record_batch
from zscope.parsers.smf.tables import LayoutPlan, TableBuilder
from zscope.schemas import catalog
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, RAW_TABLE, RECORD_TABLE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    import pyarrow as pa

    from zscope.parsers.issues import Issues
    from zscope.parsers.select import Selection
    from zscope.parsers.smf.frames import Window
    from zscope.parsers.smf.kinds import Kinds
    from zscope.schemas import RecordLayout

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
    """By kind, for the records of which there are tables to make."""

    def __post_init__(self) -> None:
        for layout in catalog().records.values():
            if any(table.name in self.selection.columns for table in layout.tables):
                self._plans[kind_of(layout.type, layout.subtype)] = LayoutPlan(layout)

    def tasks(self, reader: Iterable[Window]) -> Iterator[tuple[Window, list[Task]]]:
        """The windows of a file, each with what can be decoded by then; the last one has all that is left."""
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
        """The tables made of records of one kind."""
        plan = self._plans[kind]
        builder = TableBuilder(_told(group, plan.record), plan, self.page)
        wanted = self.selection.columns
        made = ((t.name, builder.build(t, wanted[t.name])) for t in plan.record.tables if t.name in wanted)
        return [(name, batch) for name, batch in made if batch is not None]

    def _decode_any(self, window: Window, kinds: Kinds, covered: list[int]) -> Batches:
        """The tables that take records of any kind."""
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
                for batch in raw_batches(_told(group, layout), layout, wanted[RAW_TABLE], self.page):
                    batches.append((RAW_TABLE, batch))
        return batches


def _told(group: RecordGroup, layout: RecordLayout | None) -> RecordGroup:
    """The records with what their layout says about them as a whole."""
    return group if layout is None or layout.triplets is None else replace(group, declared=layout.triplets)


def decode_windows(
    reader: Iterable[Window], decoder: Decoder, jobs: int | None = None
) -> Generator[tuple[Window, Batches], None, None]:
    """Decode windows on several threads while the next ones are read; results in the order of the file.

    The work is in numpy and Arrow, which let other threads run meanwhile. Only a few windows are under way
    at a time, so memory does not grow with the file. A window comes with the batches that were complete when
    it had been read, which may hold rows of windows before it.
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
    """A decoder for one file."""
    return Decoder(selection, issues, file, code_page(page))
