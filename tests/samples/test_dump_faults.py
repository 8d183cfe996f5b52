"""Faults of dumps: what is left after each of them, and that the rest can be read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.dumps import generated

from zscope.parsers import read
from zscope.samples import Recipe, named_systems
from zscope.samples.world.faults import (
    CLOSED,
    RMF_CPU,
    TCPIP,
    late_intervals,
    lost_ends,
    lost_hours,
    records_of,
    with_faults,
    with_lost_data,
    without,
)

if TYPE_CHECKING:
    from pathlib import Path


def dump() -> bytes:
    return generated(Recipe(records=2_000, systems=named_systems("SYSA", utc_offset_minutes=0)))


def test_records_are_those_of_the_dump() -> None:
    content = dump()
    assert b"".join(record.content for record in records_of(content)) == content
    assert with_faults(content) == content


def test_lost_hours_and_kinds_leave_the_others() -> None:
    content = dump()
    hour = datetime(2026, 3, 2, 10)  # noqa: DTZ001 - local
    lost = [
        record
        for record in records_of(content)
        if record.kind[0] == TCPIP and hour <= record.written < hour + timedelta(hours=1)
    ]
    left = list(records_of(with_faults(content, lost_hours([hour]))))
    assert lost
    assert len(left) == len(list(records_of(content))) - len(lost)
    assert (TCPIP, CLOSED) not in {
        record.kind for record in records_of(with_faults(content, without((TCPIP, CLOSED))))
    }


def test_all_ends_or_none_are_lost(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(with_faults(dump(), lost_ends(1)))
    tables = read(path)
    assert not tables["smf119_tcp_term"].num_rows
    assert set(tables["smf119_zert_detail"]["event_type"].to_pylist()).isdisjoint({3, 4})
    assert with_faults(dump(), lost_ends(0)) == dump()


def test_lost_data_and_late_intervals_can_be_read(tmp_path: Path) -> None:
    begin, end = datetime(2026, 3, 2, 10), datetime(2026, 3, 2, 12)  # noqa: DTZ001 - local
    path = tmp_path / "dump.smf"
    path.write_bytes(dump())
    starts = read(path, "smf70_interval")["smf70_interval"]["interval_start_local"].to_pylist()
    path.write_bytes(
        with_faults(dump(), with_lost_data([(begin, end, 70_000)]), late_intervals(timedelta(minutes=1)))
    )
    tables = read(path)
    (lost,) = tables["smf7_lost"].to_pylist()
    assert (lost["start_local"], lost["written_local"], lost["lost_records"]) == (begin, end, 65_535)
    assert tables["smf70_interval"]["interval_start_local"].to_pylist() == [
        start + timedelta(minutes=1) for start in starts
    ]
    assert RMF_CPU in {record.kind[0] for record in records_of(path.read_bytes())}
