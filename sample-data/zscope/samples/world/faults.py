"""Faults of dumps: the records of a system as a site can deliver them, with what is missing or wrong."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from zscope.samples.dump.site import SYSPLEX

LOST, RMF_CPU, TCPIP = 7, 70, 119
_OTHER_CPU = (30, 72)
OPENED, CLOSED, STACK, STACK_PROTOCOLS, DETAIL = 1, 2, 5, 6, 11
"""Subtypes of type 119."""
_BEGAN, _ENDED, _SHORT = 1, 3, 4
"""Events of a zERT detail record."""
_ONE_HOUR = timedelta(hours=1)
_HEADER = slice(6, 14)
"""Time and date in the header of a record."""


@dataclass(frozen=True, slots=True)
class DumpRecord:
    """An SMF record with its descriptor word."""

    content: bytes

    @property
    def kind(self) -> tuple[int, int]:
        """Type and subtype; of a type without subtypes, the second number says nothing."""
        return self.content[5], int.from_bytes(self.content[22:24], "big")

    @property
    def written(self) -> datetime:
        """The local time at which it was written."""
        hundredths = int.from_bytes(self.content[6:10], "big")
        return _day(self.content[10:14]) + timedelta(milliseconds=10 * hundredths)

    def drawn(self, seed: int) -> float:
        """Return a number from 0 to 1 that depends on the content alone."""
        return zlib.crc32(self.content, seed) / 2**32


Change = Callable[[Sequence[DumpRecord]], Iterable[DumpRecord]]


def records_of(dump: bytes) -> Iterator[DumpRecord]:
    """Yield the records of a dump of records with descriptor words."""
    at = 0
    while at < len(dump):
        length = int.from_bytes(dump[at : at + 2], "big")
        yield DumpRecord(dump[at : at + length])
        at += length


def with_faults(dump: bytes, *changes: Change) -> bytes:
    """Return a dump after some changes, one after the other."""
    records: Sequence[DumpRecord] = list(records_of(dump))
    for change in changes:
        records = list(change(records))
    return b"".join(record.content for record in records)


def without(*kinds: tuple[int, int]) -> Change:
    """Leave out all records of some types and subtypes."""
    return lambda records: (record for record in records if record.kind not in kinds)


def lost_hours(hours: Sequence[datetime], *, record_type: int = TCPIP) -> Change:
    """Lose all records of a type in some hours of the local time."""

    def change(records: Sequence[DumpRecord]) -> Iterator[DumpRecord]:
        for record in records:
            is_lost = any(hour <= record.written < hour + _ONE_HOUR for hour in hours)
            if record.kind[0] != record_type or not is_lost:
                yield record

    return change


def only_details_of(begin: datetime, end: datetime) -> Change:
    """Keep records of single connections only of a part of the time."""
    single = {(TCPIP, OPENED), (TCPIP, CLOSED), (TCPIP, DETAIL)}

    def change(records: Sequence[DumpRecord]) -> Iterator[DumpRecord]:
        return (record for record in records if record.kind not in single or begin <= record.written < end)

    return change


def lost_ends(share: float, seed: int = 1) -> Change:
    """Lose a share of the records of ends of connections."""

    def change(records: Sequence[DumpRecord]) -> Iterator[DumpRecord]:
        for record in records:
            is_end = record.kind == (TCPIP, CLOSED) or (
                record.kind == (TCPIP, DETAIL) and _event(record) in {_ENDED, _SHORT}
            )
            if not is_end or record.drawn(seed) >= share:
                yield record

    return change


def with_lost_data(records_lost: Sequence[tuple[datetime, datetime, int]]) -> Change:
    """Add type 7 records: start and end of a loss, with the number of lost records."""

    def change(records: Sequence[DumpRecord]) -> Iterator[DumpRecord]:
        yield from records[:-1]
        for begin, end, count in records_lost:
            header = bytearray(29)
            header[0:2] = len(header).to_bytes(2, "big")
            header[4] = records[0].content[4]
            header[5] = LOST
            header[6:14] = _hundredths(end) + _packed_day(end)
            header[14:18] = records[0].content[14:18]
            header[18:20] = min(count, 65_535).to_bytes(2, "big")
            header[20:28] = _hundredths(begin) + _packed_day(begin)
            yield DumpRecord(bytes(header))
        yield records[-1]

    return change


def late_intervals(delay: timedelta) -> Change:
    """Write the intervals of SMF 70 by a clock that is late, and leave out other records of CPU time."""

    def change(records: Sequence[DumpRecord]) -> Iterator[DumpRecord]:
        for record in records:
            if record.kind[0] == RMF_CPU:
                yield _later(record, delay)
            elif record.kind[0] not in _OTHER_CPU:
                yield record

    return change


def of_system(name: str, other: str, *, sysplex: str) -> Change:
    """Rename a system to another SMFID in another sysplex."""
    names = ((name, other, 4), (SYSPLEX, sysplex, 8))
    texts = [tuple(text.ljust(length).encode("cp037") for text in (old, new)) for old, new, length in names]

    def change(records: Sequence[DumpRecord]) -> Iterator[DumpRecord]:
        for record in records:
            content = record.content
            for old, new in texts:
                content = content.replace(old, new)
            yield DumpRecord(content)

    return change


def _later(record: DumpRecord, delay: timedelta) -> DumpRecord:
    """Return an SMF 70 record whose times are later: that of its header, and the start of the interval."""
    content = bytearray(record.content)
    written = record.written + delay
    content[_HEADER] = _hundredths(written) + _packed_day(written)
    start = int.from_bytes(content[28:32], "big") + 10
    begin = datetime.strptime(content[start : start + 4].hex()[1:7], "%H%M%S") + delay  # noqa: DTZ007
    day = _day(record.content[start + 4 : start + 8]) + (begin.day - 1) * timedelta(days=1)
    content[start : start + 8] = bytes.fromhex(f"0{begin:%H%M%S}f") + _packed_day(day)
    return DumpRecord(bytes(content))


def _event(record: DumpRecord) -> int:
    """Return the event of a zERT detail record, the first byte of its common section."""
    offset = int.from_bytes(record.content[36:40], "big")
    return record.content[offset]


def _hundredths(moment: datetime) -> bytes:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return ((moment - midnight) // timedelta(milliseconds=10)).to_bytes(4, "big")


def _day(packed: bytes) -> datetime:
    """Return the day of a date as 0cyydddF."""
    digits = packed.hex()
    first = datetime(1900 + 100 * int(digits[1]) + int(digits[2:4]), 1, 1)  # noqa: DTZ001
    return first + timedelta(days=int(digits[4:7]) - 1)


def _packed_day(moment: datetime) -> bytes:
    """Return a day as 0cyydddF."""
    return bytes.fromhex(f"0{moment.year // 100 - 19}{moment:%y%j}f")
