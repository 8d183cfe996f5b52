"""SMF 30 and 72 records of a world: address spaces and classes that share the CPU time of SMF 70.

Address spaces account for all CPU time of connections and for a part of the other work of their system.
Each belongs to a service class and a report class; the class of the system has some time of no address space.
So the CPU time of a system is that of its service classes and a rest, and that of its address spaces and a
larger rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zscope.parsers.smf.record_writer import SectionRows, encode_section
from zscope.samples.dump.arrays import local, utc
from zscope.samples.dump.assemble import RecordAssembler, SmfBatch
from zscope.samples.dump.records.rmf_record import ZOS_LEVELS, columns_for
from zscope.samples.dump.site import SYSPLEX
from zscope.samples.world.address_spaces import (
    HUNDREDTH_US,
    AddressSpace,
    SpaceUse,
    address_spaces,
    time_of,
    use_of,
)
from zscope.samples.world.world_recipe import INTERVALS_A_DAY, NAMES
from zscope.samples.world.world_rmf import ZIIP_USED
from zscope.schemas import catalog

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.world.cpu_time import CpuTimeGrid, Floats
    from zscope.schemas import Section

WORKLOAD_SYSTEM = 2
"""The system that has records of types 30 and 72, the first server."""
Columns = dict[str, Sequence[int | float | str]]
INTERVAL, LAST, STEP, JOB, SYSTEM = 2, 3, 4, 5, 6
"""Subtypes of type 30."""
TRIPLETS = 21
IN_SPACES = 0.91
"""Part of the other work of a system that its address spaces account for."""
SYSTEM_CLASS_EXTRA = 0.03
"""Part of it that only the service class of the system accounts for."""
ZIIP_IN_SPACES = 0.85
ADJUSTMENT = 188
UNIT_US = ADJUSTMENT / 16
"""CPU time of a service unit."""
WRITTEN_AFTER_US = 2_000_000


class CapturedTime(NamedTuple):
    """CPU time of a system by interval, in microseconds."""

    other: Numbers
    """Work other than that of connections."""
    in_spaces: Numbers
    """The part of it that address spaces account for."""
    connections: Numbers
    """Work of connections, by service and interval."""
    ziip: Numbers

    def of(self, space: AddressSpace) -> Numbers:
        """Return the CPU time of an address space."""
        return time_of(space, self.in_spaces, self.connections)


@dataclass(frozen=True, slots=True)
class ClassUse:
    """CPU time of a class by interval, in microseconds; that of tasks is the rest."""

    time: Floats
    srb: Floats
    ziip: Floats
    is_report: bool

    def ended(self, name: str, part: float = 1.0) -> Numbers:
        """Return the transactions that ended in a period: one for each 40 ms of CPU time of online work."""
        return np.floor(self.time * part / 40_000).astype(np.int64) * (name in ONLINE_CLASSES)


def captured_time(cpu_time: CpuTimeGrid, system: int, numbers: Sequence[int]) -> CapturedTime:
    """Return the CPU time that address spaces account for in some intervals."""
    total = np.array([int(cpu_time.worked(number)[system]) for number in numbers])
    connections = np.stack([cpu_time.of_services(system, number) for number in numbers], axis=1)
    other = total - connections.sum(axis=0)
    ziip = np.full_like(total, int(cpu_time.length_us * ZIIP_USED.get(NAMES[system], 0.0)))
    in_spaces, ziip = (
        (each * part).astype(np.int64) for each, part in ((other, IN_SPACES), (ziip, ZIIP_IN_SPACES))
    )
    return CapturedTime(other, in_spaces, connections, ziip)


def class_uses(time: CapturedTime) -> Iterator[tuple[str, ClassUse]]:
    """Yield the CPU time of each service class and each report class, by name."""
    spaces = address_spaces()
    names = {(space.service_class, False) for space in spaces}
    names |= {(space.report_class, True) for space in spaces if space.report_class}
    for name, is_report in sorted(names):
        mine = [
            space for space in spaces if name == (space.report_class if is_report else space.service_class)
        ]
        times = np.array([time.of(space) for space in mine], float)
        worked: Floats = times.sum(axis=0)
        if name == "SYSTEM":
            worked = worked + time.other * SYSTEM_CLASS_EXTRA
        srb: Floats = np.array([space.srb for space in mine]) @ times
        ziip = time.ziip if any(space.ziip for space in mine) else np.zeros_like(time.ziip)
        yield name, ClassUse(worked, srb, ziip.astype(float), is_report)


@dataclass
class WorkloadRecords:
    """Generates the SMF 30 and 72 records of a grid of intervals, in the order of the days."""

    context: RecordContext
    cpu_time: CpuTimeGrid
    _since_start: defaultdict[tuple[int, str], dict[str, int]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    _of_job: defaultdict[tuple[int, str], dict[str, int]] = field(default_factory=lambda: defaultdict(dict))

    def make(self, system: int, numbers: Sequence[int]) -> SmfBatch:
        """Generate the records of a system about these intervals."""
        batch = SmfBatch()
        if not numbers:
            return batch
        begins = np.array([self.cpu_time.begin(number) for number in numbers])
        time = captured_time(self.cpu_time, system, numbers)
        for space in address_spaces():
            self._space(batch, system, space, begins, use_of(space, time.of(space), time.ziip), numbers)
        for name, use in class_uses(time):
            self._class(batch, system, name, begins, use)
        return batch

    def _space(
        self,
        batch: SmfBatch,
        system: int,
        space: AddressSpace,
        begins: Numbers,
        use: SpaceUse,
        numbers: Sequence[int],
    ) -> None:
        """Write the intervals of an address space; a batch job ends with the last interval of its day."""
        if space.cumulative:
            since_start = self._since_start[system, space.job]
            self._write(batch, system, space, SYSTEM, begins, use.summed(since_start))
            return
        ends = space.batch and (numbers[-1] + 1) % INTERVALS_A_DAY == 0
        first = use.first(len(begins) - 1) if ends else use
        if len(first.task):
            self._write(batch, system, space, INTERVAL, begins[: len(first.task)], first)
        if ends:
            totals: dict[str, int] = {}
            whole = use.summed(totals).last()
            self._write(batch, system, space, LAST, begins[-1:], use.last())
            for subtype in (STEP, JOB):
                self._write(batch, system, space, subtype, begins[-1:], whole)

    def _write(
        self, batch: SmfBatch, system: int, space: AddressSpace, subtype: int, begins: Numbers, use: SpaceUse
    ) -> None:
        layout, count = catalog().records[30, subtype], len(begins)
        ends = begins + self.cpu_time.length_us
        systems = np.full(count, system)
        kind = "JES2" if space.batch else "STC"
        heads = self.context.headers(30, subtype, systems, ends + WRITTEN_AFTER_US, kind)
        started = begins - (begins - self.context.recipe.start_us) % (
            INTERVALS_A_DAY * self.cpu_time.length_us
        )
        times = {"job_start_local": self._local(system, started)}
        if subtype in {INTERVAL, LAST}:
            times |= {"interval_start_utc": utc(begins), "interval_end_utc": utc(ends)}
        if subtype == SYSTEM:
            times |= {"interval_end_utc": utc(ends)}
        sections = [
            self._encoded(layout.section("product"), self._product(system, subtype, count)),
            self._encoded(
                layout.section("identification"), self._identification(space, subtype, count), times
            ),
            self._encoded(layout.section("processor"), _processor(use, count)),
            self._encoded(layout.section("performance"), _performance(space, use, count)),
        ]
        if subtype in {STEP, JOB}:
            sections.append(self._encoded(layout.section("completion"), {"completion_code": [0] * count}))
        if space.counters and subtype == INTERVAL:
            sections.append(_counters(layout.section("crypto_counter"), space, use))
            batch.expected.tables["smf30_crypto_counter"] += count * len(space.counters)
        assembler = RecordAssembler(self.context, layout, TRIPLETS)
        assembler.add_alike(
            batch, np.zeros(count), heads, lambda _: sections, systems, ends + WRITTEN_AFTER_US
        )
        table = "smf30_end" if subtype in {STEP, JOB} else "smf30_interval"
        batch.expected.tables[table] += count

    def _local(self, system: int, times: Numbers) -> pa.Array:
        return local(self.context.local_us(np.full(len(times), system), times))

    def _encoded(
        self,
        section: Section,
        values: Columns,
        times: dict[str, pa.Array] | None = None,
    ) -> SectionRows:
        columns = columns_for(section, values) | (times or {})
        count = len(next(iter(values.values())))
        length = self.context.length(section)
        return SectionRows(section, encode_section(section, columns, count, length), length)

    def _product(self, system: int, subtype: int, count: int) -> Columns:
        return {
            "product_subtype": [subtype] * count,
            "product_flags": [0x40] * count,
            "record_version": ["05"] * count,
            "product_name": ["SMF"] * count,
            "zos_level": ["SP7.3.2" if self.context.newest[system] else "SP7.2.3"] * count,
            "system_name": [NAMES[system]] * count,
            "sysplex": [SYSPLEX] * count,
        }

    def _identification(self, space: AddressSpace, subtype: int, count: int) -> Columns:
        letters = "JOB" if space.batch else "STC"
        return {
            "job_name": [space.job] * count,
            "program": [space.program] * count,
            "step_name": ["" if subtype == JOB else "STEP1"] * count,
            "job_id": [space.job if space.cumulative else f"{letters}{space.number:05}"] * count,
            "step_number": [1] * count,
            "user_id": ["BATCHID" if space.batch else "STCID"] * count,
            "job_class": ["A" if space.batch else "STC"] * count,
            "unix_program": [space.program] * count,
            "asid": [space.number] * count,
        }

    def _class(self, batch: SmfBatch, system: int, name: str, begins: Numbers, use: ClassUse) -> None:
        layout, count = catalog().records[72, 3], len(begins)
        ends = begins + self.cpu_time.length_us
        systems = np.full(count, system)
        written = ends + WRITTEN_AFTER_US // 2
        heads = self.context.headers(72, 3, systems, written, "RMF")
        offset = int(self.context.offsets_us[system])
        product: Columns = {
            "product_name": ["RMF"] * count,
            "interval_ms": [self.cpu_time.length_us // 1_000] * count,
            "sample_count": [self.cpu_time.length_us // 1_000_000] * count,
            "zos_level": [ZOS_LEVELS[self.context.recipe.systems[system].level]] * count,
            "partition_number": [system + 1] * count,
            "local_offset_us": [offset] * count,
            "sysplex": [SYSPLEX] * count,
            "system_name": [NAMES[system]] * count,
        }
        times = {"interval_start_local": local(begins + offset), "interval_end_utc": utc(ends)}
        periods = PERIODS.get(name, (1.0,))
        about: Columns = {
            "class_flags": [0x80 if use.is_report else 0] * count,
            "service_policy": ["SYNTHPOL"] * count,
            "cpu_coefficient_10000": [10_000] * count,
            "srb_coefficient_10000": [10_000] * count,
            "wlm_sample_ms": [250] * count,
            "wlm_samples": [self.cpu_time.length_us // 250_000] * count,
            "workload": ["" if use.is_report else WORKLOADS[name]] * count,
            "class_name": [name] * count,
            "periods": [len(periods)] * count,
            "cpu_adjustment": [ADJUSTMENT] * count,
            "ziip_speed_256": [256] * count,
            "cp_capacity_1024": [1024] * count,
        }
        section = layout.section("period")
        length = self.context.length(section)
        values = _periods(name, use, periods)
        rows = encode_section(section, columns_for(section, values), count * len(periods), length)
        sections = [
            self._encoded(layout.section("product"), product, times),
            self._encoded(layout.section("class"), about),
            SectionRows(section, rows.reshape(count, -1), length, len(periods)),
        ]
        assembler = RecordAssembler(self.context, layout, 8)
        assembler.add_alike(batch, np.zeros(count), heads, lambda _: sections, systems, written)
        batch.expected.tables["smf72_service_class_period"] += count * len(periods)


ONLINE_CLASSES = {"ONLINE", "RTLS"}
RESPONSE_US = 90_000
"""Response time of a transaction, half of it executing."""
WORKLOADS = {"SYSTEM": "SYSTEM", "SYSSTC": "SYSTEM", "ONLINE": "ONLINEW", "BATCH": "BATCHW"}
PERIODS = {"ONLINE": (0.8, 0.2)}
"""Parts of the periods of a class with more than one."""


def _processor(use: SpaceUse, count: int) -> Columns:
    hundredths = {
        "task_ms": use.task, "srb_ms": use.srb, "io_interrupt_ms": use.io_interrupt,
        "preemptable_srb_ms": use.preemptable, "enclave_ms": use.enclave, "ziip_ms": use.ziip,
        "ziip_enclave_ms": use.ziip,
    }  # fmt: skip
    values: Columns = {"timer_flags": [0x8000] * count}
    return values | {name: (10 * amounts).tolist() for name, amounts in hundredths.items()}


def _performance(space: AddressSpace, use: SpaceUse, count: int) -> Columns:
    units = ((use.task + use.ziip) * HUNDREDTH_US / UNIT_US).astype(np.int64)
    srb_units = (use.srb * HUNDREDTH_US / UNIT_US).astype(np.int64)
    return {
        "workload": [WORKLOADS[space.service_class]] * count,
        "service_class": [space.service_class] * count,
        "report_class": [space.report_class] * count,
        "cpu_adjustment": [ADJUSTMENT] * count,
        "cpu_coefficient_10": [10] * count,
        "srb_coefficient_10": [10] * count,
        "ziip_factor_256": [256] * count,
        "service_units": (units + srb_units).tolist(),
        "cpu_service_units": units.tolist(),
        "srb_service_units": srb_units.tolist(),
    }


def _counters(section: Section, space: AddressSpace, use: SpaceUse) -> SectionRows:
    """Counters of cryptographic instructions; their numbers mean nothing."""
    count, length = len(use.task), 16
    parts: list[ByteRows] = []
    for number, counter in enumerate(space.counters):
        values: Columns = {
            "counter_number": [counter] * count,
            "instruction_count": (use.task * 1_000 * (number + 1)).tolist(),
        }
        parts.append(encode_section(section, columns_for(section, values), count, length))
    return SectionRows(section, np.concatenate(parts, axis=1), length, len(parts))


def _periods(name: str, use: ClassUse, periods: Sequence[float]) -> Columns:
    """Values of all periods, those of one interval side by side."""

    def each(amounts: Floats, divisor: float) -> list[float]:
        values: list[float] = (np.outer(amounts, periods) / divisor).ravel().tolist()
        return values

    count = len(use.time)
    ended = np.stack([use.ended(name, part) for part in periods], axis=1).ravel()
    transactions = name in ONLINE_CLASSES
    samples = np.floor(np.outer(use.time, periods) / 250_000).ravel().astype(np.int64)
    return {
        "valid_data": [0xE0] * (count * len(periods)),
        "period": [number + 1 for _ in range(count) for number in range(len(periods))],
        "importance": [2 + number for _ in range(count) for number in range(len(periods))],
        "cpu_service": each(use.time - use.srb + use.ziip, UNIT_US),
        "srb_service": each(use.srb, UNIT_US),
        "ziip_service": each(use.ziip, UNIT_US),
        "ended_transactions": ended.tolist(),
        "elapsed_total_us": (ended * float(RESPONSE_US)).tolist(),
        "execution_total_us": (ended * RESPONSE_US / 2).tolist(),
        "using_samples": samples.tolist(),
        "cpu_using_samples": samples.tolist(),
        "delay_samples": (samples // 4).tolist(),
        "cpu_delay_samples": (samples // 5).tolist(),
        "crypto_using_samples": (samples // 50 * transactions).tolist(),
        "crypto_delay_samples": (samples // 200 * transactions).tolist(),
        "execution_samples": (samples * 3.0).tolist(),
    }
