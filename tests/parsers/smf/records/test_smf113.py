"""Hardware counters (type 113) from bytes that are composed without the layouts."""

from __future__ import annotations

import random
import struct
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.parsers.smf.records.hardware_counters import (
    BASIC,
    BEGIN,
    CRYPTO,
    DIAGNOSTIC,
    EXTENDED,
    HEADER,
    LOST,
    PROBLEM,
    QUARTER,
    RUN_LOST,
    SOFTWARE,
    HisRecord,
)

from zscope.parsers import Code, Severity, Tables, inventory, read

if TYPE_CHECKING:
    from pathlib import Path

CRYPTO_20 = [1000 + number for number in range(20)]
ALL = HisRecord(
    {
        BASIC: [4_680_000_000_000, 3_120_000_000_000, 11, 12, 13, 14],
        PROBLEM: [2_000_000_000_000, 1_000_000_000_000],
        CRYPTO: CRYPTO_20,
        EXTENDED: [501, 502, 503],
        SOFTWARE: [7],
        DIAGNOSTIC: [600, 400],
    },
    widths={EXTENDED: 4, SOFTWARE: 4},
    cpu=0x0102,
    cpu_class=4,
    core=0x0081,
)
SETS_AT = HEADER + 60 + 78
TOP = (1 << 64) - 1


def tables_of(folder: Path, *records: bytes) -> Tables:
    path = folder / "dump.smf"
    path.write_bytes(b"".join(records))
    return read(path, ["smf113_processor", "smf113_counter"])


def counters(tables: Tables) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tables["smf113_counter"].to_pylist()
    return rows


def test_every_field_of_subtype_1_is_read(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, ALL.of(flags=LOST, versions=(2, 3, 7)).subtype_1())
    assert list(tables.issues) == []
    [row] = tables["smf113_processor"].to_pylist()
    assert row == {
        "record_no": 1,
        "record_offset": 0,
        "system": "SYSA",
        "written_local": (BEGIN + QUARTER + timedelta(seconds=2)).replace(tzinfo=None),
        "record_subtype": 1,
        "record_version": "01",
        "product_name": "HIS",
        "zos_level": "SP7.3.1",
        "job_name": "HIS",
        "reader_start_local": (BEGIN - timedelta(days=1)).replace(tzinfo=None),
        "step_name": "STEP1",
        "interval_start_utc": BEGIN,
        "interval_end_utc": BEGIN + QUARTER,
        "run_start_utc": BEGIN - timedelta(days=1),
        "recorded_utc": BEGIN + QUARTER + timedelta(seconds=1),
        "cpu_id": 0x0102,
        "cpu_class": 4,
        "cpu_speed": 5200,
        "machine_type": "3931",
        "machine_model": "A01",
        "zos_counter_version": 2,
        "basic_version": 3,
        "crypto_version": 7,
        "counter_flags": LOST,
        "set_offset": SETS_AT,
        "set_length": 12,
        "set_count": 6,
        "machine_sequence": "00000000000ABCDE",
        "core_id": 0x0081,
        "cpu_number": None,
        "run_flags": None,
        "counters_offset": None,
        "counter_length": None,
        "counter_count": None,
    }


def test_every_field_of_subtype_2_is_read(tmp_path: Path) -> None:
    whole = ALL.of(counters={BASIC: [1, 2, 3, 4, 5, 6], CRYPTO: CRYPTO_20}, flags=RUN_LOST, cpu=0x0103)
    tables = tables_of(tmp_path, whole.subtype_2())
    assert list(tables.issues) == []
    [row] = tables["smf113_processor"].to_pylist()
    expected = {
        "record_subtype": 2,
        "interval_start_utc": BEGIN,
        "interval_end_utc": BEGIN + QUARTER,
        "run_start_utc": BEGIN - timedelta(days=1),
        "recorded_utc": BEGIN + QUARTER + timedelta(seconds=1),
        "cpu_id": 0x0103,
        "cpu_number": 0x03,
        "cpu_class": 4,
        "cpu_speed": 5200,
        "machine_type": "3931",
        "machine_model": "A01",
        "machine_sequence": "00000000000ABCDE",
        "zos_counter_version": None,
        "basic_version": 3,
        "crypto_version": 7,
        "run_flags": RUN_LOST,
        "counter_flags": None,
        "core_id": None,
        "set_offset": HEADER + 60 + 84,
        "set_length": 12,
        "set_count": 2,
        "counters_offset": HEADER + 60 + 84 + 24,
        "counter_length": 8,
        "counter_count": 26,
    }
    assert {name: row[name] for name in expected} == expected
    # The counters of the second set begin after the six of the first.
    read_back = [(r["counter_set"], r["counter_index"], r["counter_value"]) for r in counters(tables)]
    assert read_back[:6] == [(BASIC, number, number + 1) for number in range(6)]
    assert read_back[6:] == [(CRYPTO, number, 1000 + number) for number in range(20)]
    assert {row["run_flags"] for row in counters(tables)} == {RUN_LOST}


def test_counters_have_number_name_and_value_by_their_place(tmp_path: Path) -> None:
    rows = counters(tables_of(tmp_path, ALL.subtype_1()))
    assert [row["section_no"] for row in rows] == list(range(34))
    assert {(row["cpu_id"], row["cpu_class"], row["machine_type"]) for row in rows} == {(0x0102, 4, "3931")}
    found = {(r["counter_set"], r["counter_index"]): r for r in rows}
    names = {
        (BASIC, 0): (0, "CPU_CYCLES", 4_680_000_000_000),
        (BASIC, 1): (1, "INSTRUCTIONS", 3_120_000_000_000),
        (BASIC, 5): (5, "L1D_PENALTY_CYCLES", 14),
        (PROBLEM, 0): (32, "PROBLEM_STATE_CPU_CYCLES", 2_000_000_000_000),
        (PROBLEM, 1): (33, "PROBLEM_STATE_INSTRUCTIONS", 1_000_000_000_000),
        (CRYPTO, 0): (64, "PRNG_FUNCTIONS", 1000),
        (CRYPTO, 13): (77, "AES_CYCLES", 1013),
        (CRYPTO, 19): (83, "ECC_BLOCKED_CYCLES", 1019),
        (EXTENDED, 2): (130, None, 503),
        (SOFTWARE, 0): (None, None, 7),
        (DIAGNOSTIC, 1): (449, "MT_DIAG_CYCLES_TWO_THR_ACTIVE", 400),
    }
    for place, expected in names.items():
        row = found[place]
        assert (row["counter_no"], row["counter_name"], row["counter_value"]) == expected


@pytest.mark.parametrize(
    ("version", "count", "last"),
    [
        (5, 16, "AES_BLOCKED_CYCLES"),  # a z14: no elliptic curves
        (6, 20, "ECC_BLOCKED_CYCLES"),
        (7, 20, "ECC_BLOCKED_CYCLES"),
        (5, 20, None),  # the version and the number contradict each other: only numbers
        (7, 16, None),
        (7, 24, None),
        (0, 16, None),
    ],
)
def test_crypto_counters_have_names_only_where_version_and_number_agree(
    version: int, count: int, last: str | None, tmp_path: Path
) -> None:
    record = ALL.of(counters={CRYPTO: list(range(count))}, versions=(1, 3, version))
    rows = counters(tables_of(tmp_path, record.subtype_1()))
    assert [(row["counter_no"], row["counter_value"]) for row in rows] == [(64 + n, n) for n in range(count)]
    assert rows[-1]["counter_name"] == last
    assert (rows[0]["counter_name"] is None) == (last is None)


@pytest.mark.parametrize(("version", "named"), [(1, 6), (3, 2)])
def test_problem_state_counters_of_the_first_version_have_more_names(
    version: int, named: int, tmp_path: Path
) -> None:
    record = ALL.of(counters={PROBLEM: [1, 2, 3, 4, 5, 6]}, versions=(1, version, 7))
    rows = counters(tables_of(tmp_path, record.subtype_1()))
    assert [row["counter_no"] for row in rows] == [32, 33, 34, 35, 36, 37]
    assert [row["counter_name"] is not None for row in rows] == [True] * named + [False] * (6 - named)


@pytest.mark.parametrize("value", [0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, TOP])
def test_values_at_the_bounds_are_exact(value: int, tmp_path: Path) -> None:
    record = ALL.of(counters={BASIC: [value] * 6})
    assert {row["counter_value"] for row in counters(tables_of(tmp_path, record.subtype_1()))} == {value}
    assert {row["counter_value"] for row in counters(tables_of(tmp_path, record.subtype_2()))} == {value}
    short = ALL.of(counters={BASIC: [value & 0xFFFF_FFFF] * 6}, widths={BASIC: 4})
    tables = tables_of(tmp_path, short.subtype_1())
    assert {row["counter_value"] for row in counters(tables)} == {value & 0xFFFF_FFFF}


def test_the_length_in_the_record_counts_and_not_the_flag(tmp_path: Path) -> None:
    record = bytearray(ALL.of(counters={BASIC: [5] * 6}, widths={BASIC: 4}).subtype_1())
    record[SETS_AT + 2 : SETS_AT + 4] = b"\x80\0"
    tables = tables_of(tmp_path, bytes(record))
    assert [row["counter_value"] for row in counters(tables)] == [5] * 6


def test_records_of_several_shapes_and_processors_stay_apart(tmp_path: Path) -> None:
    records = [
        ALL.of(cpu=number, counters={BASIC: [number] * 6, CRYPTO: [number] * (16 + 4 * (number % 2))})
        for number in range(5)
    ]
    mixed = [(r.subtype_1 if r.cpu % 3 else r.subtype_2)() for r in records]
    rows = counters(tables_of(tmp_path, *mixed))
    assert len(rows) == 5 * 22 + 2 * 4
    assert all(row["counter_value"] == row["cpu_id"] for row in rows)
    assert {(row["record_no"] - 1, row["cpu_id"]) for row in rows} == {(n, n) for n in range(5)}


def test_a_longer_main_section_is_read_with_a_note(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, ALL.of(main_length=96).subtype_1())
    assert [(issue.code, issue.severity) for issue in tables.issues] == [(Code.SECTION_LONGER, Severity.NOTE)]
    assert len(counters(tables)) == 34
    assert tables["smf113_processor"].to_pylist()[0]["core_id"] == 0x0081


def test_a_main_section_without_its_end_keeps_the_counters(tmp_path: Path) -> None:
    """Without the core, the fields before it and the counters are read."""
    tables = tables_of(tmp_path, ALL.of(main_length=76).subtype_1())
    assert [issue.code for issue in tables.issues] == [Code.SECTION_SHORTER]
    assert len(counters(tables)) == 34
    assert tables["smf113_processor"].to_pylist()[0]["core_id"] is None


def test_a_main_section_without_its_pointer_has_no_counters(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, ALL.of(main_length=50).subtype_1())
    assert Code.SECTION_SHORTER in {issue.code for issue in tables.issues}
    assert counters(tables) == []
    assert tables["smf113_processor"].to_pylist()[0]["cpu_id"] == 0x0102


def test_no_counters_are_no_rows_and_no_issue(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, ALL.of(counters={}).subtype_1(), ALL.of(counters={BASIC: []}).subtype_1())
    assert list(tables.issues) == []
    assert counters(tables) == []
    assert tables["smf113_processor"].num_rows == 2


COUNT_AT, LENGTH_AT, OFFSET_AT = SETS_AT + 10, SETS_AT + 8, SETS_AT + 4


@pytest.mark.parametrize(
    ("at", "format_", "value", "code", "rows"),
    [
        (COUNT_AT, ">H", 60_000, Code.SECTION_COUNT, 10),  # all that fit: those of the next set, too
        (COUNT_AT, ">H", 5, Code.SECTION_COUNT, 7),  # the sixth is nowhere
        (LENGTH_AT, ">H", 0, Code.SECTION_EMPTY, 2),
        (LENGTH_AT, ">H", 9, Code.SECTION_COUNT, 8),
        (OFFSET_AT, ">I", 1 << 31, Code.SECTION_OUTSIDE, 2),
        (OFFSET_AT, ">I", 0, Code.SECTION_OUTSIDE, 2),
        (HEADER + 60 + 58, ">H", 1, Code.SECTION_COUNT, 6),  # one of two sets
        (HEADER + 60 + 52, ">I", 1 << 20, Code.SECTION_OUTSIDE, 0),
    ],
)
def test_a_wrong_pointer_is_an_issue_and_reads_nothing_outside(
    at: int, format_: str, value: int, code: Code, rows: int, tmp_path: Path
) -> None:
    record = bytearray(ALL.of(counters={BASIC: [9] * 6, PROBLEM: [8] * 2}).subtype_1())
    struct.pack_into(format_, record, at, value)
    tables = tables_of(tmp_path, bytes(record), ALL.subtype_1())
    assert code in {issue.code for issue in tables.issues}
    assert {issue.record_no for issue in tables.issues} == {1}
    assert sum(row["record_no"] == 1 for row in counters(tables)) == rows
    assert sum(row["record_no"] == 2 for row in counters(tables)) == 34


def test_many_sets_that_point_to_the_same_bytes_give_no_more_than_the_record_has(tmp_path: Path) -> None:
    """A record of 60,000 bytes could otherwise claim a hundred million counters."""
    record = bytearray(ALL.of(counters={BASIC: [1] * 2}).subtype_1())
    sets = 4_000
    struct.pack_into(">H", record, HEADER + 60 + 58, sets)
    one = struct.pack(">HHIHH", BASIC, 0, HEADER, 1, 40_000)
    whole = record[:SETS_AT] + one * sets
    struct.pack_into(">H", whole, 0, len(whole))
    tables = tables_of(tmp_path, bytes(whole))
    assert len(counters(tables)) == 40_000
    assert Code.SECTION_COUNT in {issue.code for issue in tables.issues}


def test_the_inventory_counts_both_subtypes(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(ALL.subtype_1() * 3 + ALL.of(counters={BASIC: [1] * 6}).subtype_2())
    counted = inventory(path).rows.select(["record_type", "record_subtype", "records"]).to_pylist()
    assert [tuple(row.values()) for row in counted] == [(113, 1, 3), (113, 2, 1)]


def silent(folder: Path, record: bytes, change: bytes) -> str:
    """Return what a change of a record between two others loses without an issue."""
    before, after = tables_of(folder, record, record, record), tables_of(folder, record, change, record)
    if any(issue.severity > Severity.NOTE for issue in after.issues):
        return ""
    rows = [[row["record_no"] for row in counters(tables)] for tables in (before, after)]
    return "" if rows[0] == rows[1] else f"{len(rows[0])} rows became {len(rows[1])}"


@pytest.mark.parametrize("subtype", [1, 2])
@pytest.mark.parametrize(
    "step", [11, pytest.param(5, marks=pytest.mark.deep), pytest.param(1, marks=pytest.mark.bytes)]
)
def test_no_changed_byte_after_the_header_loses_counters_silently(
    subtype: int, step: int, tmp_path: Path
) -> None:
    whole = ALL.of(counters={BASIC: [3] * 6, PROBLEM: [4] * 2, CRYPTO: CRYPTO_20}, widths={})
    record = whole.subtype_1() if subtype == 1 else whole.subtype_2()
    lost = []
    for position in range(HEADER, len(record), step):
        for byte in sorted({0, 0x40, 0xFF, record[position] ^ 1} - {record[position]}):
            changed = record[:position] + bytes([byte]) + record[position + 1 :]
            if text := silent(tmp_path, record, changed):
                lost.append(f"byte {position}, {byte:#x}: {text}")
    assert lost == []


@pytest.mark.parametrize("seed", range(3))
def test_damaged_records_give_rows_and_issues_but_no_exception(seed: int, tmp_path: Path) -> None:
    luck = random.Random(seed)
    records = []
    for _ in range(300):
        record = bytearray(ALL.subtype_1() if luck.random() < 0.5 else ALL.of(widths={}).subtype_2())
        for _ in range(luck.randint(1, 5)):
            at = luck.randrange(HEADER, len(record))
            record[at : at + 2] = luck.randbytes(2)
        struct.pack_into(">H", record, 0, len(record))
        records.append(bytes(record))
    tables = tables_of(tmp_path, *records)
    assert tables["smf113_processor"].num_rows <= 300
    assert tables["smf113_counter"].num_rows < 300 * 600
    assert len(tables.issues)
