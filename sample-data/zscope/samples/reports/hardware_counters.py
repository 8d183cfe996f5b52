"""Hardware counters (SMF 113) of the processors of a dump, computed from its SMF 70 records.

The cycles of a processor follow from the time in which it was dispatched, and those of CPACF from the shares
that `hardware_counters.toml` declares, so the share of a system is known exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.api import read
from zscope.parsers.smf.record_writer import (
    SectionBytes,
    cut_rows,
    encode_records,
    encode_section,
    plain_records,
)
from zscope.samples.declaration_files import read_declared
from zscope.samples.dump.output import packed
from zscope.samples.reports.rmf import TABLES_NEEDED, interval_records
from zscope.schemas import catalog
from zscope.schemas.arrow import LOCAL, arrow_type
from zscope.schemas.declared import Declared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from zscope.samples.dump.output import HashingWriter
    from zscope.schemas import Section

DUMP_HEADER, DUMP_TRAILER = 2, 3
CPU_CLASSES = {"CP": 0, "IIP": 4}
BASIC, PROBLEM_STATE, CRYPTO = 1, 2, 3
MILLION = 1_000_000
COUNTERS_LOST = 0x8000
MIDDLE = 0x4000
LONG, SHORT = 8, 4
LONG_COUNTERS = 0x8000
PRODUCT = "HIS"
WRITTEN_AFTER = timedelta(seconds=1)


class CountedAlgorithm(Declared, frozen=True):
    """What CPACF does for an algorithm."""

    name: str
    cycles_per_call: int
    by_day: int = 0
    by_night: int = 0
    blocked_calls: int = 0
    """Calls of a million that wait."""
    blocked_cycles_per_call: int = 0


class OneRecord(Declared, frozen=True):
    """A record of a processor."""

    system: str
    cpu_id: int
    interval: int


class SomeRecords(Declared, frozen=True):
    """Records of a processor, or of all."""

    intervals: tuple[int, ...]
    system: str = ""
    cpu_id: int = 0


class DeclaredCounters(Declared, frozen=True):
    """The content of `hardware_counters.toml`."""

    cycles_per_us: int
    zos_version: int
    basic_version: int
    crypto_version: int
    day: tuple[int, int]
    instructions_of_1000_cycles: int
    problem_state_pct: int
    cache: Mapping[str, int]
    algorithm: tuple[CountedAlgorithm, ...]
    lost: OneRecord
    off: SomeRecords
    twice: SomeRecords


DECLARED = read_declared("reports/hardware_counters.toml", DeclaredCounters)


@dataclass(frozen=True, slots=True)
class ProcessorCounters:
    """The counters of a processor in one interval."""

    system: str
    cpu_id: int
    cpu_class: int
    start: datetime
    end: datetime
    local_offset: timedelta
    machine: Mapping[str, str]
    counters: Mapping[str, int]
    """By the name of the counter."""
    interval: int
    lost: bool = False


def counted(dispatched_us: int, *, by_day: bool) -> dict[str, int]:
    """Return the counters of a processor that was dispatched for a time.

    >>> values = counted(1_000_000, by_day=True)
    >>> values["CPU_CYCLES"], values["AES_CYCLES"]
    (5200000000, 156000000)
    """
    plan = DECLARED
    cycles = dispatched_us * plan.cycles_per_us
    instructions = cycles * plan.instructions_of_1000_cycles // 1_000
    values = {"CPU_CYCLES": cycles, "INSTRUCTIONS": instructions}
    values |= {name: cycles * part // MILLION for name, part in plan.cache.items()}
    values["PROBLEM_STATE_CPU_CYCLES"] = cycles * plan.problem_state_pct // 100
    values["PROBLEM_STATE_INSTRUCTIONS"] = instructions * plan.problem_state_pct // 100
    for algorithm in plan.algorithm:
        busy = cycles * (algorithm.by_day if by_day else algorithm.by_night) // MILLION
        calls = busy // algorithm.cycles_per_call
        blocked = calls * algorithm.blocked_calls // MILLION
        values[f"{algorithm.name}_FUNCTIONS"] = calls
        values[f"{algorithm.name}_CYCLES"] = busy
        values[f"{algorithm.name}_BLOCKED_FUNCTIONS"] = blocked
        values[f"{algorithm.name}_BLOCKED_CYCLES"] = blocked * algorithm.blocked_cycles_per_call
    return values


def processors_of(dump: Path) -> Iterator[ProcessorCounters]:
    """Yield the counters of the processors of each system and interval that has an SMF 70 record."""
    numbers: dict[str, int] = defaultdict(int)
    for record in interval_records(read(dump, TABLES_NEEDED).tables):
        row = record.interval
        number, system = numbers[row["system"]], row["system"]
        numbers[system] += 1
        offset = timedelta(microseconds=row["local_offset_us"])
        end = row["interval_end_utc"]
        start = end - timedelta(milliseconds=row["interval_ms"])
        by_day = DECLARED.day[0] <= start.hour < DECLARED.day[1]
        machine = {
            "machine_type": row["machine_type"],
            "machine_model": row["physical_model"],
            "machine_sequence": row["machine_sequence_code"],
            "zos_level": row["zos_level"],
        }
        for kind, cpu_class in CPU_CLASSES.items():
            for cpu in record.processors(record.own_partition, kind):
                address = cpu["logical_cpu_address"]
                off = DECLARED.off
                if (system, address) == (off.system, off.cpu_id) and number in off.intervals:
                    continue
                yield ProcessorCounters(
                    system, address, cpu_class, start, end, offset, machine,
                    counted(cpu["dispatch_us"], by_day=by_day), number,
                    OneRecord(system, address, number) == DECLARED.lost,
                )  # fmt: skip


_Counted = tuple[ProcessorCounters, Mapping[str, int]]
"""A processor and its counters: those of the interval, or those since the start of the run."""


def counters_dump(dump: Path, out: HashingWriter) -> None:
    """Write a packed dump with the hardware counters of the processors of another dump."""
    rows = list(processors_of(dump))
    since_start: dict[tuple[str, int], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    totals: list[_Counted] = []
    for row in rows:
        total = since_start[row.system, row.cpu_id]
        for name, value in row.counters.items():
            total[name] += value
        if row.interval in DECLARED.twice.intervals:
            totals.append((row, dict(total)))
    run_start = min(row.start for row in rows)
    records = [
        *_records(1, [(row, row.counters) for row in rows], run_start),
        *_records(2, totals, run_start),
    ]
    records.sort(key=lambda record: record[0])
    with packed("gzip", out) as body:
        body.write(_plain(DUMP_HEADER, rows[0], rows[0].start))
        body.write(b"".join(record for _, record in records))
        body.write(_plain(DUMP_TRAILER, rows[0], max(row.end for row in rows)))


def _plain(kind: int, row: ProcessorCounters, at: datetime) -> bytes:
    """Return the header or trailer of a dump."""
    header = {"system": pa.array([row.system]), "written_local": _local([at + row.local_offset])}
    return b"".join(plain_records(kind, header, 1))


def _local(times: Sequence[datetime]) -> pa.Array:
    return pa.array([time.replace(tzinfo=None) for time in times], LOCAL)


def _records(
    subtype: int, rows: Sequence[_Counted], run_start: datetime
) -> Iterator[tuple[tuple[datetime, str, int], bytes]]:
    """Yield records with what they are sorted by, those of one shape encoded at once."""
    shapes: dict[tuple[int, ...], list[_Counted]] = defaultdict(list)
    for row, values in rows:
        greatest = [max(values[name] for name in names) for names in counter_names().values()]
        shape = tuple(LONG if subtype == 2 or most >> (8 * SHORT) else SHORT for most in greatest)
        shapes[shape].append((row, values))
    for lengths, alike in shapes.items():
        records = _alike(subtype, alike, lengths, run_start)
        for (row, _), record in zip(alike, records, strict=True):
            yield (row.end, row.system, row.cpu_id), record


def _alike(
    subtype: int, rows: Sequence[_Counted], lengths: tuple[int, ...], run_start: datetime
) -> list[bytes]:
    """Return records; the pointers to sets and counters follow from the lengths of what is before them."""
    layout = catalog().records[113, subtype]
    one_set, area = layout.section("set"), layout.triplets
    assert area is not None
    fixed = [layout.section(key) for key in ("subsystem", "identification", "processor")]
    sets_at = area.end(area.number or 0) + sum(section.known_length for section in fixed)
    counters_at = sets_at + len(lengths) * one_set.known_length
    processors = [row for row, _ in rows]
    names = counter_names()
    same = {
        "product_subtype": subtype,
        "record_version": "01",
        "product_name": PRODUCT,
        "job_name": PRODUCT,
        "step_name": PRODUCT,
        "run_start_utc": run_start,
        "cpu_speed": DECLARED.cycles_per_us,
        "zos_counter_version": DECLARED.zos_version,
        "basic_version": DECLARED.basic_version,
        "crypto_version": DECLARED.crypto_version,
        "run_flags": MIDDLE,
        "set_offset": sets_at,
        "set_length": one_set.known_length,
        "set_count": len(lengths),
        "counters_offset": counters_at,
        "counter_length": LONG,
        "counter_count": sum(map(len, names.values())),
    }
    columns = {name: [value] * len(rows) for name, value in same.items()}
    for name in processors[0].machine:
        columns[name] = [row.machine[name] for row in processors]
    columns |= {
        "reader_start_local": [(run_start + row.local_offset).replace(tzinfo=None) for row in processors],
        "interval_start_utc": [row.start for row in processors],
        "interval_end_utc": [row.end for row in processors],
        "recorded_utc": [row.end for row in processors],
        "cpu_id": [row.cpu_id for row in processors],
        "cpu_number": [row.cpu_id for row in processors],
        "core_id": [row.cpu_id for row in processors],
        "cpu_class": [row.cpu_class for row in processors],
        "counter_flags": [COUNTERS_LOST if row.lost else 0 for row in processors],
    }
    sizes = [length * len(counters) for length, counters in zip(lengths, names.values(), strict=True)]
    sets = {
        "counter_set": list(names),
        "set_flags": [LONG_COUNTERS if length == LONG else 0 for length in lengths],
        "counters_offset": [counters_at + sum(sizes[:number]) for number in range(len(sizes))],
        "counter_length": list(lengths),
        "set_counters": [len(counters) for counters in names.values()],
    }
    parts = [SectionBytes(section, [[row] for row in _rows(section, columns)]) for section in fixed]
    parts.append(SectionBytes(one_set, [_rows(one_set, sets)] * len(rows)))
    contents = [
        b"".join(
            values[name].to_bytes(length, "big")
            for length, counters in zip(lengths, names.values(), strict=True)
            for name in counters
        )
        for _, values in rows
    ]
    parts.append(SectionBytes(layout.section("counter"), [[content] for content in contents]))
    header = {
        "system": pa.array([row.system for row in processors]),
        "subsystem": pa.array([PRODUCT] * len(rows)),
        "written_local": _local([row.end + WRITTEN_AFTER + row.local_offset for row in processors]),
        "self_defining_length": pa.array([area.end(area.number or 0) - area.at] * len(rows), pa.uint16()),
    }
    return encode_records(layout, header, parts, len(rows))


def _rows(section: Section, values: Mapping[str, Sequence[Any]]) -> list[bytes]:
    """Return sections from the values of those columns that they have."""
    fields = {field.column: field for field in section.columns if field.column in values}
    columns = {name: pa.array(values[name], arrow_type(field)) for name, field in fields.items()}
    count = len(next(iter(columns.values())))
    return cut_rows(encode_section(section, columns, count, section.known_length))


@cache
def counter_names() -> dict[int, list[str]]:
    """Return the names of the counters of each set, in the order of their numbers.

    >>> counter_names()[CRYPTO][:2]
    ['PRNG_FUNCTIONS', 'PRNG_CYCLES']
    """
    values = counted(0, by_day=True)
    layout = catalog().records[113, 1]
    numbering = next(table.numbering for table in layout.tables if table.numbering)
    names: dict[int, list[str]] = {BASIC: [], PROBLEM_STATE: [], CRYPTO: []}
    for code, name in sorted(catalog().codes[numbering.names].codes.items()):
        kind = max((first, kind) for kind, first in numbering.first.items() if first <= int(code))[1]
        if name in values:
            names[kind].append(name)
    return names
