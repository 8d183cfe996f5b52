"""SMF 30 records of subtype 6 count since the start: the store shows the use of intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest
from tests.parsers.smf.records.test_smf30 import (
    START,
    counters,
    identification,
    performance,
    processor,
    product,
    record,
    utc,
)
from tests.pipelines.stores import EVERYTHING, load

from zscope.parsers import read
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue_file import has_summaries
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder
from zscope.pipelines.store.remove import remove_load
from zscope.schemas.stored import running_of, stored_schema
from zscope.schemas.tables import record_table_names

if TYPE_CHECKING:
    from pathlib import Path

UTC_CLOCK = replace(EVERYTHING, settings=Settings().merge(["+00:00"]))
QUARTER = 900_000_000 << 12
"""A quarter of an hour in units of the TOD clock."""
ENDS = [utc(START + number * QUARTER) for number in range(12)]


class Space(NamedTuple):
    """A record of an address space at the end of an interval; the times are in 1/100 s."""

    interval: int
    task: int
    ziip: int = 0
    job: str = "CATALOG"
    asid: int = 0x4A
    subtype: int = 6
    instructions: int = 0


def record_of(space: Space) -> bytes:
    end = START + space.interval * QUARTER
    who = bytearray(identification(space.job, 0 if space.subtype == 6 else end - QUARTER, end))
    who[184:186] = space.asid.to_bytes(2)
    times = bytearray(processor(space.task, 0))
    times[44:48] = times[48:52] = times[52:56] = bytes(4)
    times[116:120] = space.ziip.to_bytes(4)
    sections = {
        "product": (product(), 1),
        "identification": (bytes(who), 1),
        "processor": (bytes(times), 1),
        "performance": (performance(), 1),
        "crypto": (counters((7, space.instructions)), 1),
    }
    return record(space.subtype, sections)


def dump(path: Path, *spaces: Space) -> Path:
    path.write_bytes(b"".join(record_of(space) for space in spaces))
    return path


def ask(store: Path, columns: str, table: str = "smf30_interval", where: str = "true") -> list[Any]:
    """Rows in the order of the address spaces and of time."""
    with open_reader(store) as connection:
        return connection.execute(
            f"SELECT {columns} FROM {table} WHERE {where} ORDER BY job_name, asid, interval_end_utc, load_id"
        ).fetchall()


def total(store: Path, where: str = "true") -> int:
    with open_reader(store) as connection:
        row = connection.execute(f"SELECT sum(task_ms)::BIGINT FROM smf30_interval WHERE {where}").fetchone()
    assert row is not None
    return int(row[0])


def test_the_use_of_an_interval_is_the_difference_from_the_record_before(tmp_path: Path) -> None:
    store = tmp_path / "store"
    spaces = [Space(0, 10_000, 800), Space(1, 13_000, 800), Space(2, 13_250, 900)]
    load(store, dump(tmp_path / "one", *spaces, Space(1, 400, job="TCPIP", subtype=2)), how=UTC_CLOCK)
    assert ask(store, "basis, interval_start_utc, interval_end_utc, task_ms, ziip_ms") == [
        ("no record before", None, ENDS[0], None, None),
        ("difference", ENDS[0], ENDS[1], 30_000, 0),
        ("difference", ENDS[1], ENDS[2], 2_500, 1_000),
        ("interval", ENDS[0], ENDS[1], 4_000, 0),
    ]
    assert total(store) == 36_500


def test_after_a_restart_the_value_itself_counts(tmp_path: Path) -> None:
    store = tmp_path / "store"
    tasks = [(10_000, 0), (500, 0), (650, 25), (700, 5)]
    spaces = [Space(number, *times) for number, times in enumerate(tasks)]
    load(store, dump(tmp_path / "one", *spaces), how=UTC_CLOCK)
    assert ask(store, "basis, task_ms, ziip_ms") == [
        ("no record before", None, None),
        ("since restart", 5_000, 0),
        ("difference", 1_500, 250),
        ("since restart", 7_000, 50),
    ]


def test_a_record_that_is_more_than_a_day_older_is_not_the_one_before(tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(store, dump(tmp_path / "one", Space(0, 100), Space(96, 130), Space(193, 170)), how=UTC_CLOCK)
    assert ask(store, "basis, interval_start_utc, task_ms") == [
        ("no record before", None, None), ("difference", ENDS[0], 300), ("no record before", None, None),
    ]  # fmt: skip


@pytest.mark.deep
def test_stored_rows_have_the_difference_from_the_day_before(tmp_path: Path) -> None:
    store = tmp_path / "store"
    how = replace(UTC_CLOCK, settings=Settings(summarise_from_rows=0).merge(["+00:00"]))
    load(store, dump(tmp_path / "one", Space(0, 100)), how=how)
    second = dump(tmp_path / "two", Space(90, 160))
    second.write_bytes(second.read_bytes().replace(bytes.fromhex("0126061f"), bytes.fromhex("0126062f")))
    load(store, second, how=how)
    with open_reader(store) as connection:
        assert has_summaries(connection)
        found = connection.execute(
            "SELECT day::VARCHAR, status, cp_s FROM address_space_part ORDER BY day"
        ).fetchall()
    assert found == [
        ("2026-03-02", "no record before", None), ("2026-03-03", "no CPU interval", 0.6),
    ]  # fmt: skip


def test_address_spaces_of_one_name_are_told_apart(tmp_path: Path) -> None:
    store = tmp_path / "store"
    spaces = [Space(0, 100, asid=10), Space(0, 900, asid=11), Space(1, 130, asid=10), Space(1, 950, asid=11)]
    load(store, dump(tmp_path / "one", *spaces), how=UTC_CLOCK)
    assert ask(store, "asid, task_ms") == [(10, None), (10, 300), (11, None), (11, 500)]


def test_conditions_on_time_do_not_change_the_values(tmp_path: Path) -> None:
    """The record before the period is still read."""
    store = tmp_path / "store"
    load(store, dump(tmp_path / "one", Space(0, 100), Space(1, 130), Space(2, 170)), how=UTC_CLOCK)
    assert total(store, f"interval_end_utc > TIMESTAMPTZ '{ENDS[0]}'") == 700
    assert total(store, f"interval_end_utc > TIMESTAMPTZ '{ENDS[1]}' AND job_name = 'CATALOG'") == 400
    assert total(store, "record_subtype = 6 AND basis = 'difference'") == 700


@pytest.mark.deep
def test_later_loads_and_removals_do_not_leave_wrong_differences(tmp_path: Path) -> None:
    """The records of an address space come from three loads, the middle one last."""
    store = tmp_path / "store"
    load(store, dump(tmp_path / "one", Space(0, 100), Space(1, 130)), how=UTC_CLOCK)
    load(store, dump(tmp_path / "three", Space(4, 250)), how=UTC_CLOCK)
    assert ask(store, "interval_start_utc, task_ms")[-1] == (ENDS[1], 1_200)
    load(store, dump(tmp_path / "two", Space(2, 160), Space(3, 200)), how=UTC_CLOCK)
    expected = [(None, None), (ENDS[0], 300), (ENDS[1], 300), (ENDS[2], 400), (ENDS[3], 500)]
    assert ask(store, "interval_start_utc, task_ms") == expected
    folder = Folder(store)
    remove_load(folder, read_state(folder), 3)
    assert ask(store, "interval_start_utc, task_ms")[-1] == (ENDS[1], 1_200)
    remove_load(folder, read_state(folder), 1)
    assert ask(store, "basis, task_ms") == [("no record before", None)]


@pytest.mark.deep
def test_a_record_that_is_there_twice_adds_nothing(tmp_path: Path) -> None:
    """The same interval in another record, of which not all bytes are equal."""
    store = tmp_path / "store"
    spaces = [Space(0, 100), Space(1, 130), Space(2, 170)]
    load(store, dump(tmp_path / "one", *spaces), how=UTC_CLOCK)
    second = tmp_path / "two"
    second.write_bytes(record_of(spaces[1]).replace(b"\x40\x00\x00\x00", b"\x41\x00\x00\x00", 1))
    load(store, second, how=UTC_CLOCK)
    assert ask(store, "load_id, task_ms") == [(1, None), (1, 300), (2, 0), (1, 400)]
    with open_reader(store) as connection:
        found = connection.execute(
            "SELECT interval_start_utc, cp_s FROM address_space_interval ORDER BY interval_end_utc"
        ).fetchall()
    assert found == [(None, None), (ENDS[0], 0.3), (ENDS[1], 0.4)]


def test_a_single_counter_that_falls_has_no_value(tmp_path: Path) -> None:
    store = tmp_path / "store"
    fallen = record_of(Space(1, 130)).replace((9_000_000_000).to_bytes(8), (8_999_999_000).to_bytes(8))
    path = dump(tmp_path / "one", Space(0, 100))
    path.write_bytes(path.read_bytes() + fallen)
    load(store, path, how=UTC_CLOCK)
    assert ask(store, "basis, task_ms, service_units, cpu_service_units")[1] == ("difference", 300, None, 0)


def test_counters_of_instructions_are_differences_by_counter(tmp_path: Path) -> None:
    store = tmp_path / "store"
    spaces = [Space(0, 100, instructions=5_000), Space(1, 130, instructions=5_400)]
    ended = Space(1, 130, job="TCPIP", subtype=4, instructions=70)
    load(store, dump(tmp_path / "one", *spaces, ended), how=UTC_CLOCK)
    assert ask(store, "basis, instruction_count", "smf30_crypto_counter") == [
        ("no record before", None), ("difference", 400), ("step", 70),
    ]  # fmt: skip


def test_files_and_decoded_rows_are_as_recorded(tmp_path: Path) -> None:
    store = tmp_path / "store"
    path = dump(tmp_path / "one", Space(0, 100), Space(1, 130), Space(1, 40, job="TCPIP", subtype=3))
    load(store, path, how=UTC_CLOCK)
    assert read(path, "smf30_interval")["smf30_interval"]["task_ms"].to_pylist() == [1_000, 1_300, 400]
    assert ask(store, "basis, task_ms", "files.smf30_interval") == [
        ("since start", 1_000), ("since start", 1_300), ("interval", 400),
    ]  # fmt: skip


_AMOUNTS = ("_ms", "_us", "_units", "_transactions", "_instructions", "_count", "_value")
_OTHER_AMOUNTS = {
    "smf30_interval": {"enqueue_promoted_total_us"},
    "smf30_crypto_counter": set[str](),
    "smf113_counter": set[str](),
}
"""Its name says that it counts from the start on, in records of all subtypes."""


def tables_with_totals() -> list[str]:
    return [table for table in record_table_names() if running_of(table)]


def test_these_tables_have_running_totals() -> None:
    assert set(tables_with_totals()) == set(_OTHER_AMOUNTS)


@pytest.mark.parametrize("table", sorted(_OTHER_AMOUNTS))
def test_every_amount_is_a_difference(table: str) -> None:
    totals = running_of(table)
    assert totals is not None
    names = {field.name: field.type for field in stored_schema(table)}
    amounts = {name for name in names if name.endswith(_AMOUNTS)} - _OTHER_AMOUNTS[table]
    assert set(totals.columns) == amounts
    assert all(pa.types.is_integer(names[name]) for name in totals.columns)
    assert {*totals.same, "interval_start_utc", "interval_end_utc", "written_utc"} <= names.keys()
