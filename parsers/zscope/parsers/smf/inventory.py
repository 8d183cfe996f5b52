"""What is in a dump, from the headers alone: how many records of which kind, how long, from when to when."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.inventory import INVENTORY_SCHEMA
from zscope.parsers.smf.codecs.times import DAY_US, decode_dates
from zscope.parsers.smf.header import HUNDREDTHS_OF_A_DAY, has_subtype, read_headers, valid_dates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.parsers.smf.frames import Window
    from zscope.parsers.smf.header import Positions

NO_SUBTYPE = 1 << 16
_NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(slots=True)
class Tally:
    """The records of one system, type and subtype."""

    records: int = 0
    spanned: int = 0
    total_bytes: int = 0
    shortest: int = 1 << 32
    longest: int = 0
    first: int = int(_NEVER)
    last: int = 0
    """Date and time words as one number, which sorts by time; only valid ones count."""


@dataclass(slots=True)
class Inventory:
    """Counts the records of one file, window by window."""

    tallies: dict[tuple[bytes, int, int], Tally] = field(default_factory=dict)
    """By system (EBCDIC), type and subtype."""

    def add(self, window: Window) -> Positions:
        """Count one window: number the kinds, sort by number, and sum up each run.

        Returns the records whose date and time are there but not valid.
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
        """Sortable times, with what can win neither as first nor as last in place of invalid ones."""
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
        place = (key >> 32).to_bytes(4, "big"), key >> 17 & 0xFF, key & 0x1FFFF
        tally = self.tallies.setdefault(place, Tally())
        tally.records += sums["records"]
        tally.spanned += sums["spanned"]
        tally.total_bytes += sums["total_bytes"]
        tally.shortest = min(tally.shortest, sums["shortest"])
        tally.longest = max(tally.longest, sums["longest"])
        tally.first = min(tally.first, sums["first"])
        tally.last = max(tally.last, sums["last"])

    @property
    def records(self) -> int:
        """How many records there are."""
        return sum(tally.records for tally in self.tallies.values())

    @property
    def spanned(self) -> int:
        """How many of them came in segments."""
        return sum(tally.spanned for tally in self.tallies.values())

    def rows(self, file: str, packing: str, framing: str, page: CodePage) -> pa.Table:
        """The counts as a table, by type, subtype and system."""
        total = self.records
        rows = []
        for (system, record_type, subtype), tally in sorted(self.tallies.items(), key=_by_type):
            rows.append(
                {
                    "file": file,
                    "kind": "smf",
                    "packing": packing or None,
                    "framing": framing,
                    "system": page.decode(system),
                    "record_type": record_type,
                    "record_subtype": None if subtype == NO_SUBTYPE else subtype,
                    "records": tally.records,
                    "spanned": tally.spanned,
                    "percent": round(100 * tally.records / total, 2),
                    "total_bytes": tally.total_bytes,
                    "min_bytes": tally.shortest,
                    "avg_bytes": round(tally.total_bytes / tally.records, 1),
                    "max_bytes": tally.longest,
                    "first_local": _time(tally.first) if tally.last else None,
                    "last_local": _time(tally.last) if tally.last else None,
                }
            )
        return pa.Table.from_pylist(rows, schema=INVENTORY_SCHEMA)


def _by_type(item: tuple[tuple[bytes, int, int], Tally]) -> tuple[int, int, bytes]:
    (system, record_type, subtype), _ = item
    return record_type, subtype, system


def _time(stamp: int) -> datetime:
    """A date word and a time word as a timestamp without zone."""
    days, _, _ = decode_dates(np.array([stamp >> 32]))
    microseconds = int(days[0]) * DAY_US + (stamp & 0xFFFFFFFF) * 10_000
    return datetime(1970, 1, 1) + timedelta(microseconds=microseconds)  # noqa: DTZ001 - local time has no zone
