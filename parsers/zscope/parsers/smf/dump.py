"""A dump as an input: decode, count or rewrite its records, window by window."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.inputs import INVENTORY_SCHEMA, FileSummary, report_progress
from zscope.parsers.issues import Code
from zscope.parsers.options import NO_HOOKS, ScanHooks
from zscope.parsers.smf.codecs.times import DAY_US, decode_dates
from zscope.parsers.smf.frames import FrameReader, Window
from zscope.parsers.smf.header import (
    HUNDREDTHS_OF_A_DAY,
    has_subtype,
    header_slice,
    read_headers,
    valid_dates,
)
from zscope.parsers.smf.scan import Decoder, decode_windows
from zscope.parsers.smf.sections import RecordGroup
from zscope.schemas.tables import record_table_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from zscope.parsers.containers.source import Member
    from zscope.parsers.issues import Issues
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.select import Selection
    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.parsers.smf.framing import Framing
    from zscope.parsers.smf.header import Positions


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
        keys = systems << np.uint64(32) | headers["type"].astype(np.uint64) << np.uint64(17) | subtypes
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
        key_parts = (key >> 32).to_bytes(4, "big"), key >> 17 & 0xFF, key & 0x1FFFF
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
        decoder = Decoder(selection, self.issues, self.member.name, self.options.page)
        with closing(decode_windows(self._reader(), decoder, self.options.jobs)) as windows:
            for window, batches in windows:
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
        for window in FrameReader(self.member.stream, self.framing, self.issues, self.member.name):
            if self.hooks.watch:
                self.hooks.watch(window)
            if (wanted := window.from_offset(self.hooks.begin_at)) is not None:
                yield wanted

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
