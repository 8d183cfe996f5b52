"""The hardware counters in sample-data: generated again byte for byte, and compared with the RMF records."""

from __future__ import annotations

import io
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from zscope.parsers import Tables, read
from zscope.samples.dump.output import HashingWriter
from zscope.samples.reports.hardware_counters import counters_dump

SAMPLE_DATA = Path(__file__).parents[2] / "sample-data"
DUMP, COUNTERS = SAMPLE_DATA / "smf-sample.bin", SAMPLE_DATA / "hardware-counters.smf.gz"
SPEED = 5_200
INTERVALS = 96
Place = tuple[str, Any]


@pytest.fixture(scope="module")
def tables() -> Tables:
    """The counters and the RMF records."""
    return read([DUMP, COUNTERS], ["smf113_processor", "smf113_counter", "smf70_cpu", "smf70_logical_cpu",
                                   "smf70_interval", "smf70_partition", "smf70_cpu_type"])  # fmt: skip


def records(tables: Tables, subtype: int) -> list[tuple[dict[str, Any], dict[str, int]]]:
    """Return the records of a subtype, each with its counters by name."""
    values: dict[int, dict[str, int]] = defaultdict(dict)
    for row in tables["smf113_counter"].to_pylist():
        values[row["record_no"]][row["counter_name"]] = row["counter_value"]
    found = [row for row in tables["smf113_processor"].to_pylist() if row["record_subtype"] == subtype]
    return [(row, values[row["record_no"]]) for row in found]


def test_the_file_is_generated_again_byte_for_byte_and_is_small() -> None:
    out = io.BytesIO()
    counters_dump(DUMP, HashingWriter(out))
    assert out.getvalue() == COUNTERS.read_bytes()
    assert len(out.getvalue()) < 50_000


def test_every_processor_of_a_system_has_a_record_in_each_interval_but_one_in_two(tables: Tables) -> None:
    seen: dict[str, set[int]] = defaultdict(set)
    intervals: dict[Place, int] = defaultdict(int)
    for row, _ in records(tables, 1):
        seen[row["system"]].add(row["cpu_id"])
        intervals[row["system"], row["cpu_id"]] += 1
    of_70: dict[str, set[int]] = defaultdict(set)
    for row in tables["smf70_cpu"].to_pylist():
        of_70[row["system"]].add(row["cpu_id"])
    assert seen == of_70
    missing = {place: INTERVALS - count for place, count in intervals.items() if count != INTERVALS}
    assert missing == {("SYSA", 3): 2}


def test_cycles_are_the_busy_time_of_smf_70(tables: Tables) -> None:
    """The time of the own partition by interval, recomputed from the sections of the record."""
    busy: dict[Place, int] = defaultdict(int)
    skips = {
        (row["record_no"], row["partition_name"]): (row["logical_cpu_skip"], row["logical_cpu_count"])
        for row in tables["smf70_partition"].to_pylist()
    }
    own = {
        row["record_no"]: skips[row["record_no"], row["system"]]
        for row in tables["smf70_interval"].to_pylist()
    }
    ends = {row["record_no"]: row["interval_end_utc"] for row in tables["smf70_interval"].to_pylist()}
    kinds = {
        (row["record_no"], row["section_no"] + 1): row["cpu_type_name"]
        for row in tables["smf70_cpu_type"].to_pylist()
    }
    for row in tables["smf70_logical_cpu"].to_pylist():
        number = row["record_no"]
        first, count = own[number]
        if first <= row["section_no"] < first + count:
            kind = kinds[number, row["cpu_type_index"]]
            busy[row["system"], (ends[number], {"CP": 0, "IIP": 4}[kind])] += row["dispatch_us"]
    cycles: dict[Place, int] = defaultdict(int)
    for row, values in records(tables, 1):
        cycles[row["system"], (row["interval_end_utc"], row["cpu_class"])] += values["CPU_CYCLES"]
    assert len(cycles) == 2 * 2 * INTERVALS
    assert cycles == {place: SPEED * time for place, time in busy.items()}


@pytest.mark.parametrize(("by_day", "share"), [(True, 0.03), (False, 0.004)])
def test_aes_has_its_share_by_day_and_by_night(by_day: bool, share: float, tables: Tables) -> None:
    for system in ("SYSA", "SYSB"):
        mine = [
            values
            for row, values in records(tables, 1)
            if row["system"] == system and (7 <= row["interval_start_utc"].hour < 19) is by_day
        ]
        aes, cycles = (sum(values[name] for values in mine) for name in ("AES_CYCLES", "CPU_CYCLES"))
        assert aes / cycles == pytest.approx(share, rel=1e-6)
        assert all((values["AES_CYCLES"] > 0) == (values["AES_FUNCTIONS"] > 0) for values in mine)


def test_one_record_has_lost_counters(tables: Tables) -> None:
    lost = [row for row, _ in records(tables, 1) if row["counter_flags"] & 0x8000]
    assert [(row["system"], row["cpu_id"]) for row in lost] == [("SYSB", 1)]


def test_subtype_2_counts_the_same_hour_from_the_start_of_the_run(tables: Tables) -> None:
    totals: dict[Place, list[tuple[Any, dict[str, int]]]] = defaultdict(list)
    for row, values in records(tables, 2):
        totals[row["system"], row["cpu_id"]].append((row["interval_end_utc"], values))
    each = {
        (row["system"], row["cpu_id"], row["interval_end_utc"]): values for row, values in records(tables, 1)
    }
    assert len(totals) == 10
    for (system, cpu), rows in totals.items():
        assert len(rows) == 5
        for (_, before), (end, after) in pairwise(rows):
            assert {name: after[name] - before[name] for name in after} == each[system, cpu, end]
