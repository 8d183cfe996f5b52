"""Records of a dump with other times and numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from zscope.schemas import catalog

_EPOCH = datetime(1900, 1, 1, tzinfo=UTC)
"""The TOD clock counts from here; bit 51 is a microsecond."""
_MICROSECOND = timedelta(microseconds=1)


def connection_times(record: bytes) -> tuple[datetime, datetime]:
    """Return start and end of the connection of a record 119-2."""
    section = _section_at(record)
    start, end = (
        _EPOCH + (int.from_bytes(record[section + at : section + at + 8], "big") >> 12) * _MICROSECOND
        for at in _offsets()
    )
    return start, end


def with_connection_times(record: bytes, start: datetime, end: datetime) -> bytes:
    """Return a record 119-2 with another start and end of its connection."""
    section = _section_at(record)
    changed = bytearray(record)
    for at, time in zip(_offsets(), (start, end), strict=True):
        tod = ((time - _EPOCH) // _MICROSECOND) << 12
        changed[section + at : section + at + 8] = tod.to_bytes(8, "big")
    return bytes(changed)


@cache
def _offsets() -> tuple[int, int]:
    """Return the offsets of start and end in their section."""
    layout, table = catalog().table("smf119_tcp_term")
    columns = {
        field.column: field.offset for field in layout.section(table.rows[0]).fields if field.format == "tod"
    }
    return columns["start_utc"], columns["end_utc"]


def _section_at(record: bytes) -> int:
    """Return the offset of the section about the connection."""
    layout, table = catalog().table("smf119_tcp_term")
    triplet = layout.section(table.rows[0]).triplet
    assert layout.triplets is not None
    assert triplet is not None
    at = layout.triplets.offset(triplet)
    return int.from_bytes(record[at : at + 4], "big")


def with_numbers(record: bytes, table: str, **values: int) -> bytes:
    """Return a record with other numbers in fields of a table."""
    layout, _ = catalog().table(table)
    assert layout.triplets is not None
    changed = bytearray(record)
    left = dict(values)
    for section in layout.sections:
        if section.triplet is None:
            continue
        triplet = layout.triplets.offset(section.triplet)
        at = int.from_bytes(record[triplet : triplet + 4], "big")
        for field in section.fields:
            if field.column in left:
                assert at, f"the record has no section with {field.column}"
                assert field.length is not None
                value = left.pop(field.column).to_bytes(field.length, "big")
                changed[at + field.offset : at + field.offset + field.length] = value
    assert not left, f"{table} has no field of a section for {', '.join(left)}"
    return bytes(changed)
