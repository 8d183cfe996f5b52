"""RMF records: CPU activity (type 70 subtype 1) and cryptographic hardware (type 70 subtype 2).

The columns of the address space section are distributions of sampled queue lengths. Their bins follow from
the column names, for instance `batch_samples_3_4` or `work_unit_samples_n_plus_151_up`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from zscope.samples.dump.arrays import utc
from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.records.rmf_machine import (
    CP,
    DEDICATED,
    IIP,
    LOW,
    TYPE_NAMES,
    partitions,
    physical_count,
)
from zscope.samples.dump.records.rmf_record import RmfInterval, RmfRecords, Values, columns_for
from zscope.samples.dump.site import SYSPLEX
from zscope.schemas import catalog
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.parsers.smf.record_writer import SectionRows
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.dump.records.rmf_machine import Partition
    from zscope.schemas import RecordLayout, Section


if TYPE_CHECKING:
    Machine = tuple[Partition, ...]


_BIN = re.compile(r"(?P<queue>\w+?)_samples_(?P<above>n(?:_plus)?_?)?(?P<low>\d+)?(?:_(?P<high>\d+|up))?")
_TYPICAL = {
    "in_ready": 3, "in": 60, "out_ready": 0, "out_wait": 0, "batch": 6, "started_task": 180, "tso": 9,
    "logical_out_ready": 1, "logical_out_wait": 120, "asch": 0, "omvs": 14,
    "cp_work_units": 4, "zaap_work_units": 0, "ziip_work_units": 1,
}  # fmt: skip
_NO_END = 1 << 40
_COUNTED_FROM = {"queue": "in_ready", "work_unit": "cp_work_units"}
"""Distributions of how far a queue exceeded the number of processors."""


def queue_columns(
    section: Section, rngs: Sequence[np.random.Generator], samples: int, processors: int
) -> dict[str, pa.Array]:
    """Return all columns of the address space section, with a row for each random generator."""
    drawn = {
        queue: np.stack([rng.poisson(mean, samples) for rng in rngs]) for queue, mean in _TYPICAL.items()
    }
    return {
        field.column: pa.array(_values(field.column, drawn, processors), arrow_type(field))
        for field in section.columns
    }


def _values(column: str, drawn: dict[str, Numbers], processors: int) -> Numbers:
    rows, samples = drawn["in"].shape
    if column == "srm_sample_count":
        return np.full(rows, samples)
    for ending, summary in (("_minimum", np.min), ("_maximum", np.max), ("_total", np.sum)):
        queue = column.removesuffix(ending)
        if queue != column and queue in drawn:
            result: Numbers = summary(drawn[queue], axis=1)
            return result
    match = _BIN.fullmatch(column)
    if match is None:
        return np.zeros(rows, np.int64)
    counts = drawn[_COUNTED_FROM.get(match["queue"], match["queue"])]
    low = int(match["low"] or 0)
    if match["above"]:
        counts = np.maximum(counts - processors, 0)
    high = _NO_END if match["high"] == "up" else int(match["high"] or low)
    inside: Numbers = ((counts >= low) & (counts <= high)).sum(axis=1)
    return inside


TRIPLETS = 9
RECORD_LEVEL = 148
UNPARKED_CPS = 3
MSU_OF_A_CP = 224
IPL_BEFORE_US = 9 * 86_400_000_000
"""Time between the IPL of the systems and the start of the dump."""
ONLINE_THROUGHOUT = 0x09
CPU_TYPE_CODES = {CP: 0, IIP: 2}


class CpuTimeSource(Protocol):
    """Provides the CPU time of the systems."""

    def worked(self, interval: int, /) -> Numbers:
        """Return the microseconds of general purpose CPU time of each system in an interval."""


@dataclass(frozen=True)
class CpuRecords:
    """Generates CPU activity records."""

    context: RecordContext
    cpu_time: CpuTimeSource
    machine_of: Callable[[Recipe, Numbers], Machine] = partitions
    """Returns the partitions of the machine in an interval, from the CPU time of each system in microseconds.
    """
    processors_of_four_hours: Callable[[int], Numbers] | None = None
    """Returns the processors that each system used on average in the four hours up to an interval.

    Without it, the long-term average is zero.
    """

    def make(self, intervals: Sequence[RmfInterval]) -> SmfBatch:
        """Generate one record for each interval; systems in the same interval report the same machine."""
        batch = SmfBatch()
        if not intervals:
            return batch
        numbers = {interval.number for interval in intervals}
        machines = {n: self.machine_of(self.context.recipe, self.cpu_time.worked(n)) for n in sorted(numbers)}
        machine = [machines[interval.number] for interval in intervals]
        records = RmfRecords(self.context, self._layout, TRIPLETS, intervals)
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
        batch.expected.tables.update(smf70_interval=len(intervals), smf70_asid=len(intervals))
        batch.expected.tables.update({t: parts[at].number * len(intervals) for t, at in _TABLES.items()})
        return batch

    @cached_property
    def _layout(self) -> RecordLayout:
        return catalog().records[70, 1]

    def _control(self, records: RmfRecords) -> SectionRows:
        systems, count = len(self.context.names), len(records.intervals)
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
            "capacity_rating_msu_per_hour": MSU_OF_A_CP * 3 * systems,
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
        section = self._layout.section("cpu_control")
        lists: Values = {name: [value] * count for name, value in values.items()}
        if used := self.processors_of_four_hours:
            averages = [used(interval.number)[interval.system] for interval in records.intervals]
            lists["long_term_average_msu"] = [round(MSU_OF_A_CP * average) for average in averages]
        columns = columns_for(section, lists)
        columns["ipl_time_utc"] = utc(np.full(count, self.context.recipe.start_us - IPL_BEFORE_US))
        return records.once("cpu_control", columns)

    def _cpus(self, records: RmfRecords, machine: list[Machine]) -> SectionRows:
        """Encode the processors as z/OS sees them."""
        cpus = [
            (cpu, draws)
            for interval, partition in zip(records.intervals, machine, strict=True)
            for cpu, draws in zip(
                partition[interval.system].processors,
                self.context.random(70, 1, interval.number, interval.system).uniform(0.8, 1.2, 16),
                strict=False,
            )
        ]
        busy = [int(cpu.busy / 1_000 * draws) for cpu, draws in cpus]
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
        section = self._layout.section("asid_data")
        rngs = [self.context.random(70, 3, i.number, i.system) for i in records.intervals]
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
        """Encode every logical processor of the machine as PR/SM sees it."""
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
        counts = [physical_count(kind, len(self.context.names)) for kind in TYPE_NAMES]
        samples, times = records.intervals[0].samples, len(records.intervals)
        values: Values = {
            "cpu_type_name": list(TYPE_NAMES) * times,
            "physical_cpu_count": counts * times,
            "physical_cpus_total": [count * samples for count in counts] * times,
        }
        return records.several("cpu_identification", values)


_TABLES = {"smf70_cpu": 2, "smf70_partition": 4, "smf70_logical_cpu": 5, "smf70_cpu_type": 6}
"""Tables with one row for each occurrence of a section, and the index of the section."""


CRYPTO_TRIPLETS = 5
CRYPTO_RECORD_LEVEL = 143
SCALE = 2.0**-20
"""Length of a timer unit of a card in seconds."""
THIS_SYSTEM = 1
CEX8 = 0x0E
ENGINES = 1
_CCA, _ACCELERATOR, _PKCS11 = (0, 1), (2,), (3,)
"""Card numbers by mode."""
_SECONDS = {
    "all_operations": 0.000_9, "rsa_key_generation": 0.25, "me_1024": 0.000_02, "me_2048": 0.000_06,
    "crt_1024": 0.000_1, "crt_2048": 0.000_4, "me_4096": 0.000_2, "crt_4096": 0.001_6,
    "slow_asymmetric": 0.002, "fast_asymmetric": 0.000_4, "symmetric_partial": 0.000_1,
    "symmetric_complete": 0.000_1, "asymmetric_key_generation": 0.09,
}  # fmt: skip
"""Approximate time of a card for one operation."""
_CALLS = {
    "aes_encipher": 90_000,
    "aes_decipher": 85_000,
    "sha_224_256_hash": 40_000,
    "rsa_signature_generate": 1_500,
}
_USUAL_CALLS, _BYTES_A_CALL = 300, 600


@dataclass(frozen=True)
class CryptoRecords:
    """Generates cryptographic hardware records."""

    context: RecordContext

    def make(self, intervals: Sequence[RmfInterval]) -> SmfBatch:
        """Generate one record for each interval; ICSF sections of the older level are shorter."""
        batch = SmfBatch()
        for newest in (False, True):
            chosen = [
                interval for interval in intervals if bool(self.context.newest[interval.system]) is newest
            ]
            if not chosen:
                continue
            records = RmfRecords(self.context, self._layout, CRYPTO_TRIPLETS, chosen)
            rng = self.context.random(70, 2, chosen[0].number, newest)
            parts = [
                records.product(CRYPTO_RECORD_LEVEL),
                self._cards(records, "crypto_cca", rng, _CCA, 0xC0),
                self._cards(records, "crypto_accel", rng, _ACCELERATOR, 0xFC),
                self._icsf(records, rng, newest=newest),
                self._cards(records, "crypto_pkcs11", rng, _PKCS11, 0xF8),
            ]
            records.put(batch, parts)
        for table, number in _ROWS.items():
            batch.expected.tables[table] += number * len(intervals)
        return batch

    @cached_property
    def _layout(self) -> RecordLayout:
        return catalog().records[70, 2]

    def _cards(
        self, records: RmfRecords, key: str, rng: np.random.Generator, cards: Sequence[int], valid: int
    ) -> SectionRows:
        """Encode the cards of one mode; each pair of time and count agrees with the scale."""
        section, times = self._layout.section(key), len(records.intervals)
        count = len(cards) * times
        values: Values = {
            "card_index": list(cards) * times,
            "card_type": [CEX8] * count,
            "validity_flags": [valid] * count,
            "diagnostic_data": ["00"] * count,
            "scaling_factor": [SCALE] * count,
            "scope": [THIS_SYSTEM] * count,
            "domain_id": [1] * count,
        }
        known = {field.column for field in section.fields}
        if "engine_count" in known:
            values["engine_count"] = [ENGINES] * count
        for field in section.columns:
            operation = field.column.removesuffix("_count")
            seconds = _SECONDS.get(operation.removeprefix(f"engine_{ENGINES}_"))
            if operation == field.column or seconds is None:
                continue
            counts = rng.poisson(20 / seconds**0.5, count)
            values[field.column] = counts.astype(float).tolist()
            if f"{operation}_time_raw" in known:
                values[f"{operation}_time_raw"] = np.round(counts * seconds / SCALE).tolist()
        return records.several(key, values)

    def _icsf(self, records: RmfRecords, rng: np.random.Generator, *, newest: bool) -> SectionRows:
        """Encode the service calls, with bytes and instructions where the section has them."""
        section, count = self._layout.section("icsf"), len(records.intervals)
        columns: dict[str, pa.Array] = {}
        calls: dict[str, Numbers] = {}
        for field in section.columns:
            service, _, what = field.column.rpartition("_")
            if what == "calls":
                calls[service] = rng.poisson(_CALLS.get(service, _USUAL_CALLS), count)
                columns[field.column] = pa.array(calls[service].astype(float))
            elif what in {"bytes", "instructions"}:
                each = _BYTES_A_CALL if what == "bytes" else _BYTES_A_CALL // 16
                columns[field.column] = pa.array((calls[service] * each).astype(float))
        older = (section.lengths or {})["before OA59330"]
        return records.once("icsf", columns, section.known_length if newest else older)


_ROWS = {
    "smf70_crypto_cca": len(_CCA),
    "smf70_crypto_accel": len(_ACCELERATOR),
    "smf70_icsf": 1,
    "smf70_crypto_pkcs11": len(_PKCS11),
}
