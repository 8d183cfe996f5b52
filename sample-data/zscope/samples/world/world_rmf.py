"""SMF 70 records of a world, and RMF reports about some hours, partly in place of records."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from zscope.parsers.api import read
from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.recipe import RecipeError
from zscope.samples.dump.records.rmf_machine import Partition, SystemProcessors, machine_partitions
from zscope.samples.dump.records.smf70 import CpuRecords, RmfInterval
from zscope.samples.reports.files import ReportFile, listing, xml_report
from zscope.samples.reports.rmf import TABLES_NEEDED, rmf_rows
from zscope.samples.world.benchmark_runs import RUN_SYSTEMS, runs_between_ipls
from zscope.samples.world.world_recipe import INTERVALS_A_DAY, NAMES, WORLD_SYSTEMS, moment
from zscope.samples.world.world_scenario import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.world.benchmark_runs import PlannedRun
    from zscope.samples.world.cpu_time import CpuTimeGrid
    from zscope.samples.world.world_scenario import DeclaredIntervals


PROCESSORS: dict[str, Literal["shared", "dedicated"]] = {"client": "shared", "server": "dedicated"}
ADDED_PROCESSORS = 2
_MOST = {"shared": 2.4, "dedicated": 3.4}
"""Processors that a system can use."""


def world_machine(recipe: Recipe, worked: Numbers, added: int = 0) -> tuple[Partition, ...]:
    """Return all partitions, from the CPU time by interval and system in microseconds.

    Clients share processors; servers have dedicated ones; all have as many as declared, and those added.
    """
    plans = []
    for number, system in enumerate(WORLD_SYSTEMS):
        needed, kind = int(worked[:, number].max()) / recipe.interval_us, PROCESSORS[system.role]
        if needed > _MOST[kind]:
            raise RecipeError(
                f"{system.name} would need {needed:.1f} processors in an interval of "
                f"{recipe.interval_minutes} minutes, but has fewer: ask for fewer connections or lower costs"
            )
        plans.append(SystemProcessors(kind, system.ziip_used, added))
    return machine_partitions(recipe, worked, plans)


class IntervalRange(NamedTuple):
    """Consecutive intervals of a system, numbered within the world."""

    system: int
    numbers: range


def _declared_range(declared: DeclaredIntervals, day: int) -> IntervalRange:
    first = day * INTERVALS_A_DAY + declared.first
    return IntervalRange(NAMES.index(declared.system), range(first, first + declared.count))


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which intervals are covered by records, by reports, or by neither."""

    days: int

    @property
    def reported(self) -> list[tuple[str, IntervalRange]]:
        """The intervals of each report, by its form: `xml` or `text`."""
        return [(report.form, _declared_range(report, 0)) for report in SCENARIO.reports.rmf]

    @property
    def without_records(self) -> tuple[IntervalRange, ...]:
        """The second half of each report, and the gap."""
        halves = (
            IntervalRange(system, numbers[len(numbers) // 2 :]) for _, (system, numbers) in self.reported
        )
        return (*halves, self.gap)

    @property
    def gap(self) -> IntervalRange:
        """Intervals without records and reports."""
        return _declared_range(SCENARIO.reports.gap, self.days - 1)

    def has_record(self, system: int, number: int) -> bool:
        """Return whether there is an SMF 70 record of an interval."""
        return not any(s.system == system and number in s.numbers for s in self.without_records)


@dataclass(frozen=True)
class RmfFiles:
    """Generates the records and reports of a grid of intervals."""

    context: RecordContext
    cpu_time: CpuTimeGrid
    processors_added_us: int | None = None
    """Since when the systems have more processors."""

    def records(self, system: int, numbers: Sequence[int]) -> SmfBatch:
        """Generate the records of a system about these intervals."""
        batch = SmfBatch()
        more = [self._has_more_processors(number) for number in numbers]
        for added in (0, ADDED_PROCESSORS):
            chosen = [number for number, has in zip(numbers, more, strict=True) if has == bool(added)]
            machine = partial(world_machine, added=added)
            records = CpuRecords(self.context, self.cpu_time, machine, self.cpu_time.processors_of_four_hours)
            batch.extend(records.make([self._interval(system, number) for number in chosen]))
        return batch

    def _has_more_processors(self, number: int) -> bool:
        added_us = self.processors_added_us
        return added_us is not None and self.cpu_time.begin(number) >= added_us

    def _interval(self, system: int, number: int) -> RmfInterval:
        return RmfInterval(number, system, self.cpu_time.begin(number), self.cpu_time.length_us)

    def reports(self, coverage: Coverage) -> Iterator[ReportFile]:
        """Yield the reports, computed from records of which some are missing in the dumps."""
        forms = {"xml": ("xml", xml_report), "text": ("txt", listing)}
        for form, intervals in coverage.reported:
            ending, written = forms[form]
            with tempfile.TemporaryDirectory(prefix="zscope-") as folder:
                dump = Path(folder, "dump")
                dump.write_bytes(b"".join(self.records(intervals.system, intervals.numbers).in_order()))
                rows = rmf_rows(read(dump, TABLES_NEEDED).tables)
            name, day = NAMES[intervals.system], moment(self.cpu_time.begin(intervals.numbers[0]))
            what = f"CPU report of {name}, {len(intervals.numbers)} intervals"
            yield ReportFile(f"rmf-cpu.{name}.{day:%Y-%m-%d}.{ending}", written(rows), what)


def measured_minutes(runs: Sequence[PlannedRun], night: int, cpu_time: CpuTimeGrid) -> dict[int, list[int]]:
    """Return by system the intervals that RMF measured in a night: from one before its runs to one after,
    without those of an IPL.
    """
    minutes: list[int] = []
    for mine in runs_between_ipls([run for run in runs if run.night == night]):
        first = (mine[0].begin_us - cpu_time.first_us) // cpu_time.length_us - 1
        last = (mine[-1].end_us - cpu_time.first_us) // cpu_time.length_us
        minutes.extend(range(first, last + 1))
    return dict.fromkeys(RUN_SYSTEMS.values(), minutes) if minutes else {}
