"""The machine that RMF reports: the activity of its processors in an interval, the same for all its systems.

`rmf_machine.toml` declares its processors. All values follow from the general purpose CPU time of each
system, so they agree: effective <= dispatched <= online, busy as z/OS sees it >= dispatched, wait + parked +
busy = interval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from zscope.samples.declaration_files import read_declared
from zscope.samples.dump.connections import NO_TLS, RESUMED
from zscope.schemas.declared import Declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.dump.records.connection_records import Events

HIGH, MEDIUM, LOW = 0xC0, 0x80, 0x40
_POLARISATIONS = {"high": HIGH, "medium": MEDIUM, "low": LOW}
ENTITLED_CPS = 2.5
"""General purpose processors that the weight of each system guarantees."""
MOST_CPS = 2.3
"""Processors that a system can use at most; work beyond that is not done."""
ZIIP_USED = 0.12
"""Part of an interval in which a zIIP is busy."""
_MANAGEMENT, _SEEN_BUSY = 0.997, 1.04
"""Ratio of effective to dispatched time, and of busy time as z/OS sees it to dispatched time."""
_PHYSICAL_SHARE = 0.002
DEDICATED = 0xFFFF
PROCESSOR = np.dtype(
    [
        ("address", "u1"),
        ("type", "u1"),
        ("weight", "i8"),
        ("polarisation", "u1"),
        ("share", "f8"),
        ("online", "i8"),
        ("dispatched", "i8"),
        ("effective", "i8"),
        ("parked", "i8"),
        ("busy", "i8"),
    ]
)
"""A logical processor in an interval, with times in microseconds; `type` is an index into `type_names()`, and
`busy` is the time as z/OS sees it.
"""
Processors = NDArray[np.void]
"""Processors by interval, side by side."""


class ProcessorType(Declared, frozen=True):
    """A type of processors, and how many of them the machine has."""

    name: str
    physical: int = 0
    for_each_system: int = 0


class LogicalProcessor(Declared, frozen=True):
    """A processor of a partition."""

    type: str
    weight: int
    part: float = 0.0
    """Its part of the work of a system, or the part of an interval in which it is dispatched."""
    polarisation: Literal["high", "medium", "low"] = "high"
    share: float = 1.0


class OtherPartition(Declared, frozen=True):
    """A partition that writes no records."""

    name: str
    processors: tuple[LogicalProcessor, ...]


class DeclaredMachine(Declared, frozen=True):
    """The content of `rmf_machine.toml`."""

    type: tuple[ProcessorType, ...]
    shared: tuple[LogicalProcessor, ...]
    dedicated: tuple[LogicalProcessor, ...]
    ziip: tuple[LogicalProcessor, ...]
    other_partition: tuple[OtherPartition, ...]


_MACHINE = read_declared("dump/rmf_machine.toml", DeclaredMachine)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of the machine in some intervals."""

    name: str
    number: int
    is_system: bool
    """Whether a system in it writes records."""
    processors: Processors


@dataclass(frozen=True, slots=True)
class SystemProcessors:
    """What is declared of the processors of a system."""

    kind: Literal["shared", "dedicated"]
    """The kind of its general purpose processors."""
    ziip_used: float
    """Part of an interval in which the zIIP is busy."""
    added: int = 0
    """General purpose processors like the first ones, which do as much of the work."""


def type_names() -> list[str]:
    """Return the types of processors."""
    return [kind.name for kind in _MACHINE.type]


def physical_counts(systems: int) -> Numbers:
    """Return the number of physical processors of each type."""
    return np.array([kind.physical + systems * kind.for_each_system for kind in _MACHINE.type])


def machine_partitions(
    recipe: Recipe, worked: Numbers, systems: Sequence[SystemProcessors]
) -> tuple[Partition, ...]:
    """Return all partitions, from the CPU time of each system in microseconds by interval and system."""
    length, every = recipe.interval_us, np.ones(len(worked), np.int64)
    partitions = []
    for number, (system, plan) in enumerate(zip(recipe.systems, systems, strict=True)):
        cps = _general_purpose(plan, worked[:, number], length)
        ziip = _processors(_MACHINE.ziip, (every * int(length * plan.ziip_used))[:, None], length)
        ziip["address"] = cps.shape[1]
        processors = np.concatenate([cps, ziip], axis=1)
        partitions.append(Partition(system.name, number + 1, is_system=True, processors=processors))
    for number, other in enumerate(_MACHINE.other_partition, len(partitions) + 1):
        times = np.outer(every, [int(length * each.part) for each in other.processors])
        processors = _processors(other.processors, times, length)
        partitions.append(Partition(other.name, number, is_system=False, processors=processors))
    physical = np.tile(_physical(length, len(recipe.systems)), (len(worked), 1))
    return (*partitions, Partition("PHYSICAL", 0, is_system=False, processors=physical))


def _general_purpose(plan: SystemProcessors, worked: Numbers, length: int) -> Processors:
    """Return processors that share the work of a system.

    Dedicated ones are always dispatched; their CPU time follows from the wait time.
    """
    declared = _MACHINE.dedicated if plan.kind == "dedicated" else _MACHINE.shared
    declared = (*declared, *declared[: plan.added])
    parts = np.array([each.part for each in declared])
    times = (worked[:, None] * parts / parts.sum()).astype(np.int64)
    times[:, 0] += worked - times.sum(axis=1)
    processors = _processors(declared, times, length)
    if plan.kind == "dedicated":
        processors["busy"] = times
        processors["dispatched"] = length
        processors["effective"] = int(length * _MANAGEMENT)
    return processors


def _processors(declared: Sequence[LogicalProcessor], times: Numbers, length: int) -> Processors:
    """Return processors that are dispatched for these times."""
    processors = np.zeros(times.shape, PROCESSOR)
    processors["address"] = np.arange(len(declared))
    processors["type"] = [type_names().index(each.type) for each in declared]
    processors["weight"] = [each.weight for each in declared]
    processors["polarisation"] = [_POLARISATIONS[each.polarisation] for each in declared]
    processors["share"] = [each.share for each in declared]
    processors["online"] = length
    processors["dispatched"] = times
    processors["effective"] = (times * _MANAGEMENT).astype(np.int64)
    parked = np.where([each.polarisation == "low" for each in declared], length, 0)
    processors["parked"] = parked
    processors["busy"] = np.minimum(length - parked, (times * _SEEN_BUSY).astype(np.int64))
    return processors


def _physical(length: int, systems: int) -> Processors:
    """Return the time that PR/SM used itself, for each physical processor."""
    types = np.repeat(np.arange(len(type_names())), physical_counts(systems))
    processors = np.zeros(len(types), PROCESSOR)
    processors["address"] = np.arange(len(types))
    processors["type"] = types
    processors["online"] = length
    processors["dispatched"] = int(length * _PHYSICAL_SHARE)
    return processors


@dataclass
class ConnectionCpuTime:
    """CPU time of the connections by interval and system."""

    recipe: Recipe
    saturated: int = 0
    """Number of intervals with more work than the processors could do, summed over the systems."""
    _intervals: dict[int, Numbers] = field(default_factory=dict)

    def add(self, events: Events) -> None:
        """Add the connections that ended."""
        over = events.connections[events.ended]
        cost = self.recipe.cpu_cost
        size = over.in_bytes + over.out_bytes
        handshake = np.where(over.handshake == RESUMED, cost.abbreviated_us, cost.full_us)
        work = np.where(over.handshake == NO_TLS, 0, handshake) + size * cost.megabyte_us // 1_000_000
        intervals = (over.end - self.first_us) // self.recipe.interval_us
        for interval in np.unique(intervals).tolist():
            rows = intervals == interval
            sums = np.bincount(over.system[rows], work[rows], len(self.recipe.systems)).astype(np.int64)
            self._intervals[interval] = self._intervals.get(interval, 0) + sums

    @property
    def first_us(self) -> int:
        """Start of the first whole interval of the time span."""
        return -(-self.recipe.start_us // self.recipe.interval_us) * self.recipe.interval_us

    @property
    def count(self) -> int:
        """Number of whole intervals in the time span."""
        return max(0, (self.recipe.end_us - self.first_us) // self.recipe.interval_us)

    def begin(self, interval: int) -> int:
        """Return the start of an interval."""
        return self.first_us + interval * self.recipe.interval_us

    def worked(self, interval: int) -> Numbers:
        """Return the microseconds of general purpose CPU time of each system in an interval."""
        length = self.recipe.interval_us
        zero = np.zeros(len(self.recipe.systems), np.int64)
        wanted = self._intervals.get(interval, zero) + int(self.recipe.cpu_cost.base * ENTITLED_CPS * length)
        most = int(MOST_CPS * length)
        self.saturated += int((wanted > most).sum())
        return np.minimum(wanted, most)

    def forget(self, interval: int) -> None:
        """Discard all intervals before this one."""
        for old in [number for number in self._intervals if number < interval]:
            del self._intervals[old]
