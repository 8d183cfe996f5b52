"""RMF CPU activity records (type 70 subtype 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from zscope.parsers.synthetic.batch import Batch, RecordMaker, Scene, utc
from zscope.parsers.synthetic.cast import SYSPLEX
from zscope.parsers.synthetic.rmf_machine import (
    CP,
    DEDICATED,
    IIP,
    LOW,
    TYPE_NAMES,
    partitions,
    physical_count,
)
from zscope.parsers.synthetic.rmf_queues import queue_columns
from zscope.parsers.synthetic.rmf_record import RmfRecords, Values, columns_for
from zscope.schemas import catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.parsers.smf.write import SectionRows
    from zscope.parsers.synthetic.batch import Numbers
    from zscope.parsers.synthetic.recipe import Recipe
    from zscope.parsers.synthetic.rmf_machine import Partition
    from zscope.parsers.synthetic.rmf_record import Interval

    Machine = tuple[Partition, ...]

TRIPLETS = 9
RECORD_LEVEL = 148
UNPARKED_CPS = 3
IPL_BEFORE_US = 9 * 86_400_000_000
"""The systems were started so long before the dump begins."""
ONLINE_THROUGHOUT = 0x09
CPU_TYPE_CODES = {CP: 0, IIP: 2}


class Worked(Protocol):
    """Knows how long the systems worked."""

    def worked(self, interval: int, /) -> Numbers:
        """Microseconds of general purpose processor time that each system used in an interval."""


@dataclass(frozen=True)
class CpuRecords:
    """Makes CPU activity records."""

    scene: Scene
    workload: Worked
    machine_of: Callable[[Recipe, Numbers], Machine] = partitions
    """The partitions of the machine in an interval in which each system worked so many microseconds."""

    def make(self, intervals: Sequence[Interval]) -> Batch:
        """One record for each; systems in the same interval show the same machine."""
        batch = Batch()
        if not intervals:
            return batch
        numbers = {interval.number for interval in intervals}
        machines = {n: self.machine_of(self.scene.recipe, self.workload.worked(n)) for n in sorted(numbers)}
        machine = [machines[interval.number] for interval in intervals]
        records = RmfRecords(self.scene, self._maker, intervals)
        parts = [
            records.product(RECORD_LEVEL),
            self._control(records),
            self._cpus(records, machine),
            self._queues(records),
            self._partitions(records, machine),
            self._logical(records, machine),
            self._types(records),
        ]
        records.put(batch, parts)
        batch.tally.tables.update(smf70_interval=len(intervals), smf70_asid=len(intervals))
        batch.tally.tables.update({t: parts[at].number * len(intervals) for t, at in _TABLES.items()})
        return batch

    @cached_property
    def _maker(self) -> RecordMaker:
        return RecordMaker(self.scene, catalog().records[70, 1], TRIPLETS)

    def _control(self, records: RmfRecords) -> SectionRows:
        systems, count = len(self.scene.names), len(records.intervals)
        cores = sum(physical_count(kind, systems) for kind in TYPE_NAMES)
        values: dict[str, int | str] = {
            "machine_type": "3931",
            "cpu_version_code": "00",
            "prsm_physical_cpu_count": cores,
            "prsm_flags": 0x18,
            "capacity_flags": 0x98,
            "capacity_model": f"7{3 * systems:02}",
            "diagnose_sample_count": records.intervals[0].samples,
            "image_capacity_msu_per_hour": 560,
            "physical_model": "A01",
            "ziips_online": 1,
            "plant_of_manufacture": "00",
            "machine_sequence_code": "00000000000SYNTH",
            "hiperdispatch_flags": 0xC0,
            "capacity_rating_msu_per_hour": 224 * 3 * systems,
            "ziip_normalisation_factor_256": 256,
            "capacity_adjustment": 100,
            "highest_cpu_id_available": 7,
            "highest_cpu_id_at_ipl": 4,
            "highest_cpu_id_now": 4,
            "cpu_adjustment_factor": 28_571,
            "cpu_adjustment_divisor": 1_000,
            "available_cores": cores,
            "cpc_type": "3931",
        }
        section = self._maker.layout.section("cpu_control")
        columns = columns_for(section, {name: [value] * count for name, value in values.items()})
        columns["ipl_time_utc"] = utc(np.full(count, self.scene.recipe.start_us - IPL_BEFORE_US))
        return records.once("cpu_control", columns)

    def _cpus(self, records: RmfRecords, machine: list[Machine]) -> SectionRows:
        """z/OS's own view of its processors."""
        cpus = [
            (cpu, luck)
            for interval, partition in zip(records.intervals, machine, strict=True)
            for cpu, luck in zip(
                partition[interval.system].processors,
                self.scene.random(70, 1, interval.number, interval.system).uniform(0.8, 1.2, 16),
                strict=False,
            )
        ]
        busy = [int(cpu.busy / 1_000 * luck) for cpu, luck in cpus]
        interrupts = [ms * 2 if cpu.kind == CP else 0 for (cpu, _), ms in zip(cpus, busy, strict=True)]
        values: Values = {
            "wait_us": [cpu.wait for cpu, _ in cpus],
            "cpu_id": [cpu.address for cpu, _ in cpus],
            "config_flags": [ONLINE_THROUGHOUT] * len(cpus),
            "cpu_serial": [f"{cpu.address:x}5e75c" for cpu, _ in cpus],
            "cpu_type": [CPU_TYPE_CODES[cpu.kind] for cpu, _ in cpus],
            "io_interrupts": interrupts,
            "tpi_interrupts": [count // 24 for count in interrupts],
            "parked_us": [cpu.parked for cpu, _ in cpus],
            "tcb_dispatches": [ms * 9 for ms in busy],
            "srb_dispatches": [ms * 5 for ms in busy],
            "io_starts": interrupts,
            "sigp_instructions": [ms * 3 for ms in busy],
            "wait_dispatches": [ms * 4 for ms in busy],
        }
        return records.several("cpu_data", values)

    def _queues(self, records: RmfRecords) -> SectionRows:
        section = self._maker.layout.section("asid_data")
        rngs = [self.scene.random(70, 3, i.number, i.system) for i in records.intervals]
        return records.once(
            "asid_data", queue_columns(section, rngs, records.intervals[0].samples, UNPARKED_CPS)
        )

    def _partitions(self, records: RmfRecords, machine: list[Machine]) -> SectionRows:
        samples = records.intervals[0].samples
        every = [partition for partitions in machine for partition in partitions]
        sizes = [len(partition.processors) for partition in machine[0]]
        skips = [sum(sizes[:at]) for at in range(len(sizes))]
        values: Values = {
            "partition_name": [partition.name for partition in every],
            "partition_number": [partition.number for partition in every],
            "logical_cpu_count": sizes * len(machine),
            "logical_cpu_skip": skips * len(machine),
            "active_logical_cpus_total": [size * samples for size in sizes] * len(machine),
            "lpar_cluster_name": [SYSPLEX if p.system is not None else "" for p in every],
            "system_name": [p.name if p.system is not None else "" for p in every],
            "central_storage_mb": [0 if p.name == "PHYSICAL" else 65_536 for p in every],
            "partition_extra_flags": [0xA000 if p.system is not None else 0 for p in every],
            "user_partition_id": [partition.number for partition in every],
        }
        return records.several("partition", values)

    def _logical(self, records: RmfRecords, machine: list[Machine]) -> SectionRows:
        """PR/SM's view of every logical processor of the machine."""
        samples = records.intervals[0].samples
        cpus = [cpu for partitions in machine for partition in partitions for cpu in partition.processors]
        values: Values = {
            "dispatch_us": [cpu.dispatched for cpu in cpus],
            "logical_cpu_address": [cpu.address for cpu in cpus],
            "weight": [cpu.weight for cpu in cpus],
            "polarisation_flags": [cpu.polarisation for cpu in cpus],
            "cpu_type_index": [TYPE_NAMES.index(cpu.kind) + 1 for cpu in cpus],
            "effective_us": [cpu.effective for cpu in cpus],
            "actual_share_total": [cpu.weight % DEDICATED * samples for cpu in cpus],
            "minimum_share": [0 if cpu.polarisation == LOW else min(cpu.weight, 999) for cpu in cpus],
            "maximum_share": [min(cpu.weight, 999) for cpu in cpus],
            "online_us": [cpu.online for cpu in cpus],
            "polarisation_weight_4096_total": [int(cpu.share * 4_096) * samples for cpu in cpus],
        }
        return records.several("logical_cpu", values)

    def _types(self, records: RmfRecords) -> SectionRows:
        counts = [physical_count(kind, len(self.scene.names)) for kind in TYPE_NAMES]
        samples, times = records.intervals[0].samples, len(records.intervals)
        values: Values = {
            "cpu_type_name": list(TYPE_NAMES) * times,
            "physical_cpu_count": counts * times,
            "physical_cpus_total": [count * samples for count in counts] * times,
        }
        return records.several("cpu_identification", values)


_TABLES = {"smf70_cpu": 2, "smf70_partition": 4, "smf70_logical_cpu": 5, "smf70_cpu_type": 6}
"""Tables with a row for each occurrence of a section, and the section's place among the parts."""
