"""A dump as an input: decode, count or rewrite its records, window by window.

One thread reads windows, others decode them in order. Decoding a table costs a few milliseconds even for few
rows, which is more than a few records take. So records of kinds that are rare in a window are copied and
decoded together with those of the next windows.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.inputs import INVENTORY_SCHEMA, FileSummary, report_progress
from zscope.parsers.issues import Code
from zscope.parsers.options import NO_HOOKS, ScanHooks
from zscope.parsers.smf.codecs.numbers_and_times import DAY_US, decode_dates
from zscope.parsers.smf.coverage import report_uncovered
from zscope.parsers.smf.header import (
    HAS_EXTENDED_TYPE,
    HEADER_WITH_SUBTYPE,
    HUNDREDTHS_OF_A_DAY,
    has_subtype,
    header_slice,
    read_headers,
    record_types,
    unreadable_extended_headers,
    valid_dates,
)
from zscope.parsers.smf.record_batches import (
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
from zscope.parsers.smf.sections import RecordGroup
from zscope.parsers.smf.walker import FIRST_ROWS_BYTES, SLACK, WHOLE, WINDOW_BYTES, FrameReader, Window
from zscope.schemas import catalog
from zscope.schemas.model import EXTENDED_HEADER
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, RAW_TABLE, RECORD_TABLE, record_table_names

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from zscope.parsers.inputs import Member
    from zscope.parsers.issues import Issues
    from zscope.parsers.options import ReadOptions, Selection
    from zscope.parsers.smf.framing import Framing
    from zscope.parsers.smf.header import Positions
    from zscope.parsers.smf.record_batches import Kinds
    from zscope.parsers.text.coding import CodePage
    from zscope.schemas import RecordLayout, TableLayout


ENOUGH_RECORDS = 1 << 14
ENOUGH_BYTES = 1 << 23
FEW_RECORDS = 0.5
"""Up to this share it is faster to decode the selected records by themselves than all of a group."""


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


@dataclass(frozen=True, slots=True)
class Collector:
    """Collects the records of windows into groups that are worth decoding."""

    issues: Issues
    file: str
    enough_records: int = ENOUGH_RECORDS
    _waiting: dict[int, WaitingRecords] = field(default_factory=dict)

    def add(self, window: Window, kinds: Mapping[int, Positions]) -> Iterator[tuple[int, RecordGroup]]:
        """Add records of a window by kind, and yield the groups that are complete."""
        items = WindowItems(window)
        for kind, index in kinds.items():
            waiting = self._waiting.pop(kind, None) or WaitingRecords()
            in_place = self._enough(len(index), int(window.lengths[index].sum()))
            if not in_place:
                waiting.add(items, index)
            if waiting.records and (in_place or self._enough(waiting.records, waiting.bytes)):
                yield kind, self._group(waiting)
            elif waiting.records:
                self._waiting[kind] = waiting
            if in_place:
                yield kind, RecordGroup(window, index, self.issues, self.file)

    def _enough(self, records: int, size: int) -> bool:
        """Return whether this many records of this many bytes are worth decoding by themselves."""
        return records >= self.enough_records or size >= ENOUGH_BYTES

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
    hooks: ScanHooks = NO_HOOKS
    _plans: dict[int, LayoutPlan] = field(default_factory=dict)
    """By kind, for records that fill a selected table."""

    def __post_init__(self) -> None:
        for layout in catalog().records.values():
            if any(table.name in self.selection.columns for table in layout.tables):
                self._plans[kind_of(layout.type, layout.subtype)] = LayoutPlan(layout)

    def tasks(self, reader: Iterable[Window]) -> Iterator[tuple[Window, list[Task]]]:
        """Yield the windows of a file with the tasks that decode the groups complete by then."""
        most = self.hooks.first_rows
        enough = ENOUGH_RECORDS if most is None else min(max(most, 1), ENOUGH_RECORDS)
        collector = Collector(self.issues, self.file, enough)
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
        batches = [(table.name, self._rows(builder, plan, table, wanted[table.name])) for table in tables]
        group.report_missing_sections(plan.record)
        report_uncovered(group, plan.record)
        return [(name, batch) for name, batch in batches if batch is not None]

    def _rows(
        self, builder: TableBuilder, plan: LayoutPlan, table: TableLayout, wanted: tuple[str, ...] | None
    ) -> pa.RecordBatch | None:
        """Build the rows of a table; if there is a condition, only those that meet it."""
        where = self.hooks.where
        if where is None:
            return builder.build(table, wanted)
        read = builder.build(table, tuple(dict.fromkeys((*where.columns, "record_no"))))
        if read is None or not (meets := where.meets(read.select(where.columns))).true_count:
            return None
        # Other columns are decoded in the records that have such rows, if they are a small part.
        numbers = read.column("record_no").to_numpy()
        selected = np.isin(builder.group.numbers, numbers[meets.to_numpy(zero_copy_only=False)])
        if selected.sum() < len(selected) * FEW_RECORDS:
            builder = TableBuilder(builder.group.only(selected), plan, self.page)
            meets = meets.filter(pa.array(np.isin(numbers, builder.group.numbers)))
        rows = builder.build(table, wanted)
        return None if rows is None else rows.filter(meets)

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
                layout = catalog().records.get((record_type, subtype))
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
                if len(waiting) >= workers:
                    yield _finished(*waiting.popleft())
            while waiting:
                yield _finished(*waiting.popleft())
        finally:
            for _, futures in waiting:
                for future in futures:
                    future.cancel()


def _finished(window: Window, futures: list[Future[Batches]]) -> tuple[Window, Batches]:
    return window, [batch for future in futures for batch in future.result()]


NO_SUBTYPE = 1 << 16
_NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(slots=True)
class KindCounts:
    """The records of one system, type and subtype."""

    records: int = 0
    spanned: int = 0
    total_bytes: int = 0
    shortest: int = 1 << 32
    longest: int = 0
    first: int = int(_NEVER)
    last: int = 0
    """Date and time words as one number that sorts by time; only valid ones count."""


@dataclass(slots=True)
class Inventory:
    """Counts the records of one file, window by window."""

    counts: dict[tuple[bytes, int, int], KindCounts] = field(default_factory=dict)
    """By system (EBCDIC), type and subtype."""

    def add(self, window: Window) -> Positions:
        """Count the records of one window; return those with an invalid date and time.

        The kinds are numbered, the records sorted by number, and each run summed up.
        """
        headers = read_headers(window.data, window.starts)
        has = has_subtype(headers, window.lengths)
        subtypes = np.where(has, headers["subtype"].astype(np.uint64), np.uint64(NO_SUBTYPE))
        systems = headers["system"].copy().view(">u4").astype(np.uint64)
        types = record_types(window.data, window.starts, window.lengths, headers["type"]).astype(np.uint64)
        keys = systems << np.uint64(32) | types << np.uint64(17) | subtypes
        numbered = pa.array(keys).dictionary_encode()
        numbers = numbered.indices.to_numpy()
        small = numbers.astype(np.uint16) if len(numbered.dictionary) < 1 << 16 else numbers
        order = np.argsort(small, kind="stable")
        runs = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        first, last, invalid = self._times(headers)
        lengths = window.lengths[order]
        sums = {
            "records": np.diff(runs, append=len(order)),
            "spanned": np.add.reduceat(window.spanned[order].astype(np.int64), runs),
            "total_bytes": np.add.reduceat(lengths, runs),
            "shortest": np.minimum.reduceat(lengths, runs),
            "longest": np.maximum.reduceat(lengths, runs),
            "first": np.minimum.reduceat(first[order], runs),
            "last": np.maximum.reduceat(last[order], runs),
        }
        columns = {name: values.tolist() for name, values in sums.items()}
        for index, key in enumerate(numbered.dictionary.to_pylist()):
            self._count(key, {name: values[index] for name, values in columns.items()})
        return invalid

    def _times(self, headers: NDArray[np.void]) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Positions]:
        """Sortable first and last times, neutral values for invalid ones, and which are invalid."""
        dates = headers["date"].copy()
        times = headers["time"].astype(np.uint64)
        valid = valid_dates(dates.view(np.uint8).reshape(-1, 4)) & (times < HUNDREDTHS_OF_A_DAY)
        stamps = dates.view(">u4").astype(np.uint64) << np.uint64(32) | times
        absent = stamps >> np.uint64(36) == 0
        return (
            np.where(valid, stamps, _NEVER),
            np.where(valid, stamps, np.uint64(0)),
            np.flatnonzero(~valid & ~absent),
        )

    def _count(self, key: int, sums: dict[str, int]) -> None:
        key_parts = (key >> 32).to_bytes(4, "big"), key >> 17 & 0x7FFF, key & 0x1FFFF
        counts = self.counts.setdefault(key_parts, KindCounts())
        counts.records += sums["records"]
        counts.spanned += sums["spanned"]
        counts.total_bytes += sums["total_bytes"]
        counts.shortest = min(counts.shortest, sums["shortest"])
        counts.longest = max(counts.longest, sums["longest"])
        counts.first = min(counts.first, sums["first"])
        counts.last = max(counts.last, sums["last"])

    @property
    def records(self) -> int:
        """Return the number of records."""
        return sum(counts.records for counts in self.counts.values())

    @property
    def spanned(self) -> int:
        """Return the number of records in segments."""
        return sum(counts.spanned for counts in self.counts.values())

    def rows(self, file: str, packing: str, framing: str, page: CodePage) -> pa.Table:
        """Return the counts as a table, by type, subtype and system."""
        total = self.records
        rows = []
        for (system, record_type, subtype), counts in sorted(self.counts.items(), key=_by_type):
            rows.append(
                {
                    "file": file,
                    "kind": "smf",
                    "packing": packing or None,
                    "framing": framing,
                    "system": page.decode(system),
                    "record_type": record_type,
                    "record_subtype": None if subtype == NO_SUBTYPE else subtype,
                    "records": counts.records,
                    "spanned": counts.spanned,
                    "percent": round(100 * counts.records / total, 2),
                    "total_bytes": counts.total_bytes,
                    "min_bytes": counts.shortest,
                    "avg_bytes": round(counts.total_bytes / counts.records, 1),
                    "max_bytes": counts.longest,
                    "first_local": _time(counts.first) if counts.last else None,
                    "last_local": _time(counts.last) if counts.last else None,
                }
            )
        return pa.Table.from_pylist(rows, schema=INVENTORY_SCHEMA)


def _by_type(item: tuple[tuple[bytes, int, int], KindCounts]) -> tuple[int, int, bytes]:
    (system, record_type, subtype), _ = item
    return record_type, subtype, system


def _time(stamp: int) -> datetime:
    """A date word and a time word as a timestamp without zone."""
    days, _, _ = decode_dates(np.array([stamp >> 32]))
    microseconds = int(days[0]) * DAY_US + (stamp & 0xFFFFFFFF) * 10_000
    return datetime(1970, 1, 1) + timedelta(microseconds=microseconds)  # noqa: DTZ001 - local time has no zone


def write_plain(window: Window, out: BinaryIO) -> int:
    """Write the records of a window as an RDW stream, and return the number of bytes.

    Consecutive records of the buffer that need no change are written at once.
    """
    lengths = window.lengths
    words = window.data[window.starts].astype(np.int64) << 8 | window.data[window.starts + 1]
    unchanged = words == lengths
    follows = np.zeros(len(lengths), np.bool_)
    follows[1:] = (window.starts[1:] == window.starts[:-1] + lengths[:-1]) & unchanged[1:] & unchanged[:-1]
    for first, last in _runs(follows):
        begin = int(window.starts[first])
        end = int(window.starts[last] + lengths[last])
        if unchanged[first]:
            out.write(window.data[begin:end].data)
        else:
            out.write((end - begin).to_bytes(2, "big") + b"\0\0")
            out.write(window.data[begin + 4 : end].data)
    return int(lengths.sum())


def _runs(follows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """First and last index of each run of consecutive records."""
    firsts = np.flatnonzero(~follows)
    lasts = np.append(firsts[1:], len(follows)) - 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


SMALL_BYTES = 256 << 10
"""Smaller files are decoded by one thread."""


@dataclass
class Dump:
    """One dump."""

    member: Member
    framing: Framing
    options: ReadOptions
    issues: Issues
    hooks: ScanHooks = NO_HOOKS
    summary: FileSummary = field(init=False)
    _counted: Inventory = field(default_factory=Inventory, init=False)

    def __post_init__(self) -> None:
        self.summary = FileSummary(self.member.name, self.member.packing, "smf", self.framing.value)

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the rows of the selected tables; without a table of SMF data, nothing is read."""
        if not selection.columns.keys() & set(record_table_names()):
            self.summary.skipped = True
            return
        # A condition on the system would be evaluated before the name from the options is filled in.
        hooks = replace(self.hooks, where=None) if self.options.system else self.hooks
        decoder = Decoder(selection, self.issues, self.member.name, self.options.page, hooks)
        # To start threads would take longer than to decode a small file.
        is_small = not self.member.packing and (self.member.size or SMALL_BYTES) < SMALL_BYTES
        jobs = 1 if is_small else self.options.jobs
        with closing(decode_windows(self._reader(), decoder, jobs)) as windows:
            for window, batches in windows:
                self._report_types(window)
                self._advance(window)
                if self.hooks.count:
                    self._counted.add(window)
                for table, rows in batches:
                    yield table, _with_system(rows, self.options.system)

    def inventory(self) -> pa.Table:
        """Return one row for each system, type and subtype."""
        for window in self._reader():
            invalid = self._counted.add(window)
            group = RecordGroup(window, invalid, self.issues, self.member.name)
            text = "the date and time of the header are not a packed date and a time of day"
            group.flag(Code.BAD_DATE, np.arange(len(invalid)), text, "header", at=header_slice("time").start)
            self._report_types(window)
            self._advance(window)
        return self.contents()

    def contents(self) -> pa.Table:
        """Return one row for each system, type and subtype counted so far."""
        packing = ", ".join(self.summary.packing)
        return self._counted.rows(self.member.name, packing, self.framing.value, self.options.page)

    def unpacked(self, out: BinaryIO) -> int:
        """Write the records with length words and nothing else."""
        written = 0
        for window in self._reader():
            written += write_plain(window, out)
            self._advance(window)
        return written

    def _reader(self) -> Iterator[Window]:
        """Windows from the first record to read on; a watcher receives all windows."""
        usual = self.hooks.window_bytes or WINDOW_BYTES
        size = usual if self.hooks.first_rows is None else FIRST_ROWS_BYTES
        span = self.member.part.span if self.member.part else WHOLE
        for window in FrameReader(
            self.member.stream, self.framing, self.issues, self.member.name, size, span
        ):
            if self.hooks.watch:
                self.hooks.watch(window)
            if (wanted := window.from_offset(self.hooks.begin_at)) is not None:
                yield wanted

    def _report_types(self, window: Window) -> None:
        """Report the records whose type is in an extended header that cannot be read."""
        problems = unreadable_extended_headers(window.data, window.starts, window.lengths)
        for problem, records in problems.items():
            group = RecordGroup(window, records, self.issues, self.member.name)
            text = f"{problem}; the record is counted under type {HAS_EXTENDED_TYPE}"
            at = HEADER_WITH_SUBTYPE
            group.flag(Code.EXTENDED_HEADER, np.arange(len(records)), text, EXTENDED_HEADER, at=at)

    def _advance(self, window: Window) -> None:
        self.summary.records += len(window.starts)
        self.summary.spanned += int(window.spanned.sum())
        self.summary.bytes = window.end_offset
        report_progress(self.summary, self.member, self.options)


def _with_system(rows: pa.RecordBatch, system: str | None) -> pa.RecordBatch:
    """Fill in the system where the record has none."""
    place = rows.schema.get_field_index("system")
    if system is None or place < 0:
        return rows
    known = rows.column(place).dictionary_decode()
    absent = pc.fill_null(pc.equal(known, ""), fill_value=True)
    named = pc.if_else(absent, pa.scalar(system), known).dictionary_encode()
    return rows.set_column(place, rows.schema.field(place), named)
