"""The machine that RMF reports: the activity of its processors in an interval, the same for all its systems.

All values follow from the general purpose CPU time of each system, so they agree: effective <= dispatched <=
online, busy as z/OS sees it >= dispatched, wait + parked + busy = interval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.connections import NO_TLS, RESUMED

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.dump.records.zert_detail import Events

CP, IFL, ICF, IIP = "CP", "IFL", "ICF", "IIP"
TYPE_NAMES = (CP, "IFA", IFL, ICF, IIP)
"""In the order of the processor type entries, to which records refer from 1 on."""
HIGH, MEDIUM, LOW = 0xC0, 0x80, 0x40
ENTITLED_CPS = 2.5
"""General purpose processors that the weight of each system guarantees: two, and half of a third."""
_CP_SPREAD = (0.38, 0.38, 0.24, 0.0)
_CP_POLARISATION = (HIGH, HIGH, MEDIUM, LOW)
_CP_SHARE = (1.0, 1.0, 0.5, 0.0)
MOST_CPS = 2.3
"""Processors that a system can use at most; work beyond that is not done."""
MANAGEMENT, SEEN_BUSY = 0.997, 1.04
"""Ratio of effective to dispatched time, and of busy time as z/OS sees it to dispatched time."""
_OTHERS = {IIP: 0.12, IFL: 0.35, ICF: 0.999}
"""Load of the other types of processors."""
PHYSICAL_SHARE = 0.002
DEDICATED = 0xFFFF


@dataclass(frozen=True, slots=True)
class Processor:
    """One logical processor in one interval, with times in microseconds."""

    address: int
    kind: str
    weight: int
    polarisation: int
    share: float
    online: int
    dispatched: int
    effective: int
    parked: int = 0
    busy: int = 0
    """As z/OS sees it."""

    @property
    def wait(self) -> int:
        """Time in which z/OS had no work for the processor."""
        return self.online - self.parked - self.busy


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of the machine in one interval."""

    name: str
    number: int
    system: int | None
    """Number of the system in the partition; None if it writes no records."""
    processors: tuple[Processor, ...]


def physical_count(kind: str, systems: int) -> int:
    """Return the number of physical processors of a type."""
    return {CP: 3 * systems, IIP: systems, IFL: 1, ICF: 1}.get(kind, 0)


def partitions(recipe: Recipe, worked: Numbers) -> tuple[Partition, ...]:
    """Return all partitions in an interval, from the CPU time of each system in microseconds."""
    length = recipe.interval_us
    systems = [
        Partition(system.name, number + 1, number, _processors(length, int(worked[number])))
        for number, system in enumerate(recipe.systems)
    ]
    after = len(systems) + 1
    return (
        *systems,
        Partition("LINUX1", after, None, (other_processor(length, 0, IFL, 500),)),
        Partition("CF01", after + 1, None, (other_processor(length, 0, ICF, DEDICATED),)),
        Partition("PHYSICAL", 0, None, physical_processors(length, len(systems))),
    )


def _processors(length: int, worked: int) -> tuple[Processor, ...]:
    """Return four general purpose processors, of which the last is parked, and a zIIP."""
    dispatched = [int(worked * part) for part in _CP_SPREAD]
    dispatched[0] += worked - sum(dispatched)
    weight = int(1_000 * ENTITLED_CPS)
    cps = []
    for address, time in enumerate(dispatched):
        parked = length if _CP_POLARISATION[address] == LOW else 0
        busy = min(length - parked, int(time * SEEN_BUSY))
        effective = int(time * MANAGEMENT)
        kind = (CP, weight, _CP_POLARISATION[address], _CP_SHARE[address])
        cps.append(Processor(address, *kind, length, time, effective, parked, busy))
    return (*cps, other_processor(length, len(cps), IIP, 1_000))


def other_processor(
    length: int, address: int, kind: str, weight: int, used: float | None = None
) -> Processor:
    """Return a processor of another type, with the usual or the given load."""
    dispatched = int(length * (_OTHERS[kind] if used is None else used))
    busy = min(length, int(dispatched * SEEN_BUSY))
    effective = int(dispatched * MANAGEMENT)
    return Processor(address, kind, weight, HIGH, 1.0, length, dispatched, effective, 0, busy)


def physical_processors(length: int, systems: int) -> tuple[Processor, ...]:
    """Return the time that PR/SM used itself, for each physical processor."""
    kinds = [kind for kind in TYPE_NAMES for _ in range(physical_count(kind, systems))]
    managed = int(length * PHYSICAL_SHARE)
    return tuple(Processor(at, kind, 0, 0, 0.0, length, managed, 0) for at, kind in enumerate(kinds))


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
        size = (over["in_bytes"] + over["out_bytes"]).astype(np.int64)
        handshake = np.where(over["handshake"] == RESUMED, cost.abbreviated_us, cost.full_us)
        work = np.where(over["handshake"] == NO_TLS, 0, handshake) + size * cost.megabyte_us // 1_000_000
        intervals = (over["end"] - self.first_us) // self.recipe.interval_us
        for interval in np.unique(intervals).tolist():
            rows = intervals == interval
            sums = np.bincount(over["system"][rows], work[rows], len(self.recipe.systems)).astype(np.int64)
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
