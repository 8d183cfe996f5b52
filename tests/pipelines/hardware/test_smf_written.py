"""What SMF says it wrote, compared with what two daily dumps have: of one, 7 % are missing."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.dumps import sample_records
from tests.parsers.smf.records.hardware_counters import ebcdic, hundredths, packed_date
from tests.pipelines.stores import load

from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

DAY, QUARTER, IN_A_QUARTER = datetime(2026, 3, 2, tzinfo=UTC), timedelta(minutes=15), 25


def at(record: bytes, moment: datetime) -> bytes:
    """Return a record that was written at another time."""
    return (
        record[:6]
        + struct.pack(">I", hundredths(moment))
        + packed_date(moment)
        + ebcdic("SYSW", 4)
        + record[18:]
    )


def status(written: int) -> bytes:
    """Return a status record, written field by field."""
    head = (
        struct.pack(">HHBB", 96, 0, 0x1E, 23)
        + bytes(14)
        + bytes(16)
        + struct.pack(">IHH", 56, 40, 1)
        + bytes(12)
    )
    return head + bytes(12) + struct.pack(">I", written) + bytes(24)


def dump(day: datetime, more_written: int) -> bytes:
    """Return the dump of a day; in each quarter SMF wrote so many records more than the dump has."""
    some = sample_records()[119, 2][0]
    records = []
    for number in range(96):
        start = day + number * QUARTER
        records += [at(some, start + each * QUARTER / IN_A_QUARTER) for each in range(IN_A_QUARTER)]
        last = start + QUARTER - timedelta(milliseconds=10)
        records.append(at(status(IN_A_QUARTER + 1 + more_written), last))
    return b"".join(records)


@pytest.mark.parametrize(
    ("more_written", "state", "seen_pct"), [(0, "complete", 100), (2, "filtered", 92.857)]
)
def test_a_dump_is_compared_with_what_smf_wrote(
    tmp_path: Path, more_written: int, state: str, seen_pct: float
) -> None:
    paths = [tmp_path / "first.smf", tmp_path / "second.smf"]
    paths[0].write_bytes(dump(DAY, 0))
    paths[1].write_bytes(dump(DAY + timedelta(days=1), more_written))
    load(tmp_path / "store", *paths)
    with open_reader(tmp_path / "store") as store:
        rows = store.execute(
            "SELECT state, seen_records, seen_pct FROM smf_written ORDER BY first_local"
        ).fetchall()
    assert rows[0] == ("complete", 96 * 26, 100)
    assert rows[1] == (state, 96 * 26, pytest.approx(seen_pct, abs=0.001))
