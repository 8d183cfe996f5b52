"""Type 113 records as bytes, written field by field from the published offsets and not by the layouts."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1900, 1, 1, tzinfo=UTC)
BEGIN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
QUARTER = timedelta(minutes=15)
BASIC, PROBLEM, CRYPTO, EXTENDED, SOFTWARE, DIAGNOSTIC = 1, 2, 3, 4, 5, 6
LOST, LOST_DIAGNOSTIC, IS_ZCBP = 0x8000, 0x4000, 0x2000
FIRST, RUN_LOST = 0x8000, 0x0800
LONG = 0x8000
HEADER, TRIPLETS_AT = 52, 28


def ebcdic(text: str, length: int) -> bytes:
    return text.encode("cp037").ljust(length, b"\x40")


def clock(time: datetime) -> bytes:
    """The bytes of a TOD clock: microseconds since 1900, and 12 bits that are finer."""
    return ((time - EPOCH) // timedelta(microseconds=1) << 12).to_bytes(8, "big")


def packed_date(time: datetime) -> bytes:
    return bytes.fromhex(f"{time.year - 1900:04d}{time.timetuple().tm_yday:03d}f")


def hundredths(time: datetime) -> int:
    return (time - time.replace(hour=0, minute=0, second=0, microsecond=0)) // timedelta(milliseconds=10)


@dataclass(frozen=True)
class HisRecord:
    """What a record says of a processor; both subtypes can have it."""

    counters: dict[int, list[int]] = field(default_factory=dict)
    """The counters of each set, by its kind."""
    system: str = "SYSA"
    start: datetime = BEGIN
    end: datetime = BEGIN + QUARTER
    run_start: datetime = BEGIN - timedelta(days=1)
    cpu: int = 0
    cpu_class: int = 0
    speed: int = 5200
    machine: str = "3931"
    versions: tuple[int, int, int] = (1, 3, 7)
    flags: int = 0
    core: int = 0
    widths: dict[int, int] = field(default_factory=dict)
    """Bytes of a counter by set, 8 without; only subtype 1 has other lengths."""
    main_length: int | None = None
    """The length of the main section if it is not the known one: it is cut, or zeros follow."""

    def of(self, **changes: object) -> HisRecord:
        return replace(self, **changes)  # type: ignore[arg-type]

    def subtype_1(self) -> bytes:
        """The record with the counters of its interval."""
        at = HEADER + 20 + 40
        length = 78 if self.main_length is None else self.main_length
        sets_at = at + length
        counters_at = sets_at + 12 * len(self.counters)
        sets, data = b"", b""
        for kind, values in self.counters.items():
            width = self.widths.get(kind, 8)
            flags = LONG if width == 8 else 0
            sets += struct.pack(">HHIHH", kind, flags, counters_at + len(data), width, len(values))
            data += b"".join(value.to_bytes(width, "big") for value in values)
        main = clock(self.run_start) + clock(self.end + timedelta(seconds=1))
        main += struct.pack(">HBBI", self.cpu, self.cpu_class, 0xEE, self.speed)
        main += ebcdic(self.machine, 4) + ebcdic("A01", 16)
        main += struct.pack(">HHHH", *self.versions, self.flags)
        main += struct.pack(">IHH", sets_at, 12, len(self.counters))
        main += ebcdic("00000000000ABCDE", 16) + struct.pack(">H", self.core)
        assert len(main) == 78
        return self._record(1, main.ljust(length, b"\0")[:length] + sets + data)

    def subtype_2(self) -> bytes:
        """The record with counters since the start of the run."""
        at = HEADER + 20 + 40
        length = 84 if self.main_length is None else self.main_length
        sets_at = at + length
        counters_at = sets_at + 12 * len(self.counters)
        values = [value for counters in self.counters.values() for value in counters]
        main = clock(self.run_start) + clock(self.end + timedelta(seconds=1))
        main += struct.pack(">BBHHH", self.cpu & 0xFF, self.cpu_class, self.flags, *self.versions[1:])
        main += struct.pack(">IHH", sets_at, 12, len(self.counters))
        main += struct.pack(">IHHI", counters_at, 8, len(values), self.speed)
        main += ebcdic(self.machine, 4) + ebcdic("A01", 16)
        main += struct.pack(">HH", self.cpu, 0xEEEE) + ebcdic("00000000000ABCDE", 16)
        assert len(main) == 84
        sets = b"".join(
            struct.pack(">BBHQ", kind, 0xEE, len(counters), (1 << 64) - 1)
            for kind, counters in self.counters.items()
        )
        data = b"".join(value.to_bytes(8, "big") for value in values)
        return self._record(2, main.ljust(length, b"\0")[:length] + sets + data)

    def _record(self, subtype: int, rest: bytes) -> bytes:
        written = self.end + timedelta(seconds=2)
        body = struct.pack(">BBI", 0xDE, 113, hundredths(written)) + packed_date(written)
        body += ebcdic(self.system, 4) + ebcdic("HIS", 4) + struct.pack(">HHH", subtype, 0xEEEE, 24)
        main_length = (78, 84)[subtype - 1] if self.main_length is None else self.main_length
        for offset, length in ((HEADER, 20), (HEADER + 20, 40), (HEADER + 60, main_length)):
            body += struct.pack(">IHH", offset, length, 1)
        assert len(body) == HEADER - 4
        body += struct.pack(">H", subtype) + ebcdic("01", 2) + ebcdic("HIS", 8) + ebcdic("SP7.3.1", 8)
        body += ebcdic("HIS", 8) + struct.pack(">I", hundredths(self.run_start)) + packed_date(self.run_start)
        body += ebcdic("STEP1", 8) + clock(self.start) + clock(self.end)
        body += rest
        return struct.pack(">HH", len(body) + 4, 0) + body
