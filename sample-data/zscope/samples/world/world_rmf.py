"""SMF 70 records of a world, and RMF reports about some hours, partly in place of records."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.parsers.api import read
from zscope.samples.dump.recipe import RecipeError
from zscope.samples.dump.records.rmf_machine import (
    CP,
    DEDICATED,
    HIGH,
    ICF,
    IFL,
    IIP,
    LOW,
    MANAGEMENT,
    MEDIUM,
    SEEN_BUSY,
    Partition,
    Processor,
    other_processor,
    physical_processors,
)
from zscope.samples.dump.records.rmf_record import RmfInterval
from zscope.samples.dump.records.smf70 import CpuRecords
from zscope.samples.reports.files import ReportFile, listing, xml_report
from zscope.samples.reports.rmf import TABLES_NEEDED, rmf_rows
from zscope.samples.world.benchmark_runs import RUN_CLIENT, RUN_SERVER
from zscope.samples.world.cpu_time import is_server
from zscope.samples.world.world_recipe import INTERVALS_A_DAY, NAMES, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.assemble import SmfBatch
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.world.benchmark_runs import PlannedRun
    from zscope.samples.world.cpu_time import CpuTimeGrid


_SHARED = ((0.38, HIGH, 1.0), (0.38, HIGH, 1.0), (0.24, MEDIUM, 0.5), (0.0, LOW, 0.0))
"""For each shared processor: its part of the work, polarisation, share."""
_WEIGHT = 2_500
_OWN = (0.28, 0.26, 0.24, 0.22)
_MOST = {False: 2.4, True: 3.4}
"""Processors that a system can use, shared or dedicated."""
ZIIP_USED = {"CLI1": 0.02, "SRV1": 0.01}
"""Share of the time in which the zIIP is busy; the zIIPs of other systems are online and idle."""


def world_machine(recipe: Recipe, worked: Numbers) -> tuple[Partition, ...]:
    """Return all partitions in an interval, from the CPU time of each system in microseconds.

    Clients share processors; servers have dedicated ones.
    """
    length = recipe.interval_us
    partitions = []
    for number, system in enumerate(recipe.systems):
        time, dedicated = int(worked[number]), is_server(number)
        if time > _MOST[dedicated] * length:
            raise RecipeError(
                f"{system.name} would need {time / length:.1f} processors in an interval of "
                f"{recipe.interval_minutes} minutes, but has fewer: ask for fewer connections or lower costs"
            )
        cps = _own(length, time) if dedicated else _shared(length, time)
        ziip = other_processor(length, len(cps), IIP, 1_000, ZIIP_USED.get(system.name, 0.0))
        partitions.append(Partition(system.name, number + 1, number, (*cps, ziip)))
    after = len(partitions) + 1
    return (
        *partitions,
        Partition("LINUX1", after, None, (other_processor(length, 0, IFL, 500),)),
        Partition("CF01", after + 1, None, (other_processor(length, 0, ICF, DEDICATED),)),
        Partition("PHYSICAL", 0, None, physical_processors(length, len(recipe.systems))),
    )


def _shared(length: int, worked: int) -> list[Processor]:
    """Return processors dispatched for as long as they worked; the last one is parked."""
    times = [int(worked * part) for part, _, _ in _SHARED]
    times[0] += worked - sum(times)
    processors = []
    for address, (time, (_, polarisation, share)) in enumerate(zip(times, _SHARED, strict=True)):
        parked = length if polarisation == LOW else 0
        busy = min(length - parked, int(time * SEEN_BUSY))
        processors.append(
            Processor(
                address, CP, _WEIGHT, polarisation, share, length, time, int(time * MANAGEMENT), parked, busy
            )
        )
    return processors


def _own(length: int, worked: int) -> list[Processor]:
    """Return processors that are always dispatched; their CPU time follows from the wait time."""
    times = [int(worked * part) for part in _OWN]
    times[0] += worked - sum(times)
    return [
        Processor(address, CP, DEDICATED, HIGH, 1.0, length, length, int(length * MANAGEMENT), 0, time)
        for address, time in enumerate(times)
    ]


@dataclass(frozen=True, slots=True)
class IntervalRange:
    """Consecutive intervals of a system on one day, numbered within the day."""

    system: int
    day: int
    first: int
    count: int

    def numbers(self) -> range:
        """Return their numbers in the world."""
        first = self.day * INTERVALS_A_DAY + self.first
        return range(first, first + self.count)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which intervals are covered by records, by reports, or by neither."""

    days: int

    @property
    def xml(self) -> IntervalRange:
        """An hour and a half of a client."""
        return IntervalRange(0, 0, 40, 6)

    @property
    def text(self) -> IntervalRange:
        """An hour and a half of a server."""
        return IntervalRange(2, 0, 52, 6)

    @property
    def without_records(self) -> tuple[IntervalRange, ...]:
        """The second half of each report, and the gap."""
        reported = tuple(IntervalRange(s.system, s.day, s.first + 3, 3) for s in (self.xml, self.text))
        return (*reported, self.gap)

    @property
    def gap(self) -> IntervalRange:
        """Half an hour without records and reports."""
        return IntervalRange(1, self.days - 1, 12, 2)

    def has_record(self, system: int, number: int) -> bool:
        """Return whether there is an SMF 70 record of an interval."""
        return not any(s.system == system and number in s.numbers() for s in self.without_records)


@dataclass(frozen=True)
class RmfFiles:
    """Generates the records and reports of a grid of intervals."""

    context: RecordContext
    cpu_time: CpuTimeGrid

    @cached_property
    def _cpu_records(self) -> CpuRecords:
        cpu_time = self.cpu_time
        return CpuRecords(self.context, cpu_time, world_machine, cpu_time.processors_of_four_hours)

    def records(self, system: int, numbers: Sequence[int]) -> SmfBatch:
        """Generate the records of a system about these intervals."""
        return self._cpu_records.make([self._interval(system, number) for number in numbers])

    def _interval(self, system: int, number: int) -> RmfInterval:
        return RmfInterval(number, system, self.cpu_time.begin(number), self.cpu_time.length_us)

    def reports(self, coverage: Coverage) -> Iterator[ReportFile]:
        """Yield the reports, computed from records of which some are missing in the dumps."""
        forms = ((coverage.xml, "xml", xml_report), (coverage.text, "txt", listing))
        for intervals, ending, written in forms:
            with tempfile.TemporaryDirectory(prefix="zscope-") as folder:
                dump = Path(folder, "dump")
                dump.write_bytes(b"".join(self.records(intervals.system, intervals.numbers()).in_order()))
                rows = rmf_rows(read(dump, TABLES_NEEDED).tables)
            name, day = NAMES[intervals.system], moment(self.cpu_time.begin(intervals.numbers()[0]))
            what = f"CPU report of {name}, {intervals.count} intervals"
            yield ReportFile(f"rmf-cpu.{name}.{day:%Y-%m-%d}.{ending}", written(rows), what)


def measured_minutes(runs: Sequence[PlannedRun], night: int, cpu_time: CpuTimeGrid) -> dict[int, list[int]]:
    """Return by system the intervals that RMF measured in a night: from one before its runs to one after."""
    mine = [run for run in runs if run.night == night]
    if not mine:
        return {}
    first = (min(run.begin_us for run in mine) - cpu_time.first_us) // cpu_time.length_us - 1
    last = (max(run.end_us for run in mine) - cpu_time.first_us) // cpu_time.length_us
    return {system: list(range(first, last + 1)) for system in (RUN_CLIENT, RUN_SERVER)}
