"""Tables that records and reports fill: what comes twice is stored once, and neither takes from the other."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
from tests.parsers.smf.mq_composed import ACCOUNTING, STATISTICS
from tests.parsers.text.mq_formatter.examples import BUSY, IDLE, SSL
from tests.pipelines.ingest.comparing import Fresh, duplicates, statuses, write
from tests.pipelines.stores import load

from zscope.pipelines.ingest import IngestOptions, row_selection
from zscope.pipelines.quality.declared_checks import grain_of
from zscope.pipelines.settings import Settings, Zones
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

MINUTE = 60 * 100
"""In the units of a record's header."""


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    return ("mq_channel", "mq_channel_initiator", "mq_record", "mq_task")


def later(record: bytes, minutes: int) -> bytes:
    """The record as it is written some minutes later."""
    written = int.from_bytes(record[6:10], "big") + minutes * MINUTE
    return record[:6] + written.to_bytes(4, "big") + record[10:]


def interval(minutes: int) -> bytes:
    return later(STATISTICS, minutes) + later(ACCOUNTING, minutes)


def csv(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in (SSL, *lines)).encode()


def tasks(store: Path) -> dict[str, int]:
    """How many rows there are of each source; all of them can be told apart."""
    with open_reader(store) as connection:
        rows = connection.execute("SELECT source, count(*) FROM mq_task GROUP BY source").fetchall()
        grain = ", ".join(grain_of("mq_task"))
        twice = connection.execute(f"SELECT 1 FROM mq_task GROUP BY {grain} HAVING count(*) > 1").fetchall()
    assert twice == []
    return dict(rows)


def test_overlapping_dumps(fresh: Fresh, place: Path) -> None:
    store = fresh()
    load(store, write(place / "one.smf", interval(0) + interval(1)))
    second = load(store, write(place / "two.smf", interval(1) + interval(2)))
    assert duplicates(second) == 2
    assert tasks(store) == {"smf": 3 * 6}


@pytest.mark.deep
def test_the_same_rows_of_the_formatter_in_two_files(fresh: Fresh, place: Path) -> None:
    store = fresh()
    load(store, write(place / "one.csv", csv(BUSY)))
    second = load(store, write(place / "two.csv", csv(IDLE, BUSY)))
    assert duplicates(second) == 1
    assert tasks(store) == {"csv": 2}


@pytest.mark.deep
@pytest.mark.parametrize("dump_first", [True, False])
def test_dump_and_formatter_output_are_both_stored(fresh: Fresh, place: Path, dump_first: bool) -> None:
    store = fresh()
    paths = [write(place / "one.smf", interval(0)), write(place / "one.csv", csv(BUSY, IDLE))]
    for path in paths if dump_first else reversed(paths):
        assert statuses(load(store, path)) == ["loaded"]
    assert tasks(store) == {"smf": 6, "csv": 2}
    again = write(place / "two.smf", interval(1) + interval(0))
    assert duplicates(load(store, again)) == 2
    assert tasks(store) == {"smf": 12, "csv": 2}


@pytest.mark.deep
def test_both_in_one_archive(fresh: Fresh, place: Path) -> None:
    store = fresh()
    for name, dump, lines in (
        ("one", interval(0), (BUSY,)),
        ("two", interval(0) + interval(1), (BUSY, IDLE)),
    ):
        with zipfile.ZipFile(place / f"{name}.zip", "w") as archive:
            archive.writestr("MQ.smf", dump)
            archive.writestr("SMF-QCTSSL.csv", csv(*lines))
        load(store, place / f"{name}.zip")
    assert tasks(store) == {"smf": 12, "csv": 2}


def test_rows_of_both_kinds_have_their_time_in_utc(fresh: Fresh, place: Path) -> None:
    store = fresh()
    how = IngestOptions(
        selection=row_selection("mq_task"), settings=Settings(zones=Zones(default="America/New_York"))
    )
    paths = write(place / "one.smf", interval(0)), write(place / "one.csv", csv(BUSY))
    load(store, *paths, how=how)
    with open_reader(store) as connection:
        times = connection.execute(
            "SELECT DISTINCT written_utc = TIMESTAMPTZ '2026-03-02 13:30:00Z' FROM mq_task"
        ).fetchall()
    assert times == [(True,)]
    assert tasks(store) == {"smf": 6, "csv": 1}
