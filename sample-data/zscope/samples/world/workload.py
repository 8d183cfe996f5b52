"""SMF 30 and 72 records of a world: address spaces and classes that share the CPU time of SMF 70.

Address spaces account for all CPU time of connections and for a part of the other work of their system.
Each belongs to a service class and a report class; the class of the system has some time of no address space.
So the CPU time of a system is that of its service classes and a rest, and that of its address spaces and a
larger rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.world.address_spaces import (
    SpaceUse,
    address_spaces,
    time_of,
    use_of,
)
from zscope.samples.world.world_recipe import INTERVALS_A_DAY, NAMES, WORLD_SYSTEMS
from zscope.samples.world.world_scenario import SCENARIO

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Floats, Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.world.cpu_time import CpuTimeGrid
    from zscope.samples.world.world_scenario import AddressSpace

WORKLOAD_SYSTEM = NAMES.index(SCENARIO.reports.workload_records)
"""The system that has records of types 30 and 72, a server."""
INTERVAL, LAST, STEP, JOB, SYSTEM = 2, 3, 4, 5, 6
"""Subtypes of type 30."""
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
    in_stack: Floats
    """Share of it that is charged to the TCP/IP stack."""
    ziip: Numbers

    def of(self, space: AddressSpace) -> Numbers:
        """Return the CPU time of an address space."""
        return time_of(space, self.in_spaces, self.connections, self.in_stack)


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
    in_stack = np.stack([cpu_time.share_in_stack(system, number) for number in numbers], axis=1)
    other = total - connections.sum(axis=0)
    ziip = np.full_like(total, int(cpu_time.length_us * WORLD_SYSTEMS[system].ziip_used))
    in_spaces, ziip = (
        (each * part).astype(np.int64) for each, part in ((other, IN_SPACES), (ziip, ZIIP_IN_SPACES))
    )
    return CapturedTime(other, in_spaces, connections, in_stack, ziip)


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
        # No product of matrices: its last bits depend on the processor.
        srb: Floats = (np.array([[space.srb] for space in mine]) * times).sum(axis=0)
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
        first = use[:-1] if ends else use
        if len(first):
            self._write(batch, system, space, INTERVAL, begins[: len(first)], first)
        if ends:
            totals: dict[str, int] = {}
            whole = use.summed(totals)[-1:]
            self._write(batch, system, space, LAST, begins[-1:], use[-1:])
            for subtype in (STEP, JOB):
                self._write(batch, system, space, subtype, begins[-1:], whole)

    def _write(
        self, batch: SmfBatch, system: int, space: AddressSpace, subtype: int, begins: Numbers, use: SpaceUse
    ) -> None:
        ends = begins + self.cpu_time.length_us
        systems = np.full(len(begins), system)
        given = {
            "system": systems,
            "begin": begins,
            "end": ends,
            "started": begins
            - (begins - self.context.recipe.start_us) % (INTERVALS_A_DAY * self.cpu_time.length_us),
            "space": space,
            "use": use,
            "counter_places": np.arange(len(space.counters)) + 1,
            "subsystem": "JES2" if space.batch else "STC",
        }
        batch.extend(self._make("address_space_use", subtype, given, ends + WRITTEN_AFTER_US))

    def _make(self, name: str, subtype: int, given: Mapping[str, Any], written: Numbers) -> SmfBatch:
        names = {
            "workloads": WORKLOADS,
            "adjustment": ADJUSTMENT,
            "unit_us": UNIT_US,
            "response_us": RESPONSE_US,
            "length_us": self.cpu_time.length_us,
        }
        return self.context.make(f"world/records/{name}.toml", subtype, {**names, **given}, written)

    def _class(self, batch: SmfBatch, system: int, name: str, begins: Numbers, use: ClassUse) -> None:
        ends = begins + self.cpu_time.length_us
        parts = PERIODS.get(name, (1.0,))
        given = {
            "system": np.full(len(begins), system),
            "begin": begins,
            "end": ends,
            "name": name,
            "is_report": use.is_report,
            "has_transactions": name in ONLINE_CLASSES,
            "parts": parts,
            "order": np.arange(len(parts)),
            "task_us": np.outer(use.time - use.srb + use.ziip, parts),
            "srb_us": np.outer(use.srb, parts),
            "ziip_us": np.outer(use.ziip, parts),
            "ended": np.stack([use.ended(name, part) for part in parts], axis=1),
            "samples": np.floor(np.outer(use.time, parts) / 250_000).astype(np.int64),
        }
        batch.extend(self._make("class_use", 3, given, ends + WRITTEN_AFTER_US // 2))


ONLINE_CLASSES = SCENARIO.classes.with_transactions
WORKLOADS, PERIODS = SCENARIO.classes.workloads, SCENARIO.classes.periods
"""Parts of the periods of a class with more than one."""
RESPONSE_US = 90_000
"""Response time of a transaction, half of it executing."""
