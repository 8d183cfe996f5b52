"""RMF records: CPU activity (type 70 subtype 1) and cryptographic hardware (type 70 subtype 2).

`cpu_activity.toml` and `crypto_hardware.toml` declare them. Computed here is what follows from the names of
columns: distributions of sampled queue lengths, whose bins have names such as `batch_samples_3_4` or
`work_unit_samples_n_plus_151_up`, and counts and times of cryptographic operations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.record_declaration import read_declaration
from zscope.samples.dump.records.rmf_machine import (
    ZIIP_USED,
    SystemProcessors,
    machine_partitions,
    physical_counts,
    type_names,
)
from zscope.schemas import catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.dump.records.rmf_machine import Partition
    from zscope.schemas import Section

    Machine = tuple[Partition, ...]

CPU_ACTIVITY, CRYPTO_HARDWARE = "dump/records/cpu_activity.toml", "dump/records/crypto_hardware.toml"
_WRITTEN_AFTER_US = 1_000_000


@dataclass(frozen=True, slots=True)
class RmfInterval:
    """One RMF interval of one system."""

    number: int
    system: int
    begin: int
    length: int


def _given(intervals: Sequence[RmfInterval]) -> dict[str, Any]:
    """Return what the declarations of both records use; RMF takes one sample per second."""
    length = intervals[0].length
    begins = np.array([interval.begin for interval in intervals])
    return {
        "system": np.array([interval.system for interval in intervals]),
        "begin": begins,
        "end": begins + length,
        "length_us": length,
        "samples": length // 1_000_000,
    }


class CpuTimeSource(Protocol):
    """Provides the CPU time of the systems."""

    def worked(self, interval: int, /) -> Numbers:
        """Return the microseconds of general purpose CPU time of each system in an interval."""


def shared_machine(recipe: Recipe, worked: Numbers) -> Machine:
    """Return the machine of a dump, whose systems all share its processors."""
    return machine_partitions(recipe, worked, [SystemProcessors("shared", ZIIP_USED)] * len(recipe.systems))


@dataclass(frozen=True)
class CpuRecords:
    """Generates CPU activity records."""

    context: RecordContext
    cpu_time: CpuTimeSource
    machine_of: Callable[[Recipe, Numbers], Machine] = shared_machine
    """Returns the partitions of the machine, from the CPU time by interval and system in microseconds."""
    processors_of_four_hours: Callable[[int], Numbers] | None = None
    """Returns the processors that each system used on average in the four hours up to an interval.

    Without it, the long-term average is zero.
    """

    def make(self, intervals: Sequence[RmfInterval]) -> SmfBatch:
        """Generate one record for each interval; systems in the same interval report the same machine."""
        if not intervals:
            return SmfBatch()
        given = _given(intervals)
        numbers, rows = np.unique([interval.number for interval in intervals], return_inverse=True)
        worked = np.stack([self.cpu_time.worked(number) for number in numbers.tolist()])
        given |= _machine_names(self.machine_of(self.context.recipe, worked[rows]), given["system"])
        given |= {
            "type_counts": physical_counts(len(self.context.names)),
            "spread": self._spread(intervals, given["own"].shape[1]),
            "queues": self._queues(intervals, given["samples"]),
            "processors_of_four_hours": self._averages(intervals),
            "type_names": type_names(),
            "type_order": np.arange(len(type_names())),
        }
        return self.context.make(CPU_ACTIVITY, 1, given, given["end"] + _WRITTEN_AFTER_US)

    def _spread(self, intervals: Sequence[RmfInterval], count: int) -> Numbers:
        """Return factors by which the processors differ in their dispatches."""
        return np.stack(
            [
                self.context.random(70, 1, each.number, each.system).uniform(0.8, 1.2, 16)[:count]
                for each in intervals
            ]
        )

    def _queues(self, intervals: Sequence[RmfInterval], samples: int) -> dict[str, Numbers]:
        section = catalog().records[70, 1].section("asid_data")
        rngs = [self.context.random(70, 3, each.number, each.system) for each in intervals]
        return queue_columns(section, rngs, samples)

    def _averages(self, intervals: Sequence[RmfInterval]) -> Numbers | None:
        used = self.processors_of_four_hours
        if used is None:
            return None
        return np.array([used(each.number)[each.system] for each in intervals])


def _machine_names(machine: Machine, systems: Numbers) -> dict[str, Any]:
    """Return the names about the machine: partitions, its processors, and those of the system itself."""
    sizes = np.array([partition.processors.shape[1] for partition in machine])
    return {
        "partition_names": [partition.name for partition in machine],
        "partition_numbers": np.array([partition.number for partition in machine]),
        "partition_is_system": np.array([partition.is_system for partition in machine]),
        "partition_order": np.arange(len(machine)),
        "partition_sizes": sizes,
        "partition_skips": np.cumsum(sizes) - sizes,
        "logical": np.concatenate([partition.processors for partition in machine], axis=1),
        "own": np.stack([machine[system].processors[row] for row, system in enumerate(systems.tolist())]),
    }


_BIN = re.compile(r"(?P<queue>\w+?)_samples_(?P<above>n(?:_plus)?_?)?(?P<low>\d+)?(?:_(?P<high>\d+|up))?")
_NO_END = 1 << 40
_COUNTED_FROM = {"queue": "in_ready", "work_unit": "cp_work_units"}
"""Distributions of how far a queue exceeded the number of processors."""
_UNPARKED_CPS = 3


def queue_columns(section: Section, rngs: Sequence[np.random.Generator], samples: int) -> dict[str, Numbers]:
    """Return all columns of the address space section, with a row for each random generator."""
    typical: Mapping[str, float] = read_declaration(CPU_ACTIVITY).lists["typical"]
    drawn = {queue: np.stack([rng.poisson(mean, samples) for rng in rngs]) for queue, mean in typical.items()}
    return {field.column: _queue_column(field.column, drawn) for field in section.columns}


def _queue_column(column: str, drawn: dict[str, Numbers]) -> Numbers:
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
        counts = np.maximum(counts - _UNPARKED_CPS, 0)
    high = _NO_END if match["high"] == "up" else int(match["high"] or low)
    inside: Numbers = ((counts >= low) & (counts <= high)).sum(axis=1)
    return inside


_SCALE = 2.0**-20
"""Length of a timer unit of a card in seconds."""
_BYTES_A_CALL = 600


def crypto_records(context: RecordContext, intervals: Sequence[RmfInterval]) -> SmfBatch:
    """Generate one cryptographic hardware record for each interval, first those of the older level."""
    batch, lists = SmfBatch(), read_declaration(CRYPTO_HARDWARE).lists
    for newest in (False, True):
        chosen = [each for each in intervals if bool(context.newest[each.system]) is newest]
        if not chosen:
            continue
        rng, counted = context.random(70, 2, chosen[0].number, newest), {}
        for section in catalog().records[70, 2].row_sections:
            if section.key in lists["cards"]:
                shape = len(chosen), len(lists["cards"][section.key])
                counted[section.key] = _operations(section, rng, shape, lists["seconds"])
            else:
                counted[section.key] = _calls(section, rng, len(chosen), lists["calls"])
        given = {**_given(chosen), "counted": counted}
        batch.extend(context.make(CRYPTO_HARDWARE, 2, given, given["end"] + _WRITTEN_AFTER_US))
    return batch


def _operations(
    section: Section, rng: np.random.Generator, shape: tuple[int, int], seconds: Mapping[str, float]
) -> dict[str, Numbers]:
    """Return counts and times by interval and card; each pair of them agrees with the scale."""
    columns, known = {}, {field.column for field in section.columns}
    for field in section.columns:
        operation = field.column.removesuffix("_count")
        each = seconds.get(operation.removeprefix("engine_1_"))
        if operation == field.column or each is None:
            continue
        columns[field.column] = counts = rng.poisson(20 / each**0.5, shape)
        if f"{operation}_time_raw" in known:
            columns[f"{operation}_time_raw"] = np.round(counts * each / _SCALE)
    return columns


def _calls(
    section: Section, rng: np.random.Generator, count: int, calls: Mapping[str, float]
) -> dict[str, Numbers]:
    """Return service calls, with bytes and instructions where the section has them."""
    columns: dict[str, Numbers] = {}
    for field in section.columns:
        service, _, what = field.column.rpartition("_")
        if what == "calls":
            columns[field.column] = rng.poisson(calls.get(service, calls["usual"]), count)
        elif what in {"bytes", "instructions"}:
            each = _BYTES_A_CALL if what == "bytes" else _BYTES_A_CALL // 16
            columns[field.column] = columns[f"{service}_calls"] * each
    return columns
